package toolcall

// reportedMisses are calls that other parsers of the format are publicly reported to read wrong: vllm 43238 and 48753, mlx-lm 1310
// and 1712 and 1910, model_server 3727 and 3850, llama.cpp 22878, 24807 and 27363, vmlx 192.
var reportedMisses = []miss{
	{
		name: "reported: white space of a text is kept", format: QwenXML,
		text: "<tool_call>\n<function=edit_file>\n<parameter=path>\na.py\n</parameter>\n<parameter=old>\n    if x:\n        return 1\n\n</parameter>\n<parameter=new>\n\tpass  \n</parameter>\n</function>\n</tool_call>",
		want: []string{`call edit_file {"path": "a.py", "old": "    if x:\n        return 1\n", "new": "\tpass  "}`},
	},
	{
		name: "reported: an array with false and null", format: QwenXML,
		text: "<tool_call>\n<function=tag>\n<parameter=names>\n[\"a\", \"b\"]\n</parameter>\n<parameter=meta>\n{\"on\": false, \"off\": null, \"deep\": [{\"x\": true}]}\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call tag {"names": ["a", "b"], "meta": {"on": false, "off": null, "deep": [{"x": true}]}}`},
	},
	{
		name: "reported: null where it may be", format: QwenXML,
		text: "<tool_call>\n<function=tag>\n<parameter=names>\n[]\n</parameter>\n<parameter=meta>\nnull\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call tag {"names": [], "meta": null}`},
	},
	{
		name: "reported: texts that look like other values", format: QwenXML,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\n123\n</parameter>\n<parameter=content>\nnull\n</parameter>\n</function>\n</tool_call><tool_call>\n<function=write_file>\n<parameter=path>\ntrue\n</parameter>\n<parameter=content>\n{\"a\": 1}\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call write_file {"path": "123", "content": "null"}`, `call write_file {"path": "true", "content": "{\"a\": 1}"}`},
	},
	{
		name: "reported: quotes and backslashes of a text", format: QwenXML,
		text: "<tool_call>\n<function=run_js>\n<parameter=code>\ntest(\"a\\\"b\") || 'c\\n' + `d`\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call run_js {"code": "test(\"a\\\"b\") || 'c\\n' + ` + "`d`" + `"}`},
	},
	{
		name: "reported: arguments in another order than declared", format: QwenXML,
		text: "<tool_call>\n<function=edit_file>\n<parameter=all>\ntrue\n</parameter>\n<parameter=new>\nb\n</parameter>\n<parameter=old>\na\n</parameter>\n<parameter=path>\nx\n</parameter>\n</function>\n</tool_call>",
		want: []string{`call edit_file {"all": true, "new": "b", "old": "a", "path": "x"}`},
	},
	{
		name: "reported: two calls behind each other, after text", format: QwenXML,
		text:  "I read both.\n\n<tool_call>\n<function=read_file>\n<parameter=path>\n/w/USER.md\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=read_file>\n<parameter=path>\n/w/MEMORY.md\n</parameter>\n</function>\n</tool_call>",
		want:  []string{`call read_file {"path": "/w/USER.md"}`, `call read_file {"path": "/w/MEMORY.md"}`},
		shown: "I read both.",
	},
	{
		name: "reported: </parameter> twice", format: QwenXML,
		text: "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</parameter>\n</function>\n</tool_call>",
		want: []string{`malformed can be read in two ways`}, // the model is told, and says it again
	},
	{
		name: "reported: everything on one line", format: QwenXML,
		text: "<tool_call><function=search><parameter=query>a b</parameter><parameter=path>src</parameter></function></tool_call>",
		want: []string{`call search {"query": "a b", "path": "src"}`},
	},
	{
		name: "reported: the end of the answer in a call", format: QwenXML, end: Cut,
		text: "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\nhalf of",
		want: []string{`unfinished write_file`},
	},
}
