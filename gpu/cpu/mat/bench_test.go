package mat

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/isa"
	"github.com/pooled/pooled/gpu/cpu/pool"
)

// BenchmarkMul multiplies matrices of the shapes that small models have, by one
// column (decode; the matrices of a run are larger than the caches) and by 512.
func BenchmarkMul(b *testing.B) {
	shapes := [][2]int{{576, 1536}, {512, 512}, {4096, 4096}}
	for _, threads := range []int{1, 2} {
		for _, typ := range nativeTypes {
			for _, shape := range shapes {
				for _, n := range []int{1, 4, 512} {
					name := fmt.Sprintf("path=%v/type=%v/shape=%dx%d/n=%d/threads=%d", isa.Best(), typ, shape[0], shape[1], n, threads)
					b.Run(name, func(b *testing.B) { benchmarkMul(b, typ, shape[0], shape[1], n, threads) })
				}
			}
		}
	}
}

func benchmarkMul(b *testing.B, typ gguf.Type, rows, cols, n, threads int) {
	p := pool.New(threads)
	defer p.Close()
	rng := rand.New(rand.NewPCG(seed, 0))
	raw := randomRows(rng, typ, rows, cols)
	var ms []*Matrix
	for bytes := 0; len(ms) == 0 || n == 1 && bytes < 128<<20; bytes += len(raw) {
		ms = append(ms, mustPack(b, typ, rows, cols, raw, p))
	}
	x, y := randomFloats(rng, n*cols), make([]float32, n*rows)
	var a Acts
	b.ResetTimer()
	for i := range b.N {
		a.Set(x, n, cols, false)
		ms[i%len(ms)].Mul(p, y, rows, &a)
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(len(raw))/seconds/1e9, "GB/s")
	b.ReportMetric(2*float64(rows)*float64(cols)*float64(n)/seconds/1e9, "GFLOP/s")
}

// BenchmarkExact multiplies in float32, as the reference tests do.
func BenchmarkExact(b *testing.B) {
	const rows, cols = 1024, 1024
	for _, typ := range []gguf.Type{gguf.Q4_0, gguf.Q4_1, gguf.Q6_K} {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("path=%v/type=%v/n=%d", isa.Best(), typ, n), func(b *testing.B) {
				p := pool.New(2)
				defer p.Close()
				rng := rand.New(rand.NewPCG(seed, 0))
				m := mustPack(b, typ, rows, cols, randomRows(rng, typ, rows, cols), p)
				x, y := randomFloats(rng, n*cols), make([]float32, n*rows)
				var a Acts
				b.ResetTimer()
				for range b.N {
					a.Set(x, n, cols, true)
					m.Mul(p, y, rows, &a)
				}
				b.ReportMetric(2*float64(n*rows*cols)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkPack packs a matrix as it lies in a file.
func BenchmarkPack(b *testing.B) {
	const rows, cols = 2048, 1024
	for _, typ := range nativeTypes {
		b.Run(typ.String(), func(b *testing.B) {
			p := pool.New(2)
			defer p.Close()
			rng := rand.New(rand.NewPCG(seed, 0))
			raw := randomRows(rng, typ, rows, cols)
			b.SetBytes(int64(len(raw)))
			b.ResetTimer()
			for range b.N {
				mustPack(b, typ, rows, cols, raw, p)
			}
		})
	}
}
