package grammar

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/pooled/pooled/core/tokenizer"
)

func TestRefusedKeywords(t *testing.T) {
	for _, c := range []struct{ schema, path, reason string }{
		{`{"not":{"type":"null"}}`, "/not", "cannot be enforced"},
		{`{"properties":{"a/b":{"properties":{"~x":{"uniqueItems":true}}}}}`, "/properties/a~1b/properties/~0x/uniqueItems", "cannot be enforced"},
		{`{"anyOf":[{},{"if":{},"then":{}}]}`, "/anyOf/1/if", "cannot be enforced"},
		{`{"items":[{"contains":{"const":1}}]}`, "/items/0/contains", "cannot be enforced"},
		{`{"items":{"propertyNames":{"format":"date"}}}`, "/items/propertyNames", "cannot be enforced"},
		{`{"prefixItems":[true,{"dependentRequired":[]}]}`, "/prefixItems/1/dependentRequired", "must be an object"},
		{`{"$defs":{"x":{"allOf":[{}],"unevaluatedProperties":false}}}`, "/$defs/x/unevaluatedProperties", "cannot be enforced"},
		{`{"additionalProperties":{"patternProperties":{"^a":{"$dynamicRef":"#x"}}}}`, "/additionalProperties/patternProperties/^a/$dynamicRef", "cannot be enforced"},
		{`{"type":"object","x-guidance":{"lenient":true}}`, "/x-guidance", "cannot be enforced"},
		{`{"type":"string","format":"regex"}`, "/format", `"regex"`},
		{`{"type":["null","string"],"format":"color"}`, "/format", `"color"`},
		{`{"format":5}`, "/format", "a format is a string"},
		{`{"$ref":"http://example.com/x"}`, "/$ref", "only references into the schema itself"},
		{`{"$ref":"#name"}`, "/$ref", "there is no schema at \"#name\""},
		{`{"$ref":"#/x","x":{"uniqueItems":true}}`, "/$ref", "there is no schema at"},
		{`{"properties":{"a":{"$id":"b","$ref":"#"}}}`, "/properties/a/$ref", "$id of its own"},
		{`{"properties":{"a":{"not":{"type":"null"}}},"$ref":"#/properties/a"}`, "/properties/a/not", "cannot be enforced"},
		{`{"enum":[1,[12345678901234567]]}`, "/enum/1/0", "too many digits"},
		{`{"maximum":1e30}`, "/maximum", "too many digits"},
		{`{"allOf":[{"multipleOf":70001},{"multipleOf":70002}]}`, "/allOf/1/multipleOf", "too large to be combined"},
		{`{"minItems":1.5}`, "/minItems", "whole number"},
		{`{"minProperties":2,"required":[]}`, "/minProperties", "cannot be enforced"},
		{`{"pattern":"a(?=b)"}`, "/pattern", `"(?=b"`},
		{`{"pattern":"[a--b]"}`, "/pattern", `"--"`},
		{`{"patternProperties":{"\\bx":true}}`, "/patternProperties/\\bx", "in a pattern"},
		{`{"dependentRequired":{"a":["b"],"b":["c"],"c":["d"],"d":["e"],"e":["f"],"f":["g"],"g":["a"]}}`, "", "too many alternatives"},
		{`{"properties":{"a":5}}`, "/properties/a", "must be an object or a boolean"},
		{`{"properties":[]}`, "/properties", "must be an object"},
		{`5`, "", "must be an object or a boolean"},
		{`{`, "", "not JSON"},
		{`{} {}`, "", "not JSON"},
		{strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100), "", "nested more than 64 deep"},
	} {
		_, err := JSONSchema(json.RawMessage(c.schema), LayoutFree)
		var refused *SchemaError
		if !errors.As(err, &refused) || refused.Path != c.path || !strings.Contains(refused.Reason, c.reason) {
			t.Errorf("%s: got %v, want %s: …%s…", c.schema, err, c.path, c.reason)
		}
	}
}

func TestTranslatedPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{`^a{2,3}(?:b|c)*$`, `^a{2,3}(?:b|c)*$`},
		{`[[&~^]\/é`, `[\[\&\~\^]/é`},
		{`[^]`, `(?s:.)`},
		{`\S[\b\d-]}\0`, `[^` + spaces + `][\x08\d-]\}\x00`},
		{`\u00e9\p{L}(?<x>y)`, `\u00e9\p{L}(?<x>y)`},
	} {
		if got, err := translate(c.pattern); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.pattern, got, err, c.want)
		}
	}
	for _, pattern := range []string{`(?i)a`, `(?<!a)b`, `\b`, `\1`, `\A`, `\z`, `a{,2}`, `{`, `[]`, `[a`, `\`, `[a--b]`, `\pL`, `\x{41}`, `\cA`} {
		if got, err := translate(pattern); err == nil {
			t.Errorf("%s became %s, want an error", pattern, got)
		}
	}
}

func TestPreparedSchema(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`true`, `true`},
		{`{"z":1e3,"a":{"type":"x"},"properties":{"b":{"deprecated":true,"uniqueItems":false},"a":true}}`, `{"z":1e3,"a":{"type":"x"},"properties":{"b":{},"a":true},`},
		{`{"type":"integer","format":"int32","enum":["<&>\u2028"]}`, `{"type":"integer","enum":["\u003c\u0026\u003e\u2028"],`},
		{`{"properties":{"not":{"type":"string"},"format":{"type":"string"}},"required":["not"]}`, `{"properties":{"not":{"type":"string"},"format":{"type":"string"}},"required":["not"],"patternProperties":{"":true},"additionalProperties":false,`},
		{`{"properties":{"a":true},"additionalProperties":{"type":"null"}}`, `{"properties":{"a":true},"additionalProperties":{"type":"null"},"x-guidance":{"whitespace_flexible":false,"item_separator":", ","key_separator":": ","json_allowed_escapes":"nrbtf\\\"",`},
		{`{"not":{},"then":false,"minContains":2,"unevaluatedItems":true}`, `{"allOf":[false],`},
		{`{"prefixItems":[true],"additionalItems":false}`, `{"prefixItems":[true],`},
		{`{"items":[true],"additionalItems":false}`, `{"items":[true],"additionalItems":false,`},
		{`{"unevaluatedProperties":false,"minLength":2.0}`, `{"minLength":2,"additionalProperties":false,`},
		{`{"propertyNames":{"pattern":"^."},"additionalProperties":{"type":"null"}}`, `{"additionalProperties":false,"patternProperties":{"^[^\\n\\r\\x{2028}\\x{2029}]":{"type":"null"}},`},
		{`{"propertyNames":{"enum":["a"]}}`, `{"additionalProperties":false,"properties":{"a":true},`},
		{`{"propertyNames":{"minLength":2}}`, `{"additionalProperties":false,"patternProperties":{"^(?s:.{2,})$":true},`},
		{`{"properties":{"a":true},"enum":[{}],"additionalProperties":false}`, `{"properties":{"a":true},"additionalProperties":false,"enum":[{}],`},
		{`{"oneOf":[{"const":1},{"enum":[2,"1"]}]}`, `{"anyOf":[{"const":1},{"enum":[2,"1"]}],`},
		{`{"oneOf":[{"const":1},{"const":1.0}]}`, `{"oneOf":[`},
		{`{"anyOf":[true],"oneOf":[{"type":"integer"},{"type":["null","string"]}]}`, `{"anyOf":[true],"allOf":[{"anyOf":[`},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `{"oneOf":[`},
		{`{"oneOf":[{"required":["a"]},{"properties":{"b":true},"additionalProperties":false}]}`, `{"oneOf":[`},
		{`{"oneOf":[{"type":"object","required":["a"]},{"properties":{"b":true},"additionalProperties":false}]}`, `{"anyOf":[`},
		{`{"oneOf":[{"type":"object","required":["a"]},{"properties":{"b":true}}]}`, `{"oneOf":[`},
		{`{"type":"object","oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":1}}},{"properties":{"k":{"allOf":[{"const":2}]}}}]}`, `{"type":"object","anyOf":[`},
		{`{"oneOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"string"}}}`, `{"anyOf":[{"$ref":"#/$defs/a"},`},
		{`{"$ref":"#x","$defs":{"a/b":{"$anchor":"x"}}}`, `{"$ref":"#/$defs/pooled:0","$defs":{"a/b":{"$anchor":"x"},"pooled:0":{"$anchor":"x"}},`},
		{`{"$id":"http://x/y","properties":{"~":{"$ref":"http://x/y#/properties/~0"}},"additionalProperties":false}`, `{"$id":"http://x/y","properties":{"~":{"$ref":"#/$defs/pooled:0"}},"additionalProperties":false,"$defs":{"pooled:0":{"$ref":"#/$defs/pooled:0"}},`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"allOf":[{"anyOf":[{"properties":{"a":false},"patternProperties":{"":true},"additionalProperties":false},{"required":["a"],"allOf":[{"required":["b"]}]}]}],`},
		{`{"const":{"not":1},"default":{"if":1},"examples":[{"contains":1}]}`, `{"const":{"not":1},"default":{"if":1},"examples":[{"contains":1}],`},
		{`{"type":"string","type":"null"}`, `{"type":"null",`},
	} {
		g, err := JSONSchema(json.RawMessage(c.schema), LayoutLine)
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if !strings.HasPrefix(g.Text, c.want) || !json.Valid([]byte(g.Text)) {
			t.Errorf("%s: got %s, want %s…", c.schema, g.Text, c.want)
		}
	}
}

// fakeEngine counts its Close calls.
type fakeEngine struct{ closed *int }

func (f fakeEngine) Matcher(context.Context, Grammar) (Matcher, error) { return nil, nil }
func (f fakeEngine) Close() error                                      { *f.closed++; return nil }

func TestCache(t *testing.T) {
	var mu sync.Mutex
	opened, closed := 0, 0
	fail := errors.New("no")
	c := NewCache(func(context.Context, *tokenizer.Tokenizer) (Engine, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened++; opened == 1 {
			return nil, fail
		}
		return fakeEngine{&closed}, nil
	})
	a, b := new(tokenizer.Tokenizer), new(tokenizer.Tokenizer)
	if _, err := c.Engine(context.Background(), a); !errors.Is(err, fail) {
		t.Errorf("got %v, want the error of open", err)
	}
	c.Warm(a)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := c.Engine(context.Background(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := c.Engine(context.Background(), b); err != nil {
		t.Error(err)
	}
	if opened != 3 {
		t.Errorf("opened %d times, want 3", opened)
	}
	if err := c.Drop(b); err != nil || closed != 1 {
		t.Errorf("after Drop %d engines are closed (%v), want 1", closed, err)
	}
	if err := c.Close(); err != nil || closed != 2 {
		t.Errorf("after Close %d engines are closed (%v), want 2", closed, err)
	}
	if _, err := c.Engine(context.Background(), a); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	slow := NewCache(func(context.Context, *tokenizer.Tokenizer) (Engine, error) {
		mu.Lock() // waits until the test lets go
		defer mu.Unlock()
		return fakeEngine{&closed}, nil
	})
	mu.Lock()
	if _, err := slow.Engine(ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	mu.Unlock()
	if err := slow.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzJSONSchema(f *testing.F) {
	f.Add(`{"properties":{"a":{"uniqueItems":false}},"items":[true,{"format":"date"}]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		g, err := JSONSchema(json.RawMessage(schema), LayoutFree)
		if err == nil && !json.Valid([]byte(g.Text)) {
			t.Errorf("%q became %q", schema, g.Text)
		}
	})
}
