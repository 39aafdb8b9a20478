package toolcall

import (
	"strings"
	"testing"
)

// inCall is a call of Qwen XML with the given inside.
func inCall(function, inside string) string {
	return "<tool_call>\n<function=" + function + ">\n" + inside + "\n</function>\n</tool_call>"
}

// TestBrokenTags reads tags that are nearly right. An empty want is Malformed.
func TestBrokenTags(t *testing.T) {
	path := "<parameter=path>\na.txt\n</parameter>\n"
	content := func(end string) string { return inCall("write_file", path+"<parameter=content>\nx"+end) }
	code := func(inside string) string { return inCall("run_js", "<parameter=code>\n1\n</parameter>\n"+inside) }
	closed := func(tail string) string {
		return "<tool_call>\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n" + tail
	}
	const x, one = `write_file {"path": "a.txt", "content": "x"}`, `run_js {"code": "1"}`
	for _, c := range []struct{ name, text, want, shown string }{
		{"end tag, self-closing", content("\n</parameter/>"), "", ""},
		{"end tag, cut short", content("\n</parameter"), "", ""},
		{"end tag, cut shorter", content("\n</para"), "", ""},
		{"end tag, begun", content("\n</"), "", ""},
		{"end tag, one bracket", content("\n<"), "", ""},
		{"end tag with a digit", content("\n</parameter1>"), "", ""},
		{"end tag with more", content("\n</parameter_function>"), "", ""},
		{"end tag, shortened", content("\n</param>"), "", ""},
		{"end tag, other case", content("\n</Parameter>"), "", ""},
		{"end tag with a space", content("\n</parameter >"), "", ""},
		{"end tag with a space before", content("\n</ parameter>"), "", ""},
		{"end tag with an attribute", content("\n</parameter=content>"), "", ""},
		{"end tag with a backslash", content("\n<\\/parameter>"), "", ""},
		{"end tag without its bracket", content("\n/parameter>"), "", ""},
		{"end tag with nothing but its last bracket", content("\nparameter>"), "", ""},
		{"end tag in square brackets", content("\n[/parameter]"), "", ""},
		{"end tag, escaped", content("\n&lt;/parameter&gt;"), "", ""},
		{"end tag that is a start tag", content("\n<parameter>"), "", ""},
		{"end tag of the other parameter", content("\n</path>"), "", ""},
		{"end tag of a name from nowhere", content("\n</value>"), "", ""},
		{"end tag of the parameter", content("\n</content>"), x, ""},
		{"end tag of the parameter in other case", content("\n</Content>"), "", ""},
		{"end tag of the parameter, which the value opened", content(" <content>y</content>"), "", ""},
		{"end tag that the value opened", content(" <b>y</b>"), `write_file {"path": "a.txt", "content": "x <b>y</b>"}`, ""},
		{"end tag missing", content(""), x, ""},
		{"end tag missing, a function in the value", content(" <function>f</function>"), "", ""},
		{"end tag twice", content("\n</parameter>\n</parameter>"), "", ""},
		{"end tag behind the function", closed("</function>\n</parameter>\n</tool_call>"), "", ""},
		{"end tag right, a broken one within", content("\n</param>\ny\n</parameter>"), `write_file {"path": "a.txt", "content": "x\n</param>\ny"}`, ""},
		{"end tag right, an element of that name within", content("\n<Parameter>\n</Parameter>\n</parameter>"), `write_file {"path": "a.txt", "content": "x\n<Parameter>\n</Parameter>"}`, ""},
		{"end tag in the middle of a line, cut by text", "<tool_call>\n<function=run_js>\n<parameter=code>\n1 </parameter></function>\nx\n</parameter>", "", "\nx\n</parameter>"},
		{"value that ends the call within", "<tool_call>\n<function=run_js>\n<parameter=code>\n1\n</tool_call>\nmore\n</parameter>", "", "\nmore\n</parameter>"},

		{"start tag without its bracket, a list", code("<parameter=ids: [1,2]\n</parameter>"), "", ""},
		{"start tag without its bracket", code("<parameter=note hello</parameter>"), "", ""},
		{"start tag without its bracket and end tag", code("<parameter=note hello"), "", ""},
		{"start tag with the value as an attribute", code("<parameter note=\"hello\"/>"), "", ""},
		{"start tag with the value in the name", code("<parameter=note=hello></parameter>"), "", ""},
		{"start tag, self-closing", code("<parameter=note/>"), "", ""},
		{"start tag without a name", code("<parameter=></parameter>"), "", ""},
		{"start tag with more attributes", inCall("run_js", "<parameter name=\"code\" type=\"string\">1</parameter>"), "", ""},
		{"start tag with half a quote", inCall("run_js", "<parameter=\"code>1</parameter>"), "", ""},
		{"start tag with quotes", inCall("run_js", "<parameter=\"code\">1</parameter>"), one, ""},
		{"start tag with a space", inCall("run_js", "<parameter= code>1</parameter>"), one, ""},
		{"start tag in other case", inCall("run_js", "<Parameter=code>1</Parameter>"), "", ""},
		{"start tag that is nearly one within a value", inCall("write_file", "<parameter=path>\na.txt\n<parameter content>\nx\n</parameter>"), "", ""},
		{"start tag with attributes within a value", inCall("write_file", "<parameter=path>\na.txt\n<parameter name=\"content\">\nx\n</parameter>"), "", ""},
		{"start tag within a value on one line", inCall("write_file", "<parameter=path>a.txt<parameter=content>x</parameter>"), "", ""},
		{"start tag of a parameter that is there", inCall("write_file", path+"<parameter=content>\nx\n<parameter=path>\ny\n</parameter>"), "", ""},
		{"start tag within a line", inCall("run_js", "<parameter=code>\n1 // <parameter=KEY> x\n</parameter>"), `run_js {"code": "1 // <parameter=KEY> x"}`, ""},
		{"a whole parameter at the start of a line", inCall("run_js", "<parameter=code>\n<parameter=x>1</parameter> // x\n</parameter>"), `run_js {"code": "<parameter=x>1</parameter> // x"}`, ""},
		{"a whole call in a value", inCall("run_js", "<parameter=code>\n<function=demo>\n</function>\n</tool_call>\n</parameter>"), `run_js {"code": "<function=demo>\n</function>\n</tool_call>"}`, ""},
		{"elements of that name", inCall("run_js", "<parameter=code>\n<a>\n <parameter id=\"b\">1</parameter>\n</a>\n</parameter>"), `run_js {"code": "<a>\n <parameter id=\"b\">1</parameter>\n</a>"}`, ""},

		{"function's end tag, begun", code("</func"), "", ""},
		{"function's end tag twice", code("</function>"), one, ""},
		{"function's end tag with a space", closed("</function >\n</tool_call>"), "", ""},
		{"function's start tag, broken", code("<function=rm -rf"), "", ""},
		{"function's start tag without a name", "<tool_call>\n<function=>\n<function=serve>\n</function>\n</tool_call>", "", ""},
		{"function's start tag twice", inCall("run_js", "<function=run_js>\n<parameter=code>\n1\n</parameter>"), one, ""},
		{"function's start tag of another", inCall("serve", "<function=run_js>\n<parameter=code>\n1\n</parameter>"), "", ""},

		{"call's end tag with a space", closed("</function>\n</tool_call >"), one, ""},
		{"call's end tag, misnamed", closed("</function>\n</tool_calls>"), one, ""},
		{"call's end tag in other case", closed("</function>\n</Tool_Call>"), one, ""},
		{"call's end tag, cut short", closed("</function>\n</tool_c"), one, ""},
		{"call's start tag with a space", "<tool_call >\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n</function>\n</tool_call>", one, ""},
		{"call's start tag in other case", "<Tool_Call>\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n</function>\n</Tool_Call>", one, ""},
		{"call's start tag with an attribute", "<tool_call id=\"1\">\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n</function>\n</tool_call>", "", ""},
		{"call's start tag, self-closing", "<tool_call/>\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n</function>\n</tool_call>", "", ""},

		{"the end of the output in a start tag", closed("<parameter=no"), "", ""},
		{"the end of the output in an end tag", closed("</fun"), one, ""},
		{"the end of the output at a bracket", closed("<"), "", ""},
		{"the end of the output in the value's end tag", "<tool_call>\n<function=run_js>\n<parameter=code>\n1\n</para", "", ""},
		{"a carriage return that is no line end", inCall("run_js", "<parameter=code>\r1\r</parameter>"), `run_js {"code": "\r1\r"}`, ""},
	} {
		events := checkPieces(t, Options{Format: QwenXML, Tools: coding()}, c.text, Stopped, 6)
		var got []string
		var shown strings.Builder
		for _, e := range events {
			switch e.Kind {
			case Call:
				got = append(got, e.Name+" "+string(e.Arguments))
			case Text:
				shown.WriteString(e.Text)
			case Malformed:
				got = append(got, "")
			}
		}
		if len(got) != 1 || got[0] != c.want || shown.String() != c.shown {
			t.Errorf("%s: got %q and the text %q, want %q and %q", c.name, got, shown.String(), c.want, c.shown)
		}
	}
}

// TestBrokenJSON does so for what stands around JSON, and for members that are not to be lost.
func TestBrokenJSON(t *testing.T) {
	const serve = `serve {}`
	tools := append(coding(), Tool{"find", schemaOf(`{"type":"object","properties":{"id":{"type":"string"},"type":{"type":"string"}}}`)})
	for _, c := range []struct{ name, text, want string }{
		{"end tag with a space", "<tool_call>\n{\"name\": \"serve\", \"arguments\": {}}\n</tool_call >", serve},
		{"end tag, misnamed", "<tool_call>\n{\"name\": \"serve\", \"arguments\": {}}\n</tools>", serve},
		{"a comma behind it", "<tool_call>\n{\"name\": \"serve\", \"arguments\": {}},\n</tool_call>", serve},
		{"end tag of XML", "<tool_call>\n{\"name\": \"serve\", \"arguments\": {}}\n</function>\n</tool_call>", serve},
		{"start tag with a space", "<tool_call >\n{\"name\": \"serve\", \"arguments\": {}}\n</tool_call>", serve},
		{"start tag in two words", "<tool call>\n{\"name\": \"serve\", \"arguments\": {}}\n</tool call>", serve},
		{"start tag with an attribute", "<tool_call name=\"serve\">\n{\"name\": \"serve\", \"arguments\": {}}\n</tool_call>", ""},
		{"text before a fence", "<tool_call>\nThen:\n```json\n{\"name\": \"serve\", \"arguments\": {}}\n```\n</tool_call>", ""},
		{"arguments beside a nested name", "<tool_call>\n{\"type\": \"function\", \"function\": {\"name\": \"run_js\"}, \"arguments\": {\"code\": \"1\"}}\n</tool_call>", ""},
		{"text beside a nested call", "<tool_call>\n{\"function\": {\"name\": \"run_js\", \"arguments\": {\"code\": \"1\"}}, \"note\": \"x\"}\n</tool_call>", ""},
		{"an id that is an argument", "<tool_call>\n{\"name\": \"find\", \"id\": \"7\"}\n</tool_call>", `find {"id": "7"}`},
		{"an id of the call", "<tool_call>\n{\"id\": \"call_1\", \"type\": \"function\", \"name\": \"serve\", \"arguments\": {}}\n</tool_call>", serve},
	} {
		var got []string
		for _, e := range checkPieces(t, Options{Format: HermesJSON, Tools: tools}, c.text, Stopped, 6) {
			switch e.Kind {
			case Call:
				got = append(got, e.Name+" "+string(e.Arguments))
			case Text:
				got = append(got, "text "+e.Text)
			case Malformed:
				got = append(got, "")
			}
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestAroundJSON keeps what belongs to no text out of it: braces too many where the JSON's end is the call's, the comma between
// two calls in one pair of markers, and markers that are nearly right.
func TestAroundJSON(t *testing.T) {
	for _, c := range []struct {
		format     Format
		text, want string
	}{
		{LlamaJSON, "{\"name\": \"serve\", \"parameters\": {}}}", "call serve {}"},
		{LlamaJSON, "{\"name\": \"serve\", \"parameters\": {}}}]; {\"name\": \"serve\", \"parameters\": {}}", "call serve {}|text ;|call serve {}"},
		{MistralArgs, "[TOOL_CALLS]serve[ARGS]{}} ok", "call serve {}|text  ok"},
		{MistralArgs, "[TOOL_CALL]serve[ARGS]{}", "call serve {}"},
		{MistralArgs, "[tool_calls] serve {}", "call serve {}"},
		{MistralJSON, "[TOOL CALLS] [{\"name\": \"serve\", \"arguments\": {}}]", "call serve {}"},
		{MistralArgs, "[TOOL_CALL]fly[ARGS]{}", "text [TOOL_CALL]fly[ARGS]{}"},
		{MistralArgs, "[tool] serve {}", "text [tool] serve {}"},
		{MistralJSON, "[TOOL_CALLS][{\"name\": \"serve\", \"arguments\": {}}]]", "call serve {}"},
		{HermesJSON, "<tool_call>\n{\"name\": \"serve\", \"arguments\": {}}, {\"name\": \"run_js\", \"arguments\": {\"code\": \"1\"}}\n</tool_call>", `call serve {}|call run_js {"code": "1"}`},
		{HermesJSON, "<tool_call>\n{\"name\": \"serve\", \"arguments\": {}}, then\n", "call serve {}|text , then\n"},
	} {
		var got []string
		for _, e := range checkPieces(t, Options{Format: c.format, Tools: coding()}, c.text, Stopped, 6) {
			switch e.Kind {
			case Call:
				got = append(got, "call "+e.Name+" "+string(e.Arguments))
			case Text:
				got = append(got, "text "+e.Text)
			case Malformed:
				got = append(got, "malformed")
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%v %q: got %q, want %q", c.format, c.text, strings.Join(got, "|"), c.want)
		}
	}
}
