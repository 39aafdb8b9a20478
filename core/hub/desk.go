package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/generate"
)

const (
	// maxParked is how many conversations are set aside at most, and worthParking how many positions must be at stake: to
	// compute a few again costs less than to copy the state.
	maxParked    = 16
	worthParking = 32
)

// desk knows whose state the engine holds, and whose is set aside. It belongs to whoever the queue has let in.
type desk struct {
	sequence *generate.Sequence
	holder   *Slot
	parked   []parking // the newest last
}

type parking struct {
	slot  *Slot
	state *generate.Parked
}

// seat makes the engine go on from what serves the prompt of s best: what it holds, or what is set aside. What it holds of
// another slot is set aside before.
func (d *desk) seat(ctx context.Context, s *Slot, prompt []int32) error {
	if len(prompt) == 0 {
		return nil // nothing will be computed
	}
	live := d.sequence.Reusable(prompt)
	var best *generate.Parked
	most := live
	for _, p := range d.parked {
		if n := d.sequence.ReusableOf(p.state, prompt); n > most {
			best, most = p.state, n
		}
	}
	if d.holder != nil && d.holder != s && d.sequence.Held()-live >= worthParking {
		if err := d.park(ctx, best); err != nil {
			return err
		}
	}
	if best != nil {
		if err := d.sequence.Resume(ctx, best); err != nil {
			return err
		}
	}
	d.holder = s
	// What s has set aside is behind what it will have now.
	for i := len(d.parked) - 1; i >= 0; i-- {
		if d.parked[i].slot == s {
			if err := d.drop(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// park sets aside what the engine holds, in place of the oldest where there is no room; but not of spare.
func (d *desk) park(ctx context.Context, spare *generate.Parked) error {
	for {
		oldest := slices.IndexFunc(d.parked, func(p parking) bool { return p.state != spare })
		if len(d.parked) < maxParked {
			state, err := d.sequence.Park(ctx)
			var budget *engine.BudgetError
			switch {
			case err == nil:
				d.parked = append(d.parked, parking{d.holder, state})
				return nil
			case !errors.As(err, &budget) && !errors.Is(err, engine.ErrOutOfMemory):
				return err
			case oldest < 0 || budget != nil && budget.Need > budget.Budget:
				return nil // it cannot be kept; it will be computed again
			}
		}
		if err := d.drop(ctx, oldest); err != nil {
			return err
		}
	}
}

func (d *desk) drop(ctx context.Context, i int) error {
	state := d.parked[i].state
	d.parked = slices.Delete(d.parked, i, i+1)
	return d.sequence.Discard(ctx, state)
}

// leave says that what the engine holds is nobody's.
func (d *desk) leave() { d.holder = nil }
