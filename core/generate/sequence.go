package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pooled/pooled/core/engine"
)

// Config says what a sequence may rely on.
type Config struct {
	// Context is the number of positions that the session has room for.
	Context int
	// Batch is the greatest number of tokens of a prompt that one pass computes, so that it can be cancelled and reports
	// progress in between; 0 means 512.
	Batch int
	// Recurrent says that the state cannot be cut anywhere. The sequence then marks places that a later prompt is likely
	// to share: the end of the last message of the prompt, which a template leaves as it is even where it strips earlier
	// reasoning, and the end of the prompt.
	Recurrent bool
}

// Sequence is a session and the exact ids whose state it holds.
//
// Owns: the session. It is not safe for concurrent use, but for Close.
type Sequence struct {
	session engine.Session
	tokens  Tokenizer
	config  Config
	ids     []int32
	scratch scratch
}

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
	q := &Sequence{session: s, tokens: t, config: c}
	if err := q.level(); err != nil {
		return nil, err
	}
	return q, nil
}

// Context returns the number of positions that there is room for.
func (q *Sequence) Context() int { return q.config.Context }

// IDs returns a copy of the ids whose state the session holds.
func (q *Sequence) IDs() []int32 { return slices.Clone(q.ids) }

// Shared returns how many ids at the beginning of a prompt the session holds. A session whose state cannot be cut
// anywhere may have to go back further.
func (q *Sequence) Shared(prompt []int32) int {
	n := 0
	for n < len(prompt) && n < len(q.ids) && prompt[n] == q.ids[n] {
		n++
	}
	return n
}

// Reset drops everything held.
func (q *Sequence) Reset() error {
	q.ids = q.ids[:0]
	return q.level()
}

// Close closes the session.
func (q *Sequence) Close() error { return q.session.Close() }

// level brings ids and session to the same length. The session's length is trusted; positions whose ids are not known
// are dropped.
func (q *Sequence) level() error {
	if n := q.session.Len(); n <= len(q.ids) {
		q.ids = q.ids[:max(n, 0)]
		return nil
	}
	return q.rewind(len(q.ids))
}

// rewind drops positions so that at most n are left. When it fails, the session's length is still trusted; if that is
// more than the ids known, the next call tries again.
func (q *Sequence) rewind(n int) error {
	got, err := q.session.Rewind(n)
	held := q.session.Len()
	q.ids = q.ids[:max(0, min(held, len(q.ids)))]
	if err != nil {
		return fmt.Errorf("going back to position %d: %w", n, err)
	}
	if got != held || held < 0 || held > n {
		q.ids = q.ids[:max(0, min(n, len(q.ids)))]
		return fmt.Errorf("%w: going back to position %d, it said %d and is at %d", ErrSession, n, got, held)
	}
	return nil
}

// forward computes ids behind those held.
func (q *Sequence) forward(ctx context.Context, ids []int32, out engine.Output) (engine.Result, error) {
	pos := len(q.ids)
	r, err := q.session.Forward(ctx, engine.Batch{Pos: pos, Tokens: ids, Output: out})
	if err == nil {
		if got, want := q.session.Len(), pos+len(ids); got != want {
			err = fmt.Errorf("%w: %d tokens at position %d made its length %d", ErrSession, len(ids), pos, got)
		}
	}
	if err != nil {
		return engine.Result{}, errors.Join(fmt.Errorf("computing position %d: %w", pos, err), q.level())
	}
	q.ids = append(q.ids, ids...)
	return r, nil
}

// reuse goes back to the longest prefix of the prompt that is held and can be kept. At least the last token is computed
// again, since its logits are needed.
func (q *Sequence) reuse(prompt []int32) error {
	if err := q.level(); err != nil {
		return err
	}
	if n := min(q.Shared(prompt), len(prompt)-1); n < len(q.ids) {
		return q.rewind(n)
	}
	return nil
}

// prefill computes the rest of a prompt and returns what the last pass does.
func (q *Sequence) prefill(ctx context.Context, prompt []int32, opt *Options, out engine.Output) (engine.Result, error) {
	marks := q.marks(prompt, opt.Marks)
	progress := opt.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(len(q.ids), len(prompt))
	for {
		if err := ctx.Err(); err != nil {
			return engine.Result{}, err
		}
		at := len(q.ids)
		end := min(at+q.config.Batch, len(prompt))
		for _, m := range marks {
			if m > at && m < end {
				end = m
			}
		}
		last := end == len(prompt)
		want := engine.Output{}
		if last {
			want = out
		}
		r, err := q.forward(ctx, prompt[at:end], want)
		if err != nil {
			return engine.Result{}, err
		}
		if slices.Contains(marks, end) {
			if err := q.session.Mark(); err != nil {
				return engine.Result{}, errors.Join(fmt.Errorf("marking position %d: %w", end, err), q.level())
			}
		}
		progress(end, len(prompt))
		if last {
			return r, nil
		}
	}
}

// tail is how near to the end of a prompt its last message must end for a mark there to be enough.
const tail = 64

// marks returns the lengths at which to mark. The end of the prompt serves a prompt that goes on from there, and costs no
// pass of its own. A template that strips reasoning, or opens it, changes the last few tokens of an earlier prompt, and
// asking the same again needs a place before the end: the end of the last message is both.
func (q *Sequence) marks(prompt []int32, asked []int) []int {
	if asked != nil {
		return asked
	}
	if !q.config.Recurrent {
		return nil
	}
	n := len(prompt)
	for i := n - 1; i > 0 && i >= n-tail; i-- {
		if q.tokens.IsEOG(prompt[i-1]) {
			return []int{i, n}
		}
	}
	return []int{n - 1, n}
}
