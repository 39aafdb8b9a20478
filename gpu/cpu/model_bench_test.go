package cpu_test

import (
	"os"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// BenchmarkModel measures decoding and prefill of the model file that POOLED_MODEL names.
func BenchmarkModel(b *testing.B) {
	path := os.Getenv("POOLED_MODEL")
	if path == "" {
		b.Skip("set POOLED_MODEL to a GGUF file")
	}
	f, err := gguf.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	md := ggufmeta.Of(f)
	fam := model.Family(dense.Family{})
	if md.Architecture == "qwen35" {
		fam = qwen35.Family{}
	}
	plan, err := fam.Plan(b.Context(), md)
	if err != nil {
		b.Fatal(err)
	}
	be := cpu.New(2)
	defer be.Close()
	s, err := be.Open(b.Context(), engine.Config{
		Plan: plan, Weights: engine.FileWeights(f), Range: model.LayerRange{End: len(plan.Layers)},
		Embed: true, Head: true, Context: 4096,
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
				ids[i] = int32(i*7919+13) % int32(plan.Vocab)
			}
			for b.Loop() {
				if s.Len() > 1024 || c.n > 1 {
					if _, err := s.Rewind(0); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := s.Forward(b.Context(), engine.Batch{Pos: s.Len(), Tokens: ids, Output: engine.Output{Top: 1}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*c.n)/b.Elapsed().Seconds(), "tok/s")
		})
	}
}
