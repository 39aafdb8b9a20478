package toolcall

import "slices"

// miss is an output of the kind that small models write, and what must come of it. want has one word for each event but
// texts: "call NAME ARGUMENTS", "unfinished NAME" or "malformed PART OF THE REASON". repaired is part of the first call's
// repairs; empty means that there are none.
type miss struct {
	name     string
	format   Format
	text     string
	end      End
	want     []string
	repaired string
	shown    string
}

var misses = slices.Concat(xmlMisses, hermesMisses, otherMisses, reportedMisses)

var xmlMisses = []miss{
	{
		name: "xml: exact", format: QwenXML,
		text:  "Here.\n\n<tool_call>\n<function=write_file>\n<parameter=path>\nindex.html\n</parameter>\n<parameter=content>\n<p>\"a\"</p>\n\n</parameter>\n</function>\n</tool_call>",
		want:  []string{`call write_file {"path": "index.html", "content": "<p>\"a\"</p>\n"}`},
		shown: "Here.",
	},
	{
		name: "xml: no closing </tool_call>", format: QwenXML,
		text:     "<tool_call>\n<function=serve>\n</function>",
		want:     []string{`call serve {}`},
		repaired: "added a missing </tool_call>",
	},
	{
		name: "xml: no closing tags but the parameter's", format: QwenXML,
		text:     "<tool_call>\n<function=run_js>\n<parameter=code>\n1+1\n</parameter>\n",
		want:     []string{`call run_js {"code": "1+1"}`},
		repaired: "added a missing </function>",
	},
	{
		name: "xml: no closing tags at all", format: QwenXML,
		text:     "<tool_call>\n<function=run_js>\n<parameter=code>\n1+1",
		want:     []string{`call run_js {"code": "1+1"}`},
		repaired: "added a missing </parameter>",
	},
	{
		name: "xml: no </parameter>", format: QwenXML,
		text:     "<tool_call>\n<function=run_js>\n<parameter=code>\n1+1\n</function>\n</tool_call>",
		want:     []string{`call run_js {"code": "1+1"}`},
		repaired: "added a missing </parameter>",
	},
	{
		name: "xml: no </parameter> before the next parameter", format: QwenXML,
		text:     "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n<parameter=content>\nhi\n</parameter>\n</function>\n</tool_call>",
		want:     []string{`call write_file {"path": "a.txt", "content": "hi"}`},
		repaired: "added a missing </parameter>",
	},
	{
		name: "xml: closed by the parameter's name", format: QwenXML,
		text:     "<tool_call>\n<function=read_file>\n<parameter=path>a.txt</path>\n</function>\n</tool_call>",
		want:     []string{`call read_file {"path": "a.txt"}`},
		repaired: "read </path> as </parameter>",
	},
	{
		name: "xml: no <tool_call>", format: QwenXML,
		text:     "I will look.\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
		want:     []string{`call read_file {"path": "a.txt"}`},
		repaired: "added a missing <tool_call>",
		shown:    "I will look.",
	},
	{
		name: "xml: <function= of an unknown tool without <tool_call> is text", format: QwenXML,
		text: "\n<function=fly>\n</function>", shown: "\n<function=fly>\n</function>",
	},
	{
		name: "xml: <function= inside of a line is text", format: QwenXML,
		text: "Write <function=serve> to serve.", shown: "Write <function=serve> to serve.",
	},
	{
		name: "xml: two <tool_call>", format: QwenXML,
		text:     "<tool_call>\n<tool_call>\n<function=serve>\n</function>\n</tool_call>",
		want:     []string{`call serve {}`},
		repaired: "dropped a second <tool_call>",
	},
	{
		name: "xml: values on the tag's line", format: QwenXML,
		text: "<tool_call><function=read_file><parameter=path>a.txt</parameter><parameter=limit>10</parameter></function></tool_call>",
		want: []string{`call read_file {"path": "a.txt", "limit": 10}`},
	},
	{
		name: "xml: numbers, booleans, arrays by the schema", format: QwenXML,
		text: "<tool_call>\n<function=tag>\n<parameter=names>\n[\"1\", \"2\"]\n</parameter>\n<parameter=weight>\n 1.5 \n</parameter>\n<parameter=meta>\nnull\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call tag {"names": ["1", "2"], "weight": 1.5, "meta": null}`},
	},
	{
		name: "xml: a Python boolean", format: QwenXML,
		text: "<tool_call>\n<function=edit_file>\n<parameter=path>\na\n</parameter>\n<parameter=old>\n1\n</parameter>\n<parameter=new>\n2\n</parameter>\n<parameter=all>\nTrue\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call edit_file {"path": "a", "old": "1", "new": "2", "all": true}`},
	},
	{
		name: "xml: a text that looks like JSON stays text", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\npackage.json\n</parameter>\n<parameter=content>\n{\"a\": 1}\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call write_file {"path": "package.json", "content": "{\"a\": 1}"}`},
	},
	{
		name: "xml: a broken array", format: QwenXML,
		text:     "<tool_call>\n<function=tag>\n<parameter=names>\n['a', 'b',]\n</parameter>\n</function>\n</tool_call>",
		want:     []string{`call tag {"names": ["a", "b"]}`},
		repaired: "read single quotes as double quotes in parameter names",
	},
	{
		name: "xml: no number", format: QwenXML,
		text: "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n<parameter=limit>\nten\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed parameter limit must be a whole number, not "ten"`},
	},
	{
		name: "xml: no array", format: QwenXML,
		text: "<tool_call>\n<function=tag>\n<parameter=names>\na, b\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed parameter names must be a JSON array`},
	},
	{
		name: "xml: a synonym", format: QwenXML,
		text:     "<tool_call>\n<function=write_file>\n<parameter=filename>\na\n</parameter>\n<parameter=text>\nb\n</parameter>\n</function>\n</tool_call>",
		want:     []string{`call write_file {"path": "a", "content": "b"}`},
		repaired: "read parameter filename as path",
	},
	{
		name: "xml: old_str and new_str", format: QwenXML,
		text:     "<tool_call>\n<function=edit_file>\n<parameter=file_path>\na\n</parameter>\n<parameter=old_str>\n1\n</parameter>\n<parameter=new_str>\n2\n</parameter>\n</function>\n</tool_call>",
		want:     []string{`call edit_file {"path": "a", "old": "1", "new": "2"}`},
		repaired: "read parameter old_str as old",
	},
	{
		name: "xml: another case", format: QwenXML,
		text:     "<tool_call>\n<function=Write_File>\n<parameter=Path>\na\n</parameter>\n<parameter=CONTENT>\nb\n</parameter>\n</function>\n</tool_call>",
		want:     []string{`call write_file {"path": "a", "content": "b"}`},
		repaired: "read tool Write_File as write_file",
	},
	{
		name: "xml: two names for one parameter are not guessed", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=text>\nb\n</parameter>\n<parameter=body>\nc\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call write_file {"path": "a", "text": "b", "body": "c"}`},
	},
	{
		name: "xml: a parameter twice", format: QwenXML,
		text: "<tool_call>\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n<parameter=code>\n2\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed run_js has the parameter code twice`},
	},
	{
		name: "xml: attributes", format: QwenXML,
		text:     "<tool_call>\n<function name=\"read_file\">\n<parameter name=\"path\">a.txt</parameter>\n</function>\n</tool_call>",
		want:     []string{`call read_file {"path": "a.txt"}`},
		repaired: "read <function name=…>",
	},
	{
		name: "xml: JSON instead", format: QwenXML,
		text: "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>",
		want: []string{`call read_file {"path": "a.txt"}`},
	},
	{
		name: "xml: unknown tool", format: QwenXML,
		text: "<tool_call>\n<function=delete_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed there is no tool "delete_file"; the tools are: list_dir, read_file`},
	},
	{
		name: "xml: text between the tags", format: QwenXML,
		text: "<tool_call>\n<function=read_file>\nI read it:\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed has text outside of its parameters ("I read it:")`},
	},
	{
		name: "xml: text behind a value", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nb\n</parameter>\nmore\n</function>\n</tool_call>",
		want: []string{`malformed has text outside of its parameters ("more")`},
	},
	{
		name: "xml: empty", format: QwenXML, text: "<tool_call>\n</tool_call>",
		want: []string{`malformed the tool call is empty`},
	},
	{
		name: "xml: no function", format: QwenXML, text: "<tool_call>\n<parameter=path>\na\n</parameter>\n</tool_call>",
		want: []string{`malformed has no <function=NAME>`},
	},
	{
		name: "xml: </parameter> inside of a line of the value", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n<parameter=content>\nClose with </parameter> always.\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call write_file {"path": "a.md", "content": "Close with </parameter> always."}`},
	},
	{
		name: "xml: </tool_call> inside of the value", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n<parameter=content>\nClose with </tool_call> always.\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call write_file {"path": "a.md", "content": "Close with </tool_call> always."}`},
	},
	{
		name: "xml: a value that is not closed and text behind", format: QwenXML,
		text:     "<tool_call>\n<function=run_js>\n<parameter=code>\n1\n</function>\n</tool_call>\nDone.",
		want:     []string{`call run_js {"code": "1"}`},
		repaired: "added a missing </parameter>",
		shown:    "\nDone.",
	},
	{
		name: "xml: a call inside of an open value", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nb\n<tool_call>\n<function=serve>\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed parameter content is not closed before the next <tool_call>`},
	},
	{
		name: "xml: text behind </function>", format: QwenXML,
		text:     "<tool_call>\n<function=serve>\n</function>\nNow it runs.",
		want:     []string{`call serve {}`},
		repaired: "added a missing </tool_call>",
		shown:    "\nNow it runs.",
	},
	{
		name: "xml: two functions in one call", format: QwenXML,
		text:     "<tool_call>\n<function=serve>\n</function>\n<function=preview_logs>\n</function>\n</tool_call>",
		want:     []string{`call serve {}`, `call preview_logs {}`},
		repaired: "added a missing </tool_call>",
	},
	{
		name: "xml: two calls with text between", format: QwenXML,
		text:  "<tool_call>\n<function=serve>\n</function>\n</tool_call>\nThen:\n<tool_call>\n<function=preview_logs>\n</function>\n</tool_call>",
		want:  []string{`call serve {}`, `call preview_logs {}`},
		shown: "\nThen:",
	},
	{
		name: "xml: cut in a value", format: QwenXML, end: Cut,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\nindex.html\n</parameter>\n<parameter=content>\n<html>",
		want: []string{"unfinished write_file"},
	},
	{
		name: "xml: cut in the marker", format: QwenXML, end: Cut, text: "Look: <tool_ca", shown: "Look: <tool_ca",
	},
	{
		name: "xml: cut before the name", format: QwenXML, end: Cut, text: "<tool_call>\n<func", want: []string{"unfinished "},
	},
	{
		name: "xml: cut behind </function>", format: QwenXML, end: Cut,
		text:     "<tool_call>\n<function=serve>\n</function>\n</tool",
		want:     []string{`call serve {}`},
		repaired: "added a missing </tool_call>",
	},
	{
		name: "xml: an angle bracket in a text", format: QwenXML, text: "a < b, <b>bold</b> and <tool_calling>", shown: "a < b, <b>bold</b> and <tool_calling>",
	},
}

var otherMisses = []miss{
	// Llama JSON.
	{
		name: "llama: exact", format: LlamaJSON,
		text: "{\"name\": \"run_js\", \"parameters\": {\"code\": \"1\"}}",
		want: []string{`call run_js {"code": "1"}`},
	},
	{
		name: "llama: the python tag", format: LlamaJSON,
		text: "<|python_tag|>{\"name\": \"run_js\", \"parameters\": {\"code\": \"1\"}}",
		want: []string{`call run_js {"code": "1"}`},
	},
	{
		name: "llama: with a type", format: LlamaJSON,
		text: "{\"type\": \"function\", \"name\": \"run_js\", \"parameters\": {\"code\": \"1\"}}",
		want: []string{`call run_js {"code": "1"}`},
	},
	{
		name: "llama: arguments instead of parameters", format: LlamaJSON,
		text:     "{\"name\": \"run_js\", \"arguments\": {\"code\": \"1\"}}",
		want:     []string{`call run_js {"code": "1"}`},
		repaired: `read "arguments" as "parameters"`,
	},
	{
		name: "llama: two calls", format: LlamaJSON,
		text:  "{\"name\": \"serve\", \"parameters\": {}}; {\"name\": \"preview_logs\", \"parameters\": {}}",
		want:  []string{`call serve {}`, `call preview_logs {}`},
		shown: ";",
	},
	{
		name: "llama: a JSON answer is text", format: LlamaJSON, text: "{\"name\": \"Alice\"}", shown: "{\"name\": \"Alice\"}",
	},
	{
		name: "llama: numbers as strings", format: LlamaJSON,
		text:     "{\"name\": \"read_file\", \"parameters\": {\"path\": \"a\", \"limit\": \"10\"}}",
		want:     []string{`call read_file {"path": "a", "limit": 10}`},
		repaired: "read parameter limit out of a string",
	},
	{
		name: "llama: a call at the end of a text", format: LlamaJSON,
		text:     "I run it.\n\n{\"name\": \"run_js\", \"parameters\": {\"code\": \"1\"}}",
		want:     []string{`call run_js {"code": "1"}`},
		repaired: "added the missing call markers",
		shown:    "I run it.",
	},
	{
		name: "llama: cut", format: LlamaJSON, end: Cut,
		text: "{\"name\": \"run_js\", \"parameters\": {\"co", want: []string{"unfinished run_js"},
	},
	{
		name: "llama: cut before the name is text", format: LlamaJSON, end: Cut, text: "{\"name\": \"run", shown: "{\"name\": \"run",
	},
	{
		name: "llama: code behind the python tag", format: LlamaJSON,
		text: "<|python_tag|>print(1)", want: []string{`malformed "print(1)" is no tool call`},
	},

	// Mistral.
	{
		name: "mistral: a list", format: MistralJSON,
		text: "[TOOL_CALLS][{\"name\": \"serve\", \"arguments\": {}}, {\"name\": \"run_js\", \"arguments\": {\"code\": \"1\"}, \"id\": \"abcdefghi\"}]",
		want: []string{`call serve {}`, `call run_js {"code": "1"}`},
	},
	{
		name: "mistral: an object", format: MistralJSON,
		text: "[TOOL_CALLS] {\"name\": \"serve\", \"arguments\": {}}", want: []string{`call serve {}`},
	},
	{
		name: "mistral: one bad call of two", format: MistralJSON,
		text: "[TOOL_CALLS][{\"name\": \"fly\", \"arguments\": {}}, {\"name\": \"serve\", \"arguments\": {}}]",
		want: []string{`malformed there is no tool "fly"`, `call serve {}`},
	},
	{
		name: "mistral: no marker", format: MistralJSON,
		text:     "[{\"name\": \"serve\", \"arguments\": {}}]",
		want:     []string{`call serve {}`},
		repaired: "added the missing call markers",
	},
	{
		name: "mistral: an empty list", format: MistralJSON, text: "[TOOL_CALLS][]", want: []string{`malformed the list of tool calls is empty`},
	},
	{
		name: "mistral: the newer form", format: MistralArgs,
		text: "Now.[TOOL_CALLS]serve[ARGS]{}[TOOL_CALLS]run_js[CALL_ID]abcdefghi[ARGS]{\"code\": \"1\"}",
		want: []string{`call serve {}`, `call run_js {"code": "1"}`}, shown: "Now.",
	},
	{
		name: "mistral: no [ARGS]", format: MistralArgs, text: "[TOOL_CALLS]serve{}", want: []string{`call serve {}`},
	},
	{
		name: "mistral: no arguments", format: MistralArgs, text: "[TOOL_CALLS]serve[ARGS]", want: []string{`malformed is no tool call`},
	},
	{
		name: "mistral: broken arguments", format: MistralArgs, text: "[TOOL_CALLS]run_js[ARGS]{\"code\": \"a\"b\"}",
		want: []string{`malformed the arguments of run_js are not valid JSON`},
	},
	{
		name: "mistral: cut", format: MistralArgs, end: Cut, text: "[TOOL_CALLS]run_js[ARGS]{\"code\"", want: []string{"unfinished run_js"},
	},
	{
		name: "no format: all is text", format: None, text: "<tool_call>\n</tool_call>", shown: "<tool_call>\n</tool_call>",
	},
}
