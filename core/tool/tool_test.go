package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/core/tool"
)

const schema = `{"type":"object","properties":{
	"path":{"type":"string","description":"a file","minLength":1,"maxLength":10},
	"n":{"type":"integer","minimum":1,"maximum":9},
	"x":{"type":"number"},
	"all":{"type":"boolean"},
	"how":{"type":"string","enum":["fast","slow"]},
	"list":{"type":"array","items":{"type":"integer"},"maxItems":3},
	"o":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]},
	"free":{"type":"object","additionalProperties":true}
},"required":["path"]}`

func TestArguments(t *testing.T) {
	s, err := tool.ParseSchema(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, out, problem string }{
		{`{"path":"a"}`, `{"path":"a"}`, ""},
		{` {"path":"a","n":3,"x":1.50,"all":true} `, `{"all":true,"n":3,"path":"a","x":1.5}`, ""},
		{`{"path":12}`, "", "path must be a string, not 12"},
		{`{"path":"a","n":"3"}`, "", `n must be a whole number, not "3"`},
		{`{"path":"a","x":"1.5"}`, "", `x must be a number, not "1.5"`},
		{`{"path":"a","all":"True"}`, "", `all must be true or false, not "True"`},
		{`{"path":"a","n":null}`, "", "n must be a whole number, not null"},
		{`{"path":"a","n":2.0}`, `{"n":2,"path":"a"}`, ""},
		{`{"path":"a","list":[1,2],"o":{"k":"v"},"free":{"any":[1]}}`, `{"free":{"any":[1]},"list":[1,2],"o":{"k":"v"},"path":"a"}`, ""},
		{``, "", "path is missing (a file)"},
		{`null`, "", "path is missing"},
		{`[]`, "", "the arguments must be a JSON object, not an array"},
		{`{"path":"a"`, "", "not JSON"},
		{`{"path":"a"} {}`, "", "something follows"},
		{`{"path":null}`, "", "path must be a string, not null"},
		{`{"path":""}`, "", "path must have at least 1 characters"},
		{`{"path":"ééééééééééé"}`, "", "path must have at most 10 characters"},
		{`{"path":"a","file":"b"}`, "", `there is no argument "file"`},
		{`{"path":"a","n":"ten"}`, "", `n must be a whole number, not "ten"`},
		{`{"path":"a","n":1.5}`, "", "n must be a whole number, not 1.5"},
		{`{"path":"a","n":0}`, "", "n must be at least 1"},
		{`{"path":"a","n":10}`, "", "n must be at most 9"},
		{`{"path":"a","n":1e400}`, "", "n must be a whole number"},
		{`{"path":"a","x":"NaN"}`, "", "x must be a number"},
		{`{"path":"a","all":1}`, "", "all must be true or false, not 1"},
		{`{"path":"a","how":"best"}`, "", `how must be one of fast, slow, not "best"`},
		{`{"path":"a","list":[1,2,3,4]}`, "", "list must have at most 3 elements"},
		{`{"path":"a","list":[1,"x"]}`, "", `list[1] must be a whole number, not "x"`},
		{`{"path":"a","o":{}}`, "", "o.k is missing"},
	} {
		got, err := s.Arguments("do", json.RawMessage(c.in))
		var bad *tool.ArgumentError
		switch {
		case c.problem == "" && (err != nil || string(got) != c.out):
			t.Errorf("%s: got %s, %v; want %s", c.in, got, err, c.out)
		case c.problem != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: got %v, want %q", c.in, err, c.problem)
		case c.problem != "" && !strings.HasSuffix(err.Error(), "Usage: do(path, n?, x?, all?, how?, list?, o?, free?)"):
			t.Errorf("%s: %v does not say the usage", c.in, err)
		}
	}
}

func TestParseSchema(t *testing.T) {
	for _, c := range []struct{ in, path string }{
		{``, "parameters"},
		{`{`, "parameters"},
		{`[]`, "parameters"},
		{`{}`, "parameters.type"},
		{`{"type":"string"}`, "parameters.type"},
		{`{"type":["object"]}`, "parameters.type"},
		{`{"type":"object","type":"object"}`, "parameters"},
		{`{"type":"object","oneOf":[]}`, "parameters.oneOf"},
		{`{"type":"object","properties":{"a":{"type":"strin"}}}`, "parameters.properties.a.type"},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`, "parameters.properties.a.pattern"},
		{`{"type":"object","required":["a"]}`, "parameters.required"},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"any"}}}}`, "parameters.properties.a.items.type"},
		{`{"type":"object"} x`, "parameters"},
		{strings.Repeat(`{"type":"object","properties":{"a":`, 40), "parameters"},
	} {
		_, err := tool.ParseSchema(json.RawMessage(c.in))
		var bad *tool.SchemaError
		if !errors.As(err, &bad) || bad.Path != c.path || !errors.Is(err, tool.ErrSchema) {
			t.Errorf("%.60s: got %v, want an error at %s", c.in, err, c.path)
		}
	}
}

func TestReadSchema(t *testing.T) {
	for _, in := range []string{``, `{`, `[]`, `{"properties":1}`, `{} {}`} {
		if _, err := tool.ReadSchema(json.RawMessage(in)); !errors.Is(err, tool.ErrSchema) {
			t.Errorf("%q: got %v, want ErrSchema", in, err)
		}
	}
	s, err := tool.ReadSchema(json.RawMessage(`{"properties":{
		"a":{"type":"integer"},"b":{"type":["string","null"]},"c":{"$ref":"#/$defs/d"},"d":{"enum":[1,"x"]},"e":{"const":true},
		"f":{"anyOf":[{"type":"array"},{"$ref":"#/definitions/o"}]},"g":{"anyOf":[{"type":"array"},{}]},"h":true,
		"i":{"$ref":"#/$defs/loop"},"j":{"allOf":[{"type":"number"}]},"k":{"type":"color"},"l":{"$ref":"elsewhere"}
	},"required":["a","z"],"$defs":{"d":{"type":"boolean"},"loop":{"$ref":"#/$defs/loop"}},"definitions":{"o":{"type":"object"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a": "a whole number", "b": "a string or null", "c": "true or false", "d": "a string or a number", "e": "true or false",
		"f": "a JSON array or a JSON object", "g": "anything", "h": "anything", "i": "anything", "j": "a number", "k": "anything", "l": "anything",
	}
	for _, p := range s.Properties {
		if got := p.Schema.Types.String(); got != want[p.Name] || p.Required != (p.Name == "a") {
			t.Errorf("%s is %s, required %v; want %s", p.Name, got, p.Required, want[p.Name])
		}
	}
	if len(s.Properties) != len(want) {
		t.Errorf("%d properties, want %d", len(s.Properties), len(want))
	}
}

// TestReadSchemaTime reads alternatives of alternatives, of which following each would take years.
func TestReadSchemaTime(t *testing.T) {
	raw := `{"properties":{"a":{"$ref":"#/$defs/x0"}},"$defs":{`
	for i := range 3 {
		raw += fmt.Sprintf(`"x%d":{"anyOf":[%s{"type":"null"}]},`, i, strings.Repeat(fmt.Sprintf(`{"$ref":"#/$defs/x%d"},`, i+1), 1000))
	}
	raw += `"x3":{"type":"string"}}}`
	s, err := tool.ReadSchema(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Properties[0].Schema.Types, tool.String|tool.Null; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzArguments checks that what passes fits when it is checked again, and is then the same.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"path":"a","n":"3"}`, `{"path":1e3}`, `{"path":"\ud800"}`, `[[`, `{"list":[null]}`} {
		f.Add(s)
	}
	s, err := tool.ParseSchema(json.RawMessage(schema))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := s.Arguments("do", json.RawMessage(in))
		if err != nil {
			if bad := (*tool.ArgumentError)(nil); !errors.As(err, &bad) || len(bad.Problems) == 0 {
				t.Fatal(err)
			}
			return
		}
		again, err := s.Arguments("do", got)
		if err != nil || string(again) != string(got) {
			t.Errorf("%q: %s, then %s, %v", in, got, again, err)
		}
		var a struct {
			Path string
			N    int
			X    float64
			All  bool
			List []int
		}
		if err := json.Unmarshal(got, &a); err != nil {
			t.Errorf("%q: %s: %v", in, got, err)
		}
	})
}

// FuzzParseSchema checks that a schema that was read can be used.
func FuzzParseSchema(f *testing.F) {
	f.Add(schema)
	f.Add(`{"type":"object"}`)
	f.Fuzz(func(t *testing.T, in string) {
		s, err := tool.ParseSchema(json.RawMessage(in))
		if err != nil {
			if !errors.Is(err, tool.ErrSchema) {
				t.Fatal(err)
			}
			return
		}
		_, _ = s.Arguments("do", json.RawMessage(`{"path":"a"}`))
		_ = s.Usage("do")
	})
}

// FuzzReadSchema checks that what ParseSchema understands ReadSchema reads the same way.
func FuzzReadSchema(f *testing.F) {
	f.Add(schema)
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`)
	f.Fuzz(func(t *testing.T, in string) {
		s, err := tool.ReadSchema(json.RawMessage(in))
		if err != nil {
			if !errors.Is(err, tool.ErrSchema) {
				t.Fatal(err)
			}
			return
		}
		strict, err := tool.ParseSchema(json.RawMessage(in))
		if err != nil {
			return
		}
		if len(s.Properties) != len(strict.Properties) || s.Extra != strict.Extra {
			t.Fatalf("%q: read %+v, parsed %+v", in, s, strict)
		}
		for i, p := range strict.Properties {
			if got := s.Properties[i]; got.Name != p.Name || got.Required != p.Required || got.Schema.Types != p.Schema.Types {
				t.Errorf("%q: read %+v, parsed %+v", in, got, p)
			}
		}
	})
}

// set is a set of one tool that does what call says.
type set struct {
	info tool.Info
	call func(tool.Call) (tool.Result, error)
}

func (s set) Info() tool.Info                                          { return s.info }
func (s set) Open(context.Context, tool.Project) (tool.Session, error) { return s, nil }
func (s set) Close() error                                             { return nil }
func (s set) Call(_ context.Context, c tool.Call) (tool.Result, error) { return s.call(c) }

func one(call func(tool.Call) (tool.Result, error)) set {
	return set{tool.Info{Name: "one", Contract: 1, Tools: []tool.Spec{{
		Name: "do", Description: "Does it.", Class: tool.Read, Parameters: json.RawMessage(`{"type":"object"}`),
	}}}, call}
}

func TestChecked(t *testing.T) {
	answer := func(r tool.Result, err error) func(tool.Call) (tool.Result, error) {
		return func(tool.Call) (tool.Result, error) { return r, err }
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		call tool.Call
		do   func(tool.Call) (tool.Result, error)
		text string
		err  error
	}{
		{"fine", t.Context(), tool.Call{Name: "do"}, answer(tool.Result{Text: "x"}, nil), "x", nil},
		{"an error is a result", t.Context(), tool.Call{Name: "do"}, answer(tool.Result{}, errors.New("bad luck")), "error: bad luck", nil},
		{"a fault is an error", t.Context(), tool.Call{Name: "do"}, answer(tool.Result{}, &tool.FaultError{Set: "one", Err: errors.New("x")}), "", tool.ErrFault},
		{"a panic", t.Context(), tool.Call{Name: "do"}, func(tool.Call) (tool.Result, error) { panic("x") }, "", tool.ErrFault},
		{"no UTF-8", t.Context(), tool.Call{Name: "do"}, answer(tool.Result{Text: "a\xff"}, nil), "a\uFFFD", nil},
		{"too long", t.Context(), tool.Call{Name: "do"}, answer(tool.Result{Text: strings.Repeat("x", tool.MaxText+1)}, nil), "", tool.ErrFault},
		{"data is no JSON", t.Context(), tool.Call{Name: "do"}, answer(tool.Result{Data: json.RawMessage("{")}, nil), "", tool.ErrFault},
		{"unknown tool", t.Context(), tool.Call{Name: "no"}, answer(tool.Result{Text: "x"}, nil), `error: there is no tool "no"; there are do`, nil},
		{"a dry run that is not honoured", t.Context(), tool.Call{Name: "do", DryRun: true}, answer(tool.Result{Text: "done!"}, nil), "", nil},
		{"cancelled", gone, tool.Call{Name: "do"}, answer(tool.Result{Text: "x"}, nil), "", context.Canceled},
	} {
		s, err := tool.Checked(one(c.do)).Open(t.Context(), tool.Project{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Call(c.ctx, c.call)
		if r.Text != c.text || !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
			t.Errorf("%s: got %.40q, %v; want %q, %v", c.name, r.Text, err, c.text, c.err)
		}
	}
}

func TestInfoCheck(t *testing.T) {
	for name, change := range map[string]func(*tool.Info){
		"a name":        func(i *tool.Info) { i.Name = "One Set" },
		"the contract":  func(i *tool.Info) { i.Contract = 3 },
		"no tools":      func(i *tool.Info) { i.Tools = nil },
		"a tool's name": func(i *tool.Info) { i.Tools[0].Name = "do-it" },
		"twice":         func(i *tool.Info) { i.Tools = append(i.Tools, i.Tools[0]) },
		"a description": func(i *tool.Info) { i.Tools[0].Description = " " },
		"a class":       func(i *tool.Info) { i.Tools[0].Class = "all" },
		"a schema":      func(i *tool.Info) { i.Tools[0].Parameters = nil },
	} {
		info := one(nil).info
		if err := info.Check(); err != nil {
			t.Fatal(err)
		}
		change(&info)
		if info.Check() == nil {
			t.Errorf("%s is not checked", name)
		}
		if _, err := tool.Checked(set{info: info}).Open(t.Context(), tool.Project{}); !errors.Is(err, tool.ErrFault) {
			t.Errorf("%s: Open: %v, want ErrFault", name, err)
		}
	}
}

// TestDeadline tells the caller's deadline from one of the tool's own.
func TestDeadline(t *testing.T) {
	// A process may report the deadline before the context does.
	s, err := tool.Checked(one(func(tool.Call) (tool.Result, error) { return tool.Result{}, context.DeadlineExceeded })).Open(t.Context(), tool.Project{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
	defer cancel()
	if _, err := s.Call(ctx, tool.Call{Name: "do"}); err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if r, err := s.Call(t.Context(), tool.Call{Name: "do"}); err != nil || !r.IsError {
		t.Errorf("without a deadline: %+v, %v; want a result", r, err)
	}
}
