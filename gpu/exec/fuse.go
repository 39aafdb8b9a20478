package exec

import (
	"slices"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/program"
)

// step is an operation with what was fused into it.
type step struct {
	program.Op
	// residual is a value that the result of a Linear is added to, or None.
	residual int
	// total is, for a normalisation of a sum, the value of the sum, or None; then In holds the two that are added.
	total int
}

func plainSteps(ops []program.Op) []step {
	steps := make([]step, len(ops))
	for i, op := range ops {
		steps[i] = step{Op: op, residual: program.None, total: program.None}
	}
	return steps
}

// fuse applies the rewrite rules, each of which leaves the values that later operations or keep need:
//
//   - Add(x, Linear(y)) becomes a Linear that adds x, when nothing else reads the product.
//   - RMSNorm(Add(x, y)) becomes one kernel that writes both the sum and its normalisation.
func fuse(ops []program.Op, keep ...int) []step {
	steps := plainSteps(ops)
	steps = fuseResidual(steps, keep)
	return fuseNorm(steps)
}

// uses counts the readers of every value; a value that is kept has one more.
func uses(steps []step, keep []int) map[int]int {
	n := map[int]int{}
	for _, s := range steps {
		for _, v := range s.In {
			n[v]++
		}
		if s.residual != program.None {
			n[s.residual]++
		}
	}
	for _, v := range keep {
		n[v]++
	}
	return n
}

func fuseResidual(steps []step, keep []int) []step {
	readers := uses(steps, keep)
	maker := map[int]int{}
	for i, s := range steps {
		maker[s.Out] = i
	}
	drop := map[int]bool{}
	for i, s := range steps {
		if s.Kind != model.Add {
			continue
		}
		for side, v := range s.In {
			other := s.In[1-side]
			m, ok := maker[v]
			if !ok || drop[m] || steps[m].Kind != model.Linear || steps[m].residual != program.None || readers[v] != 1 || other == v {
				continue
			}
			// The sum is made where the Add stood, since the other side may be made after the product.
			fused := steps[m]
			fused.Out, fused.residual = s.Out, other
			steps[i] = fused
			drop[m] = true
			break
		}
	}
	kept := steps[:0:0]
	for i, s := range steps {
		if !drop[i] {
			kept = append(kept, s)
		}
	}
	return kept
}

func fuseNorm(steps []step) []step {
	out := steps[:0:0]
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		if s.Kind == model.Add && i+1 < len(steps) {
			next := steps[i+1]
			if next.Kind == model.RMSNorm && next.In[0] == s.Out && s.In[0] != s.In[1] {
				next.In = slices.Clone(s.In)
				next.total = s.Out
				out = append(out, next)
				i++
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// lifetimes writes steps as operations for [program.Slots], which knows only operations of one result.
func lifetimes(steps []step) []program.Op {
	var ops []program.Op
	for _, s := range steps {
		in := slices.Clone(s.In)
		if s.residual != program.None {
			in = append(in, s.residual)
		}
		if s.total != program.None {
			ops = append(ops, program.Op{In: in, Out: s.total})
			in = append(slices.Clone(in), s.total)
		}
		ops = append(ops, program.Op{In: in, Out: s.Out})
	}
	return ops
}
