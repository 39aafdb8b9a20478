package files_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/plugins/tools/files"
)

var cases = []tooltest.Case{
	{
		Name: "a page is written, read and edited, in the words that the embedded model knows",
		Steps: []tooltest.Step{
			{Tool: "list_dir", Arguments: `{}`, Text: "the folder is empty"},
			{Tool: "write_file", Arguments: `{"path":"index.html","content":"<h1>Hello</h1>\n"}`, Text: "wrote index.html (15 bytes)"},
			{Tool: "read_file", Arguments: `{"path":"index.html"}`, Text: "<h1>Hello</h1>\n"},
			{Tool: "edit_file", Arguments: `{"path":"index.html","old":"Hello","new":"Hi"}`, Text: "edited index.html"},
			{Tool: "list_dir", Arguments: `{"path":"."}`, Text: "index.html"},
			{Tool: "search", Arguments: `{"query":"hi"}`, Text: "index.html:1: <h1>Hi</h1>"},
		},
		After: map[string]string{"index.html": "<h1>Hi</h1>\n"},
	},
	{
		Name:  "a dry run shows and changes nothing",
		Files: map[string]string{"a.txt": "one\n"},
		Steps: []tooltest.Step{
			{Tool: "write_file", Arguments: `{"path":"a.txt","content":"two\n"}`, DryRun: true, Text: "wrote a.txt (4 bytes)"},
			{Tool: "edit_file", Arguments: `{"path":"a.txt","old":"one","new":"two"}`, DryRun: true, Text: "edited a.txt"},
		},
		After: map[string]string{"a.txt": "one\n"},
	},
	{
		Name:  "long files are read in parts",
		Files: map[string]string{"long.txt": lines(1500), "wide.txt": wide()},
		Steps: []tooltest.Step{
			{Tool: "read_file", Arguments: `{"path":"long.txt"}`, Part: true, Text: "line 600\n… 900 more lines, use offset=601"},
			{Tool: "read_file", Arguments: `{"path":"long.txt","offset":1499}`, Text: "line 1499\nline 1500\n"},
			{Tool: "read_file", Arguments: `{"path":"long.txt","offset":10,"limit":1}`, Text: "line 10\n… 1490 more lines, use offset=11"},
			{Tool: "read_file", Arguments: `{"path":"long.txt","offset":2000}`, IsError: true, Part: true, Text: "the file has 1500 lines"},
			{Tool: "read_file", Arguments: `{"path":"wide.txt"}`, Part: true, Text: "…\n(1 long lines are not shown whole)"},
		},
	},
	{
		Name:  "an edit that does not fit says why",
		Files: map[string]string{"app.js": "let a = 1;\nlet b = 1;\nfunction total() {\n  return a + b;\n}\n"},
		Steps: []tooltest.Step{
			{Tool: "edit_file", Arguments: `{"path":"app.js","old":" = 1;","new":" = 2;"}`, IsError: true, Part: true, Text: "2 times (lines 1, 2)"},
			{Tool: "edit_file", Arguments: `{"path":"app.js","old":" = 1;","new":" = 2;","all":true}`, Text: "edited app.js (2 places)"},
			{Tool: "edit_file", Arguments: `{"path":"app.js","old":"function totals() {\n return a + b;","new":"x"}`, IsError: true, Part: true, Text: "Closest, from line 3:\nfunction total() {\n  return a + b;\n"},
			{
				Tool: "edit_file", Arguments: `{"path":"App.js2","old":"a","new":"x"}`, IsError: true,
				Text: "error: App.js2: there is no such file; there are app.js. To create it, call write_file with all of its content",
			},
			{Tool: "list_dir", Arguments: `{"path":"app.js"}`, IsError: true, Text: "error: app.js is a file, not a folder; read it with read_file"},
			{Tool: "list_dir", Arguments: `{"path":"app.js/x"}`, IsError: true, Part: true, Text: "app.js is not a folder"},
			{Tool: "list_dir", Arguments: `{"path":"src"}`, IsError: true, Text: "error: src: there is no such folder; there are app.js"},
			{Tool: "read_file", Arguments: `{"path":"app.jsx"}`, IsError: true, Text: "error: app.jsx: there is no such file; there are app.js"},
			{Tool: "edit_file", Arguments: `{"path":"app.js","old":"","new":"x"}`, IsError: true, Part: true, Text: "or write the whole file with write_file"},
			{Tool: "edit_file", Arguments: `{"path":"app.js","new":"x"}`, IsError: true, Part: true, Text: "old is missing. Usage: edit_file(path, old, new, all?)"},
		},
	},
	{
		Name:  "a folder is no file, and a missing file is looked for elsewhere",
		Files: map[string]string{"sub/deep.txt": "x"},
		Steps: []tooltest.Step{
			{Tool: "read_file", Arguments: `{"path":"sub"}`, IsError: true, Text: "error: sub is a folder, not a file; list it with list_dir"},
			{Tool: "edit_file", Arguments: `{"path":"sub","old":"x","new":"y"}`, IsError: true, Text: "error: sub is a folder, not a file; list it with list_dir"},
			{Tool: "write_file", Arguments: `{"path":"sub","content":"y"}`, IsError: true, Text: "error: sub is a folder, not a file; list it with list_dir"},
			{Tool: "edit_file", Arguments: `{"path":"deep.txt","old":"x","new":"y"}`, IsError: true, Text: "error: deep.txt: there is no such file; did you mean sub/deep.txt?"},
		},
	},
	{
		Name:  "line ends are the file's, and what changes nothing is no change",
		Files: map[string]string{"crlf.txt": "a\r\nb", "lf.txt": "a\nb\nc\n"},
		Steps: []tooltest.Step{
			{Tool: "edit_file", Arguments: `{"path":"crlf.txt","old":"a\r\nb","new":"a\nb"}`, IsError: true, Part: true, Text: "nothing to change"},
			{Tool: "write_file", Arguments: `{"path":"crlf.txt","content":"a\r\nb"}`, Text: "wrote crlf.txt (4 bytes)\nnothing changed: this is what the file held"},
			{Tool: "write_file", Arguments: `{"path":"crlf.txt","content":"a\nc\n"}`, Text: "wrote crlf.txt (6 bytes)"},
			{Tool: "edit_file", Arguments: `{"path":"lf.txt","old":"a\r\nb","new":"A\r\nB"}`, Text: "edited lf.txt"},
			{Tool: "edit_file", Arguments: `{"path":"lf.txt","old":"B","new":"x\r\ny"}`, Text: "edited lf.txt"},
		},
		After: map[string]string{"crlf.txt": "a\r\nc\r\n", "lf.txt": "A\nx\ny\nc\n"},
	},
	{
		Name:  "paths stay in the project",
		Files: map[string]string{"sub/deep.txt": "x"},
		Steps: []tooltest.Step{
			{Tool: "write_file", Arguments: `{"path":"../x","content":""}`, IsError: true, Part: true, Text: "outside of the project"},
			{Tool: "read_file", Arguments: `{"path":"/etc/passwd"}`, IsError: true, Part: true, Text: "outside of the project"},
			{Tool: "write_file", Arguments: `{"path":".git/hooks/pre-commit","content":""}`, IsError: true, Part: true, Text: "not for tools"},
			{Tool: "read_file", Arguments: `{"path":"deep.txt"}`, IsError: true, Part: true, Text: "did you mean sub/deep.txt?"},
		},
	},
}

// TestWords keeps what a model reads of success: small models learnt these texts. Whatever is to be added goes on a line of
// its own.
func TestWords(t *testing.T) {
	words := tooltest.Case{Steps: []tooltest.Step{
		{Tool: "list_dir", Arguments: `{}`, Text: "the folder is empty"},
		{Tool: "write_file", Arguments: `{"path":"index.html","content":"` + strings.Repeat("x", 412) + `"}`, Text: "wrote index.html (412 bytes)"},
		{Tool: "write_file", Arguments: `{"path":"a.txt","content":""}`, Text: "wrote a.txt (0 bytes)"},
		{Tool: "read_file", Arguments: `{"path":"a.txt"}`, Text: "the file is empty"},
		{Tool: "write_file", Arguments: `{"path":"a.txt","content":"one two one"}`, Text: "wrote a.txt (11 bytes)"},
		{Tool: "edit_file", Arguments: `{"path":"a.txt","old":"two","new":"three"}`, Text: "edited a.txt"},
		{Tool: "edit_file", Arguments: `{"path":"a.txt","old":"one","new":"1","all":true}`, Text: "edited a.txt (2 places)"},
		{Tool: "list_dir", Arguments: `{}`, Text: "a.txt\nindex.html"},
		{Tool: "search", Arguments: `{"query":"three"}`, Text: "a.txt:1: 1 three 1"},
		{Tool: "search", Arguments: `{"query":"four"}`, Text: "no matches in 2 files"},
	}}
	for _, r := range tooltest.Run(t.Context(), files.Set{}, []tooltest.Case{words}) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
}

func lines(n int) string {
	var s string
	for i := range n {
		s += fmt.Sprintf("line %d\n", i+1)
	}
	return s
}

func wide() string { return strings.Repeat("x", 10_000) + "\n" }

func TestConformance(t *testing.T) {
	through, stop, err := tooltest.Wire(t.Context(), files.Set{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for name, set := range map[string]tool.Set{"direct": files.Set{}, "gRPC": through} {
		t.Run(name, func(t *testing.T) {
			for _, r := range tooltest.Run(t.Context(), set, cases) {
				if r.Err != nil {
					t.Errorf("%s: %v", r.Name, r.Err)
				}
			}
		})
	}
}
