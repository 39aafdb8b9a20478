package exec

import (
	"slices"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/program"
)

// step is an operation with what was fused into it. A value that is not there is [program.None].
type step struct {
	program.Op
	// residual is a value that the result of a Linear is added to.
	residual int
	// total is, for a normalisation of a sum, the value of the sum; then In holds the two that are added.
	total int
	// gate is the first input of a SwiGLU whose second is the result of this RMSNorm.
	gate int
	// silu says that a SiLU follows this ShortConv.
	silu bool
	// slice is the Slice that this normalisation reads through.
	slice *program.Op
	// rope is the Rope that follows this normalisation.
	rope *program.Op
	// halves are the two Linears whose results this SwiGLU joins, computed as one.
	halves []program.Op
}

func plainSteps(ops []program.Op) []step {
	steps := make([]step, len(ops))
	for i, op := range ops {
		steps[i] = step{Op: op, residual: program.None, total: program.None, gate: program.None}
	}
	return steps
}

// inputs are all values that a step reads.
func (s *step) inputs() []int {
	in := slices.Clone(s.In)
	for _, v := range []int{s.residual, s.gate} {
		if v != program.None {
			in = append(in, v)
		}
	}
	return in
}

// fuse applies the rewrite rules below. Each leaves the values that other operations or keep need. alike says whether two
// weights can become one matrix.
func fuse(ops []program.Op, alike func(a, b int) bool, keep ...int) []step {
	steps := plainSteps(ops)
	steps = fuseGLU(steps, alike, keep)
	for _, r := range []rule{residual, activation, throughSlice, turned, gated} {
		steps = r.apply(steps, keep)
	}
	return fuseSum(steps)
}

// rule joins an operation to the only reader of its result, or reports that it cannot. other is the reader's other input,
// or None. The joined step stands where the reader stood.
type rule func(reader, made step, side, other int) (step, bool)

func (r rule) apply(steps []step, keep []int) []step {
	readers := uses(steps, keep)
	maker := map[int]int{}
	for i, s := range steps {
		maker[s.Out] = i
	}
	dropped := make([]bool, len(steps))
	for i := range steps {
		for side, v := range steps[i].In {
			m, ok := maker[v]
			if !ok || m >= i || dropped[m] || readers[v] != 1 {
				continue
			}
			other := program.None
			if len(steps[i].In) == 2 {
				other = steps[i].In[1-side]
			}
			if s, ok := r(steps[i], steps[m], side, other); ok {
				steps[i], dropped[m] = s, true
				break
			}
		}
	}
	return kept(steps, dropped)
}

func kept(steps []step, dropped []bool) []step {
	var k []step
	for i, s := range steps {
		if !dropped[i] {
			k = append(k, s)
		}
	}
	return k
}

// uses counts the readers of every value; a value that is kept has one more.
func uses(steps []step, keep []int) map[int]int {
	n := map[int]int{}
	for i := range steps {
		for _, v := range steps[i].inputs() {
			n[v]++
		}
	}
	for _, v := range keep {
		n[v]++
	}
	return n
}

// residual: Add(x, Linear(y)) becomes a Linear that adds x.
func residual(reader, made step, _, other int) (step, bool) {
	if reader.Kind != model.Add || made.Kind != model.Linear || made.residual != program.None {
		return step{}, false
	}
	made.Out, made.residual = reader.Out, other
	return made, true
}

// activation: SiLU(ShortConv(x)) becomes a ShortConv with a SiLU.
func activation(reader, made step, _, _ int) (step, bool) {
	if reader.Kind != model.SiLU || made.Kind != model.ShortConv {
		return step{}, false
	}
	made.Out, made.silu = reader.Out, true
	return made, true
}

func isNorm(k model.Kind) bool { return k == model.RMSNorm || k == model.L2Norm }

// throughSlice: a normalisation of groups that are a slice reads them where they lie.
func throughSlice(reader, made step, _, _ int) (step, bool) {
	if !isNorm(reader.Kind) || made.Kind != model.Slice {
		return step{}, false
	}
	if g := made.Attrs.Groups; g != 1 && g != reader.Attrs.Groups {
		return step{}, false
	}
	reader.In = slices.Clone(made.In)
	reader.slice = &made.Op
	return reader, true
}

// turned: Rope(norm(x)) becomes a normalisation that turns, where its groups are the heads.
func turned(reader, made step, _, _ int) (step, bool) {
	if reader.Kind != model.Rope || !isNorm(made.Kind) || made.Attrs.Groups != reader.Attrs.Heads {
		return step{}, false
	}
	made.Out, made.rope = reader.Out, &reader.Op
	return made, true
}

// gated: SwiGLU(x, RMSNorm(y)) becomes a normalisation that is gated by x.
func gated(reader, made step, side, other int) (step, bool) {
	if reader.Kind != model.SwiGLU || len(reader.halves) > 0 || made.Kind != model.RMSNorm || made.rope != nil || side != 1 {
		return step{}, false
	}
	made.Out, made.gate = reader.Out, other
	return made, true
}

// fuseGLU: SwiGLU(Linear(x), Linear(x)) becomes one product with a matrix of both, and so for experts.
func fuseGLU(steps []step, alike func(a, b int) bool, keep []int) []step {
	readers := uses(steps, keep)
	maker := map[int]int{}
	for i, s := range steps {
		maker[s.Out] = i
	}
	dropped := make([]bool, len(steps))
	for i, s := range steps {
		if s.Kind != model.SwiGLU {
			continue
		}
		a, okA := maker[s.In[0]]
		b, okB := maker[s.In[1]]
		if !okA || !okB || a == b || readers[s.In[0]] != 1 || readers[s.In[1]] != 1 {
			continue
		}
		g, u := steps[a], steps[b]
		if g.Kind != model.Linear && g.Kind != model.ExpertLinear || u.Kind != g.Kind || !slices.Equal(g.In, u.In) || len(g.Weights) > 1 || len(u.Weights) > 1 ||
			!alike(g.Weights[0], u.Weights[0]) {
			continue
		}
		steps[i].In = slices.Clone(g.In)
		steps[i].halves = []program.Op{g.Op, u.Op}
		dropped[a], dropped[b] = true, true
	}
	return kept(steps, dropped)
}

// fuseSum: RMSNorm(Add(x, y)) becomes one kernel that writes both the sum and its normalisation.
func fuseSum(steps []step) []step {
	var out []step
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		if s.Kind == model.Add && i+1 < len(steps) && s.In[0] != s.In[1] {
			next := steps[i+1]
			if next.Kind == model.RMSNorm && next.In[0] == s.Out && next.slice == nil {
				next.In, next.total = slices.Clone(s.In), s.Out
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
	for i := range steps {
		s := &steps[i]
		in := s.inputs()
		if s.total != program.None {
			ops = append(ops, program.Op{In: in, Out: s.total})
			in = append(slices.Clone(in), s.total)
		}
		ops = append(ops, program.Op{In: in, Out: s.Out})
	}
	return ops
}
