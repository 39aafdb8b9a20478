//go:build unix

package plugin_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
)

// TestFaults starts programs that misbehave. Each must end in one error of the right kind, soon, without a process that
// is left, while another family keeps serving.
func TestFaults(t *testing.T) {
	healthy := get(t, open(t, "", quick, family{name: "served"}), "served")
	serving := pid(t, healthy)
	for _, c := range []struct {
		name string
		want error
		text string // in the message
	}{
		{"crash-start", plugin.ErrCrashed, "plugin crash-start, asked to start: it crashed (exit status 3): no luck today �[31m"},
		{"crash-plan", plugin.ErrCrashed, "plugin crash-plan, asked to plan: it crashed (exit status 4)"},
		{"panic-plan", model.ErrFault, "plugin panic-plan, asked to plan: the family panicked: out of cheese"},
		{"hang-start", plugin.ErrHung, "asked to start: it did not answer in time, which is 500ms"},
		{"hang-plan", plugin.ErrHung, "asked to plan: it did not answer in time, which is 500ms"},
		{"garbage", plugin.ErrProtocol, `its first line is "Hello, World! �[2J"`},
		{"flood", plugin.ErrProtocol, `its first line is "lorem ipsum lorem`},
		{"mute", plugin.ErrProtocol, "closed its standard output"},
		{"wrong-version", plugin.ErrVersion, "it speaks version 9, this Pooled [1 2]"},
		{"elsewhere", plugin.ErrProtocol, "outside of the folder"},
		{"deaf", plugin.ErrHung, "asked to start"},
		{"liar", model.ErrFault, "tensor w: the plan says [5 8], the file has [4 8]"},
		{"terabyte", model.ErrFault, "67108864 positions take more than 16384 GiB of state"},
		{"huge", plugin.ErrProtocol, "a message of more than 2097152 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			privateTemp(t)
			begin := time.Now()
			o := quick
			switch c.name {
			case "hang-start", "deaf":
				o.StartTimeout = 500 * time.Millisecond
			case "hang-plan":
				o.CallTimeout = 500 * time.Millisecond
			}
			f, err := plugin.Open(t.Context(), filepath.Join(folder(t, c.name), c.name), nil, o)
			if err == nil {
				_, err = model.Checked(f).Plan(t.Context(), tinyFile(c.name))
				f.Close()
			}
			if !errors.Is(err, c.want) || !errors.Is(err, model.ErrFault) {
				t.Fatalf("got %v, want %v, and a fault", err, c.want)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("got  %v\nwant %s", err, c.text)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q is not fit for one line of a terminal", err)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
			if left := children(os.Getpid()); len(left) != 1 || left[0] != serving {
				t.Errorf("child processes %v, want only %d", left, serving)
			}
			noFolders(t)
		})
	}
	if got := pid(t, healthy); got != serving {
		t.Errorf("process %d serves, want %d as before", got, serving)
	}
}

// TestDocsEnvironment holds the variables that the page for authors lists against those that a plugin gets.
func TestDocsEnvironment(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: other systems have other variables, as the page says")
	}
	f, err := plugin.Open(t.Context(), filepath.Join(folder(t, "environment"), "environment"), nil, quick)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Plan(t.Context(), tinyFile("environment"))
	got := fmt.Sprint(err)
	if want := strings.Join(slices.Sorted(maps.Keys(plugin.DocTable(t, "\n   | variable |"))), " "); got != want {
		t.Errorf("a plugin gets\n%s\nthe page lists\n%s", got, want)
	}
}

// TestExceptions lets a family raise exceptions, more of them than a plugin may fail: each call says its own, with its trace, and
// the process stays.
func TestExceptions(t *testing.T) {
	dir := folder(t, "raises")
	c := open(t, dir, quick)
	if _, err := approve(t, c, "raises"); err != nil {
		t.Fatal(err)
	}
	f := get(t, c, "raises")
	before := pid(t, f)
	for n := 1; n <= 5; n++ {
		_, err := f.Plan(t.Context(), tinyFile("raises"))
		if !errors.Is(err, plugin.ErrException) || !errors.Is(err, model.ErrFault) {
			t.Fatalf("call %d: got %v, want ErrException, and a fault", n, err)
		}
		want := fmt.Sprintf("plugin raises, asked to plan: an exception ended the call: Exception calling application: sizes %[1]d:\n"+
			"Traceback (most recent call last):\n  File \"/x/plan.py\", line %[1]d, in plan\n    raise ValueError(sizes)\nValueError: sizes %[1]d", n)
		if got := err.Error(); got != want {
			t.Errorf("call %d:\ngot  %s\nwant %s", n, got, want)
		}
	}
	if after := pid(t, f); after != before {
		t.Errorf("process %d serves, want %d as before", after, before)
	}
}

func TestGrandchildDies(t *testing.T) {
	f, err := plugin.Open(t.Context(), filepath.Join(folder(t, "parent"), "parent"), nil, quick)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Plan(t.Context(), tinyFile("parent"))
	grandchild, bad := strconv.Atoi(err.Error())
	if bad != nil || !alive(grandchild) {
		t.Fatalf("got %v, want the number of a process that runs", err)
	}
	f.Close()
	waitGone(t, grandchild)
}

func TestRestartBudget(t *testing.T) {
	dir := folder(t, "crash-plan")
	var clock atomic.Int64 // nanoseconds
	o := quick
	o.Now = func() time.Time { return time.Unix(0, clock.Load()) }
	c := open(t, dir, o)
	if _, err := approve(t, c, "crash-plan"); err != nil {
		t.Fatal(err)
	}
	f := get(t, c, "crash-plan")
	for range 3 {
		clock.Add(int64(time.Second))
		if _, err := f.Plan(t.Context(), tinyFile("crash-plan")); !errors.Is(err, plugin.ErrCrashed) {
			t.Fatalf("got %v, want ErrCrashed", err)
		}
	}
	_, err := f.Plan(t.Context(), tinyFile("crash-plan"))
	if !errors.Is(err, plugin.ErrBudget) || !strings.Contains(err.Error(), "3 times within 1m0s") {
		t.Fatalf("got %v, want ErrBudget", err)
	}
	// The window counts from each failure: when the first has passed, there is one more start.
	clock.Add(int64(o.Window - 2*time.Second))
	if _, err := f.Plan(t.Context(), tinyFile("crash-plan")); !errors.Is(err, plugin.ErrCrashed) {
		t.Errorf("after the window: %v, want another start", err)
	}
	if _, err := f.Plan(t.Context(), tinyFile("crash-plan")); !errors.Is(err, plugin.ErrBudget) {
		t.Errorf("after that start: %v, want %v", err, plugin.ErrBudget)
	}
}

func TestChangesItsMind(t *testing.T) {
	c := open(t, folder(t, "restless", "newer"), quick)
	e, err := approve(t, c, "restless")
	if err != nil {
		t.Fatal(err)
	}
	_, err = get(t, c, e.Info.Architectures[0]).Plan(t.Context(), tinyFile(e.Info.Architectures[0]))
	if !errors.Is(err, plugin.ErrProtocol) || !strings.Contains(err.Error(), "it was approved as") {
		t.Errorf("got %v, want ErrProtocol", err)
	}
	if _, err := approve(t, c, "newer"); !errors.Is(err, plugin.ErrVersion) {
		t.Errorf("Approve of contract 99: %v, want ErrVersion", err)
	}
}

func TestNoProgram(t *testing.T) {
	privateTemp(t)
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "-gone"} {
		_, err := plugin.Open(t.Context(), p, nil, quick)
		if !errors.Is(err, model.ErrFault) || !strings.Contains(err.Error(), "it cannot be run") {
			t.Errorf("%s: %v, want that it cannot be run", filepath.Base(p), err)
		}
	}
	noFolders(t)
}

// privateTemp gives the test a folder for sockets, whose path is short enough for them.
func privateTemp(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
}

// noFolders fails the test when a folder for a socket is left.
func noFolders(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "pooled-plugin-*")); len(left) > 0 {
		t.Errorf("folders %v are left", left)
	}
}

func TestNoTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	_, err := plugin.Open(t.Context(), filepath.Join(folder(t, "good"), "good"), nil, quick)
	if err == nil || !strings.Contains(err.Error(), "TMPDIR") || errors.Is(err, model.ErrFault) {
		t.Errorf("got %v, want an error about TMPDIR that is no fault of the plugin", err)
	}
}
