package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(name, 5); string(got) != "12345" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for path, want := range map[string]error{name: ErrTooLarge, dir: ErrKind, filepath.Join(dir, "none"): fs.ErrNotExist} {
		if got, err := Read(path, 4); !errors.Is(err, want) {
			t.Errorf("%s: got %q, %v, want %v", path, got, err, want)
		}
	}
	if root, err := OpenRoot(name); err == nil || root != nil {
		t.Errorf("a file was opened as a folder: %v", err)
	}
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString("6")
		err = errors.Join(err, f.Close())
	}
	if got, rerr := Read(name, 9); string(got) != "123456" || err != nil || rerr != nil {
		t.Errorf("appended: %q, %v, %v", got, err, rerr)
	}
}
