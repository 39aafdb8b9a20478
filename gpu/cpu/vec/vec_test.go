package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/core/quant"
)

const seed = 20260302

func random(rng *rand.Rand, n int, spread float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * spread)
	}
	return x
}

func halves(x []float32) []uint16 {
	h := make([]uint16, len(x))
	for i, v := range x {
		h[i] = quant.FloatToHalf(v)
	}
	return h
}

// operations run every function on inputs of n numbers and return what it writes.
func operations(rng *rand.Rand, n int) map[string]func() []float32 {
	x, y, z := random(rng, n, 3), random(rng, n, 1), random(rng, n, 20)
	hx := halves(x)
	onto := func(f func(dst []float32)) func() []float32 {
		return func() []float32 {
			dst := append([]float32(nil), y...)
			f(dst)
			return dst
		}
	}
	number := func(f func() float32) func() []float32 { return func() []float32 { return []float32{f()} } }
	return map[string]func() []float32{
		"Dot":        number(func() float32 { return Dot(x, y) }),
		"Sum":        number(func() float32 { return Sum(x) }),
		"SumSquares": number(func() float32 { return SumSquares(x) }),
		"Max":        number(func() float32 { return Max(x) }),
		"FromHalf":   onto(func(dst []float32) { FromHalf(dst, hx) }),
		"FromBF16":   onto(func(dst []float32) { FromBF16(dst, hx) }),
		"Add":        onto(func(dst []float32) { Add(dst, x, y) }),
		"Mul":        onto(func(dst []float32) { Mul(dst, x, y) }),
		"Scale":      onto(func(dst []float32) { Scale(dst, x, 1.7) }),
		"ScaleMul":   onto(func(dst []float32) { ScaleMul(dst, x, y, 1.7) }),
		"RMSNorm":    onto(func(dst []float32) { RMSNorm(dst, x, y, 1e-6) }),
		"RMSNorm1":   onto(func(dst []float32) { RMSNorm(dst, x, nil, 1e-6) }),
		"Exp":        onto(func(dst []float32) { Exp(dst, z, 0.5) }),
		"Sigmoid":    onto(func(dst []float32) { Sigmoid(dst, z) }),
		"SiLU":       onto(func(dst []float32) { SiLU(dst, z) }),
		"SiLUMul":    onto(func(dst []float32) { SiLUMul(dst, z, y) }),
		"GELUMul":    onto(func(dst []float32) { GELUMul(dst, z, y) }),
	}
}

// The active path gives the bits of plain Go.
func TestPathsAgree(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 31, 32, 33, 64, 96, 100, 257, 1024} {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		for name, f := range operations(rng, n) {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				got := f()
				fast := kernel
				kernel = portable
				defer func() { kernel = fast }()
				want := f()
				for i := range want {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
						t.Fatalf("number %d: got %v, want %v", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// ulps is how many float32 steps got is from want.
func ulps(got float32, want float64) float64 {
	exp := math.Max(math.Floor(math.Log2(math.Abs(want))), -126)
	return math.Abs(float64(got)-want) / math.Exp2(exp-23)
}

func TestAccuracy(t *testing.T) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	tests := []struct {
		name      string
		low, high float64
		f         func(dst, x []float32)
		want      func(x float64) float64
		ulps      float64
	}{
		{"exp", -87.3, 88.7, func(dst, x []float32) { Exp(dst, x, 0) }, math.Exp, 1},
		{"sigmoid", -87, 87, Sigmoid, sigmoid, 3},
		{"silu", -87, 87, SiLU, func(x float64) float64 { return x * sigmoid(x) }, 3},
	}
	const n = 200_000
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, dst := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = float32(tt.low + (tt.high-tt.low)*float64(i)/n)
			}
			tt.f(dst, x)
			var worst float64
			for i, v := range x {
				if v != 0 {
					worst = max(worst, ulps(dst[i], tt.want(float64(v))))
				}
			}
			t.Logf("largest error %.2f ulp", worst)
			if !(worst <= tt.ulps) {
				t.Errorf("got %.2f ulp, want at most %v", worst, tt.ulps)
			}
		})
	}
}

func TestGELU(t *testing.T) {
	x, one, dst := make([]float32, 4001), make([]float32, 4001), make([]float32, 4001)
	for i := range x {
		x[i], one[i] = float32(i-2000)/200, 1
	}
	GELUMul(dst, x, one)
	for i, v := range x {
		d := float64(v)
		want := 0.5 * d * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(d+0.044715*d*d*d)))
		if math.Abs(float64(dst[i])-want) > 1e-6 {
			t.Fatalf("gelu(%v): got %v, want %v", v, dst[i], want)
		}
	}
}

func TestExpLimits(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{-inf, -1000, -88, -87.33, 0, 88.7, 1000, inf, float32(math.NaN())}
	want := []float32{0, 0, 0, 1.1832e-38, 1, 3.3260e38, 3.4027e38, 3.4027e38, float32(math.NaN())}
	got := make([]float32, len(x))
	Exp(got, x, 0)
	for i := range x {
		same := math.Abs(float64(got[i])/float64(want[i])-1) < 1e-3 || got[i] == want[i] || want[i] != want[i] && got[i] != got[i]
		if !same {
			t.Errorf("exp(%v): got %v, want %v", x[i], got[i], want[i])
		}
	}
}

func TestRMSNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, w := random(rng, 576, 2), random(rng, 576, 1)
	var mean float64
	for _, v := range x {
		mean += float64(v) * float64(v) / float64(len(x))
	}
	dst := make([]float32, len(x))
	RMSNorm(dst, x, w, 1e-5)
	for i := range x {
		want := float64(x[i]) / math.Sqrt(mean+1e-5) * float64(w[i])
		if math.Abs(float64(dst[i])-want) > 1e-6*math.Abs(want)+1e-12 {
			t.Fatalf("%d: got %v, want %v", i, dst[i], want)
		}
	}
}

func TestShortSlicesPanic(t *testing.T) {
	long, short := make([]float32, 64), make([]float32, 40)
	for name, f := range map[string]func(){
		"Dot":      func() { Dot(long, short[:40:40]) },
		"Add":      func() { Add(long, long, short[:40:40]) },
		"FromHalf": func() { FromHalf(long, make([]uint16, 40)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
