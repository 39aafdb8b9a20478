package program

import (
	"slices"

	"github.com/pooled/pooled/core/engine"
)

// Ledger is what a session knows of its positions: how many it holds, which are kept, which checkpoints there are, and what
// the last lap changed of all this. B is a backend's copy of state.
//
// A backend asks [Ledger.Check] first and then runs a lap between [Ledger.Begin] and its last [Ledger.Advance]; at any
// place [Ledger.Undo] makes the ledger what it was before Begin. The ledger never changes what a copy holds.
//
// Owns: the copies, which it gives to free when nothing can come back to them.
type Ledger[B any] struct {
	prog      *Program
	recurrent bool
	context   int
	budget    int64
	undo      bool // laps can be taken back after they have succeeded
	size      func(positions int) int64
	free      func(B)
	now       book[B]
	before    *book[B] // before the last lap; nil where there is nothing to take back
	spare     book[B]  // memory of before
}

// Kept is a copy of the recurrent state at a position; where no layer is recurrent it is the position alone.
type Kept[B any] struct {
	Pos  int
	Copy B
}

// Saved is a checkpoint.
type Saved[B any] struct {
	ID    engine.Checkpoint
	Pos   int
	Bytes int64
	Copy  B
}

// book is one state of a ledger. Its lists are never changed, only replaced.
type book[B any] struct {
	len   int
	kept  []*Kept[B] // by position
	saved []*Saved[B]
}

func (b *book[B]) keeps(pos int) bool {
	return slices.ContainsFunc(b.kept, func(k *Kept[B]) bool { return k.Pos == pos })
}

func (b *book[B]) find(id engine.Checkpoint) *Saved[B] {
	for _, s := range b.saved {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// NewLedger returns the ledger of a session that holds nothing. Size says what a checkpoint of so many positions takes.
func NewLedger[B any](c engine.Config, p *Program, size func(positions int) int64, free func(B)) *Ledger[B] {
	return &Ledger[B]{
		prog: p, recurrent: p.Plan.Recurrent(p.Range), context: c.Context, budget: c.CheckpointBytes, undo: c.Undo, size: size, free: free,
	}
}

// Len returns the number of positions held.
func (l *Ledger[B]) Len() int { return l.now.len }

// Begin begins a lap that has been checked: it goes back, forgets and drops. What the lap before had replaced is freed.
func (l *Ledger[B]) Begin(lap *Lap[B]) {
	if l.before != nil {
		l.release(l.before, &l.now)
	}
	l.spare = l.now
	l.before = &l.spare
	l.now.len = lap.Batch.Pos
	if lap.Back || len(lap.Batch.Forget) > 0 {
		l.now.kept = nil
		for _, k := range l.before.kept {
			if k.Pos <= lap.Batch.Pos && !slices.Contains(lap.Batch.Forget, k.Pos) {
				l.now.kept = append(l.now.kept, k)
			}
		}
	}
	if len(lap.Batch.Drop) > 0 {
		l.now.saved = nil
		for _, s := range l.before.saved {
			if !slices.Contains(lap.Batch.Drop, s.ID) {
				l.now.saved = append(l.now.saved, s)
			}
		}
	}
}

// Advance adds n positions.
func (l *Ledger[B]) Advance(n int) { l.now.len += n }

// Missing reports whether a lap wants the position where the session stands to be kept and it is not yet.
func (l *Ledger[B]) Missing(lap *Lap[B]) bool { return lap.Keeps(l.now.len) && !l.now.keeps(l.now.len) }

// Keep keeps a position, of which c is the state. It comes after those that are kept already.
func (l *Ledger[B]) Keep(pos int, c B) {
	l.now.kept = append(slices.Clip(l.now.kept), &Kept[B]{pos, c})
}

// Save adds a checkpoint of the position where the session stands.
func (l *Ledger[B]) Save(id engine.Checkpoint, c B) engine.Saved {
	s := &Saved[B]{id, l.now.len, l.size(l.now.len), c}
	l.now.saved = append(slices.Clip(l.now.saved), s)
	return engine.Saved{ID: id, Bytes: s.Bytes}
}

// Undo makes the ledger what it was before the last [Ledger.Begin] and frees what has come since.
func (l *Ledger[B]) Undo() {
	gone := l.now
	l.now, l.before = *l.before, nil
	l.release(&gone, &l.now)
}

// Restore notes that the state is that of a checkpoint, or with nil that it is lost.
func (l *Ledger[B]) Restore(s *Saved[B]) {
	old := l.now
	if l.before != nil {
		l.release(l.before, &l.now)
		l.before = nil
	}
	l.now.len, l.now.kept = 0, nil
	if s != nil {
		l.now.len = s.Pos
	}
	l.release(&old, &l.now)
}

// release frees the copies of old that are not in still.
func (l *Ledger[B]) release(old, still *book[B]) {
	for _, k := range old.kept {
		if !slices.Contains(still.kept, k) {
			l.free(k.Copy)
		}
	}
	for _, s := range old.saved {
		if !slices.Contains(still.saved, s) {
			l.free(s.Copy)
		}
	}
}

// Copies calls f with every copy that the ledger owns, also those that only taking back the last lap would need.
func (l *Ledger[B]) Copies(f func(B)) {
	for _, k := range l.now.kept {
		f(k.Copy)
	}
	for _, s := range l.now.saved {
		f(s.Copy)
	}
	if l.before == nil {
		return
	}
	for _, k := range l.before.kept {
		if !slices.Contains(l.now.kept, k) {
			f(k.Copy)
		}
	}
	for _, s := range l.before.saved {
		if !slices.Contains(l.now.saved, s) {
			f(s.Copy)
		}
	}
}
