package folders

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// have makes a folder with one file in it.
func have(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds reports whether a folder holds the file of [have].
func holds(dir, content string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "f"))
	return err == nil && string(b) == content
}

func TestSettle(t *testing.T) {
	otherDisk := func(string, string) error { return syscall.EXDEV }
	// slower is beaten by another program, right before it moves.
	slower := func(from, to string) error {
		if err := os.Rename(from, to); err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	for _, c := range []struct {
		name     string
		old, now string // what the folders hold before; empty for no folder
		rename   func(from, to string) error
		// Where things are afterwards, and what is said of it.
		dir, moved, other string
		stays             error
		content           string
	}{
		{name: "nothing is there", rename: os.Rename, dir: "now"},
		{name: "only the new one", now: "n", rename: os.Rename, dir: "now", content: "n"},
		{name: "only the old one", old: "o", rename: os.Rename, dir: "now", moved: "old", content: "o"},
		{name: "both", old: "o", now: "n", rename: os.Rename, dir: "now", other: "old", content: "n"},
		{name: "the old one on another disk", old: "o", rename: otherDisk, dir: "old", stays: syscall.EXDEV, content: "o"},
		{name: "both, on two disks", old: "o", now: "n", rename: otherDisk, dir: "now", other: "old", content: "n"},
		{name: "another program is faster", old: "o", rename: slower, dir: "now", content: "o"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			at := map[string]string{"": "", "old": filepath.Join(root, "a", "old"), "now": filepath.Join(root, "b", "c", "now")}
			for name, content := range map[string]string{"old": c.old, "now": c.now} {
				if content != "" {
					have(t, at[name], content)
				}
			}
			p := settle("models", at["old"], at["now"], c.rename)
			if p.Dir != at[c.dir] || p.Moved != at[c.moved] || p.Other != at[c.other] || !errors.Is(p.Stays, c.stays) {
				t.Errorf("got %+v", p)
			}
			if c.content != "" && !holds(p.Dir, c.content) {
				t.Errorf("%s does not hold %q", p.Dir, c.content)
			}
			if c.old != "" && c.now != "" && !holds(at["old"], c.old) {
				t.Error("what was in the old folder is lost")
			}
			if said := p.News() != ""; said != (c.moved != "" || c.stays != nil) {
				t.Errorf("said %q", p.News())
			}
			if c.stays != nil && !strings.Contains(p.News(), at["now"]) {
				t.Errorf("%q does not say where to move it", p.News())
			}
			// The next program finds the same.
			if again := settle("models", at["old"], at["now"], c.rename); again.Dir != p.Dir || again.Moved != "" {
				t.Errorf("the next time: %+v", again)
			}
		})
	}
}

func TestSettleSamePlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	have(t, dir, "x")
	for _, old := range []string{dir, ""} {
		if p := settle("models", old, dir, nil); p != (Place{Dir: dir, What: "models"}) {
			t.Errorf("from %q: got %+v", old, p)
		}
	}
}

func TestSettleLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on Windows")
	}
	root := t.TempDir()
	have(t, filepath.Join(root, "disk"), "x")
	old := filepath.Join(root, "old")
	if err := os.Symlink("disk", old); err != nil {
		t.Fatal(err)
	}
	p := settle("models", old, filepath.Join(root, "new", "models"), os.Rename)
	if p.Dir != old || !errors.Is(p.Stays, errLink) || !holds(p.Dir, "x") {
		t.Errorf("got %+v", p)
	}
}

// TestSettleNoRoom cannot make the folder that the new one is to lie in.
func TestSettleNoRoom(t *testing.T) {
	root := t.TempDir()
	old := filepath.Join(root, "old")
	have(t, old, "x")
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := settle("models", old, filepath.Join(root, "file", "pooled", "models"), os.Rename)
	if p.Dir != old || p.Stays == nil || !holds(p.Dir, "x") {
		t.Errorf("got %+v", p)
	}
}

// TestSettleTogether lets many programs move the same folder.
func TestSettleTogether(t *testing.T) {
	for range 20 {
		root := t.TempDir()
		old, now := filepath.Join(root, "old"), filepath.Join(root, "data", "now")
		have(t, old, "x")
		places := make([]Place, 8)
		var wg sync.WaitGroup
		for i := range places {
			wg.Go(func() { places[i] = settle("models", old, now, os.Rename) })
		}
		wg.Wait()
		moved := 0
		for _, p := range places {
			if p.Dir != now || p.Stays != nil || p.Other != "" {
				t.Fatalf("got %+v", p)
			}
			if p.Moved != "" {
				moved++
			}
		}
		if moved != 1 || !holds(now, "x") {
			t.Fatalf("moved %d times", moved)
		}
	}
}

func TestHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv(Home, home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	have(t, filepath.Join(home, "cache", "pooled", "models"), "x")
	models, err := Models()
	if err != nil || models != (Place{Dir: filepath.Join(home, "models"), What: "models"}) {
		t.Errorf("models: got %+v, %v", models, err)
	}
	projects, err := Projects()
	if err != nil || projects.Dir != filepath.Join(home, "projects") {
		t.Errorf("projects: got %+v, %v", projects, err)
	}
	for name, got := range map[string]string{"plugins": Plugins(), "wasm": Compiled(), "tools": Tools(), "sandbox": Sandbox()} {
		if want := filepath.Join(home, name); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	t.Setenv(Home, "here")
	if got := Plugins(); !filepath.IsAbs(got) || !strings.HasSuffix(got, filepath.Join("here", "plugins")) {
		t.Errorf("a relative home: got %s", got)
	}
}

// TestMoved goes through the environment of a system that follows XDG.
func TestMoved(t *testing.T) {
	if system := runtime.GOOS; system == "windows" || system == "darwin" || system == "plan9" {
		t.Skip(system + " does not follow XDG")
	}
	root := t.TempDir()
	t.Setenv(Home, "")
	for name, dir := range map[string]string{"XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"} {
		t.Setenv(name, filepath.Join(root, dir))
	}
	have(t, filepath.Join(root, "cache", "pooled", "models"), "m")
	have(t, filepath.Join(root, "config", "pooled", "projects"), "p")
	for _, c := range []struct {
		what    func() (Place, error)
		name    string
		content string
	}{{Models, "models", "m"}, {Projects, "projects", "p"}} {
		p, err := c.what()
		if want := filepath.Join(root, "data", "pooled", c.name); err != nil || p.Dir != want || p.Moved == "" || !holds(want, c.content) {
			t.Errorf("%s: got %+v, %v", c.name, p, err)
		}
	}
	if got, want := Plugins(), filepath.Join(root, "config", "pooled", "plugins"); got != want {
		t.Errorf("plugins: got %s, want %s", got, want)
	}
	for _, name := range []string{"XDG_DATA_HOME", "HOME"} {
		t.Setenv(name, "")
	}
	if _, err := Models(); !errors.Is(err, ErrNone) {
		t.Errorf("without any folder: %v, want ErrNone", err)
	}
}

func TestDataDir(t *testing.T) {
	abs := t.TempDir()
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"linux", map[string]string{"HOME": abs}, filepath.Join(abs, ".local", "share")},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": abs}, abs},
		{"linux", map[string]string{"HOME": abs, "XDG_DATA_HOME": "relative"}, filepath.Join(abs, ".local", "share")},
		{"linux", nil, ""},
		{"darwin", map[string]string{"HOME": abs, "XDG_DATA_HOME": "/x"}, filepath.Join(abs, "Library", "Application Support")},
		{"darwin", nil, ""},
		{"windows", map[string]string{"LOCALAPPDATA": abs}, abs},
		{"windows", map[string]string{"HOME": abs}, ""},
	} {
		got, err := dataDir(c.system, func(name string) string { return c.env[name] })
		if got != c.want || (c.want == "") != errors.Is(err, ErrNone) {
			t.Errorf("%s with %v: got %q, %v, want %q", c.system, c.env, got, err, c.want)
		}
	}
}
