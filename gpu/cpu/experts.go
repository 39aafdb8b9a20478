package cpu

import (
	"math"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/cpu/mat"
	"github.com/pooled/pooled/gpu/program"
)

// chooseExperts writes the route of rows of scores: numbers of experts, then their weights.
func chooseExperts(y, x []float32, experts int, r model.RouteAttrs, scale float64) {
	used := r.Used
	for ; len(x) >= experts; x, y = x[experts:], y[2*used:] {
		scores, ids, weights := x[:experts], y[:used], y[used:2*used]
		chosen := 0 // weights holds the scores of the chosen for now, the highest first
		for e, score := range scores {
			at := chosen
			for at > 0 && higher(score, weights[at-1]) {
				at--
			}
			if at == used {
				continue
			}
			chosen = min(chosen+1, used)
			copy(ids[at+1:chosen], ids[at:])
			copy(weights[at+1:chosen], weights[at:])
			ids[at], weights[at] = float32(e), score
		}
		most, sum := float64(weights[0]), 0.0
		among := scores
		if r.Renormalize {
			among = weights
		}
		for _, score := range among {
			sum += math.Exp(float64(score) - most)
		}
		for i, score := range weights {
			weights[i] = float32(scale * math.Exp(float64(score)-most) / sum)
		}
	}
}

// higher reports whether score a is chosen before b; what is no number comes last.
func higher(a, b float32) bool { return a > b || a == a && b != b }

// combine adds the parts of each row up by their weights, in the order of the route.
func combine(y, x, route []float32, used, width int) {
	for ; len(y) >= width; y, x, route = y[width:], x[used*width:], route[2*used:] {
		out := y[:width]
		clear(out)
		for i, w := range route[used : 2*used] {
			for j, v := range x[i*width:][:width] {
				out[j] += float32(w * v)
			}
		}
	}
}

// experts computes products of one input with the experts that one route chooses. Rows that go to the same expert are multiplied
// by it together: they are brought together before and taken apart behind.
type experts struct {
	ops        []program.Op
	used, cols int
	shared     bool // all experts of a row read the same

	of    []int // pairs of a row and an expert, those of one expert side by side
	ends  []int // where they end
	count []int
	in    []float32
	jobs  []mat.Job
	out   [][]float32 // of each operation, in the order of the pairs
}

// expertLinear computes products of one input by one route.
func (s *session) expertLinear(t *tape, ops []program.Op) func(int) {
	x, route := ops[0].In[0], ops[0].In[1]
	shape := s.config.Plan.Tensors[ops[0].Weights[0]].Shape
	e := &experts{ops: ops, used: t.width[route] / 2, cols: shape[2], count: make([]int, shape[0]), out: make([][]float32, len(ops))}
	e.shared = t.width[x] == e.cols
	return func(n int) {
		in, chosen := t.value(x, n), t.value(route, n)
		if n == 1 {
			e.one(s, t, in, chosen)
			return
		}
		e.sort(chosen, n)
		e.gather(s, in)
		s.acts.Set(e.in, len(e.of), e.cols, s.config.Exact)
		s.acts.Split(e.ends)
		e.jobs = e.jobs[:0]
		for i, op := range ops {
			matrices := s.w.experts[op.Weights[0]]
			rows := t.width[op.Out] / e.used
			e.out[i] = grown(e.out[i], len(e.of)*rows)
			from := 0
			for _, end := range e.ends {
				m := matrices[e.expert(chosen, e.of[from])]
				e.jobs = append(e.jobs, mat.Job{M: m, Y: e.out[i][from*rows:], Stride: rows, From: from, To: end})
				from = end
			}
		}
		mat.MulMany(s.pool, &s.acts, e.jobs)
		clear(e.jobs)
		for i, op := range ops {
			y, rows := t.value(op.Out, n), t.width[op.Out]/e.used
			s.rows(len(e.of), rows, func(lo, hi int) {
				for at := lo; at < hi; at++ {
					copy(y[e.of[at]*rows:][:rows], e.out[i][at*rows:])
				}
			})
		}
	}
}

// one computes a single row, whose pairs lie in order already.
func (e *experts) one(s *session, t *tape, in, chosen []float32) {
	columns := len(in) / e.cols
	s.acts.Set(in, columns, e.cols, s.config.Exact)
	e.ends = e.ends[:0]
	for i := range columns {
		e.ends = append(e.ends, i+1)
	}
	s.acts.Split(e.ends)
	e.jobs = e.jobs[:0]
	for _, op := range e.ops {
		y, rows := t.value(op.Out, 1), t.width[op.Out]/e.used
		for i := range e.used {
			column := i % columns
			m := s.w.experts[op.Weights[0]][int(chosen[i])]
			e.jobs = append(e.jobs, mat.Job{M: m, Y: y[i*rows:], Stride: rows, From: column, To: column + 1})
		}
	}
	mat.MulMany(s.pool, &s.acts, e.jobs)
	clear(e.jobs)
}

// expert is the expert of a pair.
func (e *experts) expert(chosen []float32, pair int) int {
	return int(chosen[pair/e.used*2*e.used+pair%e.used])
}

// sort brings the pairs of each expert together, in the order of their rows.
func (e *experts) sort(chosen []float32, n int) {
	pairs := n * e.used
	clear(e.count)
	for p := range pairs {
		e.count[e.expert(chosen, p)]++
	}
	e.ends = e.ends[:0]
	at := 0
	for x, c := range e.count {
		e.count[x] = at
		if at += c; c > 0 {
			e.ends = append(e.ends, at)
		}
	}
	e.of = grown(e.of, pairs)
	for p := range pairs {
		x := e.expert(chosen, p)
		e.of[e.count[x]] = p
		e.count[x]++
	}
}

// gather copies what the pairs read.
func (e *experts) gather(s *session, in []float32) {
	e.in = grown(e.in, len(e.of)*e.cols)
	s.rows(len(e.of), e.cols, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			row := e.of[at]
			if e.shared {
				row /= e.used
			}
			copy(e.in[at*e.cols:][:e.cols], in[row*e.cols:])
		}
	})
}

// grown returns s with n values, which are anything.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
