package mat

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/isa"
	"github.com/pooled/pooled/gpu/cpu/pool"
)

// product1 is one matrix: rows of a type.
type product1 struct {
	typ  gguf.Type
	rows int
}

// step is the products that share activations of cols columns.
type step struct {
	cols     int
	products []product1
}

// shapeOf lists the products of one forward of a model: layers and head.
type shapeOf struct {
	name   string
	layers [][]step
	head   step
}

func repeat(n int, s []step) [][]step {
	layers := make([][]step, n)
	for i := range layers {
		layers[i] = s
	}
	return layers
}

// modelShapes are small models as their files have them.
func modelShapes() []shapeOf {
	const q4, q41, q50, q8, q6k, q4k = gguf.Q4_0, gguf.Q4_1, gguf.Q5_0, gguf.Q8_0, gguf.Q6_K, gguf.Q4_K
	nano := func(q gguf.Type) [][]step {
		ffn := []step{{384, []product1{{q, 1024}, {q, 1024}}}, {1024, []product1{{q, 384}}}}
		delta := append([]step{{384, []product1{{q, 1024}, {q, 512}, {q, 8}, {q, 8}}}, {512, []product1{{q, 384}}}}, ffn...)
		attention := append([]step{{384, []product1{{q, 768}, {q, 128}, {q, 128}}}, {384, []product1{{q, 384}}}}, ffn...)
		var layers [][]step
		for range 3 {
			layers = append(layers, delta, delta, delta, attention)
		}
		return layers
	}
	return []shapeOf{
		{"nano-Q4_0", nano(q4), step{384, []product1{{q4, 8192}}}},
		{"nano-Q8_0", nano(q8), step{384, []product1{{q8, 8192}}}},
		{"smollm2-135m-Q4_1", repeat(30, []step{
			{576, []product1{{q41, 576}, {q41, 192}, {q41, 192}}},
			{576, []product1{{q41, 576}}},
			{576, []product1{{q41, 1536}, {q41, 1536}}},
			{1536, []product1{{q41, 576}}},
		}), step{576, []product1{{q8, 49152}}}},
		{"qwen2.5-0.5b-Q4_K_M", append(repeat(12, []step{
			{896, []product1{{q50, 896}, {q50, 128}, {q8, 128}}},
			{896, []product1{{q50, 896}}},
			{896, []product1{{q50, 4864}, {q50, 4864}}},
			{4864, []product1{{q6k, 896}}},
		}), repeat(12, []step{
			{896, []product1{{q50, 896}, {q50, 128}, {q50, 128}}},
			{896, []product1{{q50, 896}}},
			{896, []product1{{q50, 4864}, {q50, 4864}}},
			{4864, []product1{{q4k, 896}}},
		})...), step{896, []product1{{q8, 151936}}}},
	}
}

// BenchmarkModel does the matrix products of whole models, and nothing else:
// what it reports is the speed that a model could have if all the rest were free.
// The head is multiplied by the last column only.
func BenchmarkModel(b *testing.B) {
	for _, shape := range modelShapes() {
		for _, n := range []int{1, 512} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("path=%v/model=%s/n=%d/threads=%d", isa.Best(), shape.name, n, threads), func(b *testing.B) {
					benchmarkModel(b, shape, n, threads)
				})
			}
		}
	}
}

func benchmarkModel(b *testing.B, shape shapeOf, n, threads int) {
	p := pool.New(threads)
	defer p.Close()
	rng := rand.New(rand.NewPCG(seed, 0))
	type call struct {
		cols, n int
		jobs    []Job
	}
	var calls []call
	var bytes int64
	x := randomFloats(rng, n*4864)
	add := func(s step, n int) {
		c := call{cols: s.cols, n: n}
		for _, q := range s.products {
			m := mustPack(b, q.typ, q.rows, s.cols, randomRows(rng, q.typ, q.rows, s.cols), p)
			bytes += m.Bytes()
			c.jobs = append(c.jobs, Job{M: m, Y: make([]float32, n*q.rows), Stride: q.rows})
		}
		calls = append(calls, c)
	}
	for _, layer := range shape.layers {
		for _, s := range layer {
			add(s, n)
		}
	}
	add(shape.head, 1)
	var a Acts
	b.ResetTimer()
	for range b.N {
		for _, c := range calls {
			a.Set(x, c.n, c.cols, false)
			MulMany(p, &a, c.jobs)
		}
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(n)/seconds, "tok/s")
	b.ReportMetric(float64(bytes)/seconds/1e9, "GB/s")
	b.ReportMetric(0, "ns/op")
}
