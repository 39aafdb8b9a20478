//go:build unix

package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/tool"
)

// toolSet has tools that behave well and badly, and one that tries what a process may do.
type toolSet struct{ name, prefix string }

func (t toolSet) Info() tool.Info {
	info := tool.Info{Name: t.name, Contract: tool.ContractVersion}
	for _, name := range []string{"pid", "crash", "panics", "hang", "huge", "fail", "count", "try"} {
		spec := tool.Spec{
			Name: t.prefix + name, Class: tool.Run, Description: "For tests.",
			Parameters: json.RawMessage(`{"type": "object", "properties": {"arg": {"type": "string"}}}`),
		}
		if t.name == "writer" && name == "try" {
			spec.Class = tool.Edit
		}
		if t.name == "server" && name == "try" {
			spec.Class = tool.Serve
		}
		info.Tools = append(info.Tools, spec)
	}
	return info
}

func (t toolSet) Open(_ context.Context, p tool.Project) (tool.Session, error) {
	if _, err := os.ReadDir(p.Root); err != nil {
		return nil, err
	}
	return &toolSession{set: t, project: p}, nil
}

type toolSession struct {
	set     toolSet
	project tool.Project
	count   int
}

func (s *toolSession) Close() error { return nil }

func (s *toolSession) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a struct{ Arg string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, err
	}
	// In the process of the tests, where the suite calls them all, the bad ones are good.
	bad := os.Args[len(os.Args)-1] != "-test.v" && !strings.Contains(os.Args[0], ".test") || len(os.Args) == 4 && os.Args[2] == "serve"
	switch name := strings.TrimPrefix(c.Name, s.set.prefix); {
	case name == "pid":
		return tool.Result{Text: strconv.Itoa(os.Getpid())}, nil
	case name == "count":
		s.count++
		return tool.Result{Text: strconv.Itoa(s.count)}, nil
	case name == "fail":
		return tool.Result{}, errors.New("no luck today")
	case name == "try":
		err := try(a.Arg)
		return tool.Result{Text: fmt.Sprint(err)}, nil
	case !bad || a.Arg != "now":
	case name == "crash":
		fmt.Fprintln(os.Stderr, "about to crash")
		os.Exit(4)
	case name == "panics":
		panic("out of cheese")
	case name == "hang":
		if c.Progress != nil {
			c.Progress("hanging")
		}
		time.Sleep(time.Hour)
	case name == "huge":
		return tool.Result{Text: strings.Repeat("x", tool.MaxText+1)}, nil
	}
	return tool.Result{Text: "fine"}, nil
}

// try does what arg says, such as "read /etc/passwd".
func try(arg string) error {
	verb, what, _ := strings.Cut(arg, " ")
	switch verb {
	case "read":
		_, err := os.ReadFile(what)
		return err
	case "write":
		return os.WriteFile(what, []byte("x"), 0o644)
	case "tcp", "udp", "mptcp":
		var d net.Dialer
		d.SetMultipathTCP(verb == "mptcp")
		c, err := d.Dial(strings.TrimPrefix(verb, "mp"), what)
		if err == nil {
			c.Close()
		}
		return err
	case "listen":
		l, err := net.Listen("tcp", what)
		if err == nil {
			l.Close()
		}
		return err
	case "kill":
		pid, err := strconv.Atoi(what)
		if err != nil {
			return err
		}
		return syscall.Kill(pid, 0)
	case "env":
		return errors.New(strings.Join(os.Environ(), " "))
	}
	return nil
}

// TestRights says what each kind of set can do.
func TestRights(t *testing.T) {
	dir := folder(t, "tools")
	if err := os.WriteFile(filepath.Join(dir, "adder.wasm"), []byte("\x00asm"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := withTools("plain", "writer", "server")
	o.Wasm = func(context.Context, []byte) (tool.Set, error) { return toolSet{name: "adder", prefix: "add_"}, nil }
	c := open(t, dir, o)
	for _, name := range []string{"tools", "adder"} {
		if _, err := approve(t, c, name); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]plugin.Rights{
		"tools/plain": {Sandboxed: true}, "tools/writer": {Sandboxed: true, Write: true}, "tools/server": {Sandboxed: true, Listen: true},
		"tools": {Write: true, Listen: true}, "adder": {Sandboxed: true},
	}
	offers, err := c.Tools(t.Context())
	if err != nil || len(offers) != len(want) {
		t.Fatalf("%d sets, %v; want %d", len(offers), err, len(want))
	}
	for _, o := range offers {
		if got := o.Rights; got != want[o.Name] || o.BuiltIn != strings.Contains(o.Name, "/") {
			t.Errorf("%s: got %+v, built in %v; want %+v", o.Name, got, o.BuiltIn, want[o.Name])
		}
	}
	list, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Rights != want[e.Name] {
			t.Errorf("entry %s: got %+v, want %+v", e.Name, e.Rights, want[e.Name])
		}
	}
}

// TestOldTools runs a program that knows version 1 only.
func TestOldTools(t *testing.T) {
	dir := folder(t, "tools-old")
	c := open(t, dir, quick)
	got, err := approve(t, c, "tools-old")
	if err != nil || got.Tools.Contract != 1 {
		t.Fatalf("Approve: %+v, %v", got, err)
	}
	s := begin(t, tools(t, c, "tools-old"), tool.Project{})
	if got := text(t, s, "old_count", ""); got != "1" {
		t.Errorf("count: %s", got)
	}
}

// tools opens a catalog with built-in tools and returns the set of a name.
func tools(t *testing.T, c *plugin.Catalog, name string) tool.Set {
	t.Helper()
	sets, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets {
		if s.Info().Name == name {
			return s
		}
	}
	t.Fatalf("there are no tools %s among %v", name, sets)
	return nil
}

func withTools(names ...string) plugin.Options {
	o := quick
	for _, n := range names {
		o.Tools = append(o.Tools, toolSet{name: n, prefix: n + "_"})
	}
	return o
}

func begin(t *testing.T, s tool.Set, p tool.Project) tool.Session {
	t.Helper()
	if p.Root == "" {
		p.Root = t.TempDir()
	}
	opened, err := s.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func call(t *testing.T, s tool.Session, name, arg string) (tool.Result, error) {
	t.Helper()
	args, _ := json.Marshal(map[string]string{"arg": arg})
	return s.Call(t.Context(), tool.Call{Name: name, Arguments: args})
}

// text calls a tool that must not fail.
func text(t *testing.T, s tool.Session, name, arg string) string {
	t.Helper()
	r, err := call(t, s, name, arg)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text
}

func TestToolsConform(t *testing.T) {
	o := quick
	o.Tools = []tool.Set{toolSet{name: "served"}}
	c := open(t, "", o)
	for _, r := range tooltest.Run(t.Context(), tools(t, c, "served"), nil) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
	o.InProcess = true
	c = open(t, "", o)
	if got := text(t, begin(t, tools(t, c, "served"), tool.Project{}), "pid", ""); got != strconv.Itoa(os.Getpid()) {
		t.Errorf("in process: process %s, want %d", got, os.Getpid())
	}
}

// TestToolFaults breaks the process of a tool in each way: the call says so, and the next one works.
func TestToolFaults(t *testing.T) {
	for _, c := range []struct {
		tool string
		err  error
		text string
	}{
		{"crash", plugin.ErrCrashed, "plugin tools/served, asked to crash: it crashed (exit status 4)"},
		{"hang", plugin.ErrHung, "it did not answer in time, which is 1s"},
		{"panics", tool.ErrFault, "the tool panicked: out of cheese"},
		{"huge", tool.ErrFault, "the text of its result is longer than"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			o := quick
			o.Tools = []tool.Set{toolSet{name: "served"}}
			if c.tool == "hang" {
				o.ToolTimeout = time.Second
			}
			s := begin(t, tools(t, open(t, "", o), "served"), tool.Project{})
			before, _ := strconv.Atoi(text(t, s, "pid", ""))
			_, err := call(t, s, c.tool, "now")
			var fault *plugin.Error
			if !errors.As(err, &fault) || !errors.Is(err, c.err) || !errors.Is(err, tool.ErrFault) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %q", err, c.text)
			}
			waitGone(t, before)
			if got := text(t, s, "count", ""); got != "1" {
				t.Errorf("afterwards got %q, want 1", got)
			}
		})
	}
}

func TestToolSessions(t *testing.T) {
	o := quick
	o.Tools = []tool.Set{toolSet{name: "served"}}
	c := open(t, "", o)
	set := tools(t, c, "served")
	a, b := begin(t, set, tool.Project{}), begin(t, set, tool.Project{})
	if got := children(os.Getpid()); len(got) > 0 {
		t.Errorf("processes %v run before there is work", got)
	}
	pidA, pidB := text(t, a, "pid", ""), text(t, b, "pid", "")
	if pidA == pidB || pidA == strconv.Itoa(os.Getpid()) {
		t.Errorf("the sessions run in processes %s and %s, want two others", pidA, pidB)
	}
	if r, err := call(t, a, "fail", ""); err != nil || !r.IsError || r.Text != "error: no luck today" {
		t.Errorf("fail: %+v, %v", r, err)
	}
	if got := text(t, a, "pid", ""); got != pidA {
		t.Error("a failed call ended the process")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var progress []string
	_, err := a.Call(ctx, tool.Call{Name: "hang", Arguments: json.RawMessage(`{"arg":"now"}`), Progress: func(l string) { progress = append(progress, l) }})
	if err != context.DeadlineExceeded || strings.Join(progress, ",") != "hanging" {
		t.Errorf("cancelled: %v with progress %q", err, progress)
	}
	if got := text(t, a, "pid", ""); got != pidA {
		t.Error("a cancelled call ended the process")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(pidA)
	waitGone(t, n)
	if _, err := call(t, a, "pid", ""); !errors.Is(err, tool.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	if got := text(t, b, "pid", ""); got != pidB {
		t.Error("closing a session ended another's process")
	}
	c.Close()
	n, _ = strconv.Atoi(pidB)
	waitGone(t, n)
	if _, err := c.Tools(t.Context()); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	if _, err := set.Open(t.Context(), tool.Project{Root: "relative"}); err == nil {
		t.Error("a project with a relative path was opened")
	}
}

// TestToolRights tries what the process of built-in tools may do.
func TestToolRights(t *testing.T) {
	t.Setenv("SECRET", "s3cr3t")
	base := t.TempDir()
	project := tool.Project{Root: filepath.Join(base, "p"), State: filepath.Join(base, "state"), Cache: filepath.Join(base, "cache")}
	if err := os.Mkdir(project.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(base, "secret.txt")
	if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.WriteFile(filepath.Join(project.Root, "in.txt"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := open(t, "", withTools("reader", "writer", "server"))
	session := map[string]tool.Session{}
	for _, name := range []string{"reader", "writer", "server"} {
		session[name] = begin(t, tools(t, c, name), project)
	}
	if env := text(t, session["reader"], "reader_try", "env"); strings.Contains(env, "s3cr3t") || !strings.Contains(env, "POOLED_PLUGIN") {
		t.Errorf("its environment is %q", env)
	}
	if runtime.GOOS != "linux" {
		t.Skip("this system takes no rights away")
	}
	if _, _, errno := syscall.Syscall(444, 0, 0, 1); errno != 0 {
		t.Skip("this kernel has no Landlock:", errno)
	}
	for _, x := range []struct {
		set, try string
		allowed  bool
	}{
		{"reader", "read " + filepath.Join(project.Root, "in.txt"), true},
		{"reader", "write " + filepath.Join(project.Root, "new.txt"), false},
		{"reader", "write " + filepath.Join(project.State, "x"), false},
		{"reader", "write " + filepath.Join(project.Cache, "x"), true},
		{"reader", "read " + secret, false},
		{"reader", "read /etc/passwd", false},
		{"reader", "read /proc/" + strconv.Itoa(os.Getpid()) + "/environ", false},
		{"reader", "write /tmp/pooled-test-escape", false},
		{"reader", "tcp " + l.Addr().String(), false},
		{"reader", "mptcp " + l.Addr().String(), false},
		{"reader", "udp " + l.Addr().String(), false},
		{"reader", "listen 127.0.0.1:0", false},
		{"reader", "kill " + strconv.Itoa(os.Getpid()), false},
		{"writer", "write " + filepath.Join(project.Root, "new.txt"), true},
		{"writer", "write " + filepath.Join(project.State, "x"), true},
		{"writer", "write " + secret, false},
		{"writer", "read " + secret, false},
		{"server", "listen 127.0.0.1:0", true},
		{"server", "tcp " + l.Addr().String(), false},
		{"server", "mptcp " + l.Addr().String(), false},
		{"server", "udp " + l.Addr().String(), false},
		{"server", "write " + filepath.Join(project.Root, "new.txt"), false},
	} {
		got := text(t, session[x.set], x.set+"_try", x.try)
		if x.allowed != (got == "<nil>") {
			t.Errorf("%s: %s: %s, want allowed %v", x.set, x.try, got, x.allowed)
		}
	}
	// The host has lost nothing.
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
}

func TestDroppedTools(t *testing.T) {
	dir := folder(t, "tools", "tools-bad", "tools-two", "good")
	o := withTools("served")
	c := open(t, dir, o)
	if got, err := approve(t, c, "tools"); err != nil || got.Kind != plugin.KindTools || len(got.Tools.Tools) != 8 {
		t.Fatalf("Approve: %+v, %v", got, err)
	}
	if _, err := approve(t, c, "tools-bad"); !errors.Is(err, tool.ErrFault) || !strings.Contains(err.Error(), "Not A Name") {
		t.Errorf("Approve of bad tools: %v", err)
	}
	if _, err := approve(t, c, "tools-two"); !errors.Is(err, plugin.ErrBroken) || !strings.Contains(err.Error(), "it has a tool my_pid, as tools has") {
		t.Errorf("Approve of tools of the same names: %v", err)
	}
	if got, err := approve(t, c, "good"); err != nil || got.Kind != plugin.KindModels {
		t.Errorf("Approve of a family: %+v, %v", got, err)
	}
	list, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, e := range list {
		states = append(states, fmt.Sprintf("%s %s %q", e.Name, e.State, e.Kind))
	}
	want := `tools/served built in "tools", good approved "models", tools approved "tools", tools-bad not approved "", tools-two not approved ""`
	if got := strings.Join(states, ", "); got != want {
		t.Errorf("List\ngot  %s\nwant %s", got, want)
	}

	// Another catalog reads what was approved.
	c = open(t, dir, o)
	s := begin(t, tools(t, c, "tools"), tool.Project{})
	if got := text(t, s, "my_count", ""); got != "1" {
		t.Errorf("count: %s", got)
	}
	for _, r := range tooltest.Run(t.Context(), tools(t, c, "tools"), nil) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
	if _, err := c.Family(t.Context(), "tools"); err == nil {
		t.Error("tools plan an architecture")
	}
	opened, err := plugin.Open(t.Context(), filepath.Join(dir, "tools"), nil, quick)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if opened.Family != nil || opened.Tools.Info().Name != "tools" {
		t.Errorf("Open: %+v", opened)
	}
	if got := text(t, begin(t, opened.Tools, tool.Project{}), "my_count", ""); got != "1" {
		t.Errorf("count: %s", got)
	}
}

// TestToolsOutOfOrder opens sets that were approved and do not work any more: it fails with the reason before a model is offered
// anything, and the others work.
func TestToolsOutOfOrder(t *testing.T) {
	m := plugin.Manifest{Name: "tools", Kind: "tools", Contract: 2, Binary: "tools"}
	for _, c := range []struct {
		name   string
		change func(home string) error
		want   error
		says   string
	}{
		{"nothing", func(string) error { return nil }, nil, ""},
		{"another file", func(h string) error { return os.WriteFile(filepath.Join(h, "x"), nil, 0o644) }, plugin.ErrChanged, "pooled plugin approve tools"},
		{"no manifest any more", func(h string) error { return os.WriteFile(filepath.Join(h, plugin.ManifestFile), []byte("{"), 0o644) }, plugin.ErrBroken, plugin.ManifestFile},
		{"no program any more", func(h string) error { return os.Remove(filepath.Join(h, "tools")) }, plugin.ErrBroken, "no such file"},
	} {
		dir := bundled(t, "tools", m, nil)
		cat := open(t, dir, withTools("plain"))
		if _, err := approve(t, cat, "tools"); err != nil {
			t.Fatal(err)
		}
		if err := c.change(filepath.Join(dir, "tools")); err != nil {
			t.Fatal(err)
		}
		s, err := tools(t, cat, "tools").Open(t.Context(), tool.Project{Root: t.TempDir()})
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, c.want) || c.want != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v, %q", c.name, err, c.want, c.says)
		}
		if got := text(t, begin(t, tools(t, cat, "plain"), tool.Project{}), "plain_count", ""); got != "1" {
			t.Errorf("%s: the others: %s", c.name, got)
		}
	}
}

// TestWasmTools drops a module in, with a loader that stands for the sandbox.
func TestWasmTools(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "adder.wasm")
	if err := os.WriteFile(path, []byte("adder"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := quick
	closed := 0
	o.Wasm = func(_ context.Context, module []byte) (tool.Set, error) {
		if len(module) == 0 {
			return nil, errors.New("it is empty")
		}
		return closer{toolSet{name: string(module)}, &closed}, nil
	}
	c := open(t, dir, o)
	if e, err := approve(t, c, "adder"); err != nil || e.Kind != plugin.KindTools || closed != 1 {
		t.Fatalf("Approve: %+v, %v, closed %d times", e, err, closed)
	}
	s, err := tools(t, c, "adder").Open(t.Context(), tool.Project{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s, "pid", ""); got != strconv.Itoa(os.Getpid()) {
		t.Errorf("it runs in process %s, want this one", got)
	}
	if err := s.Close(); err != nil || closed != 2 {
		t.Errorf("Close: %v, closed %d times", err, closed)
	}
	if err := os.WriteFile(path, []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tools(t, c, "adder").Open(t.Context(), tool.Project{Root: t.TempDir()}); !errors.Is(err, plugin.ErrChanged) {
		t.Errorf("a changed module: %v, want ErrChanged", err)
	}
	o.Wasm = nil
	if _, err := approve(t, open(t, dir, o), "adder"); err == nil || !strings.Contains(err.Error(), "runs no WebAssembly") {
		t.Errorf("without a loader: %v", err)
	}
}

type closer struct {
	toolSet
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }
