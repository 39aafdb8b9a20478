package plugincmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/pooled/internal/plugincmd"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/plugins/tools/files"
)

// callTool runs "pooled plugin call" with the built-in file tools.
func callTool(t *testing.T, stdin string, args ...string) (out, errs string, err error) {
	t.Helper()
	c := plugin.NewCatalog("", nil, plugin.Options{Tools: []tool.Set{files.Set{}}, InProcess: true})
	defer c.Close()
	var o, e bytes.Buffer
	cmd := plugincmd.New(plugincmd.Deps{
		Console: &console.Console{In: strings.NewReader(stdin), Out: &o, Err: &e}, Catalog: func() *plugin.Catalog { return c },
	})
	cmd.SetArgs(append([]string{"call"}, args...))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func TestCall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write := []string{"files", "write_file", `{"path":"b.txt","content":"new\n"}`, "-C", dir}
	for _, c := range []struct {
		name, stdin string
		args        []string
		out, errs   string // parts of what is printed
		code        int
		is          string // the error
	}{
		{name: "reading", args: []string{"tools/files", "read_file", `{"path":"a.txt"}`, "-C", dir}, out: "hello\n"},
		{name: "by the set's own name", args: []string{"files", "read_file", `{"path":"a.txt"}`, "-C", dir}, out: "hello\n"},
		{name: "arguments from standard input", stdin: `{"path":"a.txt"}`, args: []string{"files", "read_file", "-", "-C", dir}, out: "hello\n"},
		{name: "what cannot be done", args: []string{"files", "read_file", `{"path":"c.txt"}`, "-C", dir}, out: "there is no such file", code: console.ExitFailed},
		{name: "missing arguments", args: []string{"files", "read_file", "-C", dir}, out: "path is missing", code: console.ExitFailed},
		{name: "a change that nobody allows", stdin: "n\n", args: write, errs: "+new", code: console.ExitFailed, is: "it was not allowed"},
		{name: "a change that cannot be made", args: []string{"files", "edit_file", `{"path":"a.txt","old_text":"x","new_text":"y"}`, "-C", dir}, out: "error: ", code: console.ExitFailed},
		{name: "a change that is allowed", stdin: "y\n", args: write, out: "wrote b.txt", errs: "+new"},
		{name: "a change without a question", args: append([]string{"--yes"}, write...), out: "b.txt"},
		{name: "no JSON", args: []string{"files", "read_file", "{path"}, code: console.ExitUsage, is: "not JSON"},
		{name: "no tool", args: []string{"files"}, code: console.ExitUsage, is: "which tool of files? It has list_dir, read_file"},
		{name: "nothing", code: console.ExitUsage, is: "which tools? There are tools/files"},
		{name: "no such tool", args: []string{"files", "fly"}, code: console.ExitUsage, is: "it has list_dir, read_file"},
		{name: "no such set", args: []string{"birds", "fly"}, code: console.ExitUsage, is: "there are tools/files"},
	} {
		out, errs, err := callTool(t, c.stdin, c.args...)
		if !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) || console.Code(err) != c.code {
			t.Errorf("%s: printed %q and %q, %v", c.name, out, errs, err)
		}
		if c.is != "" && (err == nil || !strings.Contains(err.Error(), c.is)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.is)
		}
	}
	out, _, err := callTool(t, "", "files", "read_file", `{"path":"a.txt"}`, "-C", dir, "--json")
	var r struct {
		Text    string
		IsError bool `json:"is_error"`
	}
	if json.Unmarshal([]byte(out), &r) != nil || err != nil || !strings.Contains(r.Text, "hello") || r.IsError {
		t.Errorf("as JSON: %q, %v", out, err)
	}
}

// TestCallDroppedIn calls a tool of a program that was dropped in: not before it is approved, and not when it has changed.
func TestCallDroppedIn(t *testing.T) {
	dir, project := folder(t, "clerk", "sound"), t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "a.txt"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	read := []string{"call", "clerk", "read_file", `{"path":"a.txt"}`, "-C", project}
	if out, err := run(t, dir, "", read...); !errors.Is(err, plugin.ErrNotApproved) || !strings.Contains(err.Error(), "pooled plugin approve clerk") {
		t.Errorf("before it is approved: %v\n%s", err, out)
	}
	for _, name := range []string{"clerk", "sound"} {
		if out, err := run(t, dir, "", "approve", name, "--yes"); err != nil {
			t.Fatalf("approve %s: %v\n%s", name, err, out)
		}
	}
	if out, err := run(t, dir, "", read...); err != nil || out != "hello\n" {
		t.Errorf("approved: %v\n%s", err, out)
	}
	write := []string{"call", "clerk", "write_file", `{"path":"b.txt","content":"new\n"}`, "-C", project}
	if out, err := run(t, dir, "", write...); err == nil || !strings.Contains(out, "+new") || !strings.Contains(out, "Allow it? [y/N]") {
		t.Errorf("a change that nobody is there to allow: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(project, "b.txt")); err == nil {
		t.Error("the change was made")
	}
	if _, err := run(t, dir, "", "call", "sound", "plan"); console.Code(err) != console.ExitUsage || !strings.Contains(err.Error(), "sound is no set of tools") {
		t.Errorf("a family: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "clerk")), os.WriteFile(filepath.Join(dir, "clerk"), []byte("#!/bin/sh\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, "", read...); !errors.Is(err, plugin.ErrNotApproved) && !errors.Is(err, plugin.ErrChanged) {
		t.Errorf("changed: %v", err)
	}
}
