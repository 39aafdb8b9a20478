package program_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/program"
)

// plan is a model of two layers, the second of which makes a value that nobody reads.
func plan() *model.Plan {
	b := model.NewBuilder("test", "test", 8, 16, 32)
	b.Embed(func(o *model.Ops, tokens model.Value) model.Value { return o.Embed(tokens, "embed", 1) })
	for i := range 2 {
		b.Layer(func(o *model.Ops, x model.Value) model.Value {
			h := o.RMSNorm(x, fmt.Sprintf("norm%d", i), 8, 1, 1e-6)
			if i == 1 {
				o.Linear(h, "unused", 64, 8)
			}
			gate, up := o.Linear(h, fmt.Sprintf("gate%d", i), 24, 8), o.Linear(h, fmt.Sprintf("up%d", i), 24, 8)
			return o.Add(x, o.Linear(o.SwiGLU(gate, up), fmt.Sprintf("down%d", i), 8, 24))
		})
	}
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "head", 16, 8) })
	return b.Plan()
}

func config(begin, end int) engine.Config {
	return engine.Config{Plan: plan(), Range: model.LayerRange{Begin: begin, End: end}, Embed: begin == 0, Head: end == 2, Context: 8}
}

func TestBuild(t *testing.T) {
	p, err := program.Build(config(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(p.Trunk), 1+6+6; got != want {
		t.Errorf("the trunk has %d operations, want %d: the unused product must go", got, want)
	}
	if len(p.Head) != 1 || p.Widths[p.Logits] != 16 || p.Widths[p.Hidden] != 8 || p.Widths[0] != 1 {
		t.Errorf("head %d operations, widths %v", len(p.Head), p.Widths)
	}
	for _, ops := range [][]program.Op{p.Trunk, p.Head} {
		for _, op := range ops {
			for _, v := range op.In {
				if v >= op.Out {
					t.Errorf("%v in layer %d makes value %d of the later value %d", op.Kind, op.Layer, op.Out, v)
				}
			}
		}
	}

	cut, err := program.Build(config(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if cut.Embeds || cut.Widths[0] != 8 || len(cut.Trunk) != 6 || cut.Trunk[0].Layer != 1 {
		t.Errorf("a cut range: embeds %v, input %d wide, %d operations from layer %d", cut.Embeds, cut.Widths[0], len(cut.Trunk), cut.Trunk[0].Layer)
	}
}

func TestBuildErrors(t *testing.T) {
	bad := plan()
	bad.Layers[1].Ops[0].Attrs.Groups = 3
	for _, c := range []struct {
		name   string
		config engine.Config
	}{
		{"beyond the end", config(0, 3)},
		{"backwards", config(2, 1)},
		{"negative", config(-1, 1)},
		{"empty", config(1, 1)},
		{"a wrong plan", engine.Config{Plan: bad, Range: model.LayerRange{End: 2}, Embed: true}},
	} {
		_, err := program.Build(c.config)
		var pe *model.PlanError
		if !errors.As(err, &pe) {
			t.Errorf("%s: got %v, want a plan error", c.name, err)
		}
	}
}

// TestSlots runs random lists of operations on slots and checks that every operation reads what was made for it.
func TestSlots(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 1 + rng.IntN(30)
		widths := []int{1 + rng.IntN(64)}
		var ops []program.Op
		for i := range n {
			op := program.Op{Out: i + 1}
			for range 1 + rng.IntN(3) {
				op.In = append(op.In, rng.IntN(i+1))
			}
			ops = append(ops, op)
			widths = append(widths, 1+rng.IntN(64))
		}
		keep := []int{n, rng.IntN(n + 1)}
		slot, slotWidths := program.Slots(ops, widths, keep)
		holds := make([]int, len(slotWidths)) // which value a slot holds
		for i := range holds {
			holds[i] = -1
		}
		if slot[0] != program.None {
			holds[slot[0]] = 0
		}
		for i, op := range ops {
			for _, v := range op.In {
				if holds[slot[v]] != v {
					t.Fatalf("seed %d: operation %d reads value %d from slot %d, which holds %d", seed, i, v, slot[v], holds[slot[v]])
				}
				if slot[v] == slot[op.Out] {
					t.Fatalf("seed %d: operation %d writes the slot that it reads", seed, i)
				}
			}
			if slotWidths[slot[op.Out]] < widths[op.Out] {
				t.Fatalf("seed %d: slot %d is too narrow", seed, slot[op.Out])
			}
			holds[slot[op.Out]] = op.Out
		}
		for _, v := range keep {
			if slot[v] == program.None || holds[slot[v]] != v {
				t.Fatalf("seed %d: value %d was to be kept", seed, v)
			}
		}
		if len(slotWidths) > n+1 || slices.Contains(slotWidths, 0) {
			t.Fatalf("seed %d: %d slots of widths %v", seed, len(slotWidths), slotWidths)
		}
	}
}
