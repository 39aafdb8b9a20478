package cpu

import (
	"math"

	"github.com/pooled/pooled/core/model"
)

// ropeTable holds the sines and cosines of the positions of the pass that is running.
type ropeTable struct {
	attrs    model.RopeAttrs
	factors  []float32
	inv      []float64 // angle of one position, by pair
	sin, cos []float32 // [n, pairs]
	first    int       // the column of the pass that the operations' first row is; not 0 in the head alone
}

func newRopeTable(a model.RopeAttrs, factors []float32) *ropeTable {
	t := &ropeTable{attrs: a, factors: factors, inv: make([]float64, a.Dims/2)}
	for i := range t.inv {
		t.inv[i] = a.FreqScale * math.Pow(a.Base, -2*float64(i)/float64(a.Dims))
		if factors != nil {
			t.inv[i] /= float64(factors[i])
		}
	}
	return t
}

// fill works the angles of n positions from pos out, in float64: at position 10⁵ a float32 angle is off by 0.004.
func (t *ropeTable) fill(pos, n int) {
	t.sin, t.cos = t.sin[:0], t.cos[:0]
	for c := range n {
		for _, inv := range t.inv {
			sin, cos := math.Sincos(float64(pos+c) * inv)
			t.sin, t.cos = append(t.sin, float32(sin)), append(t.cos, float32(cos))
		}
	}
}

// turn turns the heads of rows [lo, hi).
func (t *ropeTable) turn(y, x []float32, lo, hi, heads, size int) {
	pairs := len(t.inv)
	for c := lo; c < hi; c++ {
		at := (t.first + c) * pairs
		sin, cos := t.sin[at:][:pairs], t.cos[at:][:pairs]
		for h := range heads {
			head := (c*heads + h) * size
			xh, yh := x[head:head+size], y[head:head+size]
			if t.attrs.Interleaved {
				for i, s := range sin {
					a, b := xh[2*i], xh[2*i+1]
					yh[2*i], yh[2*i+1] = a*cos[i]-b*s, a*s+b*cos[i]
				}
			} else {
				xb, yb := xh[pairs:2*pairs], yh[pairs:2*pairs]
				for i, s := range sin {
					a, b := xh[i], xb[i]
					yh[i], yb[i] = a*cos[i]-b*s, a*s+b*cos[i]
				}
			}
			copy(yh[2*pairs:], xh[2*pairs:])
		}
	}
}
