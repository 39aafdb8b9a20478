package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/isa"
)

// usePath makes the kernels of one path active for the rest of the test.
func usePath(t testing.TB, path isa.Path) {
	t.Helper()
	if path > isa.Detected() {
		t.Skipf("SKIPPED: this processor has no %v", path)
	}
	before := active
	active = kernelsOf(path)
	t.Cleanup(func() { active = before })
}

var paths = []isa.Path{isa.Portable, isa.AVX2, isa.AVX512}

// Every path gives the bits of the portable one.
func TestPathsAgree(t *testing.T) {
	for _, path := range paths[1:] {
		for _, typ := range nativeTypes {
			for _, exact := range []bool{false, true} {
				for _, shape := range shapes(typ) {
					rows, cols := shape[0], shape[1]
					t.Run(fmt.Sprintf("%v/%v/exact=%v/%dx%d", path, typ, exact, rows, cols), func(t *testing.T) {
						rng := rand.New(rand.NewPCG(seed, uint64(typ)))
						m := mustPack(t, typ, rows, cols, randomRows(rng, typ, rows, cols), nil)
						const n = 15 // groups of 8, 4, 2 and 1
						x := randomFloats(rng, n*cols)
						clear(x[:min(cols, 32)])
						x[len(x)-1] = 1e-33
						run := func(path isa.Path) []float32 {
							usePath(t, path)
							var a Acts
							a.Set(x, n, cols, exact)
							y := make([]float32, n*rows)
							m.Mul(nil, y, rows, &a)
							return y
						}
						want, got := run(isa.Portable), run(path)
						for i := range want {
							if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
								t.Fatalf("column %d row %d: got %v, want %v", i/rows, i%rows, got[i], want[i])
							}
						}
					})
				}
			}
		}
	}
}

// Blocks at their limits: the largest quants times the largest activations, of
// either sign, which would saturate 16-bit sums that are not kept short.
func TestExtremes(t *testing.T) {
	for _, path := range paths {
		for _, typ := range nativeTypes {
			if formats[typ].kind > kinds {
				continue
			}
			for _, fill := range []byte{0x00, 0xff, 0x80, 0x7f} {
				t.Run(fmt.Sprintf("%v/%v/%#x", path, typ, fill), func(t *testing.T) {
					usePath(t, path)
					rng := rand.New(rand.NewPCG(seed, 0))
					const rows, cols, n = 16, 512, 9
					raw := randomRows(rng, typ, rows, cols)
					for at := 0; at < len(raw); at += typ.BlockBytes() {
						lo, hi := 4, typ.BlockBytes()
						if typ == gguf.Q8_0 || typ == gguf.Q4_0 || typ == gguf.Q5_0 {
							lo = 2
						}
						if typ == gguf.Q6_K {
							lo, hi = 0, 208
						}
						for i := lo; i < hi; i++ {
							raw[at+i] = fill
						}
					}
					x := make([]float32, n*cols)
					for i := range x {
						x[i] = []float32{127, -127}[(i/cols+i/32)%2]
					}
					m := mustPack(t, typ, rows, cols, raw, nil)
					var a Acts
					a.Set(x, n, cols, false)
					y := make([]float32, n*rows)
					m.Mul(nil, y, rows, &a)
					// The activations are exact in 8 bits, so only rounding differs.
					w := dequantize(t, typ, raw, rows*cols)
					want := product(w, rows, cols, x, n)
					var size float64
					for _, v := range w {
						size = max(size, math.Abs(float64(v)))
					}
					for i := range want {
						if diff := math.Abs(float64(y[i]) - want[i]); diff > size*127*cols*1e-6 {
							t.Fatalf("output %d: got %v, want %v", i, y[i], want[i])
						}
					}
				})
			}
		}
	}
}
