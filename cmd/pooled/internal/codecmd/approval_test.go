package codecmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/transcript"
)

// TestConsequences shows all that a call would do.
func TestConsequences(t *testing.T) {
	ask := func(diff string, args map[string]any) string {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, l := range folded(consequences(event.Approval{Diff: diff, Shown: []string{"path", "content"}, Call: transcript.Call{Name: "x", Arguments: raw}})) {
			b.WriteString(strings.Repeat("  ", l.steps) + l.text + "\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		diff string
		args map[string]any
		want []string
	}{
		{"an argument of any name, in full", "", map[string]any{"command": "rm -rf / # " + strings.Repeat("x", 100)}, []string{"  command:\n    rm -rf / # " + strings.Repeat("x", 100) + "\n"}},
		{"arguments that are no text", "", map[string]any{"n": 1, "list": []int{1, 2}}, []string{"  list:\n    [1,2]\n  n:\n    1\n"}},
		{"a file that is not text", "Binary files a/x and b/x differ\n", map[string]any{"content": "a\x00b"}, []string{"  Binary files", `    a\u{0}b`}},
		{
			"lines that look like the heads of files", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-a\n+++ b/y\n+b\n", nil,
			[]string{"  --- a/x\n  +++ b/x\n  @@ -1,2 +1,2 @@\n    --- a/y\n    -a\n    +++ b/y\n    +b\n"},
		},
		{
			"an argument that the change does not show", "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+c\n",
			map[string]any{"path": "x", "content": "hidden", "command": "rm -r ."},
			[]string{"    +c\n  command:\n    rm -r .\n"},
		},
		{"two files", "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+b\n\\ No newline at end of file\n--- a/y\n+++ b/y\n@@ -0,0 +1,1 @@\n+c\n", nil, []string{"    +b\n    \\ No newline at end of file\n  --- a/y\n"}},
		{"letters that look alike", "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+p\u0430ss\u200b\n", nil, []string{`    +p\u{430}ss\u{200b}`}},
		{"a long line", "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+" + strings.Repeat("a", 900) + "end\n", nil, []string{"aaend\n"}},
	} {
		got := ask(c.diff, c.args)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, got)
			}
		}
	}
}

// TestQuestions answers questions in ways that must not be taken for a yes, and looks at all of a long change.
func TestQuestions(t *testing.T) {
	var long strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	write := func(text string) string { return call("write_file", "path", "a.txt", "content", text) }
	for _, c := range []struct {
		name    string
		in      string
		answers []string
		file    string
		shown   []string
	}{
		{"typed before the question", "Go|y|y\nn\n/bye\n", []string{write("x"), "Done."}, "", []string{"not allowed"}},
		{"pasted", "Go\n\x1b[200~y\x1b[201~\nn\n/bye\n", []string{write("x"), "Done."}, "", []string{"what is pasted allows nothing", "not allowed"}},
		{"page by page", "Go\nm\nm\nm\ny\n/bye\n", []string{write(long.String()), "Done."}, long.String(), []string{", m 143 more lines", "+line 199\n", "m 23 more lines"}},
		{"always, of one class", "Go\na\n/bye\n", []string{write("x"), write("y"), "Done."}, "y", []string{"a always (edit, files)"}},
	} {
		r := newRig(t, c.answers...)
		r.terminal = true
		out, errs, code := r.run(c.in, r.dir)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s", c.name, code, errs)
		}
		for _, want := range c.shown {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, out)
			}
		}
		if data, _ := os.ReadFile(filepath.Join(r.dir, "a.txt")); string(data) != c.file {
			t.Errorf("%s: the file holds %.40q, want %.40q", c.name, data, c.file)
		}
	}
}
