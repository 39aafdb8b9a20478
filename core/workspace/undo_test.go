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

func TestUndo(t *testing.T) {
	w, dir, state := open(t, map[string]string{"a.txt": "one"})
	write(t, w, "a.txt", "two")
	write(t, w, "new/deep/b.txt", "b")
	write(t, w, "a.txt", "two") // no change, no record
	c, err := w.PrepareEdit("a.txt", "two", "three", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.Close()

	w = reopen(t, dir, state)
	done, err := w.Changes()
	if err != nil || len(done) != 3 || done[1].Path != "new/deep/b.txt" || !done[1].Created || done[2].Created {
		t.Fatalf("Changes: %+v, %v", done, err)
	}
	for _, want := range []struct{ path, a string }{{"a.txt", "two"}, {"new/deep/b.txt", "two"}, {"a.txt", "one"}} {
		c, err := w.Undo(t.Context(), false)
		if err != nil || c.Path != want.path {
			t.Fatalf("Undo: %+v, %v; want %s", c, err, want.path)
		}
		check(t, filepath.Join(dir, "a.txt"), want.a)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folders that were made are there: %v", err)
	}
	if _, err := w.Undo(t.Context(), false); !errors.Is(err, ErrNothing) {
		t.Errorf("Undo of nothing: %v", err)
	}
}

func TestUndoConflict(t *testing.T) {
	w, dir, _ := open(t, map[string]string{"a.txt": "one"})
	write(t, w, "a.txt", "two")
	put(t, filepath.Join(dir, "a.txt"), "by hand")
	if _, err := w.Undo(t.Context(), false); !errors.Is(err, ErrConflict) {
		t.Errorf("Undo: %v, want ErrConflict", err)
	}
	check(t, filepath.Join(dir, "a.txt"), "by hand")
	c, err := w.Undo(t.Context(), true)
	if err != nil || !strings.Contains(c.Diff(), "-by hand\n") {
		t.Errorf("Undo with force: %+v, %v", c, err)
	}
	check(t, filepath.Join(dir, "a.txt"), "one")

	write(t, w, "b.txt", "b")
	if err := os.Remove(filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Undo(t.Context(), false); !errors.Is(err, ErrNothing) {
		t.Errorf("Undo of a file that is gone: %v, want ErrNothing", err)
	}
}

// killed is what a step panics with when the process is to be dead from there on.
type killed struct{}

// dieAt runs f and kills it at the n-th step. It reports whether there was one.
func dieAt(w *Workspace, n int, f func()) (name string, died bool) {
	steps := 0
	w.step = func(s string) {
		if steps++; steps == n {
			name = s
			panic(killed{})
		}
	}
	defer func() {
		w.step = func(string) {}
		if v := recover(); v != nil {
			if _, ok := v.(killed); !ok {
				panic(v)
			}
			died = true
		}
	}()
	f()
	return "", false
}

// TestKill ends the process at every step of a change and of its undoing, in turn. Whoever opens the project then finds
// the old file or the new one, and can go on and go back.
func TestKill(t *testing.T) {
	for _, before := range []string{"old", ""} {
		for _, again := range []bool{false, true} {
			for _, undoing := range []bool{false, true} {
				n := 1
				for ; ; n++ {
					name := fmt.Sprintf("before %q, undoing %v, reopened %v, step %d", before, undoing, again, n)
					files := map[string]string{"first.txt": "1"}
					path := "sub/f.txt"
					if before != "" {
						files[path] = before
					}
					w, dir, state := open(t, files)
					write(t, w, "first.txt", "2")
					// What dying in the middle of a record leaves.
					if err := os.WriteFile(filepath.Join(state, ".new-1"), []byte("{"), 0o600); err != nil {
						t.Fatal(err)
					}
					if undoing {
						write(t, w, path, "new")
					}
					step, died := dieAt(w, n, func() {
						if undoing {
							w.Undo(t.Context(), false)
						} else {
							tryWrite(w, path, "new")
						}
					})
					if !died {
						break
					}
					name += " " + step
					if again {
						w.Close()
						w = reopen(t, dir, state)
					}
					full := filepath.Join(dir, path)
					data, err := os.ReadFile(full)
					got := string(data)
					if got != before && got != "new" || err != nil && (before != "" || !errors.Is(err, fs.ErrNotExist)) {
						t.Errorf("%s: the file holds %q, %v", name, got, err)
					}
					// It goes on: another change, and all of them back.
					if err := tryWrite(w, "other.txt", "x"); err != nil {
						t.Errorf("%s: writing: %v", name, err)
					}
					for {
						_, err := w.Undo(t.Context(), false)
						if errors.Is(err, ErrNothing) {
							break
						}
						if err != nil {
							t.Fatalf("%s: Undo: %v", name, err)
						}
					}
					var left []string
					filepath.WalkDir(dir, func(p string, d fs.DirEntry, _ error) error {
						rel, _ := filepath.Rel(dir, p)
						switch {
						case !d.IsDir():
							left = append(left, filepath.ToSlash(rel))
						case rel != "." && before == "":
							left = append(left, rel+"/") // a folder that was made
						}
						return nil
					})
					want := "first.txt"
					if before != "" {
						want += " " + path
						check(t, full, before)
					}
					if strings.Join(left, " ") != want {
						t.Errorf("%s: %v is left, want %s", name, left, want)
					}
					check(t, filepath.Join(dir, "first.txt"), "1")
				}
				if n < 4 {
					t.Errorf("before %q, undoing %v: only %d steps", before, undoing, n-1)
				}
			}
		}
	}
}

// TestTwoProcesses changes one project through two workspaces at once.
func TestTwoProcesses(t *testing.T) {
	a, dir, state := open(t, nil)
	b := reopen(t, dir, state)
	done := make(chan error, 2)
	for i, w := range []*Workspace{a, b} {
		go func() {
			for n := range 10 {
				if err := tryWrite(w, fmt.Sprintf("f%d-%d", i, n), "x"); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	list, err := a.Changes()
	if err != nil || len(list) != 20 {
		t.Fatalf("%d changes, %v; want 20", len(list), err)
	}
	for range 20 {
		if _, err := b.Undo(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestBadJournal shows records that a broken tool process could have written.
func TestBadJournal(t *testing.T) {
	_, dir, state := open(t, nil)
	sum := strings.Repeat("ab", 32)
	good := `{"path":"\"a\"","existed":false,"after":"` + sum + `","temp":"\".pooled-new-x\""}`
	for _, bad := range []string{
		"", "{}", "[]", good + "x",
		strings.ReplaceAll(good, `\"a\"`, `\"../a\"`),
		strings.ReplaceAll(good, `\"a\"`, `\"/etc/passwd\"`),
		strings.ReplaceAll(good, `\"a\"`, `\".git/config\"`),
		strings.ReplaceAll(good, `\"a\"`, `a`),
		strings.ReplaceAll(good, `.pooled-new-x`, `a.txt`),
		strings.ReplaceAll(good, `.pooled-new-x`, `../.pooled-new-x`),
		strings.ReplaceAll(good, sum, "../../x"),
		strings.ReplaceAll(good, "false", "true"),
	} {
		put(t, filepath.Join(state, "000001.json"), bad)
		w := reopen(t, dir, state)
		if aside := w.SetAside(); len(aside) != 1 || !strings.Contains(aside[0], "000001.json") || len(w.SetAside()) != 0 {
			t.Errorf("%.80s: set aside: %q", bad, aside)
		}
		if data, err := os.ReadFile(filepath.Join(state, "000001.json.damaged")); err != nil || string(data) != bad {
			t.Errorf("%.80s: it was not kept: %q, %v", bad, data, err)
		}
		if _, err := w.Undo(t.Context(), false); !errors.Is(err, ErrNothing) {
			t.Errorf("%.80s: Undo: %v", bad, err)
		}
	}
	put(t, filepath.Join(state, "000001.json"), good)
	w := reopen(t, dir, state)
	put(t, filepath.Join(state, "000002.json"), strings.ReplaceAll(strings.ReplaceAll(good, "false", "true"), `"after"`, `"before":"`+sum+`","after"`))
	if _, err := w.Undo(t.Context(), true); !errors.Is(err, ErrJournal) {
		t.Errorf("a record without its content: %v, want ErrJournal", err)
	}
	if aside := w.SetAside(); len(aside) != 1 {
		t.Errorf("a record without its content: set aside: %q", aside)
	}
	if err := w.Forget(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Undo(t.Context(), false); !errors.Is(err, ErrNothing) {
		t.Errorf("after Forget: %v, want ErrNothing", err)
	}
}

func TestJournalIsBounded(t *testing.T) {
	w, _, state := open(t, map[string]string{"a": "0"})
	for i := range maxRecords {
		put(t, filepath.Join(state, recordName(i+1)), `{"path":"\"b\"","after":"`+strings.Repeat("ab", 32)+`","temp":"\".pooled-new-x\""}`)
	}
	put(t, w.blob(strings.Repeat("cd", 32)), "nobody's")
	write(t, w, "a", "1")
	seqs, err := w.sequence()
	if err != nil || len(seqs) != maxRecords || seqs[0] != 2 {
		t.Errorf("%d records from %d, %v; want %d from 2", len(seqs), seqs[0], err, maxRecords)
	}
	blobs, err := os.ReadDir(filepath.Join(state, "blobs"))
	if err != nil || len(blobs) != 1 {
		t.Errorf("blobs %v, %v; want one", blobs, err)
	}
	if c, err := w.Undo(t.Context(), false); err != nil || string(c.After) != "0" {
		t.Errorf("Undo: %+v, %v", c, err)
	}
}
