package toolcall

import (
	"strings"
	"testing"
)

// TestMendArguments mends what a schema says how to read, at any depth, and nothing where repairs are switched off.
func TestMendArguments(t *testing.T) {
	tools := []Tool{{"do", schemaOf(`{"type":"object","properties":{
		"path":{"type":"string"},"n":{"type":"integer"},"all":{"type":"boolean"},"list":{"type":"array","items":{"type":"integer"}},
		"o":{"type":"object","properties":{"k":{"type":"string"},"n":{"type":"number"}},"required":["k"]},"maybe":{"type":["string","null"]}
	},"required":["path"]}`)}, {"free", schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`)}}
	for _, c := range []struct{ name, tool, in, out, repaired string }{
		{"nothing to mend", "do", `{"path": "a", "n": 1, "list": [1, 2], "o": {"k": "v"}}`, "", ""},
		{"a number in a string", "do", `{"path": "a", "n": "10"}`, `{"path": "a", "n": 10}`, "read parameter n out of a string"},
		{"a truth value in a string", "do", `{"path": "a", "all": "True"}`, `{"path": "a", "all": true}`, "read parameter all out of a string"},
		{"a number for a string", "do", `{"path": 12}`, `{"path": "12"}`, "read parameter path as a string"},
		{"null for what may be left out", "do", `{"path": "a", "n": null}`, `{"path": "a"}`, "read null as no n"},
		{"null that is meant", "do", `{"path": "a", "maybe": null}`, "", ""},
		{"null for what must be there", "do", `{"path": null}`, "", ""},
		{"words of the schema", "do", `{"path": "a", "required": ["path"], "type": "object"}`, `{"path": "a"}`, "dropped required, a word of the schema; dropped type, a word of the schema"},
		{"a word of the schema where names are free", "free", `{"a": "x", "type": "y"}`, "", ""},
		{"elements", "do", `{"path": "a", "list": ["1", 2]}`, `{"path": "a", "list": [1, 2]}`, "read parameter list[0] out of a string"},
		{"an array in a string", "do", `{"path": "a", "list": "['1', 2]"}`, `{"path": "a", "list": [1, 2]}`, "read parameter list out of a string"},
		{"properties", "do", `{"path": "a", "o": {"k": 1, "n": "1.5"}}`, `{"path": "a", "o": {"k": "1", "n": 1.5}}`, "read parameter o.k as a string; read parameter o.n out of a string"},
		{"null within", "do", `{"path": "a", "o": {"k": "v", "n": null}}`, `{"path": "a", "o": {"k": "v"}}`, "read null as no o.n"},
		{"what cannot be told", "do", `{"path": "a", "n": "ten", "all": 1}`, "", ""},
	} {
		text := "<tool_call>\n{\"name\": \"" + c.tool + "\", \"arguments\": " + c.in + "}\n</tool_call>"
		if c.out == "" {
			c.out = c.in
		}
		got := calls(parse(t, Options{Format: HermesJSON, Tools: tools}, text, Stopped, whole))
		if len(got) != 1 || string(got[0].Arguments) != c.out {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.out)
			continue
		}
		if repaired := strings.Join(got[0].Repaired, "; "); !strings.HasPrefix(repaired, c.repaired) || (repaired == "") != (c.repaired == "") {
			t.Errorf("%s: repaired %q, want %q", c.name, repaired, c.repaired)
		}
		exact := calls(parse(t, Options{Format: HermesJSON, Tools: tools, NoRepair: true}, text, Stopped, whole))
		if len(exact) != 1 || string(exact[0].Arguments) != c.in || exact[0].Repaired != nil {
			t.Errorf("%s, exactly: got %+v, want %s", c.name, exact, c.in)
		}
	}
}

// TestMendXML does so for values that are text.
func TestMendXML(t *testing.T) {
	text := "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n<parameter=required>\npath\n</parameter>\n</function>\n</tool_call>"
	got := calls(parse(t, Options{Format: QwenXML, Tools: coding()}, text, Stopped, whole))
	if len(got) != 1 || string(got[0].Arguments) != `{"path": "a"}` || strings.Join(got[0].Repaired, "") != "dropped required, a word of the schema" {
		t.Errorf("got %+v", got)
	}
}
