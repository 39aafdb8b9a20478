package mat

import (
	"fmt"
	"hash/fnv"
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

// The bits are part of the contract: they are the same on every processor and
// system, so that machines that share a model agree.
func TestGoldenBits(t *testing.T) {
	want := map[gguf.Type][2]uint64{
		gguf.Q4_0: {0xacb8f204c691526e, 0x7db72624b783483a},
		gguf.Q4_1: {0x5595f1e41f21bf57, 0x7c678ec57e9ec3cf},
		gguf.Q5_0: {0xff47815bf5fee165, 0xe29a7c22af746f6b},
		gguf.Q5_1: {0x0d9cbac1cccaa541, 0xcd922efca474d8ab},
		gguf.Q8_0: {0xe0932717a25839a7, 0xe9ec9cec93240949},
		gguf.Q4_K: {0xf38b68159ca019d3, 0x0c51268ab6a5bf35},
		gguf.Q5_K: {0x3e87e761d7bdf304, 0xc4f12103dfcfaf6f},
		gguf.Q6_K: {0xb387a3cf629b6263, 0x69918b50215bd49b},
		gguf.F16:  {0x968b0d762a2a4493, 0x968b0d762a2a4493},
		gguf.BF16: {0x1784bf78b40d4262, 0x1784bf78b40d4262},
		gguf.F32:  {0x5743cb5185cfe158, 0x5743cb5185cfe158},
	}
	for _, typ := range nativeTypes {
		t.Run(typ.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(typ)))
			const rows, cols, n = 35, 512, 3
			raw := make([]byte, rows*cols/typ.BlockLen()*typ.BlockBytes())
			for i := range raw {
				raw[i] = byte(rng.Uint32())
			}
			keepFinite(typ, raw)
			x := make([]float32, n*cols)
			for i := range x {
				x[i] = float32(rng.IntN(1<<20)-1<<19) * 0x1p-18
			}
			m := mustPack(t, typ, rows, cols, raw, nil)
			for mode, exact := range []bool{false, true} {
				var a Acts
				a.Set(x, n, cols, exact)
				y := make([]float32, n*rows)
				m.Mul(nil, y, rows, &a)
				h := fnv.New64a()
				for _, v := range y {
					bits := math.Float32bits(v)
					h.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
				}
				if got := h.Sum64(); got != want[typ][mode] {
					t.Errorf("exact=%v: got %#x, want %#x", exact, got, want[typ][mode])
				}
			}
		})
	}
}

// keepFinite clears an exponent bit of every number that could be infinite.
func keepFinite(typ gguf.Type, raw []byte) {
	for at := 0; at < len(raw); at += typ.BlockBytes() {
		switch typ {
		case gguf.Q6_K:
			raw[at+209] &^= 0x40
		case gguf.F32:
			raw[at+3] &^= 0x40
		default:
			raw[at+1] &^= 0x40
			if typ == gguf.Q4_1 || typ == gguf.Q5_1 || typ == gguf.Q4_K || typ == gguf.Q5_K {
				raw[at+3] &^= 0x40
			}
		}
	}
}
