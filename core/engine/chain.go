package engine

import (
	"context"
	"errors"
	"fmt"
)

// Chain joins sessions over consecutive layer ranges into one: the hidden state that leaves one enters the next.
// Owns: the sessions; Close closes them.
func Chain(sessions ...Session) Session {
	if len(sessions) == 1 {
		return sessions[0]
	}
	return &chain{sessions}
}

type chain struct{ parts []Session }

func (c *chain) Len() int { return c.parts[0].Len() }

func (c *chain) Forward(ctx context.Context, b Batch) (Result, error) {
	begin := c.Len()
	want := b.Output
	for i, s := range c.parts {
		last := i == len(c.parts)-1
		b.Output = Output{Hidden: true}
		if last {
			b.Output = want
		}
		r, err := s.Forward(ctx, b)
		if err != nil {
			return Result{}, errors.Join(fmt.Errorf("range %d of %d: %w", i+1, len(c.parts), err), c.level(begin))
		}
		if last {
			return r, nil
		}
		b.Tokens, b.Hidden = nil, r.Hidden
	}
	return Result{}, errors.New("a chain needs a session")
}

// level brings every part back to the same number of positions, at most n. A part that cannot be cut there may fall
// back further, and then the others follow.
func (c *chain) level(n int) error {
	_, err := c.Rewind(n)
	return err
}

func (c *chain) Rewind(n int) (int, error) {
	for {
		least := n
		for _, s := range c.parts {
			got, err := s.Rewind(least)
			if err != nil {
				return 0, err
			}
			least = min(least, got)
		}
		if least == n {
			return n, nil
		}
		n = least
	}
}

func (c *chain) Mark() error {
	for _, s := range c.parts {
		if err := s.Mark(); err != nil {
			return err
		}
	}
	return nil
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
