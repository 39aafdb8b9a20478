package program

import (
	"fmt"
	"slices"

	"github.com/pooled/pooled/core/engine"
)

// Lap is a batch that has passed every check.
type Lap[B any] struct {
	// Batch is what was asked for.
	Batch engine.Batch
	// Columns is the number of columns.
	Columns int
	// Back says that the lap goes back. From is then the kept copy of the recurrent state to go on from; without one it
	// is position 0, or a session without recurrence.
	Back bool
	From *Kept[B]
	// Source is the checkpoint to restore.
	Source *Saved[B]
	// Over is how many positions from Pos on were held before and are written over.
	Over int
	// Candidates is how many of the largest logits to look for in each of the columns CandidatesOf. LogitsOf are the columns
	// whose logits that takes, or whose logits are asked for.
	Candidates             int
	CandidatesOf, LogitsOf engine.Columns
}

// Pass returns how many of the columns from column at on make the next pass of a backend that copies recurrent state between
// passes alone: at most ubatch, and none behind a position to keep.
func (l *Lap[B]) Pass(at, ubatch int) int {
	n := min(ubatch, l.Columns-at)
	for _, k := range l.Batch.Keep {
		if k > l.Batch.Pos+at {
			return min(n, k-l.Batch.Pos-at)
		}
	}
	return n
}

// Within returns the positions to keep that n columns from position pos on reach.
func (l *Lap[B]) Within(pos, n int) []int {
	keep := l.Batch.Keep
	from, _ := slices.BinarySearch(keep, pos+1)
	to, _ := slices.BinarySearch(keep, pos+n+1)
	return keep[from:to]
}

// First returns the first of the columns [at, at+n) that are selected, counted from at; n where none is.
func (l *Lap[B]) First(c engine.Columns, at, n int) int {
	return min(max(l.Columns-c.Of(l.Columns)-at, 0), n)
}

// Keeps reports whether position pos is to be kept.
func (l *Lap[B]) Keeps(pos int) bool { return slices.Contains(l.Batch.Keep, pos) }

// Check refuses a batch that cannot be run as a whole. Nothing has changed then.
//
// Errors: those of [engine.Session.Forward] that come before anything is done.
func (l *Ledger[B]) Check(b engine.Batch) (*Lap[B], error) {
	lap := &Lap[B]{Batch: b}
	if b.Undo || b.Restore != 0 {
		return lap, l.checkAlone(lap)
	}
	for _, check := range []func(*Lap[B]) error{l.checkPos, l.checkColumns, l.checkKept, l.checkSaved, l.checkOutput} {
		if err := check(lap); err != nil {
			return nil, err
		}
	}
	return lap, nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", engine.ErrBatch, fmt.Sprintf(format, args...))
}

// checkAlone checks what stands alone in a batch.
func (l *Ledger[B]) checkAlone(lap *Lap[B]) error {
	b := lap.Batch
	control := len(b.Forget) + len(b.Drop) + len(b.Keep) + len(b.Save)
	if b.Pos != 0 || len(b.Tokens)+len(b.Hidden)+control > 0 || b.Output != (engine.Output{}) || b.Draft != (engine.Draft{}) || b.Undo && b.Restore != 0 {
		return bad("taking a lap back and restoring a checkpoint stand alone")
	}
	if b.Undo {
		if !l.undo || l.before == nil {
			return engine.ErrNoUndo
		}
		return nil
	}
	if lap.Source = l.now.find(b.Restore); lap.Source == nil {
		return fmt.Errorf("%w: number %d", engine.ErrNoCheckpoint, b.Restore)
	}
	return nil
}

func (l *Ledger[B]) checkPos(lap *Lap[B]) error {
	pos := lap.Batch.Pos
	if pos == l.now.len {
		return nil
	}
	lap.Back = true
	latest := 0
	switch {
	case pos > l.now.len:
		latest = l.now.len
	case pos >= 0 && !l.recurrent:
		latest = pos
	default:
		for _, k := range l.now.kept {
			if k.Pos <= pos {
				latest, lap.From = k.Pos, k
			}
		}
	}
	if latest != pos {
		return &engine.PositionError{Pos: pos, Len: l.now.len, Latest: latest}
	}
	return nil
}

func (l *Ledger[B]) checkColumns(lap *Lap[B]) error {
	b, p := lap.Batch, l.prog
	hidden := p.Plan.Hidden
	switch {
	case p.Embeds && len(b.Hidden) > 0:
		return bad("a session with the embedding reads tokens, not hidden states")
	case !p.Embeds && (len(b.Tokens) > 0 || len(b.Hidden)%hidden != 0):
		return bad("layers %d to %d read hidden states of %d values, not %d values and %d tokens",
			p.Range.Begin, p.Range.End, hidden, len(b.Hidden), len(b.Tokens))
	}
	lap.Columns = len(b.Tokens)
	if !p.Embeds {
		lap.Columns = len(b.Hidden) / hidden
	}
	if lap.Columns > l.context-lap.Batch.Pos {
		return fmt.Errorf("%w: %d positions are held and %d more do not fit into %d", engine.ErrContextFull, lap.Batch.Pos, lap.Columns, l.context)
	}
	lap.Over = min(lap.Columns, l.now.len-lap.Batch.Pos)
	for i, id := range b.Tokens {
		if id < 0 || int(id) >= p.Plan.Vocab {
			return bad("token %d is %d, but the vocabulary has %d", i, id, p.Plan.Vocab)
		}
	}
	return nil
}

func (l *Ledger[B]) checkKept(lap *Lap[B]) error {
	b := &lap.Batch
	for i, pos := range b.Forget {
		switch {
		case i > 0 && pos <= b.Forget[i-1]:
			return bad("the positions to forget are not in ascending order")
		case !l.now.keeps(pos):
			return bad("position %d is to be forgotten, but is not kept", pos)
		}
	}
	kept := 0
	for _, k := range l.now.kept {
		if k.Pos <= b.Pos && !slices.Contains(b.Forget, k.Pos) && !lap.Keeps(k.Pos) {
			kept++
		}
	}
	for i, pos := range b.Keep {
		switch {
		case i > 0 && pos <= b.Keep[i-1]:
			return bad("the positions to keep are not in ascending order")
		case pos < b.Pos || pos > b.Pos+lap.Columns:
			return bad("position %d cannot be kept by a lap from position %d to %d", pos, b.Pos, b.Pos+lap.Columns)
		}
		kept++
	}
	if kept > engine.MaxKept {
		return fmt.Errorf("%w: %d, at most %d may be", engine.ErrKept, kept, engine.MaxKept)
	}
	return nil
}

func (l *Ledger[B]) checkSaved(lap *Lap[B]) error {
	b := &lap.Batch
	if len(b.Drop) > engine.MaxCheckpoints || len(b.Save) > engine.MaxCheckpoints {
		return bad("more than %d checkpoints", engine.MaxCheckpoints)
	}
	for i, id := range b.Drop {
		if l.now.find(id) == nil || slices.Contains(b.Drop[:i], id) {
			return fmt.Errorf("%w: number %d", engine.ErrNoCheckpoint, id)
		}
	}
	for i, id := range b.Save {
		if id == 0 || l.now.find(id) != nil || slices.Contains(b.Save[:i], id) {
			return bad("checkpoint %d is none or in use", id)
		}
	}
	if len(b.Save) == 0 {
		return nil
	}
	held := int64(0)
	for _, s := range l.now.saved { // also what this lap drops: it is there until the next
		held += s.Bytes
	}
	if need := int64(len(b.Save)) * l.size(b.Pos+lap.Columns); need > l.budget-held {
		return &engine.BudgetError{Need: need, Held: held, Budget: l.budget}
	}
	return nil
}

func (l *Ledger[B]) checkOutput(lap *Lap[B]) error {
	o, d := lap.Batch.Output, lap.Batch.Draft
	switch {
	case d.Count < 0 || d.Count > engine.MaxDraft:
		return bad("a draft of %d tokens, at most %d", d.Count, engine.MaxDraft)
	case d.Count > 0 && (d.Token < 0 || int(d.Token) >= l.prog.Plan.Vocab):
		return bad("a draft behind token %d, but the vocabulary has %d", d.Token, l.prog.Plan.Vocab)
	case o == engine.Output{}:
		return nil
	case o.Top < 0:
		return bad("the output asked for does not exist")
	case lap.Columns == 0:
		return bad("no columns have no output")
	case o.Accept && len(lap.Batch.Tokens) == 0:
		return bad("a draft is accepted where its tokens are")
	}
	lap.Candidates, lap.CandidatesOf = o.Search()
	lap.Candidates = min(lap.Candidates, l.prog.Plan.Vocab)
	if lap.LogitsOf = o.Head(); lap.LogitsOf != engine.NoColumns && l.prog.Logits == None {
		return bad("the session ends at layer %d and has no head for logits", l.prog.Range.End)
	}
	return nil
}
