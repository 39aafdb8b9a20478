// Package vec has the float32 loops of the CPU backend: sums, scalings and the
// functions of activations, over slices.
//
// Every function gives the same bits on every processor. Nothing is fused, sums
// run in 32 interleaved lanes that are added up in a fixed order, and exp is one
// polynomial; with AVX2 the lanes are registers, elsewhere they are plain Go.
// The environment variable POOLED_CPU=portable turns AVX2 off.
//
// Accuracy, measured: exp is within 1 ulp between −87.3 and 88.7; below it is 0,
// above it stays at the value for 88.72. Sigmoid and SiLU are within 3 ulp, GELU
// within 1e-6 between −10 and 10. A sum of n numbers has an error of about n/32
// roundings.
//
// Slices that are written may be the ones that are read, but not overlap them
// otherwise. Lengths come from the first parameter; shorter others panic.
package vec

import (
	"math"

	"github.com/pooled/pooled/core/quant"
)

// lanes is the number of partial sums; step the numbers of one register.
const (
	lanes = 32
	step  = 8
)

// Dot returns Σ x·y.
func Dot(x, y []float32) float32 {
	y = y[:len(x)]
	n := len(x) &^ (lanes - 1)
	var sum float32
	if n > 0 {
		sum = kernel.dot(x[:n], y)
	}
	for i := n; i < len(x); i++ {
		sum += float32(x[i] * y[i])
	}
	return sum
}

// Sum returns Σ x.
func Sum(x []float32) float32 {
	n := len(x) &^ (lanes - 1)
	var sum float32
	if n > 0 {
		sum = kernel.sum(x[:n])
	}
	for _, v := range x[n:] {
		sum += v
	}
	return sum
}

// SumSquares returns Σ x².
func SumSquares(x []float32) float32 { return Dot(x, x) }

// Max returns the greatest of x, or −∞ when there is none. x holds no NaN.
func Max(x []float32) float32 {
	n := len(x) &^ (step - 1)
	top := float32(math.Inf(-1))
	if n > 0 {
		top = kernel.max(x[:n])
	}
	for _, v := range x[n:] {
		top = max(top, v)
	}
	return top
}

// FromHalf widens half-precision x, exactly.
func FromHalf(dst []float32, x []uint16) {
	x = x[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.fromHalf(dst[:n], x)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = fromHalf(x[i])
	}
}

// FromBF16 widens bfloat16 x, exactly.
func FromBF16(dst []float32, x []uint16) {
	x = x[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.fromBF16(dst[:n], x)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = quant.BF16ToFloat(x[i])
	}
}

// Add computes dst = x + y.
func Add(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.add(dst[:n], x, y)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = x[i] + y[i]
	}
}

// Mul computes dst = x·y.
func Mul(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.mul(dst[:n], x, y)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = x[i] * y[i]
	}
}

// Scale computes dst = a·x.
func Scale(dst, x []float32, a float32) {
	x = x[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.scale(dst[:n], x, a)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = a * x[i]
	}
}

// ScaleMul computes dst = (a·x)·y.
func ScaleMul(dst, x, y []float32, a float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.scaleMul(dst[:n], x, y, a)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = float32(a*x[i]) * y[i]
	}
}

// RMSNorm computes dst = x/√(mean(x²) + eps) · weight; a nil weight is all ones.
//
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
func RMSNorm(dst, x, weight []float32, eps float32) {
	x = x[:len(dst)]
	mean := SumSquares(x) / float32(len(x))
	scale := float32(1 / math.Sqrt(float64(mean)+float64(eps)))
	if weight == nil {
		Scale(dst, x, scale)
		return
	}
	ScaleMul(dst, x, weight, scale)
}

// Exp computes dst = exp(x − shift).
func Exp(dst, x []float32, shift float32) {
	x = x[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.exp(dst[:n], x, shift)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = exp(x[i] - shift)
	}
}

// Sigmoid computes dst = 1/(1 + exp(−x)).
func Sigmoid(dst, x []float32) {
	x = x[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.sigmoid(dst[:n], x)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = 1 / (1 + exp(-x[i]))
	}
}

// SiLU computes dst = x/(1 + exp(−x)).
func SiLU(dst, x []float32) {
	x = x[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.silu(dst[:n], x)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = x[i] / (1 + exp(-x[i]))
	}
}

// SiLUMul computes dst = silu(x)·y, the SwiGLU of a gate x and a value y.
func SiLUMul(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.siluMul(dst[:n], x, y)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = x[i] / (1 + exp(-x[i])) * y[i]
	}
}

// GELUMul computes dst = gelu(x)·y, the GeGLU of a gate x and a value y, with
// the tanh form of GELU: x·sigmoid(√(8/π)·(x + 0.044715·x³)).
func GELUMul(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	n := len(dst) &^ (step - 1)
	if n > 0 {
		kernel.geluMul(dst[:n], x, y)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = gelu(x[i]) * y[i]
	}
}
