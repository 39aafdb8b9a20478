package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pooled/pooled/core/filelock"
)

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	if held, err := filelock.Try(a); held || err != nil {
		t.Fatalf("the first: %v, %v", held, err)
	}
	if held, err := filelock.Try(b); !held || err != nil {
		t.Errorf("the second: %v, %v; want held", held, err)
	}
	in := make(chan error)
	go func() { in <- filelock.Wait(b) }()
	a.Close()
	if err := <-in; err != nil {
		t.Error(err)
	}
	if held, err := filelock.Try(open()); !held || err != nil {
		t.Errorf("a third: %v, %v; want held", held, err)
	}
}
