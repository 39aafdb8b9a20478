// Package optest runs every operation of a plan on a backend and compares it with the reference.
//
// A [Case] is a small plan around one operation, so that a backend is tested through the interface that it is used
// through. Each is run at several widths, whole and cut: the result must be near the reference, and a column must have
// the same bits however the columns are cut into batches.
package optest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
)

// Case is one operation of one shape.
type Case struct {
	// Name begins with the operation.
	Name string
	// Plan holds the operation as the only layer, or, where Head is set, as the head.
	Plan    *model.Plan
	Weights Weights
	Head    bool
	Embed   bool
	// Columns are the widths at which the case is run.
	Columns []int
	// Start is a number of columns that are run before, to fill the state.
	Start int
	// NMSE is the largest allowed Σ(got − want)² / Σ want².
	NMSE float64
	// Input scales the inputs, which are normal numbers; 0 means 1.
	Input float64
}

func (c *Case) config() engine.Config {
	most := 0
	for _, n := range c.Columns {
		most = max(most, n)
	}
	cfg := engine.Config{Plan: c.Plan, Weights: c.Weights, Context: c.Start + most, Ubatch: most + c.Start, Exact: true}
	switch {
	case c.Embed:
		cfg.Embed = true
	case c.Head:
		cfg.Head = true
	default:
		cfg.Range = model.LayerRange{Begin: 0, End: 1}
	}
	return cfg
}

// batch makes n columns of input from the given position.
func (c *Case) batch(pos, n int, rng *rand.Rand) engine.Batch {
	b := engine.Batch{Pos: pos, Output: engine.Output{Hidden: engine.AllColumns}}
	if c.Head {
		b.Output = engine.Output{Logits: engine.AllColumns}
	}
	if c.Embed {
		for range n {
			b.Tokens = append(b.Tokens, int32(rng.IntN(c.Plan.Vocab)))
		}
		return b
	}
	scale := c.Input
	if scale == 0 {
		scale = 1
	}
	for range n * c.Plan.Hidden {
		b.Hidden = append(b.Hidden, float32(rng.NormFloat64()*scale))
	}
	return b
}

// cut returns columns [from, to) of a batch.
func (c *Case) cut(b engine.Batch, from, to int) engine.Batch {
	b.Pos += from
	if c.Embed {
		b.Tokens = b.Tokens[from:to]
	} else {
		b.Hidden = b.Hidden[from*c.Plan.Hidden : to*c.Plan.Hidden]
	}
	return b
}

func output(r engine.Result) []float32 {
	if r.Logits != nil {
		return r.Logits
	}
	return r.Hidden
}

// NMSE is Σ(got − want)² / Σ want². It is infinite where got is not finite or the lengths differ.
func NMSE(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var num, den float64
	for i := range got {
		d := float64(got[i]) - float64(want[i])
		num += d * d
		den += float64(want[i]) * float64(want[i])
	}
	switch {
	case num != num:
		return math.Inf(1)
	case num == 0:
		return 0
	}
	return num / den
}

// Run runs all cases on b.
func Run(t *testing.T, b engine.Backend) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, b) })
	}
}

// Run runs one case on b.
func (c *Case) Run(t *testing.T, b engine.Backend) {
	t.Helper()
	for _, err := range c.Check(t.Context(), b) {
		t.Error(err)
	}
}

// Check runs one case on b and returns what is wrong.
func (c *Case) Check(ctx context.Context, b engine.Backend) (errs []error) {
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	got, err := b.Open(ctx, c.config())
	if err != nil {
		return []error{err}
	}
	defer func() {
		if err := got.Close(); err != nil {
			fail("closing: %w", err)
		}
	}()
	for _, n := range c.Columns {
		want, err := Reference{}.Open(ctx, c.config())
		if err != nil {
			return []error{err}
		}
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		start := c.batch(0, c.Start, rng)
		batch := c.batch(c.Start, n, rng)
		whole, err := c.forward(ctx, got, start, batch, []int{n})
		if err != nil {
			fail("%d columns: %w", n, err)
			return errs
		}
		exact, err := c.forward(ctx, want, start, batch, []int{n})
		if err != nil {
			fail("the reference: %w", err)
			return errs
		}
		if e := NMSE(whole, exact); !(e <= c.NMSE) {
			fail("%d columns: NMSE %.2g, want at most %.2g", n, e, c.NMSE)
		}
		for _, cuts := range [][]int{{1, n}, {n - 1, n}, {n / 2, n/2 + 1, n}} {
			parts, err := c.forward(ctx, got, start, batch, cuts)
			if err != nil {
				fail("%d columns cut at %v: %w", n, cuts, err)
				return errs
			}
			if i, same := firstDifference(parts, whole); !same {
				fail("%d columns cut at %v: value %d has other bits than in one batch", n, cuts, i)
			}
		}
	}
	return errs
}

// forward runs start and then the batch, cut at the given columns.
func (c *Case) forward(ctx context.Context, s engine.Session, start, b engine.Batch, cuts []int) ([]float32, error) {
	if _, err := s.Forward(ctx, engine.Batch{}); err != nil {
		return nil, fmt.Errorf("going back to 0: %w", err)
	}
	if c.Start > 0 {
		if _, err := s.Forward(ctx, start); err != nil {
			return nil, err
		}
	}
	var out []float32
	from := 0
	for _, to := range cuts {
		if to <= from {
			continue
		}
		r, err := s.Forward(ctx, c.cut(b, from, to))
		if err != nil {
			return nil, err
		}
		out = append(out, output(r)...)
		from = to
	}
	return out, nil
}

func firstDifference(a, b []float32) (int, bool) {
	if len(a) != len(b) {
		return min(len(a), len(b)), false
	}
	for i := range a {
		if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) {
			return i, false
		}
	}
	return 0, true
}
