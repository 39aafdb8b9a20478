package jscmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
)

// cache is shared by all tests: the engine is compiled once.
var cache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pooled-jscmd-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cache = filepath.Join(dir, "sandbox")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// execute runs a command line and returns what it printed and its exit code.
func execute(t *testing.T, stdin string, args ...string) (out, errOut string, code int) {
	t.Helper()
	root := &cobra.Command{Use: "pooled"}
	var o, e bytes.Buffer
	c := &console.Console{In: strings.NewReader(stdin), Out: &o, Err: &e}
	c.Adopt(root)
	root.AddCommand(NewJS(c, cache), NewPage(c, cache))
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err != nil {
		e.WriteString(err.Error())
	}
	return o.String(), e.String(), console.Code(err)
}

func TestJSCommand(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		args        []string
		out, errOut string
		code        int
	}{
		{"value", "6 * 7", []string{"js", "-"}, "42\n", "", 0},
		{"console", "console.log('a'); console.error('b')", []string{"js", "-"}, "a\n", "b\n", 0},
		{"error", "\nnull.x", []string{"js", "-"}, "", "TypeError: cannot read property 'x' of null\n    at <eval> (stdin.js:2:1)\n", 1},
		{"timeout", "for(;;);", []string{"js", "-", "--timeout", "50ms"}, "", "stopped: it ran longer than 50ms; --timeout gives it more\n", 3},
		{"memory", "let a = []; for (;;) a.push(new Array(1e5).fill(1))", []string{"js", "-", "--memory", "8MiB"}, "", "InternalError: out of memory\n    at <eval> (stdin.js:1:43)\nstopped: it used more than 8MiB of memory; --memory gives it more\n", 3},
		{"tree", "", []string{"js", "testdata/app/main.js", "--tree", "testdata/app"}, "the answer\n42\n", "", 0},
		{"tree by another base", "import { answer } from './app/lib/answer.js'; export default answer + 1", []string{"js", "-", "--tree", "testdata"}, "43\n", "", 0},
		{"no tree", "", []string{"js", "testdata/app/main.js"}, "", "Error: imports are not available here: no file tree was given\n--tree DIR lets the program import from a folder\n", 1},
		{"control characters", "console.log('\\x1b[2Jx\\ty'); '\\u009b'", []string{"js", "-"}, "\\x1b[2Jx\ty\n\\x9b\n", "", 0},
		{"capability", "new Date().getFullYear() > 2025", []string{"js", "-", "--allow", "clock"}, "true\n", "", 0},
		{"unknown capability", "1", []string{"js", "-", "--allow", "net"}, "", `--allow: unknown capability "net": the known ones are clock, random`, 2},
		{"no file", "", []string{"js", "none.js"}, "", "open none.js: no such file or directory", 2},
		{"no argument", "", []string{"js"}, "", "pooled js needs a file, or - for standard input", 2},
		{"bad size", "", []string{"js", "-", "--memory", "lots"}, "", `invalid argument "lots" for "--memory" flag: "lots" is not a size such as 64MiB (see 'pooled js --help')`, 2},
		{"bad time", "", []string{"js", "-", "--timeout", "-3s"}, "", `invalid argument "-3s" for "--timeout" flag: "-3s" is not between 1ms and 1h (see 'pooled js --help')`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errOut, code := execute(t, c.stdin, c.args...)
			if out != c.out || errOut != c.errOut || code != c.code {
				t.Errorf("got %q, %q, %d\nwant %q, %q, %d", out, errOut, code, c.out, c.errOut, c.code)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		code        int
		result      string
		stopped     string
		err         string
		console     int
	}{
		{"value", "console.log('<&>'); ({a: [1]})", 0, `{"a":[1]}`, "null", "null", 1},
		{"no value", "let x", 0, "null", "null", "null", 0},
		{"not JSON", "() => 1", 0, `"[Function (anonymous)]"`, "null", "null", 0},
		{"error", "throw new RangeError('r')", 1, "null", "null", `"RangeError"`, 0},
		{"timeout", "for(;;);", 3, "null", `"timeout"`, "null", 0},
		{"output", "for(;;)console.log('x'.repeat(1e5))", 3, "null", `"output"`, "null", 10},
		{"stack", "(function f(){f()+1})()", 3, "null", `"stack"`, `"RangeError"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errOut, code := execute(t, c.stdin, "js", "-", "--json", "--timeout", "100ms")
			var got map[string]json.RawMessage
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			keys := []string{}
			for k := range got {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			if s := strings.Join(keys, " "); s != "console error ok result stopped wall_ms" {
				t.Errorf("keys %s", s)
			}
			var lines []struct{ Level, Text string }
			if err := json.Unmarshal(got["console"], &lines); err != nil || len(lines) != c.console {
				t.Errorf("console %s, want %d lines", got["console"], c.console)
			}
			var e *struct{ Name json.RawMessage }
			name := "null"
			if err := json.Unmarshal(got["error"], &e); err != nil {
				t.Fatal(err)
			} else if e != nil {
				name = string(e.Name)
			}
			if code != c.code || string(got["result"]) != c.result || string(got["stopped"]) != c.stopped || name != c.err || errOut != "" ||
				string(got["ok"]) != fmt.Sprint(c.code == 0) {
				t.Errorf("exit %d, stderr %q: %s", code, errOut, out)
			}
		})
	}
}

func TestPageCommand(t *testing.T) {
	out, errOut, code := execute(t, "", "page", "testdata/page", "--do", "click:#add", "click:Add")
	if out != "# Clicks\n2\nAdd Bad\n" || errOut != "console.log: clicked 1\nconsole.log: clicked 2\n" || code != 0 {
		t.Errorf("got %q, %q, %d", out, errOut, code)
	}
	out, errOut, code = execute(t, "", "page", "testdata/page", "click:#bad", "click:#none", "--json")
	var got pageReport
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code != 1 || got.OK || errOut != "" || got.Title != "Clicks" || len(got.Errors) != 1 || len(got.Failed) != 1 || got.Missing == nil {
		t.Errorf("exit %d, %q: %s", code, errOut, out)
	}
	if e := got.Errors[0]; e.Where() != "index.html:5:27" || e.Name != "ReferenceError" || e.Kind != "uncaught" {
		t.Errorf("error %+v", e)
	}
	if !strings.Contains(out, `"errors":[{"kind":"uncaught","name":"ReferenceError","message":"nope is not defined"`) {
		t.Errorf("shape of errors: %s", out)
	}
	for _, c := range []struct {
		args []string
		err  string
	}{
		{[]string{"page"}, "needs a folder"},
		{[]string{"page", "none"}, "no such file"},
		{[]string{"page", "testdata/page", "--entry", "x.html"}, "cannot open the entry file"},
		{[]string{"page", "testdata/page", "--entry", "../app/main.js"}, "cannot open the entry file"},
		{[]string{"page", "testdata/page", "fly:#x"}, "is none of click"},
	} {
		if _, errOut, code := execute(t, "", c.args...); code != 2 || !strings.Contains(errOut, c.err) {
			t.Errorf("%v: exit %d, %q", c.args, code, errOut)
		}
	}
}

func TestFlagValues(t *testing.T) {
	for text, want := range map[string]size{"64MiB": 64 << 20, "64": 64 << 20, "512k": 512 << 10, "1G": 1 << 30, "2GiB": 2 << 30, "8mb": 8 << 20} {
		var s size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("size %q: %d, %v, want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "-1", "0", "x", "1T", "1.5G", "99999999999999"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("size %q: accepted as %d", text, s)
		}
	}
	for text, want := range map[string]time.Duration{"5s": 5 * time.Second, "0.3": 300 * time.Millisecond, "2": 2 * time.Second, "1m": time.Minute} {
		var w wait
		if err := w.Set(text); err != nil || time.Duration(w) != want {
			t.Errorf("time %q: %v, %v, want %v", text, w, err, want)
		}
	}
}
