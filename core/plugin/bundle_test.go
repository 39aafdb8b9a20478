//go:build unix

package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
)

// bundled makes a plugin folder with one plugin that is a folder: the test's own program under a name, a manifest, and files.
func bundled(t *testing.T, name string, m plugin.Manifest, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	home := filepath.Join(dir, name)
	data, err := json.Marshal(m)
	if err == nil {
		err = os.Mkdir(home, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, plugin.ManifestFile), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	copyOfTest(t, filepath.Join(home, name))
	for file, text := range files {
		put(t, filepath.Join(home, file), text)
	}
	return dir
}

// copyOfTest writes the test's own program to a file.
func copyOfTest(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Link(self, to) == nil {
		return
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var goodManifest = plugin.Manifest{Name: "good", Kind: "models", Contract: 1, Binary: "good", Architectures: []string{"good-arch"}}

// TestBundle changes what lies beside an approved program.
func TestBundle(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(home string) error
		state  plugin.State
		says   string
	}{
		{"nothing", func(string) error { return nil }, plugin.Approved, ""},
		{"what Python compiled", func(h string) error {
			return errors.Join(os.MkdirAll(filepath.Join(h, "lib/__pycache__"), 0o755), os.WriteFile(filepath.Join(h, "lib/__pycache__/a.pyc"), nil, 0o644))
		}, plugin.Approved, ""},
		{"a module", func(h string) error { return os.WriteFile(filepath.Join(h, "lib/a.py"), []byte("2"), 0o644) }, plugin.Changed, ""},
		{"a new module", func(h string) error { return os.WriteFile(filepath.Join(h, "lib/b.py"), nil, 0o644) }, plugin.Changed, ""},
		{"a module that is gone", func(h string) error { return os.Remove(filepath.Join(h, "lib/a.py")) }, plugin.Changed, ""},
		{"a module with another name", func(h string) error { return os.Rename(filepath.Join(h, "lib/a.py"), filepath.Join(h, "lib/c.py")) }, plugin.Changed, ""},
		{"a module that may be run", func(h string) error { return os.Chmod(filepath.Join(h, "lib/a.py"), 0o755) }, plugin.Changed, ""},
		{"the manifest", func(h string) error {
			return os.WriteFile(filepath.Join(h, plugin.ManifestFile), []byte(`{"name":"good","kind":"models","contract":1,"binary":"good"}`), 0o644)
		}, plugin.Changed, ""},
		{"a link", func(h string) error { return os.Symlink("/etc/passwd", filepath.Join(h, "lib/l")) }, plugin.Broken, "lib/l is no plain file"},
		{"a pipe", func(h string) error { return syscall.Mkfifo(filepath.Join(h, "lib/p"), 0o600) }, plugin.Broken, "lib/p is no plain file"},
		{"a folder for everybody", func(h string) error { return os.Chmod(filepath.Join(h, "lib"), 0o777) }, plugin.Broken, "chmod -R o-w"},
		{"a file for everybody", func(h string) error { return os.Chmod(filepath.Join(h, "lib/a.py"), 0o666) }, plugin.Broken, "chmod -R o-w"},
		{"too much", func(h string) error {
			for i := range 4097 {
				if err := os.WriteFile(filepath.Join(h, fmt.Sprint(i)), nil, 0o644); err != nil {
					return err
				}
			}
			return nil
		}, plugin.Broken, "more than 4096 files"},
	} {
		dir := bundled(t, "good", goodManifest, map[string]string{"lib/a.py": "1"})
		cat := open(t, dir, quick)
		if _, err := approve(t, cat, "good"); err != nil {
			t.Fatal(err)
		}
		if err := c.change(filepath.Join(dir, "good")); err != nil {
			t.Fatal(err)
		}
		list, err := cat.List()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if e := list[0]; e.State != c.state || c.says != "" && !strings.Contains(fmt.Sprint(e.Err), c.says) {
			t.Errorf("%s: %s, %v, want %s, %q", c.name, e.State, e.Err, c.state, c.says)
		}
		_, err = get(t, open(t, dir, quick), "good-arch").Plan(t.Context(), tinyFile("good-arch"))
		switch {
		case c.state == plugin.Approved && err != nil:
			t.Errorf("%s: it does not run: %v", c.name, err)
		case c.state == plugin.Changed && !errors.Is(err, plugin.ErrChanged), c.state == plugin.Broken && err == nil:
			t.Errorf("%s: it runs: %v", c.name, err)
		}
	}
}

// TestShownIsApproved approves a sum, and not what lies there by then.
func TestShownIsApproved(t *testing.T) {
	dir := bundled(t, "good", goodManifest, nil)
	c := open(t, dir, quick)
	list, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "good", "more.py"), "x")
	if _, err := c.Approve(t.Context(), "good", list[0].SHA256); !errors.Is(err, plugin.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}

// TestSwap exchanges an approved program for another one all the time while it is started: what runs is what was approved.
func TestSwap(t *testing.T) {
	dir := bundled(t, "good", goodManifest, nil)
	if _, err := approve(t, open(t, dir, quick), "good"); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(t.TempDir(), "ran")
	path := filepath.Join(dir, "good", "good")
	evil := path + ".evil"
	kept := filepath.Join(t.TempDir(), "good")
	copyOfTest(t, kept)
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		for !stop.Load() {
			_ = os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o755)
			_ = os.Rename(evil, path)
			_ = os.Link(kept, evil)
			_ = os.Rename(evil, path)
		}
	}()
	for range 20 {
		c := open(t, dir, quick)
		_, err := get(t, c, "good-arch").Plan(t.Context(), tinyFile("good-arch"))
		if err != nil && !errors.Is(err, plugin.ErrChanged) && !errors.Is(err, plugin.ErrBroken) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	stop.Store(true)
	<-done
	if _, err := os.Stat(marker); err == nil {
		t.Error("what was swapped in has run")
	}
}

// TestCopies keeps one private copy of what is approved, and none of what is not any more.
func TestCopies(t *testing.T) {
	dir := bundled(t, "good", goodManifest, map[string]string{"lib/a.py": "1"})
	c := open(t, dir, quick)
	copies := func() []string {
		entries, err := os.ReadDir(filepath.Join(dir, ".approved"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	e, err := approve(t, c, "good")
	if err != nil || len(copies()) != 1 || copies()[0] != e.SHA256 {
		t.Fatalf("copies %v of %s, %v", copies(), e.SHA256, err)
	}
	held := filepath.Join(dir, ".approved", e.SHA256)
	if st, err := os.Stat(filepath.Join(held, "lib/a.py")); err != nil || st.Mode().Perm() != 0o400 {
		t.Errorf("the copy of a file: %v, %v", st, err)
	}
	// A copy that was tampered with is made anew.
	if err := errors.Join(os.Chmod(filepath.Join(held, "good"), 0o700), os.WriteFile(filepath.Join(held, "good"), []byte("#!/bin/false\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, open(t, dir, quick), "good-arch").Plan(t.Context(), tinyFile("good-arch")); err != nil {
		t.Error(err)
	}
	put(t, filepath.Join(dir, "good", "lib/a.py"), "2")
	again, err := approve(t, c, "good")
	if err != nil || len(copies()) != 1 || copies()[0] != again.SHA256 || again.SHA256 == e.SHA256 {
		t.Errorf("after another approval: copies %v of %s, %v", copies(), again.SHA256, err)
	}
	if err := c.Remove("good"); err != nil || len(copies()) != 0 {
		t.Errorf("after its removal: %v, %v", copies(), err)
	}
}

// TestApprovedFile reads what is approved where it is large, damaged, or no file.
func TestApprovedFile(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(file string) error
		says   bool
		state  plugin.State
	}{
		{"nothing", func(string) error { return nil }, false, plugin.Approved},
		{"half of it", func(f string) error { return os.WriteFile(f, []byte(`{"good":{`), 0o600) }, true, plugin.New},
		{"a pipe", func(f string) error { return errors.Join(os.Remove(f), syscall.Mkfifo(f, 0o600)) }, true, plugin.New},
		{"another entry", func(f string) error {
			data, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			return os.WriteFile(f, []byte(strings.Replace(string(data), "{", `{"other":{"sha256":1},`, 1)), 0o600)
		}, false, plugin.Approved},
	} {
		dir := bundled(t, "good", goodManifest, nil)
		if _, err := approve(t, open(t, dir, quick), "good"); err != nil {
			t.Fatal(err)
		}
		if err := c.damage(filepath.Join(dir, "approved.json")); err != nil {
			t.Fatal(err)
		}
		var told []string
		o := quick
		o.Tell = func(news string) { told = append(told, news) }
		list, err := open(t, dir, o).List()
		if err != nil || len(list) != 1 || list[0].State != c.state || (len(told) > 0) != c.says {
			t.Errorf("%s: %+v, %v, told %q", c.name, list, err, told)
		}
	}
}

// TestLargeApproval writes the largest set of tools that the contract allows, and reads it again.
func TestLargeApproval(t *testing.T) {
	dir := folder(t, "tools-large", "tools")
	c := open(t, dir, quick)
	for _, name := range []string{"tools", "tools-large"} {
		if _, err := approve(t, c, name); err != nil {
			t.Fatal(err)
		}
	}
	list, err := open(t, dir, quick).List()
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, e := range list {
		if e.State != plugin.Approved {
			t.Errorf("%s is %s: %v", e.Name, e.State, e.Err)
		}
	}
	if n := len(list[1].Tools.Tools); n != tool.MaxTools {
		t.Errorf("it has %d tools, want %d", n, tool.MaxTools)
	}
}

// largeSet has as many tools as there can be, and their declarations are as long.
type largeSet struct{}

func (largeSet) Info() tool.Info {
	info := tool.Info{Name: "tools-large", Contract: 1}
	for i := range tool.MaxTools {
		var props []string
		for j := 0; len(strings.Join(props, ",")) < tool.MaxParameters-200; j++ {
			props = append(props, fmt.Sprintf(`"p%d":{"type":"string","description":"%s"}`, j, strings.Repeat("é\\n", 20)))
		}
		info.Tools = append(info.Tools, tool.Spec{
			Name: fmt.Sprintf("large_%d", i), Class: tool.Read, Description: strings.Repeat("x", tool.MaxDescription),
			Parameters: json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`),
		})
	}
	return info
}

func (largeSet) Open(context.Context, tool.Project) (tool.Session, error) {
	return nil, errors.New("no")
}
