package toolcall

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/grammar"
)

var update = flag.Bool("update", false, "write the golden files")

// grammarTools have every kind of parameter.
var grammarTools = []Tool{
	{"write_file", schemaOf(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
	{"set", schemaOf(`{"type":"object","properties":{"n":{"type":"integer","minimum":0},"on":{"type":"boolean"},"mode":{"enum":["a","b"]},` +
		`"tags":{"type":"array","items":{"$ref":"#/$defs/tag"}},"note":{"type":"string","maxLength":20}},"required":["n"],"$defs":{"tag":{"type":"string"}}}`)},
	{"serve", nil},
}

// switches are what core/grammar tells the engine in every schema; they are its own business.
var switches = regexp.MustCompile(`,"x-guidance":\{[^}]*\}`)

// TestGolden compares the grammars with the files of testdata/grammar. sandbox/grammar's tests compile such grammars.
func TestGolden(t *testing.T) {
	token := func(marker string) (int32, bool) { return 7, strings.HasPrefix(marker, "[") }
	for name, choice := range map[string]Choice{
		"auto": {}, "required": {Need: Required, Many: true}, "named": {Need: Required, Name: "set"}, "tokens": {Need: Required, Token: token},
	} {
		for _, format := range []Format{QwenXML, HermesJSON, LlamaJSON, MistralJSON, MistralArgs} {
			all, err := Constraints(format, grammarTools, choice)
			if err != nil {
				t.Errorf("%v %s: %v", format, name, err)
				continue
			}
			var b strings.Builder
			for _, c := range all {
				if c.Grammar.Kind != grammar.KindLark || (c.Trigger == "") != (choice.Need == Required) {
					t.Errorf("%v %s: %+v", format, name, c)
				}
				b.WriteString("// trigger " + string(quote(c.Trigger)) + "\n" + switches.ReplaceAllString(c.Grammar.Text, ""))
			}
			path := filepath.Join("testdata", "grammar", format.String()+"-"+name+".lark")
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("%s:\n got %s\nwant %s", path, b.String(), want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	one := func(schema string) []Tool { return []Tool{{"t", schemaOf(schema)}} }
	cases := []struct {
		name   string
		format Format
		tools  []Tool
		path   string
	}{
		{"a keyword that cannot be enforced", HermesJSON, one(`{"type":"object","properties":{"a":{"not":{"type":"null"}}}}`), "/tools/0/parameters/properties/a/not"},
		{"deeper", LlamaJSON, one(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","uniqueItems":true}}}}`), "/tools/0/parameters/properties/a/items/uniqueItems"},
		{"in the second tool", MistralArgs, append(one(`{}`), Tool{"u", schemaOf(`{"if":{},"then":false}`)}), "/tools/1/parameters/if"},
		{"the engine's switches", HermesJSON, one(`{"type":"object","x-guidance":{"lenient":true}}`), "/tools/0/parameters/x-guidance"},
		{"no object", HermesJSON, one(`{"type":"array"}`), "/tools/0/parameters/type"},
		{"an unknown format", MistralJSON, one(`{"type":"object","properties":{"a":{"type":"string","format":"color"}}}`), "/tools/0/parameters/properties/a/format"},
		{"a pattern in text", QwenXML, one(`{"type":"object","properties":{"a/b":{"type":"string","pattern":"x"}}}`), "/tools/0/parameters/properties/a~1b/pattern"},
		{"a format in text", QwenXML, one(`{"type":"object","properties":{"a":{"type":"string","format":"date"}}}`), "/tools/0/parameters/properties/a/format"},
		{"a long text", QwenXML, one(`{"type":"object","properties":{"a":{"type":"string","maxLength":9999}}}`), "/tools/0/parameters/properties/a/maxLength"},
		{"alternatives of arguments in XML", QwenXML, one(`{"type":"object","anyOf":[{}]}`), "/tools/0/parameters/anyOf"},
		{"a pattern behind a reference", QwenXML, one(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"string","pattern":"x"}}}`), "/tools/0/parameters/properties/a/pattern"},
		{"a reference to a sibling", QwenXML, one(`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/properties/b"}},"b":{"type":"number"}}}`), "/tools/0/parameters/properties/a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Constraints(c.format, c.tools, Choice{})
			var s *grammar.SchemaError
			if !errors.As(err, &s) || s.Path != c.path || s.Reason == "" {
				t.Errorf("got %v, want a refusal at %s", err, c.path)
			}
		})
	}
	for name, c := range map[string]struct {
		format Format
		tools  []Tool
		choice Choice
		want   error
	}{
		"no format": {None, grammarTools, Choice{}, ErrFormat},
		"no tools":  {QwenXML, nil, Choice{}, ErrTool},
		"no such":   {QwenXML, grammarTools, Choice{Name: "fly"}, ErrTool},
	} {
		if _, err := Constraints(c.format, c.tools, c.choice); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestResponseFormat(t *testing.T) {
	for name, c := range map[string]struct {
		format, path string
		ok           bool
	}{
		"text":    {`{"type":"text"}`, "", false},
		"object":  {`{"type":"json_object"}`, "", true},
		"schema":  {`{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}`, "", true},
		"none":    {`{"type":"json_schema"}`, "/response_format/json_schema/schema", false},
		"refused": {`{"type":"json_schema","json_schema":{"schema":{"not":{"type":"null"}}}}`, "/response_format/json_schema/schema/not", false},
		"unknown": {`{"type":"xml"}`, "/response_format/type", false},
		"no JSON": {`[`, "/response_format", false},
	} {
		g, ok, err := ResponseFormat(json.RawMessage(c.format))
		var s *grammar.SchemaError
		if ok != c.ok || (g.Text != "") != c.ok || (c.path != "") != errors.As(err, &s) || s != nil && s.Path != c.path {
			t.Errorf("%s: got %+v %v %v", name, g, ok, err)
		}
	}
}
