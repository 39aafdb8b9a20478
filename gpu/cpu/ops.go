package cpu

import (
	"math"

	"github.com/pooled/pooled/gpu/cpu/vec"
)

// The operations that work on rows by themselves. Output and input may be the same slice.

func rmsNorm(y, x, w []float32, eps float64) {
	size := len(w)
	for g := 0; g+size <= len(x); g += size {
		xs, ys := x[g:g+size], y[g:g+size]
		inv := float32(1 / math.Sqrt(float64(vec.SumSquares(xs))/float64(size)+eps))
		for i, v := range xs {
			ys[i] = v * inv * w[i]
		}
	}
}

func l2Norm(y, x []float32, size int, eps, scale float64) {
	for g := 0; g+size <= len(x); g += size {
		xs := x[g : g+size]
		inv := scale / math.Sqrt(float64(vec.SumSquares(xs))+eps)
		scaleTo(y[g:g+size], xs, float32(inv))
	}
}

func add(y, a, b []float32) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] + b[i]
	}
}

func addTo(y, x []float32) { add(y, y, x) }

func mul(y, a, b []float32) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = a[i] * b[i]
	}
}

func scaleTo(y, x []float32, f float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] = x[i] * f
	}
}

func silu(y, x []float32) { vec.SiLU(y, x) }

func swiGLU(y, a, b []float32) {
	vec.SiLU(y, a)
	mul(y, y, b)
}

func sigmoidGate(y, a, b []float32) {
	vec.Sigmoid(y, b)
	mul(y, y, a)
}

// gelu is 0.5 x (1 + tanh u) with u = sqrt(2/π)(x + 0.044715 x³), written as x · sigmoid(2u).
func gelu(y, x []float32) {
	const a, b = 1.5957691216057308, 0.07135481627260025 // 2·sqrt(2/π), and that times 0.044715
	var u [256]float32
	for len(x) > 0 {
		n := min(len(x), len(u))
		for i, v := range x[:n] {
			u[i] = v * (a + b*v*v)
		}
		vec.Sigmoid(u[:n], u[:n])
		mul(y[:n], u[:n], x)
		x, y = x[n:], y[n:]
	}
}

func geGLU(y, a, b []float32) {
	gelu(y, a)
	mul(y, y, b)
}

func slice(y, x []float32, size, offset, length int) {
	for len(x) > 0 {
		copy(y[:length], x[offset:])
		x, y = x[size:], y[length:]
	}
}
