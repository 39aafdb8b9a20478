package cpu

import (
	"slices"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/cpu/mat"
	"github.com/pooled/pooled/gpu/cpu/vec"
	"github.com/pooled/pooled/gpu/program"
)

// together reports whether b may be computed with a, which comes before it: products of one input, for experts by one route.
func together(a, b *program.Op) bool {
	return (a.Kind == model.Linear || a.Kind == model.ExpertLinear) && b.Kind == a.Kind && b.Layer == a.Layer && slices.Equal(a.In, b.In)
}

// groupLinear moves every product up behind the first one of the same input and block, so that they run as one: the
// input is quantised once and the workers are started once.
func groupLinear(ops []program.Op) []program.Op {
	out := make([]program.Op, 0, len(ops))
	moved := make([]bool, len(ops))
	for i, op := range ops {
		if moved[i] {
			continue
		}
		out = append(out, op)
		for j := i + 1; j < len(ops) && ops[j].Layer == op.Layer; j++ {
			if together(&ops[i], &ops[j]) && !moved[j] {
				moved[j] = true
				out = append(out, ops[j])
			}
		}
	}
	return out
}

// compile turns ops into steps over buffers of their own. keep are the values read from outside; enter is the value
// that is written from outside.
func (s *session) compile(ops []program.Op, keep []int, enter int) tape {
	var t tape
	t.width = s.prog.Widths
	t.slot, t.slots = program.Slots(ops, t.width, append(keep, enter))
	if t.slot[enter] == program.None { // a range without operations: what enters leaves
		t.slot[enter] = len(t.slots)
		t.slots = append(t.slots, t.width[enter])
	}
	t.bufs = make([][]float32, len(t.slots))
	for i := 0; i < len(ops); {
		end := i + 1
		for end < len(ops) && together(&ops[i], &ops[end]) {
			end++
		}
		t.steps = append(t.steps, step{ops[i].Layer, s.group(&t, ops[i:end])})
		i = end
	}
	return t
}

// group compiles operations that are computed together.
func (s *session) group(t *tape, ops []program.Op) func(n int) {
	switch ops[0].Kind {
	case model.Linear:
		return s.linear(t, ops)
	case model.ExpertLinear:
		return s.expertLinear(t, ops)
	}
	return s.step(t, &ops[0])
}

// linear computes products of one input.
func (s *session) linear(t *tape, ops []program.Op) func(int) {
	in, cols := ops[0].In[0], t.width[ops[0].In[0]]
	jobs := make([]mat.Job, len(ops))
	bias := make([][]float32, len(ops))
	for i, op := range ops {
		jobs[i] = mat.Job{M: s.w.matrices[op.Weights[0]], Stride: t.width[op.Out]}
		if len(op.Weights) > 1 {
			bias[i] = s.w.vectors[op.Weights[1]]
		}
	}
	slot, bufs := t.slot, t.bufs
	return func(n int) {
		s.acts.Set(bufs[slot[in]][:n*cols], n, cols, s.config.Exact)
		for i, op := range ops {
			jobs[i].Y = bufs[slot[op.Out]][:n*jobs[i].Stride]
		}
		mat.MulMany(s.pool, &s.acts, jobs)
		for i := range jobs {
			if b := bias[i]; b != nil {
				for y := jobs[i].Y; len(y) > 0; y = y[len(b):] {
					vec.Add(y[:len(b)], y[:len(b)], b)
				}
			}
		}
	}
}

// step compiles any other operation.
func (s *session) step(t *tape, op *program.Op) func(n int) {
	// The buffers are looked up at every run, since they grow. The slices below are shared with the tape.
	bufs, slot := t.bufs, t.slot
	in := func(i, n int) []float32 { v := op.In[i]; return bufs[slot[v]][:n*t.width[v]] }
	width := t.width[op.Out]
	out := func(n int) []float32 { return bufs[slot[op.Out]][:n*width] }
	a := &op.Attrs
	weight := func(i int) []float32 { return s.w.vectors[op.Weights[i]] }

	// unary and binary run f on whole rows, in parallel where that pays.
	unary := func(f func(y, x []float32)) func(int) {
		inWidth := t.width[op.In[0]]
		return func(n int) {
			y, x := out(n), in(0, n)
			s.rows(n, width, func(lo, hi int) { f(y[lo*width:hi*width], x[lo*inWidth:hi*inWidth]) })
		}
	}
	binary := func(f func(y, a, b []float32)) func(int) {
		return func(n int) {
			y, p, q := out(n), in(0, n), in(1, n)
			s.rows(n, width, func(lo, hi int) {
				f(y[lo*width:hi*width], p[lo*width:hi*width], q[lo*width:hi*width])
			})
		}
	}
	switch op.Kind {
	case model.Embed:
		tab, scale := s.w.tables[op.Weights[0]], float32(a.Scale)
		return func(n int) {
			y := out(n)
			for c, id := range s.tokens {
				row := y[c*width : (c+1)*width]
				tab.row(row, int(id))
				if scale != 1 {
					vec.Scale(row, row, scale)
				}
			}
		}
	case model.RMSNorm:
		w, eps := weight(0), a.Eps
		return unary(func(y, x []float32) { rmsNorm(y, x, w, eps) })
	case model.L2Norm:
		size, eps, scale := width/a.Groups, a.Eps, a.Scale
		return unary(func(y, x []float32) { l2Norm(y, x, size, eps, scale) })
	case model.Add:
		return binary(vec.Add)
	case model.Mul:
		return binary(vec.Mul)
	case model.Scale:
		f := float32(a.Scale)
		return unary(func(y, x []float32) { vec.Scale(y, x, f) })
	case model.SiLU:
		return unary(vec.SiLU)
	case model.GELU:
		return unary(gelu)
	case model.SwiGLU:
		return binary(vec.SiLUMul)
	case model.GeGLU:
		return binary(vec.GELUMul)
	case model.SigmoidGate:
		if t.width[op.In[1]] != width {
			return func(n int) { gateRows(out(n), in(0, n), in(1, n)) }
		}
		return binary(sigmoidGate)
	case model.Slice:
		size := t.width[op.In[0]] / a.Groups
		return unary(func(y, x []float32) { slice(y, x, size, a.Offset, a.Length) })
	case model.Rope:
		table := s.rope(op)
		heads, size := a.Heads, width/a.Heads
		return func(n int) {
			y, x := out(n), in(0, n)
			s.rows(n, width, func(lo, hi int) { table.turn(y, x, lo, hi, heads, size) })
		}
	case model.Attention:
		return s.attention(op, in, out)
	case model.ShortConv:
		return s.shortConv(op, width, in, out)
	case model.GatedDelta:
		return s.gatedDelta(op, in, out)
	case model.Route:
		experts := t.width[op.In[0]]
		return unary(func(y, x []float32) { chooseExperts(y, x, experts, a.Route, a.Scale) })
	case model.Concat:
		first, second := t.width[op.In[0]], t.width[op.In[1]]
		return func(n int) { concat(out(n), in(0, n), in(1, n), first, second) }
	case model.Combine:
		used := t.width[op.In[1]] / 2
		return func(n int) {
			y, x, route := out(n), in(0, n), in(1, n)
			s.rows(n, used*width, func(lo, hi int) { combine(y[lo*width:hi*width], x[lo*used*width:], route[lo*2*used:], used, width) })
		}
	}
	panic("cpu: no step for " + op.Kind.String()) // the plan was checked, so this is a kind added to the contract alone
}

// rope returns the table of op's angles, shared by all operations with the same numbers.
func (s *session) rope(op *program.Op) *ropeTable {
	var factors []float32
	if len(op.Weights) > 0 {
		factors = s.w.vectors[op.Weights[0]]
	}
	list := &s.ropes
	if op.Layer == program.DraftLayer { // which stands at other positions
		list = &s.draft.ropes
	}
	for _, t := range *list {
		if t.attrs == op.Attrs.Rope && slices.Equal(t.factors, factors) {
			return t
		}
	}
	t := newRopeTable(op.Attrs.Rope, factors)
	*list = append(*list, t)
	return t
}

// serialValues is how many values are worked on by the calling thread alone: handing them out costs more.
const serialValues = 8 << 10

// rows runs f over [0, n) rows of the given width, in parallel when there are enough values.
func (s *session) rows(n, width int, f func(lo, hi int)) {
	if n*width <= serialValues || n == 1 {
		f(0, n)
		return
	}
	size := max(1, min((n+2*s.pool.Threads()-1)/(2*s.pool.Threads()), serialValues/width))
	s.pool.Run((n+size-1)/size, func(_, i int) { f(i*size, min(n, (i+1)*size)) })
}
