package cpu

import (
	"math"

	"github.com/pooled/pooled/gpu/cpu/vec"
)

// The operations that work on rows by themselves. Output and input may be the same slice.

func rmsNorm(y, x, w []float32, eps float64) {
	for size := len(w); len(x) >= size; x, y = x[size:], y[size:] {
		vec.RMSNorm(y[:size], x[:size], w, float32(eps))
	}
}

func l2Norm(y, x []float32, size int, eps, scale float64) {
	for ; len(x) >= size; x, y = x[size:], y[size:] {
		inv := scale / math.Sqrt(float64(vec.SumSquares(x[:size]))+eps)
		vec.Scale(y[:size], x[:size], float32(inv))
	}
}

// gelu is GELU(x) · 1.
func gelu(y, x []float32) {
	var ones [256]float32
	for i := range ones {
		ones[i] = 1
	}
	for len(x) > 0 {
		n := min(len(x), len(ones))
		vec.GELUMul(y[:n], x[:n], ones[:n])
		x, y = x[n:], y[n:]
	}
}

func sigmoidGate(y, a, b []float32) {
	vec.Sigmoid(y, b)
	vec.Mul(y, y, a)
}

// gateRows is sigmoidGate with one number a row.
func gateRows(y, x, gates []float32) {
	width := len(x) / len(gates)
	for i, g := range gates {
		vec.Scale(y[i*width:][:width], x[i*width:][:width], float32(1/(1+math.Exp(-float64(g)))))
	}
}

func slice(y, x []float32, size, offset, length int) {
	for len(x) > 0 {
		copy(y[:length], x[offset:])
		x, y = x[size:], y[length:]
	}
}

// concat joins rows of a and b, so wide.
func concat(y, a, b []float32, wideA, wideB int) {
	for ; len(y) > 0; y, a, b = y[wideA+wideB:], a[wideA:], b[wideB:] {
		copy(y[:wideA], a)
		copy(y[wideA:wideA+wideB], b)
	}
}

// expSum replaces x by exp(x − most) and returns the sum.
func expSum(x []float32, most float32) float32 {
	vec.Exp(x, x, most)
	return vec.Sum(x)
}

// logSumExp is log Σ exp(x), leaving x as it is.
func logSumExp(x []float32) float32 {
	most, sum := vec.Max(x), 0.0
	var e [1024]float32
	for len(x) > 0 {
		n := min(len(x), len(e))
		vec.Exp(e[:n], x[:n], most)
		sum += float64(vec.Sum(e[:n]))
		x = x[n:]
	}
	return most + float32(math.Log(sum))
}
