package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pooled/pooled/core/engine"
)

// Parked is the state of a sequence, set aside with the ids that it holds. It lasts as long as the session.
type Parked struct {
	number engine.Checkpoint
	ids    []int32
}

// Held returns the number of positions that the session holds.
func (q *Sequence) Held() int { return len(q.ids) }

// Reusable returns how many ids at the beginning of a prompt need not be computed again.
func (q *Sequence) Reusable(prompt []int32) int { return max(0, q.reuse(prompt)) }

// ReusableOf is [Sequence.Reusable] after [Sequence.Resume] of p. A recurrent state cannot be cut, so it serves only a prompt
// that goes on from its end.
func (q *Sequence) ReusableOf(p *Parked, prompt []int32) int {
	n := min(shared(p.ids, prompt), len(prompt)-1)
	if q.config.Recurrent && n < len(p.ids) {
		return 0
	}
	return max(0, n)
}

// Park sets a copy of the state aside.
//
// Errors: [*engine.BudgetError] where the session has no room left for it; the session's.
func (q *Sequence) Park(ctx context.Context) (*Parked, error) {
	number := q.parked + 1
	if _, err := q.lap(ctx, engine.Batch{Pos: len(q.ids), Save: []engine.Checkpoint{number}}); err != nil {
		return nil, err
	}
	q.parked = number
	return &Parked{number, slices.Clone(q.ids)}, nil
}

// Resume makes the state that of p, which stays set aside. When it fails, the sequence is as it was, or empty.
func (q *Sequence) Resume(ctx context.Context, p *Parked) error {
	if _, err := q.session.Forward(ctx, engine.Batch{Restore: p.number}); err != nil {
		if errors.Is(err, engine.ErrEmptied) {
			q.ids, q.kept, q.drafts = nil, nil, nil
		}
		return errors.Join(fmt.Errorf("going on from %d positions that were set aside: %w", len(p.ids), err), q.level(ctx))
	}
	q.ids, q.kept, q.drafts = slices.Clone(p.ids), nil, nil
	if got, want := q.session.Len(), len(p.ids); got != want {
		return errors.Join(fmt.Errorf("%w: it has %d positions set aside, not %d", ErrSession, got, want), q.level(ctx))
	}
	return nil
}

// Discard gives back what p takes.
func (q *Sequence) Discard(ctx context.Context, p *Parked) error {
	_, err := q.lap(ctx, engine.Batch{Pos: len(q.ids), Drop: []engine.Checkpoint{p.number}})
	return err
}

// shared returns how many ids at the beginning of a and b are the same.
func shared(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
