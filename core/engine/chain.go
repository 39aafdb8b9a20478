package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Chain joins sessions over consecutive layer ranges into one: the hidden state that leaves one enters the next. A lap
// that fails in a part is taken back in the parts before it, so that all are as they were.
//
// Errors: of Forward, beside those of the parts: [ErrChain], [*BrokenError].
// Owns: the sessions; Close closes them.
func Chain(parts ...Session) Session {
	if len(parts) == 1 {
		return parts[0]
	}
	return &chain{parts: parts}
}

type chain struct {
	parts  []Session
	mu     sync.Mutex // held by every lap
	broken error
	// emptied says that the last lap was a restore that failed and left the parts empty: nothing can be taken back.
	emptied bool
}

func (c *chain) Len() int {
	if len(c.parts) == 0 {
		return 0
	}
	return c.parts[0].Len()
}

func (c *chain) Forward(ctx context.Context, b Batch) (Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.parts) == 0:
		return Result{}, fmt.Errorf("%w: there are none", ErrChain)
	case c.broken != nil:
		return Result{}, c.broken
	case b.Undo:
		return c.undo(ctx, b)
	case b.Restore != 0:
		return c.restore(ctx, b)
	}
	want, tokens := b.Output, b.Tokens
	saved := make([]Saved, len(b.Save))
	var r Result
	for i, s := range c.parts {
		last := i == len(c.parts)-1
		b.Output = c.output(want, tokens, last)
		var err error
		ran := i
		if r, err = s.Forward(ctx, b); err == nil {
			ran++
			err = c.fits(b, &r, saved, last)
		}
		if err != nil {
			return Result{}, c.takeBack(ctx, ran, fmt.Errorf("part %d of %d: %w", i+1, len(c.parts), err))
		}
		b.Tokens, b.Hidden = nil, r.Hidden
	}
	r.Saved = saved[:len(saved):len(saved)]
	r.Settle(want, tokens)
	c.emptied = false
	return r, nil
}

// output is what a part has to return: hidden states between two parts, and at the end what is wanted. A draft is judged
// here, since the last part does not know it.
func (c *chain) output(want Output, tokens []int32, last bool) Output {
	switch {
	case !last && len(tokens) == 0:
		return Output{}
	case !last:
		return Output{Hidden: AllColumns}
	}
	want.Top, want.TopOf = want.Search()
	want.Accept = false
	return want
}

// fits checks what a part returned, since it may be elsewhere, and adds up what it saved.
func (c *chain) fits(b Batch, r *Result, saved []Saved, last bool) error {
	switch n := len(b.Tokens); {
	case last:
	case n > 0 && (len(r.Hidden) == 0 || len(r.Hidden)%n != 0), n == 0 && len(r.Hidden) != len(b.Hidden):
		return fmt.Errorf("%w: it returned %d values of %d columns", ErrChain, len(r.Hidden), max(n, 1))
	}
	if len(r.Saved) != len(saved) {
		return fmt.Errorf("%w: it saved %d checkpoints, not %d", ErrChain, len(r.Saved), len(saved))
	}
	for i, s := range r.Saved {
		saved[i].ID = b.Save[i]
		saved[i].Bytes += s.Bytes
	}
	return nil
}

// takeBack takes the last lap back in the first n parts. It returns cause, or says that the chain is broken.
func (c *chain) takeBack(ctx context.Context, n int, cause error) error {
	for i := n - 1; i >= 0; i-- {
		if _, err := c.parts[i].Forward(context.WithoutCancel(ctx), Batch{Undo: true}); err != nil {
			c.broken = &BrokenError{Part: i, Cause: cause, Err: err}
			return c.broken
		}
	}
	return cause
}

// undo takes a lap back that all parts have run. What the first part refuses has changed nothing.
func (c *chain) undo(ctx context.Context, b Batch) (Result, error) {
	if c.emptied {
		return Result{}, ErrNoUndo
	}
	if _, err := c.parts[0].Forward(ctx, b); err != nil {
		return Result{}, err
	}
	for i, s := range c.parts[1:] {
		if _, err := s.Forward(context.WithoutCancel(ctx), b); err != nil {
			c.broken = &BrokenError{Part: i + 1, Err: err}
			return Result{}, c.broken
		}
	}
	return Result{}, nil
}

// restore cannot be taken back. When a part fails after another has run, all are emptied.
func (c *chain) restore(ctx context.Context, b Batch) (Result, error) {
	var r Result
	for i, s := range c.parts {
		var err error
		if r, err = s.Forward(ctx, b); err != nil {
			if i == 0 && !errors.Is(err, ErrEmptied) {
				return Result{}, err
			}
			return Result{}, c.empty(ctx, i, err)
		}
		ctx = context.WithoutCancel(ctx)
	}
	return r, nil
}

// empty makes all parts hold nothing, since part could not restore its state. It returns why.
func (c *chain) empty(ctx context.Context, part int, cause error) error {
	c.emptied = true
	ctx = context.WithoutCancel(ctx)
	for i, s := range c.parts {
		if _, err := s.Forward(ctx, Batch{}); err != nil {
			c.broken = &BrokenError{Part: i, Cause: cause, Err: err}
			return c.broken
		}
	}
	return fmt.Errorf("part %d of %d: %w: %w", part+1, len(c.parts), ErrEmptied, cause)
}

func (c *chain) Memory() (weights, state int64) {
	for _, s := range c.parts {
		w, st := s.Memory()
		weights, state = weights+w, state+st
	}
	return weights, state
}

func (c *chain) Close() error {
	var errs []error
	for _, s := range c.parts {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
