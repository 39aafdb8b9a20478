//go:build unix

package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestNoEscape holds each way out of a project against every operation. What lies outside must be neither read nor changed.
func TestNoEscape(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"in.txt": "inside", "sub/in.txt": "inside"})
	outside := filepath.Join(filepath.Dir(dir), "outside")
	put(t, filepath.Join(outside, "secret.txt"), "secret")
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(outside, "secret.txt"), "abs-file")
	link("../outside/secret.txt", "rel-file")
	link(outside, "abs-dir")
	link("../outside", "rel-dir")
	link("sub/../../outside", "dotted-dir")
	link("abs-dir", "chain")
	link("loop-b", "loop-a")
	link("loop-a", "loop-b")
	link("../outside/new.txt", "dangling")
	link(".git", "git-link")
	put(t, filepath.Join(dir, ".git", "config"), "git")

	for _, c := range []struct {
		name string
		err  error
	}{
		{"abs-file", ErrOutside},
		{"rel-file", ErrOutside},
		{"abs-dir/secret.txt", ErrOutside},
		{"rel-dir/secret.txt", ErrOutside},
		{"dotted-dir/secret.txt", ErrOutside},
		{"chain/secret.txt", ErrOutside},
		{"loop-a", ErrOutside},
		{"loop-a/x", ErrOutside},
		{"dangling", ErrOutside},
		{"abs-dir/new.txt", ErrOutside},
		{"git-link/config", ErrHidden},
		{"git-link/hooks/pre-commit", ErrHidden},
		{"sub/../../outside/secret.txt", ErrOutside},
		{filepath.Join(outside, "secret.txt"), ErrOutside},
	} {
		if _, err := w.Read(t.Context(), c.name, 0, 10, 100); !errors.Is(err, c.err) {
			t.Errorf("Read(%s): %v, want %v", c.name, err, c.err)
		}
		if _, err := w.ReadFile(c.name); !errors.Is(err, c.err) {
			t.Errorf("ReadFile(%s): %v, want %v", c.name, err, c.err)
		}
		if err := tryWrite(w, c.name, "pwned"); !errors.Is(err, c.err) {
			t.Errorf("write(%s): %v, want %v", c.name, err, c.err)
		}
		if _, err := w.PrepareEdit(c.name, "secret", "pwned", false); !errors.Is(err, c.err) {
			t.Errorf("PrepareEdit(%s): %v, want %v", c.name, err, c.err)
		}
		if _, _, err := w.List(t.Context(), c.name); !errors.Is(err, c.err) {
			t.Errorf("List(%s): %v, want %v", c.name, err, c.err)
		}
		if _, err := w.Search(t.Context(), "secret", c.name, 10); !errors.Is(err, c.err) {
			t.Errorf("Search(%s): %v, want %v", c.name, err, c.err)
		}
		if _, err := fs.ReadFile(w.FS(), strings.TrimPrefix(c.name, "/")); err == nil {
			t.Errorf("FS opens %s", c.name)
		}
	}
	if found, err := w.Search(t.Context(), "secret", "", 10); err != nil || len(found.Matches) != 0 {
		t.Errorf("Search leads out: %+v, %v", found, err)
	}
	check(t, filepath.Join(outside, "secret.txt"), "secret")
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside holds %v", entries)
	}

	// Links inside work, and writing changes the file, not the link.
	link("sub", "inner-dir")
	link("inner-dir/in.txt", "inner-file")
	write(t, w, "inner-file", "changed")
	check(t, filepath.Join(dir, "sub", "in.txt"), "changed")
	if st, err := os.Lstat(filepath.Join(dir, "inner-file")); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

// TestHardLink says what a hard link allows: the content is readable, writing leaves the other name alone.
func TestHardLink(t *testing.T) {
	w, dir, _ := open(t, nil)
	outside := filepath.Join(filepath.Dir(dir), "other.txt")
	put(t, outside, "other")
	if err := os.Link(outside, filepath.Join(dir, "hard")); err != nil {
		t.Skip(err)
	}
	write(t, w, "hard", "mine")
	check(t, filepath.Join(dir, "hard"), "mine")
	check(t, outside, "other")
}

// TestSwap changes a folder into a link that leads out, and back, while files are written and read.
func TestSwap(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"real/f.txt": "inside", "file.txt": "inside"})
	outside := filepath.Join(filepath.Dir(dir), "outside")
	put(t, filepath.Join(outside, "f.txt"), "secret")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		d, f := filepath.Join(dir, "d"), filepath.Join(dir, "f.txt")
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink("real", d)
			os.Link(filepath.Join(dir, "file.txt"), f)
			os.Remove(d)
			os.Remove(f)
			os.Symlink(outside, d)
			os.Symlink(filepath.Join(outside, "f.txt"), f)
			os.Remove(d)
			os.Remove(f)
			os.Rename(filepath.Join(dir, "real"), d)
			os.Rename(d, filepath.Join(dir, "real"))
			os.Mkdir(filepath.Join(dir, "real"), 0o755)
		}
	})
	end := time.Now().Add(time.Second)
	reads, writes := 0, 0
	for time.Now().Before(end) {
		for _, name := range []string{"d/f.txt", "f.txt"} {
			if data, err := w.ReadFile(name); err == nil {
				reads++
				if string(data) == "secret" {
					t.Fatalf("%s was read from outside", name)
				}
			}
			if tryWrite(w, name, "inside"+time.Now().String()) == nil {
				writes++
			}
		}
		check(t, filepath.Join(outside, "f.txt"), "secret")
	}
	close(stop)
	wg.Wait()
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside holds %v", entries)
	}
	t.Logf("%d reads and %d writes went through", reads, writes)
	if reads == 0 && writes == 0 {
		t.Error("nothing ever went through: the race was not tried")
	}
}

// TestSpecialFiles checks that nothing waits for the other end of a pipe.
func TestSpecialFiles(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"a.txt": "a"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	names := []string{"pipe"}
	if runtime.GOOS == "linux" {
		if err := syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err == nil {
			names = append(names, "zero")
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range names {
			if _, err := w.Read(t.Context(), name, 0, 1, 1); !errors.Is(err, ErrKind) {
				t.Errorf("Read(%s): %v, want ErrKind", name, err)
			}
			if err := tryWrite(w, name, "x"); !errors.Is(err, ErrKind) {
				t.Errorf("write(%s): %v, want ErrKind", name, err)
			}
			if _, err := fs.ReadFile(w.FS(), name); !errors.Is(err, ErrKind) {
				t.Errorf("FS opens %s: %v, want ErrKind", name, err)
			}
			// Also when it takes a file's place after the look.
			info, err := w.root.Lstat("a.txt")
			if err != nil {
				t.Error(err)
			}
			if _, _, err := w.openFile(name, name, info); !errors.Is(err, ErrKind) {
				t.Errorf("openFile(%s): %v, want ErrKind", name, err)
			}
		}
		if _, err := w.Search(t.Context(), "x", "", 10); err != nil {
			t.Error(err)
		}
		list, _, err := w.List(t.Context(), "")
		if err != nil || len(list) != 1+len(names) || list[1].Kind != "named pipe" {
			t.Errorf("List: %+v, %v", list, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("something waits")
	}
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	w, dir, _ := open(t, nil)
	if err := os.WriteFile(filepath.Join(dir, "caf\xe9.txt"), []byte("latin"), 0o644); err != nil {
		t.Skip("this file system holds UTF-8 only:", err)
	}
	list, _, err := w.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Name != `caf\xe9.txt` {
		t.Fatalf("List: %+v, %v", list, err)
	}
	for _, name := range []string{"caf\xe9.txt", list[0].Name} {
		if got, err := w.ReadFile(name); err != nil || string(got) != "latin" {
			t.Errorf("ReadFile(%q) = %q, %v", name, got, err)
		}
	}
	write(t, w, list[0].Name, "changed")
	check(t, filepath.Join(dir, "caf\xe9.txt"), "changed")
	if _, err := w.Undo(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "caf\xe9.txt"), "latin")
	if err := fs.WalkDir(w.FS(), ".", func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
		t.Errorf("walking: %v", err)
	}
}

// TestHugeFiles reads and refuses files of 1 GB that take no space.
func TestHugeFiles(t *testing.T) {
	w, dir, _ := open(t, nil)
	const size = 1 << 30
	for name, head := range map[string][]byte{"zeros": nil, "text": bytes.Repeat([]byte("line\n"), 4000)} {
		if err := os.WriteFile(filepath.Join(dir, name), head, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := w.Read(t.Context(), "zeros", 0, 10, 100); !errors.Is(err, ErrBinary) || !strings.Contains(err.Error(), "1073741824 bytes") {
		t.Errorf("Read(zeros): %v", err)
	}
	p, err := w.Read(t.Context(), "text", 3999, 2, 100)
	if err != nil || !strings.HasPrefix(p.Text, "line\nline\n") || p.More != -1 {
		t.Errorf("Read(text) = %.40q, more %d, %v", p.Text, p.More, err)
	}
	if err := tryWrite(w, "text", "x"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("write: %v, want ErrTooLarge", err)
	}
	if _, err := w.PrepareEdit("text", "line", "x", false); !errors.Is(err, ErrTooLarge) {
		t.Errorf("PrepareEdit: %v, want ErrTooLarge", err)
	}
	if found, err := w.Search(t.Context(), "line", "", 10); err != nil || len(found.Matches) != 0 || found.Skipped != 2 {
		t.Errorf("Search: %+v, %v", found, err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated, want at most 16 MiB", used)
	}
}
