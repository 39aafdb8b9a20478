package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
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
	if err := w.sweep(seqs); err != nil {
		return nil, err
	}
	for len(seqs) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := w.readRecord(seqs[len(seqs)-1])
		if err != nil {
			return nil, err
		}
		seqs = seqs[:len(seqs)-1]
		c, err := w.opposite(r)
		switch {
		case err != nil:
			return nil, err
		case c == nil:
			if err := w.forget(r); err != nil {
				return nil, err
			}
			continue
		case !force && (!c.Existed || sum(c.Before) != r.After):
			return nil, pathError(r.Path, ErrConflict, "")
		}
		if err := w.takeBack(r, c); err != nil {
			return nil, err
		}
		return c, nil
	}
	return nil, ErrNothing
}

// TakeBack takes the newest change back, unless somebody else changed the file after it, and returns what makes it again: as
// a new change, and only while the file is as it was left.
//
// Errors: those of [Workspace.Undo]; again has those of [Workspace.Apply].
func (w *Workspace) TakeBack(ctx context.Context) (again func(ctx context.Context) error, err error) {
	c, err := w.Undo(ctx, false)
	if err != nil {
		return nil, err
	}
	back := &Change{Path: c.Path, Existed: !c.Removed, Before: c.After, After: c.Before, at: c.at, mode: c.mode}
	return func(ctx context.Context) error { return w.Apply(ctx, back) }, nil
}

// opposite returns the change that undoes r, or nil when the file is already as it was before r.
func (w *Workspace) opposite(r record) (*Change, error) {
	c := &Change{Path: Escape(r.Path), at: r.Path, mode: r.Mode}
	var err error
	if c.Before, c.Existed, err = w.current(c); err != nil {
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
	if c.After, err = readLimited(w.blob(r.Before), MaxFile); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	if sum(c.After) != r.Before {
		return nil, fmt.Errorf("%w: %s is not what it was", ErrJournal, w.blob(r.Before))
	}
	return c, nil
}

// takeBack makes the change c that undoes r.
func (w *Workspace) takeBack(r record, c *Change) error {
	w.step("undo")
	if c.Removed {
		if err := w.root.Remove(c.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return w.systemError(c.Path, err)
		}
		w.step("removed")
	} else if err := w.put(c.at, r.Temp, c.After, c.mode, w.missing(c.at)); err != nil {
		return err
	}
	if c.Removed {
		for i := len(r.Folders) - 1; i >= 0; i-- {
			if w.root.Remove(r.Folders[i]) != nil {
				break // not empty: somebody else uses it
			}
			w.step("folder removed")
		}
	}
	return w.forget(r)
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
