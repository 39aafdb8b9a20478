package enginetest

import (
	"os"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
)

// ModelEnv names the model file that [Bench] measures.
const ModelEnv = "POOLED_MODEL"

// Bench measures decoding and prefill of the model that [ModelEnv] names. It loads the weights once.
func Bench(b *testing.B, backend engine.Backend, families []model.Family) {
	path := os.Getenv(ModelEnv)
	if path == "" {
		b.Skipf("SKIPPED: set %s to a GGUF file", ModelEnv)
	}
	f, err := gguf.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	md := ggufmeta.Of(f)
	i := slices.IndexFunc(families, func(f model.Family) bool { return slices.Contains(f.Info().Architectures, md.Architecture) })
	if i < 0 {
		b.Fatalf("no family plans %q", md.Architecture)
	}
	plan, err := families[i].Plan(b.Context(), md)
	if err != nil {
		b.Fatal(err)
	}
	s, err := backend.Open(b.Context(), engine.Config{
		Plan: plan, Weights: engine.FileWeights(f), Range: model.LayerRange{End: len(plan.Layers)},
		Embed: true, Head: true, Context: min(plan.Context, 4096),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		name string
		n    int
	}{{"decode", 1}, {"prefill512", 512}} {
		b.Run(c.name, func(b *testing.B) {
			ids := make([]int32, c.n)
			for i := range ids {
				ids[i] = int32((i*7919 + 13) % plan.Vocab)
			}
			forward := func() {
				pos := s.Len()
				if pos > 256 || c.n > 1 {
					pos = 0
				}
				if _, err := s.Forward(b.Context(), engine.Batch{Pos: pos, Tokens: ids, Output: engine.Output{Top: 1}}); err != nil {
					b.Fatal(err)
				}
			}
			forward() // kernels may be compiled at their first use
			for b.Loop() {
				forward()
			}
			b.ReportMetric(float64(b.N*c.n)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}
