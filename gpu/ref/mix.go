package ref

import "math"

// AttentionShape sizes an attention; see model.Attention. Window 0 means all positions.
type AttentionShape struct {
	Heads, KVHeads, KeyDim, ValueDim, Window int
	Scale                                    float64
}

// Attention attends from rows at positions pos, pos+1, … over keys and values of positions 0 … pos+n−1, which
// already hold the rows' own. Shapes: out [n, Heads·ValueDim], q [n, Heads·KeyDim],
// keys [pos+n, KVHeads·KeyDim], values [pos+n, KVHeads·ValueDim].
func Attention(out, q, keys, values []float32, pos, n int, s AttentionShape) {
	share := s.Heads / s.KVHeads
	scores := make([]float64, pos+n)
	for t := range n {
		last := pos + t
		first := 0
		if s.Window > 0 {
			first = max(0, last-s.Window+1)
		}
		for h := range s.Heads {
			kvh := h / share
			qh := q[(t*s.Heads+h)*s.KeyDim:][:s.KeyDim]
			top := math.Inf(-1)
			for j := first; j <= last; j++ {
				k := keys[(j*s.KVHeads+kvh)*s.KeyDim:]
				var dot float64
				for i, v := range qh {
					dot += float64(v) * float64(k[i])
				}
				scores[j] = dot * s.Scale
				top = max(top, scores[j])
			}
			var sum float64
			for j := first; j <= last; j++ {
				scores[j] = math.Exp(scores[j] - top)
				sum += scores[j]
			}
			o := out[(t*s.Heads+h)*s.ValueDim:][:s.ValueDim]
			for i := range o {
				var acc float64
				for j := first; j <= last; j++ {
					acc += scores[j] * float64(values[(j*s.KVHeads+kvh)*s.ValueDim+i])
				}
				o[i] = float32(acc / sum)
			}
		}
	}
}

// ShortConv convolves each channel over time and moves the state on.
// Shapes: out, x [n, channels], w [channels, taps], state [taps−1, channels], oldest row first.
func ShortConv(out, x, w, state []float32, channels, taps int) {
	n := len(x) / channels
	rows := make([]float32, 0, len(state)+len(x))
	rows = append(append(rows, state...), x...)
	for t := range n {
		for c := range channels {
			var sum float64
			for j := range taps {
				sum += float64(w[c*taps+j]) * float64(rows[(t+j)*channels+c])
			}
			out[t*channels+c] = float32(sum)
		}
	}
	copy(state, rows[n*channels:])
}

// DeltaShape sizes a gated delta rule; see model.GatedDelta.
type DeltaShape struct{ KeyHeads, ValueHeads, KeyDim, ValueDim int }

// GatedDelta runs the gated delta rule and moves the state on.
// Shapes: out, v [n, ValueHeads·ValueDim]; q, k [n, KeyHeads·KeyDim]; a, b [n, ValueHeads]; decay, dt [ValueHeads];
// state [ValueHeads, KeyDim, ValueDim].
func GatedDelta(out, q, k, v, a, b, decay, dt, state []float32, s DeltaShape) {
	n := len(a) / s.ValueHeads
	u := make([]float64, s.ValueDim)
	for t := range n {
		for h := range s.ValueHeads {
			kh := h % s.KeyHeads
			qt := q[(t*s.KeyHeads+kh)*s.KeyDim:][:s.KeyDim]
			kt := k[(t*s.KeyHeads+kh)*s.KeyDim:][:s.KeyDim]
			vt := v[(t*s.ValueHeads+h)*s.ValueDim:][:s.ValueDim]
			st := state[h*s.KeyDim*s.ValueDim:][:s.KeyDim*s.ValueDim]
			keep := math.Exp(float64(decay[h]) * softplus(float64(a[t*s.ValueHeads+h])+float64(dt[h])))
			beta := sigmoid(float64(b[t*s.ValueHeads+h]))
			for i := range u {
				u[i] = float64(vt[i])
			}
			for j, kj := range kt {
				for i := range u {
					u[i] -= keep * float64(st[j*s.ValueDim+i]) * float64(kj)
				}
			}
			o := make([]float64, s.ValueDim)
			for j, kj := range kt {
				for i := range u {
					c := keep*float64(st[j*s.ValueDim+i]) + beta*u[i]*float64(kj)
					st[j*s.ValueDim+i] = float32(c)
					o[i] += c * float64(qt[j])
				}
			}
			for i, x := range o {
				out[(t*s.ValueHeads+h)*s.ValueDim+i] = float32(x)
			}
		}
	}
}
