// Package coder puts an agent together, for the command line, the window and the evaluation: a hub's model, the built-in
// tools and the grammar engine.
package coder

import (
	"context"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
)

// TemplateOf returns the chat template of a model's file, empty for none. It is to be asked before the hub takes the file.
func TemplateOf(f *gguf.File) string {
	v, ok := f.Get("tokenizer.chat_template")
	if !ok {
		return ""
	}
	text, _ := v.Str()
	return text
}

// Model makes a hub's model one for agents; template is the text of its chat template.
func Model(m *hub.Model, template string) agent.Model {
	return &model{m: m, slot: m.NewSlot(), format: toolcall.Detect(template)}
}

type model struct {
	m      *hub.Model
	slot   *hub.Slot
	format toolcall.Format
}

// Name implements [agent.Model].
func (m *model) Name() string { return m.m.Name }

// Context implements [agent.Model].
func (m *model) Context() int { return m.m.Context }

// Format implements [agent.Model].
func (m *model) Format() toolcall.Format { return m.format }

// Tokenizer implements [agent.Model].
func (m *model) Tokenizer() *tokenizer.Tokenizer { return m.m.Tokenizer }

// Prompt implements [agent.Model].
func (m *model) Prompt(ctx context.Context, req chat.Request) (*chat.Prompt, error) {
	return m.m.Prompt(ctx, req)
}

// Generate implements [agent.Model].
func (m *model) Generate(ctx context.Context, prompt []int32, opt generate.Options, place func(ahead int), emit func(generate.Token) error) (generate.Result, error) {
	return m.slot.Generate(ctx, prompt, opt, place, emit)
}
