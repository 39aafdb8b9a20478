//go:build unix

package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pooled/pooled/core/regular"
)

// TestPipes puts named pipes where a project and its sessions are kept.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	store := OpenStore(dir)
	p, err := store.Project(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.sessions(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(p.sessions(), "pipe"+sessionSuffix), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read("pipe"); !errors.Is(err, regular.ErrKind) {
		t.Errorf("reading it: %v", err)
	}
	if _, _, _, err := p.Resume("pipe"); !errors.Is(err, regular.ErrKind) {
		t.Errorf("going on with it: %v", err)
	}
	if list, err := p.Sessions(); err != nil || len(list) != 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(other, projectFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := store.Projects(); err != nil || len(list) != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}
