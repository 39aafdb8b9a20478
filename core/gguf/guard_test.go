//go:build unix

package gguf

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestGuard(t *testing.T) {
	w := NewWriter()
	const size = 1 << 20
	if err := w.AddTensor("a", I8, []int{size}, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, encode(t, w), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, _ := f.Tensor("a")
	data, err := f.Data(a)
	if err != nil {
		t.Fatal(err)
	}
	last := byte(1)
	read := func() error { last = data[size-1]; return nil }
	if err := Guard(read); err != nil || last != 0 {
		t.Fatalf("whole file: got %d, %v", last, err)
	}
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if err := Guard(read); !errors.Is(err, ErrLost) {
		t.Errorf("shortened file: got %v, want %v", err, ErrLost)
	}
	if err := f.ReadRange(a, size-8, make([]byte, 8)); !errors.Is(err, ErrLost) {
		t.Errorf("ReadRange of a shortened file: got %v, want %v", err, ErrLost)
	}
}

func TestGuardLetsOtherPanicsThrough(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil pointer was taken for a lost file")
		}
	}()
	var p *part
	_ = Guard(func() error { p.size++; return nil })
}
