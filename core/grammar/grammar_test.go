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
		{`{"not":{}}`, "/not", "cannot be enforced"},
		{`{"properties":{"a/b":{"properties":{"~x":{"uniqueItems":true}}}}}`, "/properties/a~1b/properties/~0x/uniqueItems", "cannot be enforced"},
		{`{"anyOf":[{},{"if":{},"then":{}}]}`, "/anyOf/1/if", "cannot be enforced"},
		{`{"items":[{"contains":{}}]}`, "/items/0/contains", "cannot be enforced"},
		{`{"items":{"propertyNames":{}}}`, "/items/propertyNames", "cannot be enforced"},
		{`{"prefixItems":[true,{"dependentRequired":{}}]}`, "/prefixItems/1/dependentRequired", "cannot be enforced"},
		{`{"$defs":{"x":{"unevaluatedProperties":false}}}`, "/$defs/x/unevaluatedProperties", "cannot be enforced"},
		{`{"additionalProperties":{"patternProperties":{"^a":{"$dynamicRef":"#x"}}}}`, "/additionalProperties/patternProperties/^a/$dynamicRef", "cannot be enforced"},
		{`{"type":"object","x-guidance":{"lenient":true}}`, "/x-guidance", "cannot be enforced"},
		{`{"type":"string","format":"regex"}`, "/format", `"regex"`},
		{`{"type":["null","string"],"format":"color"}`, "/format", `"color"`},
		{`{"format":5}`, "/format", "a format is a string"},
		{`{"$ref":"http://example.com/x"}`, "/$ref", "only references into the schema itself"},
		{`{"$ref":"#name"}`, "/$ref", "only references into the schema itself"},
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

func TestPreparedSchema(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`true`, `true`},
		{`{"z":1e3,"a":{"type":"x"},"properties":{"b":{"deprecated":true,"uniqueItems":false},"a":true}}`, `{"z":1e3,"a":{"type":"x"},"properties":{"b":{},"a":true},`},
		{`{"type":"integer","format":"int32","enum":["<&>\u2028"]}`, `{"type":"integer","enum":["\u003c\u0026\u003e\u2028"],`},
		{`{"properties":{"not":{"type":"string"},"format":{"type":"string"}},"required":["not"]}`, `{"properties":{"not":{"type":"string"},"format":{"type":"string"}},"required":["not"],`},
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
