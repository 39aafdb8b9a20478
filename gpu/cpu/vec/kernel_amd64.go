package vec

import "github.com/pooled/pooled/gpu/cpu/isa"

//go:generate go run -C ../asm . vec-avx2 -out ../vec/vec_avx2_gen_amd64.s -stubs ../vec/vec_avx2_gen_amd64.go -pkg vec

var kernel = kernelsOf(isa.Best())

// kernelsOf returns the loops of a path; AVX-512 takes those of AVX2.
func kernelsOf(path isa.Path) kernels {
	if path < isa.AVX2 {
		return portable
	}
	return kernels{
		dot:      func(x, y []float32) float32 { return dotAVX2(&x[0], &y[0], len(x)) },
		sum:      func(x []float32) float32 { return sumAVX2(&x[0], len(x)) },
		max:      func(x []float32) float32 { return maxAVX2(&x[0], len(x)) },
		fromHalf: func(dst []float32, x []uint16) { fromHalfAVX2(&dst[0], &x[0], len(dst)) },
		fromBF16: func(dst []float32, x []uint16) { fromBF16AVX2(&dst[0], &x[0], len(dst)) },
		add:      func(dst, x, y []float32) { addAVX2(&dst[0], &x[0], &y[0], len(dst)) },
		mul:      func(dst, x, y []float32) { mulAVX2(&dst[0], &x[0], &y[0], len(dst)) },
		scale:    func(dst, x []float32, a float32) { scaleAVX2(&dst[0], &x[0], a, len(dst)) },
		exp:      func(dst, x []float32, a float32) { expAVX2(&dst[0], &x[0], a, len(dst)) },
		scaleMul: func(dst, x, y []float32, a float32) { scaleMulAVX2(&dst[0], &x[0], &y[0], a, len(dst)) },
		sigmoid:  func(dst, x []float32) { sigmoidAVX2(&dst[0], &x[0], len(dst)) },
		silu:     func(dst, x []float32) { siluAVX2(&dst[0], &x[0], len(dst)) },
		siluMul:  func(dst, x, y []float32) { siluMulAVX2(&dst[0], &x[0], &y[0], len(dst)) },
		geluMul:  func(dst, x, y []float32) { geluMulAVX2(&dst[0], &x[0], &y[0], len(dst)) },
	}
}
