// Package ref holds the operations of a plan as plain loops: the oracle that every kernel is tested against.
//
// It is written to be read beside the definitions in core/model, not to be fast. Values are float32, row-major
// [n, width]; sums are kept in float64, so that a reference is more exact than what it judges.
package ref

import "math"

// Embed looks rows up. Shapes: out [n, width], table [vocab, width].
func Embed(out, table []float32, tokens []int32, width int, scale float64) {
	for t, id := range tokens {
		for i := range width {
			out[t*width+i] = float32(scale * float64(table[int(id)*width+i]))
		}
	}
}

// RMSNorm normalises each group of len(weight) values. Shapes: out, x [n, groups·len(weight)].
func RMSNorm(out, x, weight []float32, eps float64) {
	size := len(weight)
	for g := 0; g+size <= len(x); g += size {
		var sum float64
		for _, v := range x[g : g+size] {
			sum += float64(v) * float64(v)
		}
		inv := 1 / math.Sqrt(sum/float64(size)+eps)
		for i, w := range weight {
			out[g+i] = float32(float64(x[g+i]) * inv * float64(w))
		}
	}
}

// L2Norm scales each group of size values to length scale.
func L2Norm(out, x []float32, size int, eps, scale float64) {
	for g := 0; g+size <= len(x); g += size {
		var sum float64
		for _, v := range x[g : g+size] {
			sum += float64(v) * float64(v)
		}
		inv := scale / math.Sqrt(sum+eps)
		for i := range size {
			out[g+i] = float32(float64(x[g+i]) * inv)
		}
	}
}

// Linear is x · Wᵀ + bias. Shapes: out [n, rows], x [n, cols], w [rows, cols], bias [rows] or nil.
func Linear(out, x, w, bias []float32, rows, cols int) {
	for t := 0; t*cols < len(x); t++ {
		for r := range rows {
			var sum float64
			for c := range cols {
				sum += float64(x[t*cols+c]) * float64(w[r*cols+c])
			}
			if bias != nil {
				sum += float64(bias[r])
			}
			out[t*rows+r] = float32(sum)
		}
	}
}

// Add is a + b.
func Add(out, a, b []float32) {
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

// Mul is a · b.
func Mul(out, a, b []float32) {
	for i := range out {
		out[i] = a[i] * b[i]
	}
}

// Scale is x · factor.
func Scale(out, x []float32, factor float64) {
	for i := range out {
		out[i] = float32(float64(x[i]) * factor)
	}
}

// SiLU is x · sigmoid(x).
func SiLU(out, x []float32) {
	for i, v := range x {
		out[i] = float32(silu(float64(v)))
	}
}

// GELU is the tanh form.
func GELU(out, x []float32) {
	for i, v := range x {
		out[i] = float32(gelu(float64(v)))
	}
}

// SwiGLU is SiLU(a) · b.
func SwiGLU(out, a, b []float32) {
	for i := range out {
		out[i] = float32(silu(float64(a[i])) * float64(b[i]))
	}
}

// GeGLU is GELU(a) · b.
func GeGLU(out, a, b []float32) {
	for i := range out {
		out[i] = float32(gelu(float64(a[i])) * float64(b[i]))
	}
}

// SigmoidGate is a · sigmoid(b), where each value of b counts for as many of a as there are.
func SigmoidGate(out, a, b []float32) {
	share := len(a) / max(1, len(b))
	for i := range out {
		out[i] = float32(float64(a[i]) * sigmoid(float64(b[i/share])))
	}
}

// Slice takes [offset, offset+length) of each group of size values.
func Slice(out, x []float32, size, offset, length int) {
	for g := 0; g*size < len(x); g++ {
		copy(out[g*length:(g+1)*length], x[g*size+offset:])
	}
}

// RopeShape sizes a rotary embedding; see model.RopeAttrs.
type RopeShape struct {
	Heads, HeadDim, Dims int
	Base, FreqScale      float64
	Interleaved          bool
}

// Rope turns each head of row t by position pos+t. Shapes: out, x [n, Heads·HeadDim], factors [Dims/2] or nil.
func Rope(out, x, factors []float32, pos int, s RopeShape) {
	copy(out, x)
	width := s.Heads * s.HeadDim
	for t := 0; t*width < len(x); t++ {
		for h := range s.Heads {
			head := out[t*width+h*s.HeadDim:][:s.HeadDim]
			for i := range s.Dims / 2 {
				angle := float64(pos+t) * s.FreqScale * math.Pow(s.Base, -2*float64(i)/float64(s.Dims))
				if factors != nil {
					angle /= float64(factors[i])
				}
				a, b := i, i+s.Dims/2
				if s.Interleaved {
					a, b = 2*i, 2*i+1
				}
				sin, cos := math.Sincos(angle)
				va, vb := float64(head[a]), float64(head[b])
				head[a], head[b] = float32(va*cos-vb*sin), float32(va*sin+vb*cos)
			}
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func silu(x float64) float64 { return x * sigmoid(x) }

func gelu(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func softplus(x float64) float64 {
	if x > 30 { // log(1 + eˣ) is x to the last bit
		return x
	}
	return math.Log1p(math.Exp(x))
}
