package vec

import (
	"math"

	"github.com/pooled/pooled/core/quant"
)

// kernels are the loops of one path. Lengths are multiples of 32 for sums and
// of 8 for the others; the first slice tells them.
type kernels struct {
	dot        func(x, y []float32) float32
	sum        func(x []float32) float32
	max        func(x []float32) float32
	fromHalf   func(dst []float32, x []uint16)
	fromBF16   func(dst []float32, x []uint16)
	add, mul   func(dst, x, y []float32)
	scale, exp func(dst, x []float32, a float32)
	scaleMul   func(dst, x, y []float32, a float32)
	sigmoid    func(dst, x []float32)
	silu       func(dst, x []float32)
	siluMul    func(dst, x, y []float32)
	geluMul    func(dst, x, y []float32)
}

// portable are the loops in plain Go. Products are converted to float32 before
// they are added, so that no compiler fuses the two.
var portable = kernels{
	dot: func(x, y []float32) float32 {
		var acc [lanes]float32
		for ; len(x) > 0; x, y = x[lanes:], y[lanes:] {
			p, q := (*[lanes]float32)(x), (*[lanes]float32)(y)
			for i := range acc {
				acc[i] += float32(p[i] * q[i])
			}
		}
		return fold(&acc)
	},
	sum: func(x []float32) float32 {
		var acc [lanes]float32
		for ; len(x) > 0; x = x[lanes:] {
			for i, v := range (*[lanes]float32)(x) {
				acc[i] += v
			}
		}
		return fold(&acc)
	},
	max: func(x []float32) float32 {
		top := x[0]
		for _, v := range x {
			top = max(top, v)
		}
		return top
	},
	fromHalf: func(dst []float32, x []uint16) {
		for i := range dst {
			dst[i] = fromHalf(x[i])
		}
	},
	fromBF16: func(dst []float32, x []uint16) {
		for i := range dst {
			dst[i] = quant.BF16ToFloat(x[i])
		}
	},
	add: func(dst, x, y []float32) {
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	},
	mul: func(dst, x, y []float32) {
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	},
	scale: func(dst, x []float32, a float32) {
		for i := range dst {
			dst[i] = a * x[i]
		}
	},
	exp: func(dst, x []float32, a float32) {
		for i := range dst {
			dst[i] = exp(x[i] - a)
		}
	},
	scaleMul: func(dst, x, y []float32, a float32) {
		for i := range dst {
			dst[i] = float32(a*x[i]) * y[i]
		}
	},
	sigmoid: func(dst, x []float32) {
		for i := range dst {
			dst[i] = 1 / (1 + exp(-x[i]))
		}
	},
	silu: func(dst, x []float32) {
		for i := range dst {
			dst[i] = x[i] / (1 + exp(-x[i]))
		}
	},
	siluMul: func(dst, x, y []float32) {
		for i := range dst {
			dst[i] = x[i] / (1 + exp(-x[i])) * y[i]
		}
	},
	geluMul: func(dst, x, y []float32) {
		for i := range dst {
			dst[i] = gelu(x[i]) * y[i]
		}
	},
}

// fold adds the lanes up in the order that registers of 8 lanes have.
func fold(acc *[lanes]float32) float32 {
	var s [8]float32
	for i := range s {
		s[i] = (acc[i] + acc[8+i]) + (acc[16+i] + acc[24+i])
	}
	for i := range 4 {
		s[i] += s[4+i]
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

func fromHalf(h uint16) float32 { return quant.HalfToFloat(h) }

// exp is e to the x: x = n·ln2 + r, a polynomial in r, and n added to the
// exponent in two steps so that no power on the way overflows.
//
// Source: the split of ln2 and the coefficients are those of expf in Moshier's Cephes.
func exp(x float32) float32 {
	const (
		low, high = -87.33654, 88.72283
		magic     = 0x1.8p23 // adding it rounds to an integer in the low bits
	)
	if x < low {
		return 0
	}
	r := x
	if r > high {
		r = high
	}
	n := float32(r*math.Log2E) + magic
	m := n - magic
	r -= float32(m * 0.693359375)
	r -= float32(m * -2.12194440e-4)
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(float32(p*r)*r) + r + 1
	k := int32(math.Float32bits(n) << 23)
	half := k >> 24 << 23
	const one = 127 << 23
	return p * math.Float32frombits(uint32(half+one)) * math.Float32frombits(uint32(k-half+one))
}

func gelu(x float32) float32 {
	t := float32(float32(float32(x*x)*0.044715)+1) * x * 1.5957691216057308
	return x / (1 + exp(-t))
}
