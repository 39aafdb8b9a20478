// Package coder makes what an agent wants of what the program has: of a hub's model and of a catalog's tools.
package coder

import (
	"context"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/workspace"
)

// Model makes a hub's model one for agents.
func Model(m *hub.Model) agent.Model {
	return &model{m: m, slot: m.NewSlot(), format: toolcall.Detect(m.Template)}
}

// TakeBack makes a project's journal one that an agent takes changes back with.
func TakeBack(w *workspace.Workspace) func(context.Context, string) (agent.Taken, error) {
	return func(ctx context.Context, id string) (agent.Taken, error) { return w.TakeBack(ctx, id) }
}

// Sources makes sets of tools ready for an agent. What their rights keep in the sandbox needs no approval.
func Sources(offers []plugin.Offer) []agent.Source {
	var list []agent.Source
	for _, o := range offers {
		list = append(list, agent.Source{Set: o.Set, Name: o.Name, Sandboxed: o.Rights.Sandboxed, DroppedIn: !o.BuiltIn})
	}
	return list
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
