// Package agenttest has a model that says what a test wrote down, for testing what stands around a model.
//
// Only the weights are missing: prompts go through [chat.Template], answers through [generate.Sequence], with a session
// that holds positions as a real one does. Its vocabulary is the 256 bytes and a few control tokens.
package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
)

// Model answers with a script.
type Model struct {
	name   string
	format toolcall.Format
	tok    *tokenizer.Tokenizer
	seq    *generate.Sequence
	tmpl   *chat.Template
	script *script

	mu      sync.Mutex
	prompts []string
	reused  []int
}

// control are the first tokens of the vocabulary.
var control = []string{"<|im_start|>", "<|im_end|>"}

// New returns a model with room for some positions that writes calls in a format and answers with the given texts, one
// after the other; behind the last one it says "Done.".
func New(format toolcall.Format, context int, answers ...string) (*Model, error) {
	v := &tokenizer.Vocab{Model: tokenizer.ModelBPE, Pre: "qwen2", BOS: -1, EOS: 1, EOT: -1, EOM: -1, UNK: -1, PAD: -1}
	for _, c := range control {
		v.Tokens, v.Types = append(v.Tokens, c), append(v.Types, tokenizer.TypeControl)
	}
	other := rune(256)
	for b := range rune(256) {
		r := b
		if b <= ' ' || b >= 0x7f && b <= 0xa0 || b == 0xad {
			r, other = other, other+1 // the byte alphabet of GPT-2
		}
		v.Tokens, v.Types = append(v.Tokens, string(r)), append(v.Types, tokenizer.TypeNormal)
	}
	tok, err := tokenizer.New(v)
	if err != nil {
		return nil, err
	}
	m := &Model{name: "script", format: format, tok: tok, script: &script{context: context, answers: answers}}
	if m.tmpl, err = chat.New(renderer{format}, "script", tok); err != nil {
		return nil, err
	}
	m.seq, err = generate.New(m.script, generate.Tokens(tok), generate.Config{Context: context})
	return m, err
}

// Say replaces what is left of the script.
func (m *Model) Say(answers ...string) {
	m.script.answers, m.script.next = answers, 0
}

// Prompts returns the text of every prompt so far.
func (m *Model) Prompts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.prompts)
}

// Computed returns how many tokens of each prompt were not held already.
func (m *Model) Computed() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.reused)
}

// Name implements agent.Model.
func (m *Model) Name() string { return m.name }

// Context implements agent.Model.
func (m *Model) Context() int { return m.script.context }

// Format implements agent.Model.
func (m *Model) Format() toolcall.Format { return m.format }

// Tokenizer implements agent.Model.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tok }

// Prompt implements agent.Model.
func (m *Model) Prompt(ctx context.Context, req chat.Request) (*chat.Prompt, error) {
	return m.tmpl.Prompt(ctx, req)
}

// Generate implements agent.Model.
func (m *Model) Generate(ctx context.Context, prompt []int32, opt generate.Options, _ func(ahead int), emit func(generate.Token) error) (generate.Result, error) {
	m.script.begin = true
	r, err := m.seq.Generate(ctx, prompt, opt, emit)
	m.mu.Lock()
	m.prompts = append(m.prompts, m.tok.Decode(prompt, true))
	m.reused = append(m.reused, len(prompt)-r.Reused)
	m.mu.Unlock()
	return r, err
}

// Call writes a call as the model would; arguments are names and values in turn.
func (m *Model) Call(name string, arguments ...string) string {
	return Call(m.format, name, arguments...)
}

// Call writes a call in a format.
func Call(format toolcall.Format, name string, arguments ...string) string {
	var b strings.Builder
	if format == toolcall.QwenXML {
		fmt.Fprintf(&b, "<tool_call>\n<function=%s>\n", name)
		for i := 0; i+1 < len(arguments); i += 2 {
			fmt.Fprintf(&b, "<parameter=%s>\n%s\n</parameter>\n", arguments[i], arguments[i+1])
		}
		return b.String() + "</function>\n</tool_call>"
	}
	args := map[string]string{}
	for i := 0; i+1 < len(arguments); i += 2 {
		args[arguments[i]] = arguments[i+1]
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(args) // strings can always be encoded
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, strings.TrimSpace(b.String()))
}

// renderer is a template in Go: ChatML, with calls in the model's format.
type renderer struct{ format toolcall.Format }

// Render implements [chat.Renderer].
func (r renderer) Render(_ context.Context, req chat.RenderRequest) (string, error) {
	var in struct {
		Messages []struct {
			Role, Content string
			Calls         []struct {
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
		Tools      json.RawMessage
		Generation bool `json:"add_generation_prompt"`
	}
	if err := json.Unmarshal(req.Input, &in); err != nil {
		return "", &chat.TemplateError{Kind: chat.KindRequest, Message: err.Error()}
	}
	var b strings.Builder
	for i, m := range in.Messages {
		fmt.Fprintf(&b, "<|im_start|>%s\n%s", m.Role, m.Content)
		if i == 0 && m.Role == chat.RoleSystem {
			fmt.Fprintf(&b, "\n%s", in.Tools)
		}
		for j, c := range m.Calls {
			if j > 0 || m.Content != "" {
				b.WriteString("\n")
			}
			if r.format == toolcall.QwenXML {
				var pairs []string
				d := json.NewDecoder(strings.NewReader(string(c.Function.Arguments)))
				for {
					t, err := d.Token()
					if err != nil {
						break
					}
					if s, ok := t.(string); ok {
						pairs = append(pairs, s)
					}
				}
				b.WriteString(Call(r.format, c.Function.Name, pairs...))
				continue
			}
			fmt.Fprintf(&b, "<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", c.Function.Name, c.Function.Arguments)
		}
		b.WriteString("<|im_end|>\n")
	}
	if in.Generation {
		b.WriteString("<|im_start|>assistant\n")
	}
	return b.String(), nil
}

// script is an engine session that says what was written down.
type script struct {
	context int
	answers []string
	next    int    // the answer that comes next
	begin   bool   // a prompt is being computed
	text    string // the running answer, of a token a byte
	start   int    // the position behind its prompt
	ids     []int32
	// lag is called before every pass; tests stop the world there.
	lag func()
}

// Lag sets what is called before every pass of the model.
func (m *Model) Lag(f func()) { m.script.lag = f }

// Forward implements [engine.Session].
func (s *script) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	if s.lag != nil {
		s.lag()
	}
	switch {
	case ctx.Err() != nil:
		return engine.Result{}, ctx.Err()
	case b.Pos < 0 || b.Pos > len(s.ids):
		return engine.Result{}, fmt.Errorf("script: a batch at %d, but %d are held", b.Pos, len(s.ids))
	case b.Pos+len(b.Tokens) > s.context:
		return engine.Result{}, engine.ErrContextFull
	}
	s.ids = append(s.ids[:b.Pos], b.Tokens...)
	if b.Output.Head() == engine.NoColumns {
		return engine.Result{}, nil
	}
	if s.begin {
		s.begin, s.text, s.start = false, "Done.", len(s.ids)
		if s.next < len(s.answers) {
			s.text = s.answers[s.next]
			s.next++
		}
	}
	const sure = 1000 // at any temperature
	var r engine.Result
	for i := b.Output.Head().Of(len(b.Tokens)); i > 0; i-- {
		id := int32(1)
		// What was forced was said, too.
		if said := len(s.ids) + 1 - i - s.start; said < len(s.text) {
			id = int32(len(control)) + int32(s.text[max(said, 0)])
		}
		r.Top, r.LogSumExp = append(r.Top, []engine.Candidate{{ID: id, Logit: sure}}), append(r.LogSumExp, sure)
		if b.Output.Logits != engine.NoColumns {
			row := make([]float32, len(control)+256)
			row[id] = sure
			r.Logits = append(r.Logits, row...)
		}
	}
	return r, nil
}

// Len implements [engine.Session].
func (s *script) Len() int { return len(s.ids) }

// Memory implements [engine.Session].
func (s *script) Memory() (weights, state int64) { return 0, 0 }

// Close implements [engine.Session].
func (s *script) Close() error { return nil }
