package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pooled/pooled/core/tokenizer"
)

// Template makes prompts for one model.
//
// Owns: immutable, safe for concurrent use; the renderer stays the caller's.
type Template struct {
	renderer  Renderer
	text      string
	tok       *tokenizer.Tokenizer
	spellings *spellings
	special   []byte // JSON of the special tokens by their names in templates
	tags      Tags
}

// New returns the template of a model. text is the model's tokenizer.chat_template.
//
// Errors: ErrNoTemplate when text is empty.
func New(r Renderer, text string, t *tokenizer.Tokenizer) (*Template, error) {
	if strings.TrimSpace(text) == "" {
		return nil, ErrNoTemplate
	}
	return &Template{
		renderer: r, text: text, tok: t,
		spellings: newSpellings(t), special: specialTokens(t), tags: tagsOf(text),
	}, nil
}

// specialTokens returns the variables that name a model's special tokens.
func specialTokens(t *tokenizer.Tokenizer) []byte {
	v := t.Vocab()
	out := map[string]string{}
	for name, id := range map[string]int32{"bos_token": v.BOS, "eos_token": v.EOS, "unk_token": v.UNK, "pad_token": v.PAD} {
		if id >= 0 && int(id) < len(v.Tokens) {
			out[name] = t.Decode([]int32{id}, true)
		}
	}
	b, _ := json.Marshal(out) // a map of strings can always be encoded
	return b
}

// Request is a conversation to make a prompt of.
type Request struct {
	Messages []Message
	// Tools is a JSON array of tool definitions as templates expect them; nil when there are none.
	Tools json.RawMessage
	// Documents is a JSON array, for the few templates that take it; nil when there are none.
	Documents json.RawMessage
	// Kwargs is a JSON object of further template variables such as enable_thinking; nil when there are none.
	Kwargs json.RawMessage
	// Now is the local time that the template may print.
	Now time.Time
	// NoGenerationPrompt ends the prompt after the last message, without opening an answer.
	NoGenerationPrompt bool
	// Continue ends the prompt within the last message, an assistant's, whose text is to be continued.
	Continue bool
}

// Prompt is what a model is given.
type Prompt struct {
	IDs []int32
	// Text is the rendered prompt.
	Text string
	// Replayed counts the messages whose exact ids are used.
	Replayed int
	// Tags are the model's reasoning tags; empty when its template knows none.
	Tags Tags
	// Reasoning reports that the prompt opens the reasoning, so that the answer starts within it.
	Reasoning bool
}

// Prompt renders and encodes a conversation.
//
// Errors: *TemplateError when the template cannot or will not render it; ErrRole, ErrContinue, ErrControlText.
func (t *Template) Prompt(ctx context.Context, req Request) (*Prompt, error) {
	last := len(req.Messages) - 1
	if req.Continue && (last < 0 || req.Messages[last].Role != RoleAssistant) {
		return nil, ErrContinue
	}
	p, err := t.render(ctx, req, !req.NoGenerationPrompt && !req.Continue)
	if err != nil {
		return nil, err
	}
	out := &Prompt{Tags: t.tags}
	if req.Continue {
		end, err := p.endOf(&req.Messages[last])
		if err != nil {
			return nil, err
		}
		p.text = p.text[:end]
	} else if tail := strings.TrimRight(p.text, " \n"); t.tags.Open != "" && strings.HasSuffix(tail, t.tags.Open) {
		out.Reasoning = !req.NoGenerationPrompt && p.trusted(len(tail)-len(t.tags.Open), len(tail))
	}
	splices, err := t.replays(ctx, req, p)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, s := range splices {
		out.IDs = append(out.IDs, t.tok.EncodeParts(p.parts(at, s.from))...)
		out.IDs = append(out.IDs, s.ids...)
		at = s.to
	}
	out.IDs = append(out.IDs, t.tok.EncodeParts(p.parts(at, len(p.text)))...)
	out.Text, out.Replayed = p.text, len(splices)
	return out, nil
}

// render renders the conversation with marks.
func (t *Template) render(ctx context.Context, req Request, generation bool) (*prompt, error) {
	m := t.spellings.newMarks()
	m.avoid(t.text)
	for i := range req.Messages {
		req.Messages[i].each(m.avoid)
	}
	for _, raw := range []json.RawMessage{req.Tools, req.Documents, req.Kwargs} {
		avoidJSON(m, raw)
	}
	w := &writer{marks: m}
	w.WriteByte('{')
	w.key("messages")
	w.WriteByte('[')
	for i := range req.Messages {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := w.message(&req.Messages[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	w.WriteByte(']')
	for _, f := range []struct {
		name string
		raw  json.RawMessage
	}{{"tools", req.Tools}, {"documents", req.Documents}, {"kwargs", req.Kwargs}} {
		if len(f.raw) == 0 {
			continue
		}
		w.key(f.name)
		if err := w.json(f.raw, f.name == "kwargs"); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	w.key("add_generation_prompt")
	fmt.Fprint(w, generation)
	w.key("special_tokens")
	w.Write(t.special)
	if !req.Now.IsZero() {
		w.key("now")
		w.WriteString(req.Now.Format(timeLayout))
	}
	if len(m.byRune) > 0 {
		w.key("marks")
		w.Write(m.json())
	}
	w.WriteByte('}')
	if !m.valid() {
		return nil, ErrControlText
	}
	text, err := t.renderer.Render(ctx, RenderRequest{Template: t.text, Input: w.Bytes()})
	if err != nil {
		return nil, err
	}
	return m.unmark(text), nil
}

// each calls f with every string of a message.
func (m *Message) each(f func(string)) {
	for _, s := range []string{m.Role, m.Content, m.Reasoning, m.ToolCallID, m.Name} {
		f(s)
	}
	for _, p := range m.Parts {
		f(p.Type)
		f(p.Text)
	}
	for _, c := range m.ToolCalls {
		f(c.ID)
		f(c.Name)
		f(string(c.Arguments))
		f(unescaped(c.Arguments))
	}
}

// avoidJSON notes the private-use characters of a JSON text, escaped ones too.
func avoidJSON(m *marks, raw json.RawMessage) {
	m.avoid(string(raw))
	m.avoid(unescaped(raw))
}

// unescaped returns the strings of a JSON text that hold surrogate escapes, one after the other.
func unescaped(raw json.RawMessage) string {
	if !strings.Contains(strings.ToLower(string(raw)), `\ud`) {
		return ""
	}
	var b strings.Builder
	d := json.NewDecoder(strings.NewReader(string(raw)))
	for {
		token, err := d.Token()
		if err != nil {
			return b.String()
		}
		if s, ok := token.(string); ok {
			b.WriteString(s)
		}
	}
}
