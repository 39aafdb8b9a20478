package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pooled/pooled/core/regular"
)

// Done is a change in the journal.
type Done struct {
	// Path is the file, escaped.
	Path string
	// Created says that the change made the file.
	Created bool
	// Time is when it was made.
	Time time.Time
}

// Changes lists the changes that can be undone, oldest first.
//
// Errors: [ErrJournal].
func (w *Workspace) Changes() ([]Done, error) {
	if w.state == "" {
		return nil, nil
	}
	seqs, err := w.sequence()
	if err != nil {
		return nil, err
	}
	var list []Done
	for i, seq := range seqs {
		r, err := w.readRecord(seq)
		if err != nil {
			return nil, err
		}
		if i == len(seqs)-1 {
			// Only the newest may be one that was never made, or was undone by a process that was killed then.
			if c, err := w.opposite(r); err == nil && c == nil {
				continue
			}
		}
		list = append(list, Done{Path: Escape(r.Path), Created: !r.Existed, Time: r.Time})
	}
	return list, nil
}

// Undo takes the newest change back and returns how. With force it does so even when somebody else changed the file
// after it.
//
// Errors: [ErrNothing]; [*PathError] with [ErrConflict] or what the system reports; [ErrJournal].
func (w *Workspace) Undo(ctx context.Context, force bool) (*Change, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == "" {
		return nil, ErrNothing
	}
	release, err := w.lock()
	if err != nil {
		return nil, err
	}
	defer release()
	seqs, err := w.sequence()
	if err != nil {
		return nil, err
	}
	if seqs, err = w.sweep(seqs); err != nil {
		return nil, err
	}
	for len(seqs) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seq := seqs[len(seqs)-1]
		r, err := w.readRecord(seq)
		if err != nil {
			return nil, errors.Join(err, w.setAside(seq, err))
		}
		seqs = seqs[:len(seqs)-1]
		c, err := w.opposite(r)
		switch {
		case errors.Is(err, ErrJournal):
			return nil, errors.Join(err, w.setAside(seq, err))
		case err != nil:
			return nil, err
		case c == nil:
			if err := w.forget(r); err != nil {
				return nil, err
			}
			continue
		case !force && !r.left(c):
			return nil, pathError(r.Path, ErrConflict, "")
		}
		if err := w.reverse(r, c); err != nil {
			return nil, err
		}
		return c, w.forget(r)
	}
	return nil, ErrNothing
}

// opposite returns the change that undoes r, or nil when the file is already as it was before r.
func (w *Workspace) opposite(r record) (*Change, error) {
	c := &Change{Path: Escape(r.Path), at: r.Path}
	var err error
	if c.Before, c.mode, c.Existed, err = w.current(c); err != nil {
		return nil, err
	}
	if !r.Existed {
		c.Removed = true
		if !c.Existed {
			return nil, nil
		}
		return c, nil
	}
	if c.Existed && sum(c.Before) == r.Before {
		return nil, nil
	}
	c.mode = r.Mode
	c.After, err = w.kept(r.Before)
	return c, err
}

// kept returns content that the journal keeps.
func (w *Workspace) kept(want string) ([]byte, error) {
	data, err := regular.Read(w.blob(want), MaxFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	if sum(data) != want {
		return nil, fmt.Errorf("%w: %s is not what it was", ErrJournal, w.blob(want))
	}
	return data, nil
}

// left reports whether what c found is what r left.
func (r *record) left(c *Change) bool {
	if r.Removed {
		return !c.Existed
	}
	return c.Existed && sum(c.Before) == r.After
}

// reverse makes the change c, which undoes r.
func (w *Workspace) reverse(r record, c *Change) error {
	w.step("undo")
	if !c.Removed {
		return w.put(c.at, r.Temp, c.After, c.mode)
	}
	if err := w.root.Remove(c.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w.systemError(c.Path, err)
	}
	w.step("removed")
	w.unmake(r)
	return nil
}

// unmake removes the folders that were made for r, as far as nobody else uses them.
func (w *Workspace) unmake(r record) {
	for _, dir := range r.folders() {
		if err := w.root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break // not empty
		}
		w.step("folder removed")
	}
}

// Forget empties the journal: what was changed so far cannot be undone any more.
func (w *Workspace) Forget() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == "" {
		return nil
	}
	release, err := w.lock()
	if err != nil {
		return err
	}
	defer release()
	seqs, err := w.sequence()
	if err != nil {
		return err
	}
	if err := w.trim(seqs); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
