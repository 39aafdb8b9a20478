//go:build unix

package plugin_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
)

// quick are options under which a busy machine does not make a plugin look hung.
var quick = plugin.Options{StartTimeout: 20 * time.Second, CallTimeout: 20 * time.Second, Linger: time.Minute, Window: time.Minute}

func open(t *testing.T, dir string, o plugin.Options, builtins ...model.Family) *plugin.Catalog {
	t.Helper()
	c := plugin.NewCatalog(dir, builtins, o)
	t.Cleanup(func() { c.Close() })
	return c
}

func get(t *testing.T, c *plugin.Catalog, architecture string) model.Family {
	t.Helper()
	f, err := c.Family(t.Context(), architecture)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pid returns the process that serves a well-behaved family.
func pid(t *testing.T, f model.Family) int {
	t.Helper()
	_, err := f.Plan(t.Context(), pidRequest(f.Info().Architectures[0]))
	n, bad := strconv.Atoi(err.Error())
	if bad != nil {
		t.Fatalf("got %v, want a process number", err)
	}
	return n
}

func TestBuiltin(t *testing.T) {
	builtin := family{name: "served", architecture: "builtin-arch"}
	c := open(t, "", quick, family{name: "served"})
	f := get(t, c, "served")
	if got := children(os.Getpid()); len(got) > 0 {
		t.Errorf("processes %v run before there is work", got)
	}
	want := tinyPlan("served", "served")
	got, err := f.Plan(t.Context(), tinyFile("served"))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("plan\ngot  %+v\nwant %+v", got, want)
	}

	served := pid(t, f)
	if served == os.Getpid() {
		t.Error("the family runs in this process")
	}
	_, err = f.Plan(t.Context(), &model.Metadata{Architecture: "served"})
	var refused *model.MetadataError
	if !errors.As(err, &refused) || refused.Name != "w" || refused.Reason != "is missing" || !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("refusal %#v, want a MetadataError of w that wraps ErrUnsupported", err)
	}
	if errors.Is(err, model.ErrFault) {
		t.Errorf("a refusal counts as a fault: %v", err)
	}
	c.Close()
	waitGone(t, served)
	if _, err := f.Plan(t.Context(), tinyFile("served")); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	if _, err := c.Family(t.Context(), "served"); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}

	o := quick
	o.InProcess = true
	if got := pid(t, get(t, open(t, "", o, builtin), "builtin-arch")); got != os.Getpid() {
		t.Errorf("in process: process %d, want %d", got, os.Getpid())
	}
}

func TestSharedProcess(t *testing.T) {
	c := open(t, "", quick, family{name: "served"})
	var wg sync.WaitGroup
	pids := make([]int, 8)
	for i := range pids {
		wg.Go(func() {
			f, err := c.Family(t.Context(), "served")
			if err != nil {
				t.Error(err)
				return
			}
			_, err = f.Plan(t.Context(), pidRequest("served"))
			pids[i], _ = strconv.Atoi(err.Error())
		})
	}
	wg.Wait()
	for _, p := range pids {
		if p != pids[0] || p == 0 {
			t.Fatalf("processes %v, want one", pids)
		}
	}
}

func TestLinger(t *testing.T) {
	o := quick
	o.Linger = 50 * time.Millisecond
	f := get(t, open(t, "", o, family{name: "served"}), "served")
	first := pid(t, f)
	waitGone(t, first)
	if second := pid(t, f); second == first {
		t.Errorf("process %d is back", first)
	}
}

func TestUnknownArchitecture(t *testing.T) {
	c := open(t, folder(t, "good"), quick, family{name: "served"})
	_, err := c.Family(t.Context(), "mamba")
	var arch *plugin.ArchitectureError
	if !errors.As(err, &arch) || !errors.Is(err, model.ErrNoFamily) {
		t.Fatalf("got %v, want an ArchitectureError", err)
	}
	want := `no model family knows the architecture "mamba"; those installed know served; not approved yet: good (pooled plugin approve NAME)`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestApproval(t *testing.T) {
	dir := folder(t, "good", "rival")
	var told []string
	o := quick
	o.Tell = func(news string) { told = append(told, news) }
	c := open(t, dir, o, family{name: "builtin", architecture: "builtin-arch"})
	state := func(want plugin.State) plugin.Entry {
		t.Helper()
		list, err := c.List()
		if err != nil || len(list) != 3 {
			t.Fatalf("list %v, %v; want 3 entries", list, err)
		}
		if list[1].State != want {
			t.Fatalf("good is %s, want %s", list[1].State, want)
		}
		return list[1]
	}
	state(plugin.New)
	if _, err := c.Family(t.Context(), "good-arch"); !errors.Is(err, model.ErrNoFamily) {
		t.Fatalf("before approval: %v, want ErrNoFamily", err)
	}
	e, err := approve(t, c, "good")
	if err != nil {
		t.Fatal(err)
	}
	if e.State != plugin.Approved || !reflect.DeepEqual(e.Info.Architectures, []string{"good-arch"}) || len(e.SHA256) != 64 {
		t.Errorf("approved as %+v", e)
	}
	state(plugin.Approved)
	f := get(t, c, "good-arch")
	if _, err := f.Plan(t.Context(), tinyFile("good-arch")); err != nil {
		t.Fatal(err)
	}

	// A plugin that the user approved comes before a built-in family.
	if got := get(t, c, "builtin-arch").Info().Name; got != "builtin" {
		t.Errorf("before approval %s plans builtin-arch, want builtin", got)
	}
	if _, err := approve(t, c, "rival"); err != nil {
		t.Fatal(err)
	}
	if got := get(t, c, "builtin-arch").Info().Name; got != "rival" {
		t.Errorf("after approval %s plans builtin-arch, want rival", got)
	}
	list, err := c.List()
	if err != nil || !reflect.DeepEqual(list[2].Instead, []string{"models/builtin"}) || len(list[1].Instead) > 0 {
		t.Errorf("the list says %+v, %v", list, err)
	}
	if len(told) != 1 || told[0] != "the plugin rival plans builtin-arch, instead of models/builtin" {
		t.Errorf("a person is told %q", told)
	}

	// The program changes: it runs on where it runs, and never starts again.
	path := filepath.Join(dir, "good")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	state(plugin.Changed)
	c2 := open(t, dir, quick)
	if _, err := get(t, c2, "good-arch").Plan(t.Context(), tinyFile("good-arch")); !errors.Is(err, plugin.ErrChanged) {
		t.Errorf("after a change: %v, want ErrChanged", err)
	}

	if err := c.Remove("good"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Remove: %v, want no file", err)
	}
	if err := c.Remove("good"); !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("second Remove: %v, want ErrUnknown", err)
	}
	if _, err := c.Family(t.Context(), "good-arch"); !errors.Is(err, model.ErrNoFamily) {
		t.Errorf("after Remove: %v, want ErrNoFamily", err)
	}
}

func TestManifest(t *testing.T) {
	valid := plugin.Manifest{Name: "good", Kind: "models", Contract: 1, Binary: "good", Architectures: []string{"good-arch"}}
	for _, c := range []struct {
		name string
		edit func(m *plugin.Manifest)
		want string // in the error; empty for none
	}{
		{name: "valid", edit: func(*plugin.Manifest) {}},
		{name: "other name", edit: func(m *plugin.Manifest) { m.Name = "bad" }, want: `names it "bad"`},
		{name: "other kind", edit: func(m *plugin.Manifest) { m.Kind = "hats" }, want: `kind "hats"`},
		{name: "newer contract", edit: func(m *plugin.Manifest) { m.Contract = 2 }, want: "contract 2; this version has 1"},
		{name: "program outside", edit: func(m *plugin.Manifest) { m.Binary = "../../bin/sh" }, want: "not inside its folder"},
		{name: "absolute program", edit: func(m *plugin.Manifest) { m.Binary = "/bin/sh" }, want: "not inside its folder"},
		{name: "no program", edit: func(m *plugin.Manifest) { m.Binary = "gone" }, want: "no such file"},
		{name: "not executable", edit: func(m *plugin.Manifest) { m.Binary = plugin.ManifestFile }, want: "is not a program"},
		{name: "other sum", edit: func(m *plugin.Manifest) { m.SHA256 = strings.Repeat("0", 64) }, want: "says SHA-256 000000000000…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := valid
			c.edit(&m)
			dir := bundled(t, "good", m, nil)
			cat := open(t, dir, quick)
			list, err := cat.List()
			if err != nil || len(list) != 1 {
				t.Fatalf("list %v, %v; want one entry", list, err)
			}
			if c.want == "" {
				if list[0].State != plugin.New || list[0].Err != nil {
					t.Errorf("state %s, %v; want new", list[0].State, list[0].Err)
				}
				return
			}
			if list[0].State != plugin.Broken || list[0].Err == nil || !strings.Contains(list[0].Err.Error(), c.want) {
				t.Errorf("state %s, %v; want broken with %q", list[0].State, list[0].Err, c.want)
			}
			if _, err := approve(t, cat, "good"); !errors.Is(err, plugin.ErrBroken) {
				t.Errorf("Approve: %v, want ErrBroken", err)
			}
		})
	}
}

// TestArchitecturesAgree approves no program that plans other architectures than its manifest lists.
func TestArchitecturesAgree(t *testing.T) {
	m := goodManifest
	for _, c := range []struct {
		says []string
		want string
	}{
		{nil, ""},
		{[]string{"good-arch"}, ""},
		{[]string{"good-arch", "other"}, "lists the architectures good-arch, other, and the program plans good-arch; make them the same"},
		{[]string{"other"}, "lists the architectures other, and the program plans good-arch"},
	} {
		m.Architectures = c.says
		_, err := approve(t, open(t, bundled(t, "good", m, nil), quick), "good")
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, plugin.ErrBroken) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got %v, want %q", c.says, err, c.want)
		}
	}
}

// TestArchitecturesAgreeAtLoad loads nothing where they do not, whatever was approved.
func TestArchitecturesAgreeAtLoad(t *testing.T) {
	dir := bundled(t, "good", goodManifest, nil)
	before, err := approve(t, open(t, dir, quick), "good")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "good", plugin.ManifestFile), `{"name":"good","kind":"models","contract":1,"binary":"good","architectures":["other"]}`)
	list, err := open(t, dir, quick).List()
	if err != nil || len(list) != 1 || list[0].State != plugin.Changed {
		t.Fatal(list, err)
	}
	approvals := filepath.Join(dir, "approved.json")
	data, err := os.ReadFile(approvals)
	if err != nil {
		t.Fatal(err)
	}
	put(t, approvals, strings.Replace(string(data), before.SHA256, list[0].SHA256, 1))
	_, err = open(t, dir, quick).Family(t.Context(), "good-arch")
	if !errors.Is(err, plugin.ErrBroken) || !strings.Contains(err.Error(), "lists the architectures other, and the program plans good-arch") {
		t.Errorf("got %v, want ErrBroken that names both", err)
	}
}

func TestDiesWithHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	hub := exec.Command(filepath.Join(folder(t, "hub"), "hub"))
	stdin, err := hub.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := hub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	child, bad := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if bad != nil || !alive(child) {
		t.Errorf("the hub said %q, want a process that runs", line[:n])
	}
	_ = hub.Process.Kill()
	_ = hub.Wait()
	if child != 0 {
		waitGone(t, child)
	}
}

func TestCancel(t *testing.T) {
	for _, c := range []struct{ name, doing string }{{"hang-start", "start"}, {"hang-plan", "plan"}} {
		t.Run(c.doing, func(t *testing.T) {
			path := filepath.Join(folder(t, c.name), c.name)
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			defer cancel()
			start := time.Now()
			o := quick
			o.StartTimeout, o.CallTimeout = time.Minute, time.Minute
			f, err := plugin.Open(ctx, path, nil, o)
			if err == nil {
				defer f.Close()
				_, err = f.Plan(ctx, tinyFile(c.name))
			}
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, model.ErrFault) {
				t.Errorf("got %v, want the context's error", err)
			}
			if d := time.Since(start); d > 3*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}
