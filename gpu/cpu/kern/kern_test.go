package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/ref"
)

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func nmse(got, want []float32) float64 {
	var diff, sum float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		diff += d * d
		sum += float64(want[i]) * float64(want[i])
	}
	return diff / sum
}

// paths runs f with each form that this processor has.
func paths(t *testing.T, f func(t *testing.T)) {
	was := useAVX2
	defer func() { setAVX2(was) }()
	setAVX2(false)
	t.Run("portable", f)
	if !was {
		t.Log("SKIPPED: this processor has no AVX2")
		return
	}
	setAVX2(true)
	t.Run("avx2", f)
}

func TestPanelDot(t *testing.T) {
	paths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		for _, c := range []struct{ k, count, n int }{
			{1, 1, 1}, {7, 2, 2}, {64, 4, 1}, {64, 8, 3}, {64, 1, 4}, {33, 5, 5}, {128, 4, 9}, {256, 3, 48},
		} {
			t.Run(fmt.Sprintf("k=%d panels=%d n=%d", c.k, c.count, c.n), func(t *testing.T) {
				lanes, stride := c.count*Lanes, c.k*Lanes+7
				panels := make([]uint16, c.count*stride)
				w := make([]float32, lanes*c.k) // [lanes, k]
				for lane := range lanes {
					for j := range c.k {
						h := quant.FloatToHalf(float32(rng.NormFloat64()))
						panels[lane/Lanes*stride+j*Lanes+lane%Lanes] = h
						w[lane*c.k+j] = quant.HalfToFloat(h)
					}
				}
				xStride, dstStride := c.k+3, lanes+5
				x, rows := random(rng, c.n*xStride), make([]float32, 0, c.n*c.k)
				for i := range c.n {
					rows = append(rows, x[i*xStride:][:c.k]...)
				}
				want := make([]float32, c.n*lanes)
				ref.Linear(want, rows, w, nil, lanes, c.k)
				dst := make([]float32, c.n*dstStride)
				PanelDot(dst, dstStride, x, xStride, panels, stride, c.count, c.k, c.n)
				got := make([]float32, 0, len(want))
				for i := range c.n {
					got = append(got, dst[i*dstStride:][:lanes]...)
					if slices.ContainsFunc(dst[i*dstStride+lanes:(i+1)*dstStride], func(v float32) bool { return v != 0 }) {
						t.Fatal("wrote beyond the lanes of a row")
					}
				}
				if e := nmse(got, want); e > 1e-12 {
					t.Errorf("NMSE %.1e, want at most 1e-12", e)
				}
				// A column and a panel alone have the same bits as among others, and the sum is added to what was there.
				for i := range c.n {
					for p := range c.count {
						alone := make([]float32, Lanes)
						PanelDot(alone, Lanes, x[i*xStride:], xStride, panels[p*stride:], stride, 1, c.k, 1)
						if !slices.Equal(alone, dst[i*dstStride+p*Lanes:][:Lanes]) {
							t.Fatalf("column %d and panel %d alone have other bits than among others", i, p)
						}
					}
				}
				first := dst[0]
				PanelDot(dst, dstStride, x, xStride, panels, stride, c.count, c.k, c.n)
				if math.Abs(float64(dst[0]-2*first)) > 1e-4*math.Abs(float64(first))+1e-5 {
					t.Errorf("a second product gives %v, want twice %v", dst[0], first)
				}
			})
		}
	})
}

func TestDeltaStep(t *testing.T) {
	paths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		for _, c := range []struct{ kd, vd int }{{1, 8}, {32, 32}, {64, 64}, {128, 128}, {16, 40}, {5, 3}} {
			t.Run(fmt.Sprintf("[%d, %d]", c.kd, c.vd), func(t *testing.T) {
				state := random(rng, c.kd*c.vd)
				wantState := slices.Clone(state)
				q, k, v := random(rng, c.kd), random(rng, c.kd), random(rng, c.vd)
				ref.L2Norm(k, k, c.kd, 1e-6, 1)
				a, b, decay, dt := []float32{0.3}, []float32{-0.2}, []float32{-0.5}, []float32{0.1}
				keep := math.Exp(-0.5 * math.Log1p(math.Exp(0.4)))
				beta := 1 / (1 + math.Exp(0.2))
				want := make([]float32, c.vd)
				s := ref.DeltaShape{KeyHeads: 1, ValueHeads: 1, KeyDim: c.kd, ValueDim: c.vd}
				ref.GatedDelta(want, q, k, v, a, b, decay, dt, wantState, s)
				got := make([]float32, c.vd)
				DeltaStep(got, state, q, k, v, float32(keep), float32(beta))
				if e := nmse(got, want); e > 1e-11 {
					t.Errorf("NMSE %.1e, want at most 1e-11", e)
				}
				if e := nmse(state, wantState); e > 1e-11 {
					t.Errorf("NMSE of the state %.1e, want at most 1e-11", e)
				}
			})
		}
	})
}

func TestMulAdd(t *testing.T) {
	paths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 3))
		for _, n := range []int{0, 1, 7, 8, 9, 64, 257} {
			dst, a, b := random(rng, n), random(rng, n), random(rng, n)
			want := slices.Clone(dst)
			for i := range want {
				want[i] = float32(float64(want[i]) + float64(a[i])*float64(b[i]))
			}
			MulAdd(dst, a, b)
			for i := range want {
				if d := math.Abs(float64(dst[i] - want[i])); d > 1e-6 {
					t.Fatalf("n=%d: value %d is %v, want %v", n, i, dst[i], want[i])
				}
			}
		}
	})
}

func BenchmarkPanelDot(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 4))
	const k, count = 64, 8
	for _, n := range []int{1, 3, 4, 48} {
		b.Run(fmt.Sprintf("k=%d panels=%d n=%d", k, count, n), func(b *testing.B) {
			x, dst, panels := random(rng, n*k), make([]float32, n*count*Lanes), make([]uint16, count*k*Lanes)
			for b.Loop() {
				PanelDot(dst, count*Lanes, x, k, panels, k*Lanes, count, k, n)
			}
			b.ReportMetric(float64(b.N)*float64(2*n*k*count*Lanes)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkDeltaStep(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, d := range []int{64, 128} {
		b.Run(fmt.Sprintf("[%d, %d]", d, d), func(b *testing.B) {
			state, q, k, v, out := random(rng, d*d), random(rng, d), random(rng, d), random(rng, d), make([]float32, d)
			for b.Loop() {
				DeltaStep(out, state, q, k, v, 0.9, 0.1)
			}
		})
	}
}
