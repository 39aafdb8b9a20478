package cpu

import (
	"math"

	"github.com/pooled/pooled/gpu/cpu/kern"
	"github.com/pooled/pooled/gpu/program"
)

// convBlock is how many channels of a convolution one worker takes at a time.
const convBlock = 256

// shortConv compiles a convolution over time. Its weights are turned round, so that a tap is a row of channels.
func (s *session) shortConv(op *program.Op, channels int, in func(i, n int) []float32, out func(n int) []float32) func(int) {
	w := s.w.vectors[op.Weights[0]]
	taps := len(w) / channels
	rows := make([]float32, len(w)) // [taps, channels]
	for c := range channels {
		for j := range taps {
			rows[j*channels+c] = w[c*taps+j]
		}
	}
	conv := s.layer(op.Layer).conv
	blocks := (channels + convBlock - 1) / convBlock
	return func(n int) {
		y, x := out(n), in(0, n)
		state, hold := conv.now, conv.touch(s.columns, n)
		// before returns the row i places before the batch (i < 0) or row i of it.
		row := func(i, lo, hi int) []float32 {
			if i < 0 {
				return state[(taps-1+i)*channels:][lo:hi]
			}
			return x[i*channels:][lo:hi]
		}
		f := func(_, b int) {
			lo, hi := b*convBlock, min(channels, (b+1)*convBlock)
			for i := 0; hold && i < taps-1; i++ {
				copy(conv.before[i*channels:][lo:hi], state[i*channels:][lo:hi])
			}
			for t := range n {
				dst := y[t*channels:][lo:hi]
				clear(dst)
				for j := range taps {
					kern.MulAdd(dst, row(t+j-taps+1, lo, hi), rows[j*channels:][lo:hi])
				}
			}
			for _, c := range s.copies {
				for i := range taps - 1 {
					copy(c.state.recurrent[conv.at+i*channels:][lo:hi], row(c.column-taps+1+i, lo, hi))
				}
			}
			for i := range taps - 1 { // oldest first, so that a row is read before it is written
				copy(state[i*channels:][lo:hi], row(n-taps+1+i, lo, hi))
			}
		}
		if n*channels <= serialValues {
			for b := range blocks {
				f(0, b)
			}
		} else {
			s.pool.Run(blocks, f)
		}
	}
}

// gatedDelta compiles the gated delta rule; heads are computed in parallel.
func (s *session) gatedDelta(op *program.Op, in func(i, n int) []float32, out func(n int) []float32) func(int) {
	shape := s.config.Plan.Layers[op.Layer].State.Delta
	keyHeads, heads, kd, vd := op.Attrs.Heads, shape.Heads, shape.KeyDim, shape.ValueDim
	decay, dt := s.w.vectors[op.Weights[0]], s.w.vectors[op.Weights[1]]
	delta := s.layer(op.Layer).delta
	run := func(n int, hold bool, copies []columnCopy, q, k, v, a, b, y []float32) {
		state := delta.now
		s.pool.Run(heads, func(_, h int) {
			st, kh := state[h*kd*vd:][:kd*vd], h%keyHeads
			if hold {
				copy(delta.before[h*kd*vd:], st)
			}
			next := 0
			for t := range n {
				x := float64(a[t*heads+h] + dt[h])
				keep := math.Exp(float64(decay[h]) * softplus(x))
				beta := 1 / (1 + math.Exp(-float64(b[t*heads+h])))
				at := (t*keyHeads + kh) * kd
				vt := (t*heads + h) * vd
				kern.DeltaStep(y[vt:vt+vd], st, q[at:at+kd], k[at:at+kd], v[vt:vt+vd], float32(keep), float32(beta))
				if next < len(copies) && copies[next].column == t+1 {
					copy(copies[next].state.recurrent[delta.at+h*kd*vd:], st)
					next++
				}
			}
		})
	}
	delta.journal = &journal{
		rows: make([][]float32, 4),
		play: func(in [][]float32, n int) { // the state does not depend on the queries, and nobody reads what comes out
			run(n, false, nil, in[0], in[0], in[1], in[2], in[3], make([]float32, n*heads*vd))
		},
	}
	return func(n int) {
		k, v, a, b := in(1, n), in(2, n), in(3, n), in(4, n)
		run(n, delta.touch(s.columns, n, k, v, a, b), s.copies, in(0, n), k, v, a, b, out(n))
	}
}

func softplus(x float64) float64 {
	if x > 30 { // log(1 + eˣ) is x to the last bit of a float32
		return x
	}
	return math.Log1p(math.Exp(x))
}
