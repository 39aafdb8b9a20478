package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pooled/pooled/core/atomicfile"
)

func TestCreate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write := func(text string, after func()) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			after()
			return err
		}
	}
	failed := errors.New("failed")
	if _, err := atomicfile.Create(name, func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of what writes", err)
	}
	if size, err := atomicfile.Create(name, write("first", func() {})); err != nil || size != 5 {
		t.Fatalf("got %d, %v", size, err)
	}
	only(t, name, "first")
	if _, err := atomicfile.Create(name, write("second", func() { t.Error("it was written all the same") })); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v, want ErrExist", err)
	}
	only(t, name, "first")
	other := filepath.Join(t.TempDir(), "f")
	_, err := atomicfile.Create(other, write("ours", func() {
		if err := os.WriteFile(other, []byte("theirs"), 0o600); err != nil {
			t.Error(err)
		}
	}))
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("made meanwhile: %v, want ErrExist", err)
	}
	only(t, other, "theirs")
	if _, err := atomicfile.Create(filepath.Join(t.TempDir(), "none", "f"), write("x", func() {})); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no folder: %v, want ErrNotExist", err)
	}
}
