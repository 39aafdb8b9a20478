package program_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/program"
)

// recurrentPlan is an embedding and a convolution over time.
func recurrentPlan() *model.Plan {
	b := model.NewBuilder("test", "test", 8, 16, 64)
	b.Embed(func(o *model.Ops, tokens model.Value) model.Value { return o.Embed(tokens, "embed", 1) })
	b.Layer(func(o *model.Ops, x model.Value) model.Value { return o.ShortConv(x, "conv", 8, 4) })
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "head", 16, 8) })
	return b.Plan()
}

// TestLedger follows copies, which are numbers here, through laps: none is freed as long as something can come back to it,
// and each is freed once.
func TestLedger(t *testing.T) {
	c := engine.Config{Plan: recurrentPlan(), Range: model.LayerRange{End: 1}, Embed: true, Head: true, Context: 64, CheckpointBytes: 100}
	p, err := program.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	var freed []int
	l := program.NewLedger(c, p, func(n int) int64 { return int64(n) }, func(copy int) { freed = append(freed, copy) })
	next := 0
	play := func(b engine.Batch) {
		t.Helper()
		lap, err := l.Check(b)
		if err != nil {
			t.Fatal(err)
		}
		l.Begin(lap)
		for at := 0; ; {
			if l.Missing(lap) {
				next++
				l.Keep(l.Len(), next)
			}
			if at == lap.Columns {
				break
			}
			n := lap.Pass(at, 5)
			l.Advance(n)
			at += n
		}
		for _, id := range lap.Batch.Save {
			next++
			l.Save(id, next)
		}
	}
	for i, c := range []struct {
		lap   engine.Batch
		undo  bool
		len   int
		freed []int
	}{
		{lap: engine.Batch{Tokens: make([]int32, 12), Keep: []int{4, 8, 12}, Save: []engine.Checkpoint{9}}, len: 12}, // 1 to 4
		{lap: engine.Batch{Pos: 8, Tokens: make([]int32, 1)}, len: 9},                                                // forgets 3
		{undo: true, len: 12},
		{lap: engine.Batch{Pos: 12, Tokens: make([]int32, 1), Keep: []int{13}}, len: 13}, // 5
		{undo: true, len: 12, freed: []int{5}},
		{lap: engine.Batch{Pos: 8, Forget: []int{4}, Drop: []engine.Checkpoint{9}}, len: 8},
		{lap: engine.Batch{Pos: 8, Keep: []int{8}}, len: 8, freed: []int{1, 3, 4}},
		{lap: engine.Batch{}, len: 0},
		{lap: engine.Batch{Tokens: make([]int32, 1)}, len: 1, freed: []int{2}},
	} {
		freed = nil
		if c.undo {
			l.Undo()
		} else {
			play(c.lap)
		}
		slices.Sort(freed)
		if l.Len() != c.len || !slices.Equal(freed, c.freed) {
			t.Errorf("step %d: %d positions, freed %v, want %d and %v", i, l.Len(), freed, c.len, c.freed)
		}
	}
	if _, err := l.Check(engine.Batch{Pos: 1, Save: []engine.Checkpoint{1}, Tokens: make([]int32, 63)}); err != nil {
		t.Error(err)
	}
	var be *engine.BudgetError
	if _, err := l.Check(engine.Batch{Pos: 1, Save: []engine.Checkpoint{1, 2}, Tokens: make([]int32, 63)}); !errors.As(err, &be) || be.Need != 128 {
		t.Errorf("two checkpoints of 64 bytes in 100: got %v", err)
	}
}
