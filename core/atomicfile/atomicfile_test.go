package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pooled/pooled/core/atomicfile"
)

// only checks that a folder holds nothing but a file of this content.
func only(t *testing.T, name, content string) {
	t.Helper()
	if b, err := os.ReadFile(name); err != nil || string(b) != content {
		t.Errorf("got %q, %v, want %q", b, err, content)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v, want the file alone", entries, err)
	}
}

func TestWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := atomicfile.Write(name, []byte("a "), []byte("first\n")); err != nil {
		t.Fatal(err)
	}
	only(t, name, "a first\n")
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := atomicfile.Write(name); err != nil {
		t.Fatal(err)
	}
	only(t, name, "")
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := atomicfile.Write(filepath.Join(dir, "none", "f"), []byte("x")); err == nil {
		t.Error("writing into a folder that is not there succeeds")
	}
	// A folder with something in it cannot be replaced by a file.
	inside := filepath.Join(dir, "f", "kept")
	if err := os.Mkdir(filepath.Dir(inside), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Dir(inside), []byte("x")); err == nil {
		t.Error("a file replaces a folder")
	}
	only(t, inside, "kept")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("an error leaves %v, %v behind", entries, err)
	}
}

func TestRename(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to", "f")
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(from, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	only(t, to, "x")
	if err := atomicfile.Rename(from, to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("renaming what is not there: %v", err)
	}
}
