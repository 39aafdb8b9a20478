package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// change makes a change and returns its id.
func change(t *testing.T, w *Workspace, name, content string) string {
	t.Helper()
	c, err := w.PrepareWrite(name, []byte(content))
	if err == nil {
		err = w.Apply(t.Context(), c)
	}
	if err != nil || c.ID == "" {
		t.Fatalf("%s: id %q, %v", name, c.ID, err)
	}
	return c.ID
}

func TestTakeBack(t *testing.T) {
	w, dir, state := open(t, map[string]string{"a.txt": "0"})
	other := reopen(t, dir, state)
	first := change(t, w, "sub/page.html", "one")
	edit1, edit2 := change(t, w, "a.txt", "1"), change(t, w, "a.txt", "2")
	theirs := change(t, other, "theirs.txt", "x")

	if _, err := w.TakeBack(t.Context(), edit1); !errors.Is(err, ErrConflict) {
		t.Errorf("a change that another one follows: %v, want ErrConflict", err)
	}
	back2, err := w.TakeBack(t.Context(), edit2)
	if err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "a.txt"), "1")
	back1, err := w.TakeBack(t.Context(), edit1)
	if err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "a.txt"), "0")
	page, err := w.TakeBack(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	check(t, filepath.Join(dir, "theirs.txt"), "x")

	// What is taken back can be made again, in order.
	if err := back2.Again(t.Context()); !errors.Is(err, ErrConflict) {
		t.Errorf("the second edit before the first: %v, want ErrConflict", err)
	}
	for _, b := range []*Taken{page, back1, back2} {
		if err := b.Again(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Settle(); err != nil {
			t.Error(err)
		}
	}
	check(t, filepath.Join(dir, "a.txt"), "2")
	check(t, filepath.Join(dir, "sub/page.html"), "one")

	// Taken back for good, it is not in the journal any more.
	back2, err = w.TakeBack(t.Context(), edit2)
	if err == nil {
		err = back2.Settle()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := back2.Again(t.Context()); !errors.Is(err, ErrNothing) {
		t.Errorf("again after settling: %v, want ErrNothing", err)
	}
	if _, err := w.TakeBack(t.Context(), edit2); !errors.Is(err, ErrNothing) {
		t.Errorf("a change that is gone: %v, want ErrNothing", err)
	}
	list, err := w.Changes()
	if err != nil || len(list) != 3 {
		t.Errorf("%+v is in the journal, %v; want 3 changes", list, err)
	}
	if _, err := w.TakeBack(t.Context(), theirs); err != nil {
		t.Error(err)
	}

	// What somebody changed by hand stays.
	put(t, filepath.Join(dir, "a.txt"), "by hand")
	if _, err := w.TakeBack(t.Context(), edit1); !errors.Is(err, ErrConflict) {
		t.Errorf("a file changed by hand: %v, want ErrConflict", err)
	}
	check(t, filepath.Join(dir, "a.txt"), "by hand")
	page, err = w.TakeBack(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	change(t, other, "sub/page.html", "other")
	if err := page.Again(t.Context()); !errors.Is(err, ErrConflict) {
		t.Errorf("again over somebody's file: %v, want ErrConflict", err)
	}
	check(t, filepath.Join(dir, "sub/page.html"), "other")
}

// TestTakeBackKilled ends the process at every step between taking a page back and settling that. The page, or what it takes
// to have it again, is there each time.
func TestTakeBackKilled(t *testing.T) {
	for n := 1; ; n++ {
		w, dir, state := open(t, nil)
		id := change(t, w, "sub/page.html", "page")
		full := filepath.Join(dir, "sub/page.html")
		settling := false
		step, died := dieAt(w, n, func() {
			b, err := w.TakeBack(t.Context(), id)
			if err != nil {
				t.Error(err)
				return
			}
			settling = true
			if err := b.Settle(); err != nil {
				t.Error(err)
			}
		})
		if !died {
			if n < 5 {
				t.Errorf("only %d steps", n-1)
			}
			return
		}
		if settling {
			t.Fatalf("step %d, %s: settling has no steps to die at", n, step)
		}
		w.Close()
		w = reopen(t, dir, state)
		name := fmt.Sprintf("step %d, %s", n, step)
		if _, err := os.Stat(full); err != nil {
			if _, err := w.Undo(t.Context(), false); err != nil {
				t.Errorf("%s: the page is gone, and undo says %v", name, err)
			}
		}
		check(t, full, "page")
		for {
			if _, err := w.Undo(t.Context(), false); errors.Is(err, ErrNothing) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

// TestDeepNames records a change as deep as there can be one, in folders whose names take most bytes when they are quoted.
func TestDeepNames(t *testing.T) {
	w, dir, state := open(t, nil)
	name := strings.Repeat("\U0001F600\U0001F600\U0001F600/", maxDepth-1) + "f"
	change(t, w, name, "x")
	w.Close()
	w = reopen(t, dir, state)
	if aside := w.SetAside(); len(aside) > 0 {
		t.Error(aside)
	}
	if _, err := w.Undo(t.Context(), false); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestSum tells changes apart that a person must not take for one another.
func TestSum(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"a.txt": "x", "b.txt": "x"})
	sumOf := func(name, content string) string {
		t.Helper()
		c, err := w.PrepareWrite(name, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return c.Sum()
	}
	shown := sumOf("a.txt", "new")
	if again := sumOf("./a.txt", "new"); again != shown {
		t.Error("the same change has two sums")
	}
	if sumOf("a.txt", "other") == shown || sumOf("b.txt", "new") == shown {
		t.Error("two changes have one sum")
	}
	put(t, filepath.Join(dir, "a.txt"), "x x")
	if sumOf("a.txt", "new") == shown {
		t.Error("the sum is the same after the file changed")
	}
	if err := os.Remove(filepath.Join(dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b.txt", filepath.Join(dir, "a.txt")); err != nil {
		t.Skip(err)
	}
	if sumOf("a.txt", "new") == shown {
		t.Error("the sum is the same behind a link")
	}
}
