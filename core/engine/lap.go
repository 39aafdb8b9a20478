package engine

import "math"

// Limits of what a session keeps and of what one batch names.
const (
	// MaxKept is the most positions that a session keeps.
	MaxKept = 16
	// MaxCheckpoints is the most checkpoints that one batch saves, and the most that it drops.
	MaxCheckpoints = 16
	// MaxDraft is the most tokens that one batch asks to be drafted.
	MaxDraft = 16
)

// Checkpoint is the caller's number of a saved state; 0 is none.
type Checkpoint uint64

// Batch is a lap: everything a session is told to do, in one value. What it holds is done in the order of its fields.
// Every part may be left out; a batch without columns is control alone, and the zero Batch goes back to the beginning.
// Everything is checked before anything is done.
type Batch struct {
	// Undo takes the last lap back, whole; see [Config.Undo]. Such a batch holds nothing else.
	Undo bool
	// Restore makes the state that of a checkpoint; no position is kept afterwards. Such a batch holds nothing else, and it
	// cannot be taken back.
	Restore Checkpoint
	// Pos is the position of the first column. One before [Session.Len] goes back there first, and forgets what is kept
	// beyond it. It must be Len, 0 or a kept position; where no layer is recurrent it may be any up to Len.
	Pos int
	// Forget are kept positions that need not be kept any longer, in ascending order.
	Forget []int
	// Drop are checkpoints that are no longer needed. Their memory is given back when the next lap begins.
	Drop []Checkpoint
	// Tokens are the token ids, for a session with the embedding. Columns are causal: a column sees those before it.
	Tokens []int32
	// Hidden is what enters the first layer, for a session without the embedding. Shapes: [n, hidden].
	Hidden []float32
	// Keep are positions from Pos to the one behind the last column that a later lap may go back to, in ascending order.
	Keep []int
	// Save saves the state behind the last column, under numbers that are not in use.
	Save []Checkpoint
	// Output says what to return.
	Output Output
	// Draft asks for drafts of what follows.
	Draft Draft
}

// Draft asks for tokens that may follow [Draft.Token], which is taken for the one behind the last column. Drafts change neither the
// state nor any other result, so that a session without a draft block, or one that knows too little, may return fewer or none.
type Draft struct {
	// Token is the token behind the last column.
	Token int32
	// Count is how many to draft at most, up to [MaxDraft]; 0 asks for none.
	Count int
}

// Columns selects so many of the last columns of a batch.
type Columns uint32

// The common selections.
const (
	NoColumns  Columns = 0
	LastColumn Columns = 1
	AllColumns Columns = math.MaxUint32
)

// Of returns how many of n columns are selected.
func (c Columns) Of(n int) int { return int(min(uint64(c), uint64(n))) }

// Output says what a lap returns. All but Hidden needs the head.
type Output struct {
	// Hidden asks for hidden states after the last layer of the range.
	Hidden Columns
	// Logits asks for all logits.
	Logits Columns
	// Top asks for the so many largest logits. A backend may find them on the device, so that little is read back.
	Top int
	// TopOf says of which columns Top is; [NoColumns] stands for the last.
	TopOf Columns
	// Accept takes Tokens[1:] for a draft of what follows Tokens[0], and asks how much of it is what greedy decoding gives.
	Accept bool
}

// Search says what a backend has to find for o: the k largest logits of some columns.
func (o Output) Search() (k int, of Columns) {
	switch {
	case o.Accept:
		return max(o.Top, 1), AllColumns
	case o.Top > 0:
		return o.Top, max(o.TopOf, LastColumn)
	}
	return o.Top, NoColumns
}

// Head returns the columns whose logits are computed for o.
func (o Output) Head() Columns {
	_, of := o.Search()
	return max(o.Logits, of)
}

// Result is what a lap returns. Its slices belong to the caller.
type Result struct {
	// Hidden is [columns, hidden] of the columns asked for.
	Hidden []float32
	// Logits is [columns, vocab] of the columns asked for.
	Logits []float32
	// Top holds the largest logits of each column asked for, largest first, the lower id first among equals.
	Top [][]Candidate
	// LogSumExp is log Σ exp(logit) of each of these columns.
	LogSumExp []float32
	// Accepted is the length of the longest prefix of the draft that is greedy: each token has the largest logit, the
	// lower id among equals.
	Accepted int
	// Next is the greedy token behind that prefix.
	Next int32
	// Draft are the tokens drafted.
	Draft []int32
	// Saved are the checkpoints saved by this lap.
	Saved []Saved
}

// Saved says what a checkpoint takes.
type Saved struct {
	ID    Checkpoint
	Bytes int64
}

// Candidate is a token and its logit.
type Candidate struct {
	ID    int32
	Logit float32
}

// Settle turns what [Output.Search] asked for into what o asks for: it works out how much of the draft in tokens is
// accepted, and drops the candidates that only this needed.
func (r *Result) Settle(o Output, tokens []int32) {
	if !o.Accept {
		return
	}
	for r.Accepted = 0; r.Accepted < len(r.Top); r.Accepted++ {
		top := r.Top[r.Accepted]
		if len(top) == 0 {
			break
		}
		r.Next = top[0].ID
		if r.Accepted+1 == len(tokens) || tokens[r.Accepted+1] != r.Next {
			break
		}
	}
	keep := NoColumns
	if o.Top > 0 {
		keep = max(o.TopOf, LastColumn)
	}
	if n := keep.Of(len(r.Top)); n > 0 {
		r.Top, r.LogSumExp = r.Top[len(r.Top)-n:], r.LogSumExp[len(r.LogSumExp)-n:]
	} else {
		r.Top, r.LogSumExp = nil, nil
	}
}
