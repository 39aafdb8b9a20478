package answer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent/agenttest"
	"github.com/pooled/pooled/core/answer"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
)

// vocabulary has a token for each byte.
func vocabulary(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	m, err := agenttest.New(toolcall.None, 16)
	if err != nil {
		t.Fatal(err)
	}
	return m.Tokenizer()
}

var echo = []toolcall.Tool{{Name: "echo", Schema: schema(`{"type":"object","properties":{"text":{"type":"string"}}}`)}}

func schema(text string) *tool.Schema {
	s, err := tool.ReadSchema(json.RawMessage(text))
	if err != nil {
		panic(err)
	}
	return s
}

// told joins the text of events, with their kind where it changes.
func told(list []event.Event) string {
	var b strings.Builder
	last := ""
	for _, e := range list {
		text := ""
		switch e := e.(type) {
		case event.Text:
			text = e.Text
		case event.Reasoning:
			text = e.Text
		case event.CallStarted:
			text = e.Name
		case event.CallDelta:
			continue // how a call is cut into pieces is the parser's
		default:
			text = fmt.Sprintf("%+v", e)
		}
		if e.Type() != last {
			last = e.Type()
			fmt.Fprintf(&b, "[%s]", last)
		}
		b.WriteString(text)
	}
	return b.String()
}

func TestReader(t *testing.T) {
	tok := vocabulary(t)
	call := agenttest.Call(toolcall.QwenXML, "echo", "text", "hi")
	think := chat.Tags{Open: "<think>", Close: "</think>"}
	for _, c := range []struct {
		name      string
		text      string
		tags      chat.Tags
		tools     []toolcall.Tool
		format    toolcall.Format
		exact     bool
		finish    generate.FinishReason
		told      string
		said      string
		reasoning string
		calls     string
	}{
		{name: "text alone", text: "Hello!", told: "[text]Hello!", said: "Hello!"},
		{
			name: "reasoning", text: "<think>\nhm\n</think>\n\nHello!", tags: think,
			told: "[reasoning]hm[text]Hello!", reasoning: "hm", said: "Hello!",
		},
		{name: "reasoning that is cut off", text: "<think>hm", tags: think, finish: generate.FinishLength, told: "[reasoning]hm", reasoning: "hm"},
		{name: "a call without tools is text", text: call, format: toolcall.QwenXML, told: "[text]" + call, said: call},
		{
			name: "a call", text: "I look.\n" + call, tools: echo, format: toolcall.QwenXML,
			told: "[text]I look.[call_started]echo", said: "I look.", calls: `0 echo`,
		},
		{
			name: "several, one of which cannot be read", text: call + "\n" + strings.ReplaceAll(call, "echo", "oops") + "\n" + call,
			tools: echo, format: toolcall.QwenXML, calls: "0 echo, -1 oops, 1 echo",
		},
		{
			name: "a call that is cut off", text: call[:len(call)-20], tools: echo, format: toolcall.QwenXML, finish: generate.FinishLength,
			calls: "-1 echo unfinished",
		},
		{name: "a call of nothing that is known", text: `{"name":"oops","arguments":{}}`, tools: echo, format: toolcall.HermesJSON, calls: "-1 oops"},
		{
			name: "the same, without repairs", text: `{"name":"oops","arguments":{}}`, tools: echo, format: toolcall.HermesJSON, exact: true,
			said: `{"name":"oops","arguments":{}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []event.Event
			r, err := answer.NewReader(answer.Options{
				Model: "m", Tokenizer: tok, Prompt: &chat.Prompt{Tags: c.tags}, Tools: c.tools, Format: c.format, NoRepair: c.exact,
				Emit: func(e event.Event) error {
					list = append(list, e)
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			ids := tok.Encode(c.text, tokenizer.Options{})
			for _, id := range ids {
				if err := r.Token(generate.Token{ID: id, Text: tok.Decode([]int32{id}, false)}); err != nil {
					t.Fatal(err)
				}
			}
			if c.finish == "" {
				c.finish = generate.FinishStop
			}
			a, err := r.Finish(generate.Result{IDs: ids, Text: c.text, Finish: c.finish})
			if err != nil {
				t.Fatal(err)
			}
			if got := told(list); c.told != "" && got != c.told {
				t.Errorf("told %q, want %q", got, c.told)
			}
			m := a.Message
			if m.Text != c.said || m.Reasoning != c.reasoning || m.Role != "assistant" || m.Model != "m" || !slices.Equal(m.IDs, ids) {
				t.Errorf("got %+v, want %q and %q", m, c.said, c.reasoning)
			}
			var calls []string
			for _, c := range a.Calls {
				text := fmt.Sprintf("%d %s", c.Index, c.Name)
				if c.Unfinished {
					text += " unfinished"
				}
				if c.Index >= 0 && m.Calls[c.Index].Name != c.Name {
					t.Errorf("call %d is of %s, want %s", c.Index, m.Calls[c.Index].Name, c.Name)
				}
				calls = append(calls, text)
			}
			if got := strings.Join(calls, ", "); got != c.calls || m.Broken != strings.Contains(c.calls, "-1") {
				t.Errorf("got the calls %q, broken %t, want %q", got, m.Broken, c.calls)
			}
		})
	}
}

// TestStopString keeps the ids of what is kept.
func TestStopString(t *testing.T) {
	tok := vocabulary(t)
	ids := tok.Encode("Hello. STOP", tokenizer.Options{})
	for _, c := range []struct {
		stop, text string
		want       []int32
	}{
		{"", "Hello. STOP", ids},
		{"STOP", "Hello. ", ids[:7]},
		{"STOP", "Hell?", nil}, // not what the ids say
	} {
		r, err := answer.NewReader(answer.Options{Tokenizer: tok, Prompt: &chat.Prompt{}, Emit: func(event.Event) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.Finish(generate.Result{IDs: ids, Text: c.text, StopSequence: c.stop, Finish: generate.FinishStop})
		if err != nil || !slices.Equal(a.Message.IDs, c.want) {
			t.Errorf("%q behind %q: got %v, %v, want %v", c.stop, c.text, a.Message.IDs, err, c.want)
		}
	}
}

// TestEmitFails gives the first error back and emits nothing more; the answer is whole.
func TestEmitFails(t *testing.T) {
	broken, n := errors.New("broken"), 0
	r, err := answer.NewReader(answer.Options{Tokenizer: vocabulary(t), Prompt: &chat.Prompt{}, Emit: func(event.Event) error {
		n++
		return broken
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.Queued(1)
	r.Progress(1, 2)
	if err := r.Token(generate.Token{Text: "a"}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	a, err := r.Finish(generate.Result{})
	if !errors.Is(err, broken) || n != 1 || a.Message.Text != "a" {
		t.Errorf("got %+v, %v after %d events", a.Message, err, n)
	}
}
