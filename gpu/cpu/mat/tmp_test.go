package mat

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/pool"
)

func BenchmarkExact(b *testing.B) {
	for _, typ := range []gguf.Type{gguf.Q4_0, gguf.Q4_1, gguf.Q6_K} {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("%v/n=%d", typ, n), func(b *testing.B) {
				p := pool.New(2)
				defer p.Close()
				rng := rand.New(rand.NewPCG(seed, 0))
				rows, cols := 1024, 1024
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

func BenchmarkPack(b *testing.B) {
	for _, typ := range nativeTypes {
		b.Run(typ.String(), func(b *testing.B) {
			p := pool.New(2)
			defer p.Close()
			rng := rand.New(rand.NewPCG(seed, 0))
			rows, cols := 2048, 1024
			raw := randomRows(rng, typ, rows, cols)
			b.SetBytes(int64(len(raw)))
			b.ResetTimer()
			for range b.N {
				mustPack(b, typ, rows, cols, raw, p)
			}
		})
	}
}
