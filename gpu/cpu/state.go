package cpu

import (
	"slices"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/cpu/kern"
	"github.com/pooled/pooled/gpu/program"
)

// layerState is what one layer remembers; what it does not have is nil.
type layerState struct {
	kv    *kvCache
	conv  *recurrent // [taps−1, channels], oldest row first
	delta *recurrent // [heads, keyDim, valueDim]
}

// recurrent is a state that every column changes, and what is needed to make it what it was before the lap: a copy, and
// for a large state also a journal of what came after the copy. The operation that changes the state copies each part just
// before, when it reads it anyway.
type recurrent struct {
	now, before []float32
	at          int  // where it is in a [stateCopy]
	held        bool // now has changed since the lap began
	journal     *journal
}

func newRecurrent(n int) *recurrent {
	return &recurrent{now: make([]float32, n), before: make([]float32, n)}
}

// journalColumns is for how many columns a large state is copied once: its copy costs as much as a column, so copying it
// for each would make decoding slower by several percent.
const journalColumns = 32

// journal is the columns that made a state from an earlier copy of it. Since a column has the same bits at every width,
// they make the same state again.
type journal struct {
	rows    [][]float32                 // of each input
	n       int                         // columns
	mark    int                         // those before the lap
	useless bool                        // the columns since the copy are not all here
	play    func(in [][]float32, n int) // computes n columns again
}

// begin begins a lap.
func (r *recurrent) begin() {
	r.held = false
	if r.journal != nil {
		r.journal.mark = r.journal.n
	}
}

// touch says that n of the lap's columns are about to change the state, which the given inputs make. It reports whether
// the state has to be copied first.
func (r *recurrent) touch(lap, n int, in ...[]float32) (hold bool) {
	first := !r.held
	r.held = true
	j := r.journal
	if j == nil {
		return first
	}
	if first && (j.useless || j.n+lap > journalColumns) {
		hold = true
		j.clear()
		j.useless = lap > journalColumns
	}
	if j.useless {
		return hold
	}
	for i, x := range in {
		j.rows[i] = append(j.rows[i], x...)
	}
	j.n += n
	return hold
}

// cut leaves the first n columns.
func (j *journal) cut(n int) {
	for i, row := range j.rows {
		if j.n > 0 {
			j.rows[i] = row[:len(row)/j.n*n]
		}
	}
	j.n = n
}

func (j *journal) clear() {
	j.cut(0)
	j.mark, j.useless = 0, false
}

// replace makes from the state, or zero where from is nil.
func (r *recurrent) replace(from []float32) {
	r.now, r.before, r.held = r.before, r.now, true
	clear(r.now[copy(r.now, from):])
	if r.journal != nil {
		r.journal.clear()
		r.journal.useless = true
	}
}

// takeBack makes the state what it was before the lap.
func (r *recurrent) takeBack() {
	if !r.held {
		return
	}
	r.held = false
	j := r.journal
	if j == nil || j.mark == 0 {
		r.now, r.before = r.before, r.now
		if j != nil {
			j.clear()
			j.useless = true
		}
		return
	}
	copy(r.now, r.before)
	j.cut(j.mark)
	j.play(j.rows, j.n)
}

func newLayerState(s model.State, context int) layerState {
	var l layerState
	if s.KV != nil {
		l.kv = newKVCache(*s.KV, context)
	}
	if s.Conv != nil {
		l.conv = newRecurrent((s.Conv.Taps - 1) * s.Conv.Channels)
	}
	if s.Delta != nil {
		l.delta = newRecurrent(s.Delta.Heads * s.Delta.KeyDim * s.Delta.ValueDim)
	}
	return l
}

// stateCopy is a copy of state: of the recurrent one for a kept position, of keys and values too for a checkpoint. Kept
// positions need no keys and values: positions before one stay as they are until the session goes back beyond it.
type stateCopy struct {
	recurrent []float32
	kv        []uint16
	draft     []float32 // of a checkpoint: see [drafter]
}

func (c *stateCopy) bytes() int64 {
	if c == nil {
		return 0
	}
	return 4*int64(len(c.recurrent)+len(c.draft)) + 2*int64(len(c.kv))
}

// rows are keys and values of all layers that a lap writes over, from one position on to another.
type rows struct {
	from, to int
	kv       []uint16
}

// eachRecurrent calls f with every recurrent state.
func (s *session) eachRecurrent(f func(r *recurrent)) {
	for i := range s.layers {
		for _, r := range []*recurrent{s.layers[i].conv, s.layers[i].delta} {
			if r != nil {
				f(r)
			}
		}
	}
}

// columnCopy is the recurrent state behind one column of a pass. The operations that change the state write it as they go by.
type columnCopy struct {
	pos, column int // behind so many columns of the pass
	state       *stateCopy
}

// beginCopies prepares the copies of a pass of n columns for the positions that are to be kept.
func (s *session) beginCopies(lap *program.Lap[*stateCopy], n int) {
	s.copies = s.copies[:0]
	pos := s.ledger.Len()
	for _, k := range lap.Within(pos, n) {
		c := columnCopy{pos: k, column: k - pos}
		if s.recurrentSize > 0 {
			c.state = s.blankCopy()
		}
		s.copies = append(s.copies, c)
	}
}

// keepCopies keeps the positions whose copies the pass has written.
func (s *session) keepCopies() {
	for _, c := range s.copies {
		s.ledger.Keep(c.pos, c.state)
	}
	clear(s.copies)
	s.copies = s.copies[:0]
}

// mostSpare is how many copies of the recurrent state are held to be written again: as many as a draft may need.
const mostSpare = engine.MaxKept

// blankCopy returns a copy to be written.
func (s *session) blankCopy() *stateCopy {
	if n := len(s.spare); n > 0 {
		c := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return c
	}
	return &stateCopy{recurrent: make([]float32, s.recurrentSize)}
}

// recycle takes a copy back that nothing needs any longer.
func (s *session) recycle(c *stateCopy) {
	if c != nil && c.kv == nil && len(s.spare) < mostSpare {
		s.spare = append(s.spare, c)
	}
}

// copyRecurrent returns a copy of the recurrent state; nil where there is none.
func (s *session) copyRecurrent() *stateCopy {
	if s.recurrentSize == 0 {
		return nil
	}
	c := s.blankCopy()
	s.eachRecurrent(func(r *recurrent) { copy(c.recurrent[r.at:], r.now) })
	return c
}

// replaceRecurrent makes c the recurrent state, or the one of position 0 where c is nil.
func (s *session) replaceRecurrent(c *stateCopy) {
	var rest []float32
	if c != nil {
		rest = c.recurrent
	}
	s.eachRecurrent(func(r *recurrent) {
		n := min(len(rest), len(r.now))
		r.replace(rest[:n])
		rest = rest[n:]
	})
}

// copyAll returns a copy of the whole state.
func (s *session) copyAll() *stateCopy {
	c := &stateCopy{kv: s.copyRows(nil, 0, s.ledger.Len())}
	if r := s.copyRecurrent(); r != nil {
		c.recurrent = r.recurrent
	}
	if s.draft != nil {
		c.draft = slices.Clone(s.draft.last)
	}
	return c
}

// copyRows appends the keys and values of positions [from, to), rounded to whole panels.
func (s *session) copyRows(dst []uint16, from, to int) []uint16 {
	for i := range s.layers {
		if kv := s.layers[i].kv; kv != nil {
			kv.each(from, to, func(part []uint16) { dst = append(dst, part...) })
		}
	}
	return dst
}

// restoreRows brings back what copyRows copied.
func (s *session) restoreRows(src []uint16, from, to int) {
	for i := range s.layers {
		if kv := s.layers[i].kv; kv != nil {
			kv.each(from, to, func(part []uint16) { src = src[copy(part, src):] })
		}
	}
}

// begin begins a lap: what it is about to replace is put aside.
func (s *session) begin(lap *program.Lap[*stateCopy]) {
	s.columns = lap.Columns
	s.eachRecurrent((*recurrent).begin)
	s.over = rows{from: lap.Batch.Pos, to: lap.Batch.Pos + lap.Over, kv: s.over.kv[:0]}
	if lap.Over > 0 {
		s.over.kv = s.copyRows(s.over.kv, s.over.from, s.over.to)
	}
	s.ledger.Begin(lap)
	if !lap.Back {
		return
	}
	s.cutDraft(lap.Batch.Pos)
	var from *stateCopy
	if lap.From != nil {
		from = lap.From.Copy
	}
	s.replaceRecurrent(from)
}

// takeBack makes the session what it was before the last lap.
func (s *session) takeBack() {
	s.eachRecurrent((*recurrent).takeBack)
	if s.over.to > s.over.from {
		s.restoreRows(s.over.kv, s.over.from, s.over.to)
		s.over.to = s.over.from
	}
	s.ledger.Undo()
	s.forgetDraft()
}

// restore makes a checkpoint the state.
func (s *session) restore(c *program.Saved[*stateCopy]) {
	s.restoreRows(c.Copy.kv, 0, c.Pos)
	s.replaceRecurrent(c.Copy)
	s.ledger.Restore(c)
	s.forgetDraft()
	if s.draft != nil {
		copy(s.draft.last, c.Copy.draft)
	}
}

// checkpointBytes is what a checkpoint of so many positions takes.
func (s *session) checkpointBytes(positions int) int64 {
	n := 4 * int64(s.recurrentSize)
	if s.draft != nil {
		n += 4 * int64(len(s.draft.last))
	}
	for i := range s.layers {
		if kv := s.layers[i].kv; kv != nil {
			n += 2 * int64(roundUp(positions)) * int64(kv.shape.Heads) * int64(kv.shape.KeyDim+kv.valueGroups*kern.Lanes)
		}
	}
	return n
}
