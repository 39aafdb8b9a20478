package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
)

// engine makes matchers that let one text through: the rest of a call of echo, whatever the model would write.
type engine struct {
	text   string
	tok    *tokenizer.Tokenizer
	opened int
	closed int
	err    error
}

func (e *engine) Matcher(context.Context, grammar.Grammar) (grammar.Matcher, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.opened++
	return &matcher{engine: e, rest: e.tok.Encode(e.text, tokenizer.Options{})}, nil
}

func (e *engine) Close() error { return nil }

type matcher struct {
	engine *engine
	rest   []int32
}

func (m *matcher) Mask(dst []uint32) error {
	clear(dst)
	if len(m.rest) > 0 {
		dst[m.rest[0]/32] |= 1 << (m.rest[0] % 32)
	}
	return nil
}

func (m *matcher) Accept(id int32) error {
	if len(m.rest) == 0 || m.rest[0] != id {
		return grammar.ErrNotAllowed
	}
	m.rest = m.rest[1:]
	return nil
}

func (m *matcher) FastForward() ([]int32, error) { return nil, nil }
func (m *matcher) Accepting() bool               { return len(m.rest) == 0 }
func (m *matcher) Stopped() bool                 { return len(m.rest) == 0 }
func (m *matcher) Close() error                  { m.engine.closed++; return nil }

// TestArmed holds a call to its form from where it opens to where it ends, and nothing else.
func TestArmed(t *testing.T) {
	held := "\n<function=echo>\n<parameter=text>\nheld\n</parameter>\n</function>\n</tool_call>"
	bare := `echo", "arguments": {"text": "held"}}`
	for _, c := range []struct {
		name   string
		format toolcall.Format
		rest   string // what the grammar lets through
		said   string // what the model would write; as long as what it may
		called bool
	}{
		{"behind its marker", toolcall.QwenXML, held, "I call <tool_call>" + strings.Repeat("?", len(held)) + " and say more", true},
		{"behind the beginning of bare JSON", toolcall.HermesJSON, bare, `{"name": "` + strings.Repeat("?", len(bare)), true},
		{"in a code fence, with other space", toolcall.HermesJSON, bare, "```json\n{\n  \"name\": \"" + strings.Repeat("?", len(bare)) + "\n```", true},
		{"not within a text", toolcall.HermesJSON, bare, `As I said: {"name": "nobody"}`, false},
		{"not without a call", toolcall.QwenXML, held, "Just text, with < and > and {}.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &engine{text: c.rest}
			b := newBench(t, c.format, 8192, func(o *agent.Options) {
				e.tok = o.Model.Tokenizer()
				o.Grammar = func(context.Context) (grammar.Engine, error) { return e, nil }
			}, c.said, "Done.")
			d := b.run("Go", transcript.ReasonStop)
			want := 0
			if c.called {
				want = 1
			}
			if d.Calls != want || e.opened != want || e.closed != e.opened {
				t.Errorf("%d calls, %d grammars begun and %d ended, want %d\n%s", d.Calls, e.opened, e.closed, want, b.talk())
			}
			if c.called && !strings.Contains(b.talk(), `tool: "held"`) {
				t.Errorf("the call was not held to its form\n%s", b.talk())
			}
		})
	}
}

// TestNoGrammar goes on freely where there is no engine, or where it refuses.
func TestNoGrammar(t *testing.T) {
	for name, g := range map[string]func(context.Context) (grammar.Engine, error){
		"no engine":            func(context.Context) (grammar.Engine, error) { return nil, errors.New("it does not start") },
		"a grammar it refuses": func(context.Context) (grammar.Engine, error) { return &engine{err: errors.New("too large")}, nil },
	} {
		b := newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) { o.Grammar = g }, call("echo", "text", "free"), "Done.")
		if d := b.run("Go", transcript.ReasonStop); d.Calls != 1 {
			t.Errorf("%s: got %+v", name, d)
		}
		if notes := of[event.Note](b); len(notes) == 0 || !strings.Contains(fmt.Sprint(notes), "form") {
			t.Errorf("%s: nobody was told: %v", name, notes)
		}
	}
}
