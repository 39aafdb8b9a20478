package workspace

import (
	"context"
	"errors"
	"slices"
)

// Taken is a change that was taken back, but not for good. Its record stands in the journal with that of the change, so that
// whoever is killed now loses nothing: to undo is then to make the change again.
//
// Not safe for concurrent use.
type Taken struct {
	w    *Workspace
	id   string // of the record
	done bool
}

// TakeBack takes back the change of that id, unless somebody changed the file after it.
//
// Errors: [ErrNothing] where the journal does not know the change; [*PathError] with [ErrConflict] or what the system reports;
// [ErrJournal].
func (w *Workspace) TakeBack(ctx context.Context, id string) (*Taken, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	records, release, err := w.open()
	if err != nil {
		return nil, err
	}
	defer release()
	standing := standing(records)
	i := slices.IndexFunc(standing, func(r record) bool { return r.id() == id })
	if i < 0 {
		return nil, ErrNothing
	}
	r := standing[i]
	if slices.ContainsFunc(standing[i+1:], func(o record) bool { return o.Path == r.Path }) {
		return nil, pathError(r.Path, ErrConflict, "")
	}
	c, err := w.opposite(r)
	switch {
	case err != nil:
		return nil, err
	case c == nil || !r.left(c):
		return nil, pathError(r.Path, ErrConflict, "")
	}
	_, mode, _, err := w.current(c)
	if err != nil {
		return nil, err
	}
	back := record{
		Path: r.Path, Existed: c.Existed, Mode: mode, After: sum(c.After), Removed: c.Removed, Reverts: id, Temp: tempName(r.Path),
	}
	if c.Existed {
		back.Before = sum(c.Before)
	} else {
		back.Made = len(w.missing(r.Path))
	}
	if err := w.recordChange(&back, c.Before); err != nil {
		return nil, err
	}
	c.at, r.Temp = r.Path, back.Temp
	if err := w.reverse(r, c); err != nil {
		return nil, errors.Join(err, w.forget(back))
	}
	w.step("taken back")
	return &Taken{w: w, id: back.id()}, nil
}

// Again makes the change again, while the file is as it was left.
//
// Errors: as those of [Workspace.TakeBack].
func (t *Taken) Again(ctx context.Context) error {
	w := t.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	records, release, err := w.open()
	if err != nil {
		return err
	}
	defer release()
	i := slices.IndexFunc(records, func(r record) bool { return r.id() == t.id })
	if i < 0 || t.done {
		return ErrNothing
	}
	r := records[i]
	c, err := w.opposite(r)
	if err == nil && (c == nil || !r.left(c)) {
		err = pathError(r.Path, ErrConflict, "")
	}
	if err != nil {
		return err
	}
	if err := w.reverse(r, c); err != nil {
		return err
	}
	t.done = true
	return w.forget(r)
}

// Settle leaves the change taken back for good: the journal knows of neither any more. After [Taken.Again] it does nothing.
//
// Errors: [ErrJournal] and those of the system.
func (t *Taken) Settle() error {
	w := t.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.done {
		return nil
	}
	records, release, err := w.open()
	if err != nil {
		return err
	}
	defer release()
	t.done = true
	i := slices.IndexFunc(records, func(r record) bool { return r.id() == t.id })
	if i < 0 {
		return nil // somebody undid it
	}
	if err := w.forget(records[i]); err != nil {
		return err
	}
	j := slices.IndexFunc(records, func(r record) bool { return r.id() == records[i].Reverts })
	if j < 0 {
		return nil
	}
	return w.forget(records[j])
}

// open locks the journal and reads it, oldest record first. Records that cannot be read are left out.
func (w *Workspace) open() (records []record, release func(), err error) {
	if w.state == "" {
		return nil, nil, ErrNothing
	}
	if release, err = w.lock(); err != nil {
		return nil, nil, err
	}
	seqs, err := w.sequence()
	if err == nil {
		seqs, err = w.sweep(seqs)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	for _, seq := range seqs {
		if r, err := w.readRecord(seq); err == nil {
			records = append(records, r)
		}
	}
	return records, release, nil
}

// standing returns the records without those that were taken back, and without the takings back.
func standing(records []record) []record {
	gone := map[string]bool{}
	for _, r := range records {
		if r.Reverts != "" {
			gone[r.id()], gone[r.Reverts] = true, true
		}
	}
	return slices.DeleteFunc(slices.Clone(records), func(r record) bool { return gone[r.id()] })
}
