package grammar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
	sandbox "github.com/pooled/pooled/sandbox/grammar"
)

// markers are control tokens of the test's vocabulary; the others are single bytes.
var markers = []string{"<eos>", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "<|python_tag|>"}

// byteTokenizer returns a tokenizer of bytes and markers.
func byteTokenizer(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	v := &tokenizer.Vocab{Model: tokenizer.ModelBPE, Pre: "gpt-2", BOS: -1, EOS: 256, EOT: -1, EOM: -1, UNK: -1, PAD: -1}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if b <= ' ' || b >= 0x7f && b <= 0xa0 || b == 0xad {
			r = next
			next++
		}
		v.Tokens, v.Types = append(v.Tokens, string(r)), append(v.Types, tokenizer.TypeNormal)
	}
	for _, m := range markers {
		v.Tokens, v.Types = append(v.Tokens, m), append(v.Types, tokenizer.TypeControl)
	}
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// token finds a marker in the vocabulary.
func token(marker string) (int32, bool) {
	for i, m := range markers {
		if m == marker {
			return int32(256 + i), true
		}
	}
	return 0, false
}

// toolEngine opens an engine on the real guest.
func toolEngine(t *testing.T) grammar.Engine {
	t.Helper()
	e, err := sandbox.SharedHost().Open(context.Background(), byteTokenizer(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// ids spells a text in bytes and markers.
func ids(text string) []int32 {
	var out []int32
next:
	for text != "" {
		for i, m := range markers {
			if rest, ok := strings.CutPrefix(text, m); ok {
				out, text = append(out, int32(256+i)), rest
				continue next
			}
		}
		out, text = append(out, int32(text[0])), text[1:]
	}
	return out
}

// spell is the reverse of ids.
func spell(all []int32) string {
	var b strings.Builder
	for _, id := range all {
		if id < 256 {
			b.WriteByte(byte(id))
		} else {
			b.WriteString(markers[id-256])
		}
	}
	return b.String()
}

// follow returns how much of a text a grammar lets pass, and whether it may end there.
func follow(t *testing.T, e grammar.Engine, g grammar.Grammar, all []int32) (passed int, accepting bool) {
	t.Helper()
	m, err := e.Matcher(context.Background(), g)
	if err != nil {
		t.Fatalf("%v in\n%s", err, g.Text)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	mask := make([]uint32, (256+len(markers)+31)/32)
	for i, id := range all {
		if err := m.Mask(mask); err != nil {
			t.Fatal(err)
		}
		if mask[id/32]>>(id%32)&1 == 0 {
			return i, false
		}
		if err := m.Accept(id); err != nil {
			t.Fatal(err)
		}
	}
	return len(all), m.Accepting()
}

// schemaOf reads the schema of a tool of the tests.
func schemaOf(raw string) *tool.Schema {
	s, err := tool.ReadSchema(json.RawMessage(raw))
	if err != nil {
		panic(err)
	}
	return s
}

var callTools = []toolcall.Tool{
	{Name: "write_file", Schema: schemaOf(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
	{Name: "set", Schema: schemaOf(`{"type":"object","properties":{"n":{"type":"integer","minimum":0},"on":{"type":"boolean"},"mode":{"enum":["a","b"]},"tags":{"type":"array","items":{"$ref":"#/$defs/tag"}}},"required":["n"],"$defs":{"tag":{"type":"string"}}}`)},
	{Name: "serve"},
}

// TestToolGrammars compiles the grammars of tool calls with the real guest.
func TestToolGrammars(t *testing.T) {
	e := toolEngine(t)
	t.Run("follow", func(t *testing.T) { testFollow(t, e) })
	t.Run("walk", func(t *testing.T) { testWalk(t, e) })
}

// testFollow follows calls that are right and calls that are wrong.
func testFollow(t *testing.T, e grammar.Engine) {
	const write = "<function=write_file>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n<p>\n\"x\" é</p>\n\n</parameter>\n</function>"
	const set = "<function=set>\n<parameter=n>\n3\n</parameter>\n<parameter=mode>\nb\n</parameter>\n<parameter=tags>\n[\"x\", \"y\"]\n</parameter>\n</function>"
	auto, required := toolcall.Choice{Token: token}, toolcall.Choice{Need: toolcall.Required, Many: true, Token: token}
	cases := []struct {
		format     toolcall.Format
		choice     toolcall.Choice
		constraint int
		good, bad  []string // a bad one must fail at its last token
	}{
		{
			toolcall.QwenXML, auto, 0,
			[]string{"\n" + write + "\n</tool_call>", "\n" + set + "\n</tool_call>", "\n<function=serve>\n</function>\n</tool_call>", "<function=serve>\n</function>\n</tool_call>"},
			[]string{
				"\n<function=f", "\n<function=set>\n<parameter=n>\n-", "\n<function=set>\n</", "\n<function=write_file>\n<parameter=c", "\n<function=serve>\n</function>\n\n",
				"\n<function=set>\n<parameter=n>\n1\n</parameter>\n<parameter=mode>\nc", "\n<function=write_file>\n<parameter=path>\n</tool_call>",
			},
		},
		{
			toolcall.QwenXML, required, 0,
			[]string{"<tool_call>\n" + write + "\n</tool_call>\n<tool_call>\n" + set + "\n</tool_call>"},
			[]string{"I", "<tool_call>\n<function=serve>\n</function>\n</tool_call>\nI"},
		},
		{
			toolcall.HermesJSON, auto, 0,
			[]string{"\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"l\\n\\\"q\\\"\"}}\n</tool_call>"},
			[]string{"\n{\"name\": \"f", "\n{\"name\": \"write_file\", \"arguments\": {\"path\": 1", "\n{\"name\": \"serve\", \"arguments\": {\"", "\n{\"name\": \"set\", \"arguments\": {\"n\": 1, \"x"},
		},
		{
			toolcall.HermesJSON,
			toolcall.Choice{Need: toolcall.Required, Name: "set", Token: token},
			0,
			[]string{"<tool_call>\n{\"name\": \"set\", \"arguments\": {\"n\": 1, \"tags\": [\"a\", \"b\"]}}\n</tool_call>"},
			[]string{"<tool_call>\n{\"name\": \"w", "<tool_call>\n{\"name\": \"set\", \"arguments\": {\"n\": 1}}\n</tool_call>\n"},
		},
		{toolcall.LlamaJSON, auto, 0, []string{"{\"name\": \"serve\", \"parameters\": {}}"}, []string{"p"}},
		{toolcall.LlamaJSON, auto, 1, []string{"serve\", \"parameters\": {}}"}, []string{"A"}},
		{toolcall.LlamaJSON, required, 0, []string{"{\"name\": \"serve\", \"parameters\": {}}; {\"name\": \"set\", \"parameters\": {\"n\": 0}}"}, []string{"{\"name\": \"serve\", \"a"}},
		{
			toolcall.MistralJSON, required, 0,
			[]string{"[TOOL_CALLS][{\"name\": \"serve\", \"arguments\": {}}, {\"name\": \"set\", \"arguments\": {\"n\": 0}, \"id\": \"abcdefghi\"}]"},
			[]string{"[TOOL_CALLS][]", "["},
		},
		{
			toolcall.MistralArgs, required, 0,
			[]string{"[TOOL_CALLS]serve[ARGS]{}", "[TOOL_CALLS]serve[CALL_ID]abcdefghi[ARGS]{}[TOOL_CALLS]set[ARGS]{\"n\": 5, \"on\": true}"},
			[]string{"[TOOL_CALLS]serve{", "[TOOL_CALLS]serve[ARGS]{}x"},
		},
	}
	for _, c := range cases {
		all, err := toolcall.Constraints(c.format, callTools, c.choice)
		if err != nil {
			t.Fatal(err)
		}
		g := all[c.constraint].Grammar
		for _, text := range c.good {
			if n, accepting := follow(t, e, g, ids(text)); n < len(ids(text)) || !accepting {
				t.Errorf("%v: %q ended behind %q (accepting %v)", c.format, text, spell(ids(text)[:n]), accepting)
			}
		}
		for _, text := range c.bad {
			if n, _ := follow(t, e, g, ids(text)); n != len(ids(text))-1 {
				t.Errorf("%v: %q got as far as %q", c.format, text, spell(ids(text)[:n]))
			}
		}
	}
}

// testWalk walks at random through what the grammars allow; the parser must read all of it as calls
// that need no repair.
func testWalk(t *testing.T, e grammar.Engine) {
	tools := []toolcall.Tool{
		{Name: "write", Schema: schemaOf(`{"type":"object","properties":{"path":{"type":"string","maxLength":6},"content":{"type":"string","minLength":1,"maxLength":12}},"required":["path"]}`)},
		{Name: "set", Schema: schemaOf(`{"type":"object","properties":{"n":{"type":"number"},"i":{"type":"integer"},"on":{"type":["boolean","null"]},"mode":{"enum":["a","b"]},` +
			`"tags":{"type":"array","maxItems":2,"items":{"type":"string","maxLength":3}},"o":{"type":"object","properties":{"k":{"type":"string","maxLength":3}},"additionalProperties":false}},"required":["n"]}`)},
		{Name: "serve"},
	}
	random := rand.New(rand.NewPCG(3, 5))
	for _, format := range []toolcall.Format{toolcall.QwenXML, toolcall.HermesJSON, toolcall.LlamaJSON, toolcall.MistralJSON, toolcall.MistralArgs} {
		t.Run(format.String(), func(t *testing.T) {
			all, err := toolcall.Constraints(format, tools, toolcall.Choice{Need: toolcall.Required, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			ended := 0
			for range 24 {
				text, whole := walk(t, e, all[0].Grammar, random)
				if !whole {
					continue
				}
				ended++
				p, err := toolcall.NewParser(toolcall.Options{Format: format, Tools: tools, NoRepair: true})
				if err != nil {
					t.Fatal(err)
				}
				events := append(p.Push(text), p.Finish(toolcall.Stopped)...)
				calls := 0
				for _, event := range events {
					switch event.Kind {
					case toolcall.Call:
						calls++
					case toolcall.CallStart, toolcall.CallDelta:
					default:
						t.Errorf("%q: %v %s%s", text, event.Kind, event.Text, event.Reason)
					}
				}
				if calls != 1 {
					t.Errorf("%q: %d calls", text, calls)
				}
			}
			if ended < 12 {
				t.Errorf("only %d of 24 walks ended", ended)
			}
		})
	}
}

// walk takes random tokens that a grammar allows, at most 1,500 of them. Of bytes that are allowed together it takes the
// printable ones more often.
func walk(t *testing.T, e grammar.Engine, g grammar.Grammar, random *rand.Rand) (text string, whole bool) {
	t.Helper()
	m, err := e.Matcher(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	mask := make([]uint32, (256+len(markers)+31)/32)
	var all []int32
	for range 1500 {
		if m.Stopped() {
			return spell(all), true
		}
		if err := m.Mask(mask); err != nil {
			t.Fatal(err)
		}
		var allowed, likely []int32
		for id := range int32(256 + len(markers)) {
			if mask[id/32]>>(id%32)&1 != 0 {
				allowed = append(allowed, id)
				if id >= 256 || strings.ContainsRune("\n</parmet>\"}],.x1e", rune(id)) {
					likely = append(likely, id)
				}
			}
		}
		if len(allowed) == 0 {
			t.Fatalf("no token is allowed behind %q", spell(all))
		}
		if len(likely) > 0 && random.IntN(4) > 0 {
			allowed = likely
		}
		id := allowed[random.IntN(len(allowed))]
		if id == 256 { // the end
			return spell(all), true
		}
		if err := m.Accept(id); err != nil {
			t.Fatal(fmt.Errorf("%q: %w", spell(all), err))
		}
		all = append(all, id)
	}
	return spell(all), false
}
