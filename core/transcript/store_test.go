package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMovedStore finds scratch projects in a store that lies elsewhere by now.
func TestMovedStore(t *testing.T) {
	old, moved := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "moved")
	p, err := OpenStore(old).Scratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, moved); err != nil {
		t.Fatal(err)
	}
	store := OpenStore(moved)
	want := filepath.Join(store.abs(), p.ID, scratchFiles)
	list, err := store.Projects()
	if err != nil || len(list) != 1 || list[0].Root != want {
		t.Fatalf("got %+v, %v, want a project in %s", list, err, want)
	}
	if again, err := store.Project(want); err != nil || again.ID != p.ID || !again.Scratch {
		t.Errorf("by its folder: got %+v, %v, want %s", again, err, p.ID)
	}
}
