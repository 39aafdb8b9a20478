package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pooled/pooled/core/engine"
)

// Config says what a sequence may rely on.
type Config struct {
	// Context is the number of positions that the session has room for.
	Context int
	// Batch is the greatest number of tokens of a prompt that one pass computes, so that it can be cancelled and reports
	// progress in between; 0 means 512.
	Batch int
	// Recurrent says that the state cannot be cut anywhere. The sequence then has positions kept that a later prompt is
	// likely to share: the end of the last message of the prompt, which a template leaves as it is even where it strips
	// earlier reasoning, and the end of the prompt.
	Recurrent bool
	// Drafts says that the session has a draft block.
	Drafts bool
}

// Sequence is a session and the exact ids whose state it holds.
//
// Owns: the session. It is not safe for concurrent use, but for Close.
type Sequence struct {
	session engine.Session
	tokens  Tokenizer
	config  Config
	ids     []int32
	kept    []int // positions that the session can go back to, in ascending order
	drafts  []int // the same, of drafts alone
	pace    *pace
	parked  engine.Checkpoint // the last number given to a parked state
	scratch scratch
}

// maxKept is how many positions a sequence has kept, the newest ones. Each takes a copy of the recurrent state.
const maxKept = 4

// New returns a sequence on a session that has the embedding and the head. What the session holds is dropped.
//
// Errors: [*OptionError], the session's.
func New(s engine.Session, t Tokenizer, c Config) (*Sequence, error) {
	if c.Context < 1 {
		return nil, &OptionError{"Context", c.Context, "must be at least 1"}
	}
	if c.Batch < 0 {
		return nil, &OptionError{"Batch", c.Batch, "must not be negative"}
	}
	if c.Batch == 0 {
		c.Batch = 512
	}
	q := &Sequence{session: s, tokens: t, config: c, pace: newPace()}
	if s.Len() > 0 {
		if err := q.Reset(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// Context returns the number of positions that there is room for.
func (q *Sequence) Context() int { return q.config.Context }

// IDs returns a copy of the ids whose state the session holds.
func (q *Sequence) IDs() []int32 { return slices.Clone(q.ids) }

// Shared returns how many ids at the beginning of a prompt the session holds. A session whose state cannot be cut
// anywhere may have to go back further.
func (q *Sequence) Shared(prompt []int32) int { return shared(q.ids, prompt) }

// Reset drops everything held.
func (q *Sequence) Reset() error {
	_, err := q.lap(context.Background(), engine.Batch{})
	return err
}

// Close closes the session.
func (q *Sequence) Close() error { return q.session.Close() }

// lap runs a batch of tokens and notes what the session holds afterwards. One that fails leaves everything as it was.
func (q *Sequence) lap(ctx context.Context, b engine.Batch) (engine.Result, error) {
	return q.play(ctx, b, false)
}

// play is lap; what the batch keeps may be for a draft.
func (q *Sequence) play(ctx context.Context, b engine.Batch, draft bool) (engine.Result, error) {
	r, err := q.session.Forward(ctx, b)
	if err != nil {
		return engine.Result{}, errors.Join(fmt.Errorf("computing position %d: %w", b.Pos, err), q.level(ctx))
	}
	q.ids = append(q.ids[:b.Pos], b.Tokens...)
	gone := func(k int) bool { return k > b.Pos || slices.Contains(b.Forget, k) }
	q.kept, q.drafts = slices.DeleteFunc(q.kept, gone), slices.DeleteFunc(q.drafts, gone)
	if !draft {
		q.kept = append(q.kept, b.Keep...)
	} else {
		q.drafts = append(q.drafts, b.Keep...)
	}
	if got, want := q.session.Len(), b.Pos+len(b.Tokens); got != want {
		q.ids = q.ids[:b.Pos]
		return engine.Result{}, errors.Join(
			fmt.Errorf("%w: %d tokens at position %d made its length %d", ErrSession, len(b.Tokens), b.Pos, got), q.level(ctx))
	}
	return r, nil
}

// level brings ids and session to the same length. A session is as it was after a failure; where one is not, its length
// is trusted, and positions whose ids are not known are dropped.
func (q *Sequence) level(ctx context.Context) error {
	n := max(0, q.session.Len())
	if n <= len(q.ids) {
		q.ids = q.ids[:n]
		gone := func(k int) bool { return k > n }
		q.kept, q.drafts = slices.DeleteFunc(q.kept, gone), slices.DeleteFunc(q.drafts, gone)
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	_, err := q.session.Forward(ctx, engine.Batch{Pos: q.reachable(len(q.ids))})
	var unreachable *engine.PositionError
	if errors.As(err, &unreachable) {
		_, err = q.session.Forward(ctx, engine.Batch{})
	}
	if err == nil {
		q.ids = q.ids[:q.session.Len()]
	}
	return err
}

// forward computes ids behind those held, and then a draft of what may follow. The draft does not count as held: see confirm.
func (q *Sequence) forward(ctx context.Context, ids, draft []int32, out engine.Output) (engine.Result, error) {
	b := engine.Batch{Pos: len(q.ids), Tokens: ids, Output: out}
	for _, k := range q.drafts {
		if k <= b.Pos {
			b.Forget = append(b.Forget, k)
		}
	}
	if len(draft) > 0 {
		b.Tokens = append(slices.Clip(ids), draft...)
		for i := 0; q.config.Recurrent && i < len(draft); i++ {
			b.Keep = append(b.Keep, b.Pos+len(ids)+i)
		}
	}
	r, err := q.play(ctx, b, true)
	if err == nil {
		q.ids = q.ids[:len(q.ids)-len(draft)]
	}
	return r, err
}

// confirm counts the next token of the draft as held.
func (q *Sequence) confirm(id int32) { q.ids = append(q.ids, id) }

// again computes the last token held once more.
func (q *Sequence) again(ctx context.Context, out engine.Output) (engine.Result, error) {
	last := len(q.ids) - 1
	return q.play(ctx, engine.Batch{Pos: last, Tokens: []int32{q.ids[last]}, Output: out}, true)
}

// guess asks the draft block what may come behind the ids held and one more.
func (q *Sequence) guess(ctx context.Context, id int32, n int) ([]int32, error) {
	b := engine.Batch{Pos: len(q.ids), Draft: engine.Draft{Token: id, Count: n}}
	begin := time.Now()
	r, err := q.play(ctx, b, true)
	if err != nil {
		return nil, err
	}
	if len(r.Draft) == 0 {
		q.config.Drafts = false
		return nil, nil
	}
	q.pace.block.add(time.Since(begin) / time.Duration(len(r.Draft)))
	for i, id := range r.Draft {
		if id < 0 || int(id) >= q.tokens.Size() {
			return r.Draft[:i], nil
		}
	}
	return r.Draft, nil
}

// reachable returns the latest position up to n that the session can go back to, as far as the sequence knows.
func (q *Sequence) reachable(n int) int {
	if !q.config.Recurrent {
		return n
	}
	at := 0
	for _, list := range [][]int{q.kept, q.drafts} {
		for _, k := range list {
			if k <= n {
				at = max(at, k)
			}
		}
	}
	return at
}

// reuse returns the length of the longest prefix of the prompt that is held and can be gone on from. At least the last
// token is computed again, since its logits are needed.
func (q *Sequence) reuse(prompt []int32) int {
	n := min(q.Shared(prompt), len(prompt)-1)
	if n == len(q.ids) {
		return n
	}
	return q.reachable(n)
}

// prefill computes the rest of a prompt and returns what the last pass does. Reused and computed are how many tokens of
// the prompt were held and how many were computed, also beside an error.
func (q *Sequence) prefill(ctx context.Context, prompt []int32, opt *Options, out engine.Output) (r engine.Result, reused, computed int, err error) {
	marks := q.marks(prompt, opt.Marks)
	progress := opt.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	if n := q.session.Len(); n < len(q.ids) || n > len(q.ids) && q.reachable(len(q.ids)) < len(q.ids) { // a failure that could not be mended then
		if err := q.level(ctx); err != nil {
			return r, 0, 0, err
		}
	}
	reused = q.reuse(prompt)
	progress(reused, len(prompt))
	for at := reused; at < len(prompt); {
		if err := ctx.Err(); err != nil {
			return r, reused, computed, err
		}
		b := engine.Batch{Pos: at, Tokens: prompt[at:min(at+q.config.Batch, len(prompt))]}
		if at+len(b.Tokens) == len(prompt) {
			b.Output = out
		}
		b.Forget, b.Keep = q.keep(at, at+len(b.Tokens), marks)
		r, err = q.lap(ctx, b)
		var unreachable *engine.PositionError
		if errors.As(err, &unreachable) && computed == 0 && unreachable.Latest >= 0 && unreachable.Latest < at {
			// The session can go back less far than was known.
			at, reused = unreachable.Latest, unreachable.Latest
			q.kept = slices.DeleteFunc(q.kept, func(k int) bool { return k > at })
			continue
		}
		if err != nil {
			return engine.Result{}, reused, computed, err
		}
		at += len(b.Tokens)
		computed += len(b.Tokens)
		progress(at, len(prompt))
	}
	return r, reused, computed, nil
}

// keep returns what a lap from position begin to end has to forget and to keep, so that the newest are kept in the end.
func (q *Sequence) keep(begin, end int, marks []int) (forget, keep []int) {
	var old []int
	for _, k := range q.kept {
		if k <= begin {
			old = append(old, k)
		}
	}
	for _, m := range marks {
		if m >= begin && m <= end && !slices.Contains(old, m) {
			keep = append(keep, m)
		}
	}
	keep = keep[max(0, len(keep)-maxKept):]
	forget = old[:max(0, len(old)+len(keep)-maxKept)]
	for _, k := range q.drafts {
		if k <= begin {
			forget = append(forget, k)
		}
	}
	slices.Sort(forget)
	return forget, keep
}

// tail is how near to the end of a prompt its last message must end for a mark there to be enough.
const tail = 64

// marks returns the positions to keep, in ascending order. The end of the prompt serves a prompt that goes on from there.
// A template that strips reasoning, or opens it, changes the last few tokens of an earlier prompt, and asking the same
// again needs a place before the end: the end of the last message is both.
func (q *Sequence) marks(prompt []int32, asked []int) []int {
	n := len(prompt)
	switch {
	case !q.config.Recurrent:
		return nil
	case asked != nil:
		return slices.Compact(slices.Sorted(slices.Values(asked)))
	case n == 1:
		return []int{1} // position 0 needs no keeping
	}
	for i := n - 1; i > 0 && i >= n-tail; i-- {
		if q.tokens.IsEOG(prompt[i-1]) {
			return []int{i, n}
		}
	}
	return []int{n - 1, n}
}
