package grammar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

// shared is what all tests use: opening an engine of one's own takes long enough that few should.
var shared struct {
	cache  *wasmhost.Cache
	host   *Host
	engine *Engine
	tok    *tokenizer.Tokenizer
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "pooled-grammar")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	cache, err := wasmhost.OpenCache(dir + "/wasm")
	if err != nil {
		return 1, err
	}
	shared.cache, shared.host = cache, New(Options{Cache: cache})
	if shared.tok, err = testTokenizer(); err != nil {
		return 1, err
	}
	engine, err := shared.host.Open(context.Background(), shared.tok)
	if err != nil {
		return 1, err
	}
	shared.engine = engine.(*Engine)
	code := m.Run()
	return code, errors.Join(engine.Close(), shared.host.Close(), cache.Close())
}

const (
	endOfText = 0 // <|end|>
	endOfTurn = 1 // <|im_end|>
	toolCall  = 2 // <|tool|>, a control token that ends nothing
)

// testTokenizer has three control tokens, every byte, and the words that its merges make.
func testTokenizer() (*tokenizer.Tokenizer, error) {
	v := &tokenizer.Vocab{
		Model: tokenizer.ModelBPE, Pre: "qwen2", BOS: -1, EOS: endOfText, EOT: endOfTurn, EOM: -1, UNK: -1, PAD: -1,
		Tokens: []string{"<|end|>", "<|im_end|>", "<|tool|>"},
		Types:  []int32{tokenizer.TypeControl, tokenizer.TypeControl, tokenizer.TypeControl},
	}
	add := func(text string) {
		v.Tokens, v.Types = append(v.Tokens, text), append(v.Types, tokenizer.TypeNormal)
	}
	other := rune(256)
	for b := range rune(256) {
		r := b
		if b <= ' ' || b >= 0x7f && b <= 0xa0 || b == 0xad {
			r, other = other, other+1
		}
		add(string(r))
	}
	for _, word := range []string{"true", "path", "create", `":`, "12"} {
		for i := 2; i <= len(word); i++ {
			if merge := word[:i-1] + " " + word[i-1:i]; !slices.Contains(v.Merges, merge) {
				v.Merges = append(v.Merges, merge)
				add(word[:i])
			}
		}
	}
	return tokenizer.New(v)
}

// SharedHost gives the tests outside of the package the host of those inside.
func SharedHost() *Host { return shared.host }

func start(t testing.TB, schema string, layout grammar.Layout) grammar.Matcher {
	t.Helper()
	g, err := grammar.JSONSchema(json.RawMessage(schema), layout)
	if err != nil {
		t.Fatal(err)
	}
	m, err := shared.engine.Matcher(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// follow accepts a text token by token and returns how much of it the grammar allows. It checks the mask at every step.
func follow(t testing.TB, m grammar.Matcher, ids []int32) int {
	t.Helper()
	mask := make([]uint32, words(shared.tok))
	for i, id := range ids {
		if err := m.Mask(mask); err != nil {
			t.Fatal(err)
		}
		allowed := mask[id/32]>>(id%32)&1 == 1
		err := m.Accept(id)
		if allowed != (err == nil) {
			t.Fatalf("token %q: the mask says %v, Accept says %v", shared.tok.Decode([]int32{id}, true), allowed, err)
		}
		if err != nil {
			if !errors.Is(err, grammar.ErrNotAllowed) {
				t.Fatal(err)
			}
			return i
		}
	}
	return len(ids)
}

const fileSchema = `{"type":"object","properties":{"path":{"type":"string"},"mode":{"enum":["create","append"]},
	"lines":{"type":"array","items":{"type":"integer","minimum":1,"maximum":120}}},"required":["path","mode"],"additionalProperties":false}`

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		valid        []string
		invalid      []string
	}{
		{
			"object", fileSchema,
			[]string{`{"path":"a","mode":"create"}`, "{ \"path\" : \"a\\n\\u00e9é\",\n  \"mode\": \"append\", \"lines\": [1, 120] }"},
			[]string{`{"mode":"create"}`, `{"path":"a","mode":"delete"}`, `{"path":"a","mode":"create","lines":[121]}`, `{"path":"a","mode":"create","x":1}`, `{"path":"a` + "\n" + `"}`, `[]`, `{"path":"a"}`},
		},
		{"string", `{"type":"string","minLength":2,"maxLength":3,"pattern":"^[ab]+$"}`, []string{`"ab"`, `"aba"`}, []string{`"a"`, `"abab"`, `"ac"`, `a`}},
		{"any of", `{"anyOf":[{"type":"null"},{"type":"boolean"},{"const":{"a":[1,null]}}]}`, []string{"null", "true", `{"a":[1,null]}`}, []string{"nil", "1", `{"a":[2]}`}},
		{"disjoint one of", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, []string{`"x"`, "12"}, []string{"1.5", "true"}},
		{"reference", `{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}`, []string{"[]", "[[],[[]]]"}, []string{"[1]", "{}"}},
		{"numbers", `{"type":"number","exclusiveMinimum":0,"multipleOf":0.5}`, []string{"0.5", "12.0", "3"}, []string{"0", "-1", "0.3"}},
		{"format", `{"type":"string","format":"date"}`, []string{`"2025-07-29"`}, []string{`"2025-13-01"`, `"today"`}},
		{"tuple", `{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":2}`, []string{`[1,"a"]`}, []string{`["a",1]`, `[1]`, `[1,"a",2]`}},
		{"anything", `true`, []string{"1", `{"a":[]}`}, []string{"x"}},
		{
			"respelt name", `{"type":"object","properties":{"a":{"type":"integer"}}}`,
			[]string{`{"a":1,"b":"\u00e9"}`, `{"b":[],"\n":1}`},
			[]string{`{"a":"x"}`, `{"\u0061":"x"}`, `{"a":1,"\u0061":"x"}`, `{"a":1,"a":"x"}`},
		},
		{
			"respelt name of another type", `{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}`,
			[]string{`{"a":1,"b":"é"}`},
			[]string{`{"\u0061":"x"}`, `{"a":1,"\u0061":"x"}`},
		},
		{
			"respelt name of a pattern", `{"type":"object","patternProperties":{"^a":{"type":"integer"}}}`,
			[]string{`{"a":1,"b":"x"}`},
			[]string{`{"\u0061":"x"}`},
		},
		{
			"respelt name in a merge", `{"type":"object","allOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"b":{"type":"null"}}}]}`,
			[]string{`{"a":1,"b":null,"c":5}`},
			[]string{`{"\u0062":1}`, `{"a":1,"\u0062":1}`, `{"b":1}`},
		},
		{
			"respelt line end", `{"type":"object","properties":{"\n":{"type":"integer"}}}`,
			[]string{`{"\n":1}`},
			[]string{`{"\u000a":"x"}`},
		},
		{"forbidden property", `{"type":"object","properties":{"a":{"not":{}},"b":true}}`, []string{`{"b":1}`, `{"c":1}`, `{}`}, []string{`{"a":1}`, `{"\u0061":1}`}},
		{"dependent", `{"dependentSchemas":{"a":{"required":["b"]}},"type":"object"}`, []string{`{"b":1}`, `{"a":1,"b":1}`, `{}`}, []string{`{"a":1}`, `{"\u0061":1}`, `[]`}},
		{"old tuple", `{"prefixItems":[{"type":"string"}],"additionalItems":false}`, []string{`["a",1]`, `"x"`}, []string{`[1]`}},
		{"anchor", `{"properties":{"x/y":{"$anchor":"n","type":"null"},"z":{"$ref":"#n"},"w":{"$ref":"#/properties/x~1y"}}}`, []string{`{"z":null,"w":null}`}, []string{`{"z":1}`, `{"w":1}`}},
		{
			"referred alternatives", `{"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{"a":{"type":"object","properties":{"k":{"const":"a"},"n":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/a"}]}},"required":["k"]},` +
				`"b":{"type":"object","properties":{"k":{"const":"b"},"v":{"type":"integer"}},"required":["k"]}}}`,
			[]string{`{"k":"a","n":{"k":"a","n":null}}`, `{"k":"b","v":1}`},
			[]string{`{"k":"c"}`, `{"k":"b","v":"x"}`, `{"k":"a","n":{"k":"b"}}`},
		},
		{"numbered alternatives", `{"oneOf":[{"const":1,"title":"one"},{"const":2},{"const":"1"}]}`, []string{"1", "2", `"1"`}, []string{"3"}},
		{"names", `{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"integer"}}`, []string{`{"a":1}`, `{}`}, []string{`{"c":1}`, `{"a":null}`}},
		{"leap day", `{"format":"date"}`, []string{`"2024-02-29"`, `"2000-02-29"`, "5"}, []string{`"2023-02-29"`, `"1900-02-29"`}},
		{"leap second", `{"type":"string","format":"date-time"}`, []string{`"2016-12-31T23:59:60Z"`}, []string{`"2016-12-31T22:59:60Z"`}},
		{"mixed address", `{"type":"string","format":"ipv6"}`, []string{`"::ffff:10.0.0.1"`, `"1::"`}, []string{`"::ffff:10.0.0.256"`, `"1::2::3"`}},
		{"pattern of ECMA 262", `{"type":"string","pattern":"^[[&&]\\s.$"}`, []string{`"[ a"`, "\"&\u00a0a\""}, []string{`"a a"`, `"[\u2028a"`, `"[ \n"`}},
		{"format of a number", `{"type":"integer","format":"int32","uniqueItems":false,"deprecated":true}`, []string{"7"}, []string{`"7"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, text := range c.valid {
				m := start(t, c.schema, grammar.LayoutFree)
				ids := shared.tok.Encode(text, tokenizer.Options{})
				if n := follow(t, m, ids); n != len(ids) {
					t.Errorf("%s: refused after %q", text, shared.tok.Decode(ids[:n], true))
				} else if !m.Accepting() {
					t.Errorf("%s: not complete", text)
				}
			}
			for _, text := range c.invalid {
				m := start(t, c.schema, grammar.LayoutFree)
				ids := shared.tok.Encode(text, tokenizer.Options{})
				if follow(t, m, ids) == len(ids) && m.Accepting() {
					t.Errorf("%s: allowed", text)
				}
			}
		})
	}
}

func TestEnd(t *testing.T) {
	for _, end := range []int32{endOfText, endOfTurn} {
		m := start(t, `{"type":"array","items":{"type":"integer"}}`, grammar.LayoutFree)
		mask := make([]uint32, words(shared.tok))
		if err := m.Mask(mask); err != nil {
			t.Fatal(err)
		}
		if mask[0]&7 != 0 {
			t.Errorf("a control token is allowed at the start: %b", mask[0]&7)
		}
		if err := m.Accept(end); !errors.Is(err, grammar.ErrNotAllowed) {
			t.Errorf("the end is accepted at the start: %v", err)
		}
		if n := follow(t, m, shared.tok.Encode("[12]", tokenizer.Options{})); n == 0 || !m.Accepting() {
			t.Fatal("not complete")
		}
		if err := m.Mask(mask); err != nil {
			t.Fatal(err)
		}
		if mask[0]&7 != 1<<endOfText|1<<endOfTurn {
			t.Errorf("at the end the control tokens %03b are allowed, want both that end a generation", mask[0]&7)
		}
		if err := m.Accept(end); err != nil {
			t.Errorf("token %d: %v", end, err)
		}
		if !m.Stopped() {
			t.Error("not stopped after the end")
		}
	}
}

func TestFastForward(t *testing.T) {
	m := start(t, fileSchema, grammar.LayoutLine)
	var ids []int32
	next, err := m.FastForward()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range next {
		ids = append(ids, id)
		if err := m.Accept(id); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := shared.tok.Decode(ids, true), `{"path": "`; got == "" || !strings.HasPrefix(want, got) {
		t.Errorf("got %q, want a beginning of %q", got, want)
	}
	if want := shared.tok.Encode(`{"path": "`, tokenizer.Options{})[:len(ids)]; !slices.Equal(ids, want) {
		t.Errorf("got the tokens %v, the tokenizer gives %v", ids, want)
	}
}

func TestLark(t *testing.T) {
	text := `start: "<tool>" NAME "(" %json {"type":"integer"} ")" <|tool|>
NAME: "add" | "sub"`
	m, err := shared.engine.Matcher(context.Background(), grammar.Lark(text))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ids := append(shared.tok.Encode("<tool>add(12)", tokenizer.Options{}), toolCall)
	if n := follow(t, m, ids); n != len(ids) || !m.Accepting() {
		t.Errorf("refused after %q", shared.tok.Decode(ids[:n], true))
	}
	_, err = shared.engine.Matcher(context.Background(), grammar.Lark("start: nothing"))
	var refused *grammar.GrammarError
	if !errors.As(err, &refused) {
		t.Errorf("a rule that is not there: got %v, want a GrammarError", err)
	}
}

func TestRefusedByTheEngine(t *testing.T) {
	for schema, path := range map[string]string{
		`{"oneOf":[{"type":"string"},{"type":"string","maxLength":3}]}`:                                                 "/oneOf",
		`{"properties":{"a":{"items":{"type":"string","pattern":"a{2,1}"}},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{}}}`: "/properties/a/items/pattern",
		`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"type":"strange"}]}}}`:                        "/$defs/x/anyOf/0/type",
		`{"not":true}`: "",
		`false`:        "",
	} {
		g, err := grammar.JSONSchema(json.RawMessage(schema), grammar.LayoutFree)
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		m, err := shared.engine.Matcher(context.Background(), g)
		var refused *grammar.SchemaError
		if !errors.As(err, &refused) || refused.Path != path {
			t.Errorf("%s: got %v, %v; want a SchemaError at %q", schema, m, err, path)
		}
	}
}

// TestHostileGrammars checks that each ends soon with an error or a usable matcher, and that the engine goes on.
func TestHostileGrammars(t *testing.T) {
	properties := make([]string, 20_000)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	for name, g := range map[string]string{
		"nested counts":   `{"type":"string","pattern":"^((((a{1,99}){1,99}){1,99}){1,99})$"}`,
		"many properties": `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`,
		"self reference":  `{"$ref":"#"}`,
		"all of itself":   `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		"doubling":        `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"array","items":{"$ref":"#/$defs/a"}}]}}}`,
		"long":            `{"type":"string","minLength":1000000,"maxLength":10000000}`,
	} {
		began := time.Now()
		prepared, err := grammar.JSONSchema(json.RawMessage(g), grammar.LayoutFree)
		if err == nil {
			var m grammar.Matcher
			if m, err = shared.engine.Matcher(context.Background(), prepared); err == nil {
				mask := make([]uint32, words(shared.tok))
				err = m.Mask(mask)
				_ = m.Close()
			}
		}
		if took := time.Since(began); took > defaultTimeout+2*time.Second {
			t.Errorf("%s: it took %v (%v)", name, took, err)
		}
		ok := start(t, `{"const":12}`, grammar.LayoutFree)
		if n := follow(t, ok, shared.tok.Encode("12", tokenizer.Options{})); n == 0 || !ok.Accepting() {
			t.Errorf("after %s the engine is not usable", name)
		}
	}
}

// TestRestart checks that a guest that was stopped takes its matchers with it and that the next grammar works.
func TestRestart(t *testing.T) {
	host := New(Options{Timeout: time.Nanosecond, Cache: shared.cache})
	defer host.Close()
	opened, err := host.Open(context.Background(), shared.tok)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	g, err := grammar.JSONSchema(json.RawMessage(fileSchema), grammar.LayoutFree)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Matcher(context.Background(), g); !errors.Is(err, grammar.ErrLimit) {
		t.Fatalf("got %v, want ErrLimit", err)
	}
	host.options.Timeout = defaultTimeout
	m, err := opened.Matcher(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	host.options.Timeout = time.Nanosecond
	mask := make([]uint32, words(shared.tok))
	if err := m.Mask(mask); !errors.Is(err, grammar.ErrLimit) {
		t.Errorf("got %v, want ErrLimit", err)
	}
	host.options.Timeout = defaultTimeout
	if err := m.Mask(mask); !errors.Is(err, grammar.ErrClosed) || !m.Stopped() {
		t.Errorf("a matcher of a stopped guest: got %v, want ErrClosed", err)
	}
	if _, err := opened.Matcher(context.Background(), g); err != nil {
		t.Errorf("the next grammar: %v", err)
	}
}

func TestConcurrentMatchers(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			text := fmt.Sprintf(`{"a":%d}`, i)
			g, err := grammar.JSONSchema(json.RawMessage(`{"const":`+text+`}`), grammar.LayoutFree)
			if err != nil {
				t.Error(err)
				return
			}
			for range 10 {
				m, err := shared.engine.Matcher(context.Background(), g)
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range shared.tok.Encode(text, tokenizer.Options{}) {
					if err := m.Accept(id); err != nil {
						t.Errorf("%s: %v", text, err)
					}
				}
				if !m.Accepting() {
					t.Errorf("%s: not complete", text)
				}
				_ = m.Close()
			}
		})
	}
	wg.Wait()
}

func TestClosed(t *testing.T) {
	m := start(t, `true`, grammar.LayoutFree)
	if err := m.Mask(nil); err == nil {
		t.Error("a mask without room is no error")
	}
	if err := m.Accept(-1); !errors.Is(err, grammar.ErrNotAllowed) {
		t.Errorf("token -1: got %v", err)
	}
	_ = m.Close()
	if err := m.Accept(5); !errors.Is(err, grammar.ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
	if m.Accepting() || !m.Stopped() {
		t.Error("a closed matcher is not stopped")
	}
}

func FuzzSchema(f *testing.F) {
	for _, seed := range []string{fileSchema, `{"type":["string","null"],"format":"date"}`, `{"allOf":[{"minimum":1},{"type":"integer"}]}`} {
		f.Add(seed, `{"path":"a"`)
	}
	f.Fuzz(func(t *testing.T, schema, text string) {
		g, err := grammar.JSONSchema(json.RawMessage(schema), grammar.LayoutLine)
		if err != nil {
			return
		}
		m, err := shared.engine.Matcher(context.Background(), g)
		if err != nil {
			var refused *grammar.SchemaError
			if !errors.As(err, &refused) && !errors.Is(err, grammar.ErrLimit) {
				t.Fatal(err)
			}
			return
		}
		defer m.Close()
		mask := make([]uint32, words(shared.tok))
		for _, id := range shared.tok.Encode(text, tokenizer.Options{}) {
			if err := m.Mask(mask); err != nil {
				return
			}
			allowed := mask[id/32]>>(id%32)&1 == 1
			if err := m.Accept(id); allowed && err != nil {
				t.Fatalf("%s, %q: token %d is in the mask and not accepted: %v", schema, text, id, err)
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	m := start(b, fileSchema, grammar.LayoutFree)
	for _, id := range shared.tok.Encode(`{"path":"a`, tokenizer.Options{}) {
		if err := m.Accept(id); err != nil {
			b.Fatal(err)
		}
	}
	mask := make([]uint32, words(shared.tok))
	for b.Loop() {
		if err := m.Mask(mask); err != nil {
			b.Fatal(err)
		}
	}
}
