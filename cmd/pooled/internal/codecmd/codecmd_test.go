package codecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/agent/agenttest"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/plugins/tools/files"
	"github.com/pooled/pooled/plugins/tools/preview"
)

// rig is the command with a scripted model.
type rig struct {
	t        *testing.T
	home     string
	dir      string
	terminal bool
	color    bool
	answers  []string
	loads    []string
	more     []agent.Source // sets of tools beside those that are built in
}

func newRig(t *testing.T, answers ...string) *rig {
	return &rig{t: t, home: t.TempDir(), dir: t.TempDir(), answers: answers}
}

// cache is shared: booting the page guest takes half a second.
var cache = filepath.Join(os.TempDir(), "pooled-codecmd-test")

func (r *rig) run(in string, args ...string) (out, errs string, code int) {
	r.t.Helper()
	var e bytes.Buffer
	var o screenshot
	var keyboard io.Reader = strings.NewReader(in)
	if r.terminal {
		keyboard = o.typist(in)
	}
	c := New(Deps{
		Console: &console.Console{In: keyboard, Out: &o, Err: &e, Terminal: r.terminal, Color: r.color},
		Load: func(_ context.Context, ref string) (agent.Model, io.Closer, error) {
			r.loads = append(r.loads, ref)
			m, err := agenttest.New(toolcall.QwenXML, 16384, r.answers...)
			return m, io.NopCloser(nil), err
		},
		Tools: func(context.Context) ([]agent.Source, error) {
			return append([]agent.Source{{Set: files.Set{}, Sandboxed: true}, {Set: preview.Set{}, Sandboxed: true}}, r.more...), nil
		},
		Home: func() (string, error) { return r.home, nil }, Cache: cache,
	})
	c.SetArgs(args)
	c.SetOut(&o)
	c.SetErr(&e)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(r.t.Context())
	if err != nil {
		e.WriteString(err.Error())
	}
	return o.String(), e.String(), console.Code(err)
}

// screenshot keeps what was shown, and tells a typist when something is asked for.
type screenshot struct {
	mu     sync.Mutex
	shown  bytes.Buffer
	prompt chan bool
}

func (s *screenshot) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.Write(b)
	if s.prompt != nil && (bytes.HasSuffix(b, []byte("> ")) || bytes.HasSuffix(b, []byte(". ")) || bytes.HasSuffix(b, []byte(": "))) {
		s.prompt <- true
	}
	return len(b), nil
}

func (s *screenshot) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// typist types a line each time that something is asked for, and what stands behind a "|" in it right after that.
func (s *screenshot) typist(in string) io.Reader {
	s.prompt = make(chan bool, 100)
	r, w := io.Pipe()
	go func() {
		for l := range strings.Lines(in) {
			<-s.prompt
			for part := range strings.SplitSeq(strings.TrimSuffix(l, "\n"), "|") {
				io.WriteString(w, part+"\n")
			}
		}
		<-s.prompt
		w.Close()
	}()
	return r
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

func call(name string, arguments ...string) string {
	return agenttest.Call(toolcall.QwenXML, name, arguments...)
}

var script = []string{"I begin.\n" + call("write_file", "path", "index.html", "content", "<h1>Hi</h1>"), call("serve"), "The page is ready."}

func TestOnce(t *testing.T) {
	r := newRig(t, script...)
	out, errs, code := r.run("", r.dir, "-p", "Make a page", "--yes")
	if code != 0 || out != "The page is ready.\n" {
		t.Errorf("exit code %d, printed %q", code, out)
	}
	for _, want := range []string{"● write_file index.html", "+<h1>Hi</h1>", "wrote index.html (11 bytes)", "serving index.html, no console errors"} {
		if !strings.Contains(errs, want) {
			t.Errorf("on the side, %q is missing in\n%s", want, errs)
		}
	}
	if strings.Contains(errs+out, "http://") {
		t.Errorf("an address is given that is gone when the program ends:\n%s", errs)
	}
	if strings.Contains(errs+out, "\x1b") {
		t.Error("it is coloured")
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, "index.html")); err != nil || string(b) != "<h1>Hi</h1>" {
		t.Errorf("index.html: %q, %v", b, err)
	}

	r = newRig(t, script...)
	out, _, code = r.run("Make a page\n", r.dir, "-p", "-", "--json", "--mode", "all")
	var types []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Type == "" {
			t.Fatalf("%q: %v", line, err)
		}
		types = append(types, e.Type)
	}
	if code != 0 || types[0] != "session" || types[len(types)-1] != "done" {
		t.Errorf("exit code %d, events %v", code, types)
	}
	if !strings.HasPrefix(out, `{"type":"session","version":1,"id":"`) {
		t.Errorf("the first line is %.80q", out)
	}
}

func TestExitCodes(t *testing.T) {
	bad := call("write_file", "path", "index.html", "content", "<script>nothing()</script>")
	printed := "```html\n<html>\n<body>\n<h1>\nHi\n</h1>\n</body>\n</html>\n```"
	for _, c := range []struct {
		name    string
		answers []string
		args    []string
		code    int
	}{
		{"nobody may allow a change", script, []string{"-p", "Go"}, console.ExitUnfinished},
		{"the app has errors", []string{bad, call("serve"), "Ready."}, []string{"-p", "Go", "--yes", "--no-repair"}, console.ExitProblems},
		{"a later try left nothing", []string{bad, call("serve"), "Ready.", "No."}, []string{"-p", "Go", "--yes"}, console.ExitProblems},
		{"a printed page works", []string{printed, call("serve"), "Ready."}, []string{"-p", "Go", "--yes"}, 0},
		{"nobody may allow a printed page", []string{printed, "Ready."}, []string{"-p", "Go"}, console.ExitUnfinished},
		{"code is printed to the end", slices.Repeat([]string{strings.Replace(printed, "<html>", "<body>", 1)}, 9), []string{"-p", "Go", "--yes"}, console.ExitProblems},
		{"a limit", []string{call("list_dir"), call("serve")}, []string{"-p", "Go", "--yes", "--max-steps", "1"}, console.ExitUnfinished},
		{"an empty request", nil, []string{"-p", " "}, console.ExitUsage},
		{"JSON without a request", nil, []string{"--json"}, console.ExitUsage},
		{"a mode that is none", nil, []string{"--mode", "yolo"}, console.ExitUsage},
		{"two projects", nil, []string{"--scratch"}, console.ExitUsage},
		{"no session to go on with", nil, []string{"-r", "-p", "Go"}, 1},
		{"no such starter", nil, []string{"--start", "rocket", "-p", "Go"}, console.ExitUsage},
	} {
		r := newRig(t, c.answers...)
		if _, errs, code := r.run("", append([]string{r.dir}, c.args...)...); code != c.code {
			t.Errorf("%s: exit code %d, want %d (%s)", c.name, code, c.code, errs)
		}
	}
	r := newRig(t)
	if _, errs, code := r.run("", filepath.Join(r.dir, "none"), "-p", "Go"); code != console.ExitUsage || !strings.Contains(errs, "there is no folder") {
		t.Errorf("a folder that is not there: exit code %d, %q", code, errs)
	}
}

// TestBestTry says what was put back and what is wrong with it, and nothing that was said of another try.
func TestBestTry(t *testing.T) {
	bad := call("write_file", "path", "index.html", "content", "<script>nothing()</script>")
	r := newRig(t, bad, call("serve"), "Ready.", "It could not be better.")
	out, errs, _ := r.run("", r.dir, "-p", "Go", "--yes")
	if out != "" {
		t.Errorf("printed %q", out)
	}
	for _, want := range []string{"the best one is put back", "done: 4 steps", "serving index.html, 1 error: …"} {
		if !strings.Contains(errs, want) {
			t.Errorf("on the side, %q is missing in\n%s", want, errs)
		}
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, "index.html")); err != nil || string(b) != "<script>nothing()</script>" {
		t.Errorf("index.html: %q, %v", b, err)
	}
}

// TestTalk goes through a conversation at the terminal.
func TestTalk(t *testing.T) {
	r := newRig(t, script...)
	r.terminal, r.color = true, true
	out := filepath.Join(t.TempDir(), "site.html")
	in := strings.Join([]string{
		"/help", "/nonsense", "Make \\", "a page", "what for?", "Once more", "y", "/files", "/open", "/export " + out, "/export " + out,
		"/undo", "/undo", "/mode", "/tools", "/mode edits", "/mode nonsense", "/model", "/model other", "/sessions", "/new", "/resume", "/bye", "never",
	}, "\n")
	// The first answer is denied with a word, so the script goes on with serve; "Once more" begins it anew.
	r.answers = append([]string{script[0], "As you wish."}, script...)
	text, errs, code := r.run(in, r.dir)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{
		"/undo force", "allow?", "files: ", "read_file      read: ", "write_file     edit, asks first: ", "\x1b[32m+<h1>Hi</h1>\x1b[0m", "not allowed", "As you wish.", "The page is ready.", "       11  index.html",
		"http://127.0.0.1:", "wrote " + out, "\x1b[31m-<h1>Hi</h1>\x1b[0m", "took the last change of index.html back", "there is nothing to take back",
		"ask", "script, context 16384, calls written as qwen-xml", "2 requests", "a new session",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, want := range []string{"there is no command /nonsense", "is there already", `"nonsense" is none of ask, edits and all`} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing among the errors\n%s", want, errs)
		}
	}
	if len(r.loads) != 2 || r.loads[1] != "other" {
		t.Errorf("loaded %q", r.loads)
	}
	if b, err := os.ReadFile(out); err != nil || !strings.Contains(string(b), "<h1>Hi</h1>") {
		t.Errorf("exported %q, %v", b, err)
	}
}

// brokenSet is a set of tools that was dropped in and does not start.
type brokenSet struct{}

func (brokenSet) Info() tool.Info {
	return tool.Info{Name: "weather", Contract: 1, Tools: []tool.Spec{{
		Name: "weather_now", Description: "x", Class: tool.Read, Parameters: json.RawMessage(`{"type":"object"}`),
	}}}
}

func (brokenSet) Open(context.Context, tool.Project) (tool.Session, error) {
	return nil, errors.New("plugin weather: it crashed:\nKeyError: 1\x1b[2J")
}

// TestBrokenTools leaves a set out that does not start: a person is told once, and /tools lists it with the reason.
func TestBrokenTools(t *testing.T) {
	r := newRig(t, "Hello.", "Hello again.")
	r.terminal = true
	r.more = []agent.Source{{Set: brokenSet{}, Name: "weather", DroppedIn: true}}
	text, errs, code := r.run("hi\n/tools\nhi again\n/bye\n", r.dir)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if n := strings.Count(errs, "the tools of weather are left out: plugin weather: it crashed:\nKeyError: 1"); n != 1 {
		t.Errorf("told %d times, want once\n%s", n, errs)
	}
	if want := "weather: left out: plugin weather: it crashed: KeyError: 1"; !strings.Contains(text, want) || strings.Contains(text, "weather_now") {
		t.Errorf("want %q and no tool of it in\n%s", want, text)
	}
	if strings.Contains(text+errs, "\x1b[2J") {
		t.Error("what a plugin says reaches the terminal")
	}
}

func TestResume(t *testing.T) {
	r := newRig(t, "I remember.")
	if _, errs, code := r.run("", r.dir, "-p", "My name is Ada"); code != 0 {
		t.Fatal(errs)
	}
	out, errs, code := r.run("", "--sessions")
	id := regexp.MustCompile(`\d{8}-\d{6}-[a-z0-9]+`).FindString(out)
	if code != 0 || id == "" || !strings.Contains(out, "My name is Ada") {
		t.Fatalf("got %q, %s", out, errs)
	}
	for _, args := range [][]string{{"-r"}, {"--session", id}} {
		r.terminal = true
		out, errs, code := r.run("/bye\n", append([]string{r.dir}, args...)...)
		if code != 0 || !strings.Contains(out, "going on with session "+id+", 1 request so far") {
			t.Errorf("%v: %q, %s", args, out, errs)
		}
	}
}

func TestStart(t *testing.T) {
	r := newRig(t, "Fine.")
	if _, errs, code := r.run("", r.dir, "--start", "game", "-p", "Look"); code != 0 {
		t.Fatal(errs)
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, "index.html")); err != nil || !strings.Contains(string(b), "<canvas") {
		t.Errorf("got %.60q, %v", b, err)
	}
}

// TestHostileText keeps what a model writes from obeying in a terminal.
func TestHostileText(t *testing.T) {
	r := newRig(t, "\x1b[2J\u202egone\r"+call("write_file", "path", "a.txt", "content", "\x1b]0;title\x07"), "\x1b[31mred")
	r.terminal = true
	out, errs, _ := r.run("Go\ny\n", r.dir)
	if strings.Contains(strings.ReplaceAll(out, "\r\x1b[K", ""), "\x1b") || strings.ContainsAny(out, "\x07\u202e") {
		t.Errorf("it reached the terminal: %q", out)
	}
	if strings.Contains(errs, "\x1b") {
		t.Errorf("it reached the terminal: %q", errs)
	}
}
