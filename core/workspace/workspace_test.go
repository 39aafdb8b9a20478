package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// open makes a project with files and opens it.
func open(t *testing.T, files map[string]string) (w *Workspace, dir, state string) {
	t.Helper()
	base := t.TempDir()
	dir, state = filepath.Join(base, "project"), filepath.Join(base, "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		put(t, filepath.Join(dir, name), content)
	}
	return reopen(t, dir, state), dir, state
}

func reopen(t *testing.T, dir, state string) *Workspace {
	t.Helper()
	w, err := Open(dir, state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func put(t *testing.T, name, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, w *Workspace, name, content string) {
	t.Helper()
	if err := tryWrite(w, name, content); err != nil {
		t.Fatal(err)
	}
}

func tryWrite(w *Workspace, name, content string) error {
	c, err := w.PrepareWrite(name, []byte(content))
	if err != nil {
		return err
	}
	return w.Apply(context.Background(), c)
}

func check(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %.60q (%v), want %.60q", filepath.Base(name), got, err, want)
	}
}

func TestList(t *testing.T) {
	w, dir, _ := open(t, map[string]string{
		"b.txt": "bb", "a.txt": "a", "src/x.js": "", ".git/config": "", ".pooled/x": "", "node_modules/m/i.js": "needle", ".env": "k",
	})
	list, more, err := w.List(t.Context(), "")
	if err != nil || more {
		t.Fatal(more, err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name)
	}
	if want := "node_modules src .env a.txt b.txt"; strings.Join(got, " ") != want {
		t.Errorf("List: %v, want %s", got, want)
	}
	if list[4].Size != 2 || list[4].Dir || !list[1].Dir {
		t.Errorf("List: %+v", list)
	}
	if _, _, err := w.List(t.Context(), "a.txt"); !errors.Is(err, ErrKind) {
		t.Errorf("List of a file: %v, want ErrKind", err)
	}
	if _, _, err := w.List(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("List of nothing: %v, want ErrNotExist", err)
	}
	found, err := w.Search(t.Context(), "needle", "", 10)
	if err != nil || len(found.Matches) != 0 || found.Files != 4 {
		t.Errorf("Search: %+v, %v; want nothing in 4 files", found, err)
	}
	put(t, filepath.Join(dir, "c.txt"), "one\nthe NEEDLE here\n"+strings.Repeat("y", 500)+"needle"+strings.Repeat("z", 500)+"\n")
	put(t, filepath.Join(dir, "needle.bin"), "\x00needle")
	found, err = w.Search(t.Context(), "needle", "", 10)
	if err != nil || len(found.Matches) != 3 || found.Matches[0].Line != 2 || found.Matches[0].Text != "the NEEDLE here" ||
		found.Matches[2].Path != "needle.bin" || found.Matches[2].Line != 0 || found.Skipped != 1 {
		t.Errorf("Search: %+v, %v", found, err)
	}
	if text := found.Matches[1].Text; !strings.Contains(text, "needle") || len(text) > 210 {
		t.Errorf("Search shows %q", text)
	}
	if found, _ = w.Search(t.Context(), "NEEDLE", "c.txt", 10); len(found.Matches) != 1 {
		t.Errorf("Search with capitals: %+v, want one match", found)
	}
	if found, _ = w.Search(t.Context(), "e", "", 1); len(found.Matches) != 1 || found.More == 0 {
		t.Errorf("Search with a limit: %+v", found)
	}
}

func TestRead(t *testing.T) {
	w, _, _ := open(t, map[string]string{
		"crlf.txt": "a\r\nb\r\n", "bin": "\x7fELF\x00", "latin": "caf\xe9\n", "none": "", "noend": "a\nb", "long": strings.Repeat("é", 5000) + "\nb\n",
	})
	for _, c := range []struct {
		name                        string
		offset, limit, size         int
		text                        string
		first, lines, more, longest int
	}{
		{"crlf.txt", 0, 10, 100, "a\nb\n", 1, 2, 0, 0},
		{"crlf.txt", 2, 10, 100, "b\n", 2, 1, 0, 0},
		{"crlf.txt", 1, 1, 100, "a\n", 1, 1, 1, 0},
		{"crlf.txt", 1, 10, 1, "a\n", 1, 1, 1, 0},
		{"none", 0, 10, 100, "", 1, 0, 0, 0},
		{"noend", 0, 10, 100, "a\nb", 1, 2, 0, 0},
		{"latin", 0, 10, 100, "caf\uFFFD\n", 1, 1, 0, 0},
		{"long", 0, 10, 1 << 20, strings.Repeat("é", 2000) + "…\nb\n", 1, 2, 0, 1},
	} {
		p, err := w.Read(t.Context(), c.name, c.offset, c.limit, c.size)
		if err != nil || p.Text != c.text || p.First != c.first || p.Lines != c.lines || p.More != c.more || p.LongLines != c.longest {
			t.Errorf("Read(%s, %d, %d, %d) = %+v, %v", c.name, c.offset, c.limit, c.size, p, err)
		}
	}
	if _, err := w.Read(t.Context(), "bin", 0, 10, 10); !errors.Is(err, ErrBinary) || !strings.Contains(err.Error(), "5 bytes") {
		t.Errorf("Read of a binary file: %v", err)
	}
	if _, err := w.Read(t.Context(), "noend", 5, 10, 10); err == nil || !strings.Contains(err.Error(), "has 2 lines") {
		t.Errorf("Read beyond the end: %v", err)
	}
	if _, err := w.PrepareEdit("bin", "ELF", "x", false); !errors.Is(err, ErrBinary) {
		t.Errorf("PrepareEdit of a binary file: %v", err)
	}
}

func TestFS(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"index.html": "x", "js/app.js": "y", ".git/config": "z"})
	if err := fstest.TestFS(w.FS(), "index.html", "js/app.js"); err != nil {
		t.Error(err)
	}
	if _, err := fs.ReadFile(w.FS(), ".git/config"); err == nil {
		t.Error("the file system shows .git")
	}
	if os.Symlink("/etc", filepath.Join(dir, "etc")) == nil {
		if _, err := fs.ReadFile(w.FS(), "etc/hostname"); !errors.Is(err, ErrOutside) {
			t.Errorf("through a link: %v, want ErrOutside", err)
		}
	}
}

func TestWrite(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"run.sh": "old", "a/b.txt": ""})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, w, "run.sh", "new")
	check(t, filepath.Join(dir, "run.sh"), "new")
	if st, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || st.Mode().Perm() != 0o755 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v; want 0755", st.Mode(), err)
	}
	write(t, w, "x/y/z.txt", "deep")
	check(t, filepath.Join(dir, "x", "y", "z.txt"), "deep")

	for _, c := range []struct {
		name string
		err  error
	}{
		{"a", ErrKind},
		{"a/b.txt/c", ErrKind},
		{"new/", ErrName},
		{".", ErrKind},
		{"nul.txt", ErrName},
		{"a?b", ErrName},
		{"new/\xff", ErrName},
		{strings.Repeat("n", 300), nil},
		{"../x", ErrOutside},
		{".git/hooks/x", ErrHidden},
	} {
		if err := tryWrite(w, c.name, "x"); err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("write %.30q: %v, want %v", c.name, err, c.err)
		}
	}
	stale, err := w.PrepareWrite("run.sh", []byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "run.sh"), "theirs")
	if err := w.Apply(t.Context(), stale); !errors.Is(err, ErrStale) {
		t.Errorf("Apply of a stale change: %v, want ErrStale", err)
	}
	check(t, filepath.Join(dir, "run.sh"), "theirs")
	if _, err := w.PrepareWrite("big", make([]byte, MaxFile+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file over the limit: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".pooled*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestState(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, filepath.Join(dir, "state")); err == nil {
		t.Error("a journal that tools can see is opened")
	}
	w, err := Open(dir, filepath.Join(dir, ".pooled", "undo"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := Open(filepath.Join(dir, "none"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a project that is not there: %v", err)
	}
}
