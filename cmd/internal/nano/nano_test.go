package nano_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// golden is a greedy answer that was computed elsewhere, in float32 on the dequantised weights.
type golden struct {
	Text   string
	Prompt []int32
	IDs    []int32
	Gap    []float64      // first minus second logit of each step
	Top    [][][2]float64 // ten (id, logit) of the first steps
}

func goldens(t *testing.T) []golden {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func open(t *testing.T) *gguf.File {
	t.Helper()
	f, err := gguf.ReadBytes(nano.Data())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestTokenizer(t *testing.T) {
	v, err := tokenizer.FromMetadata(open(t).Get)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens(t) {
		if got := tok.Encode(g.Text, tokenizer.Options{ParseSpecial: true}); !slices.Equal(got, g.Prompt) {
			t.Errorf("%q: got %v, want %v", g.Text, got, g.Prompt)
		}
	}
}

// TestGreedy goes along the reference's own path, so that one permitted parting says nothing about the steps behind it. It
// computes each answer in one pass, which gives the bits of one token after the other.
func TestGreedy(t *testing.T) {
	b := cpu.New(2)
	defer b.Close()
	f := open(t)
	plan, err := qwen35.Family{}.Plan(t.Context(), ggufmeta.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		exact bool
		// close is the gap below which the reference's two best tokens may change places; diff bounds their logits.
		close, diff float64
	}{
		{"exact", true, 0.02, 0.05},
		{"rounded", false, 0.3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := b.Open(t.Context(), engine.Config{
				Plan: plan, Weights: engine.FileWeights(f), Range: model.LayerRange{End: len(plan.Layers)},
				Embed: true, Head: true, Context: 512, Exact: c.exact,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			steps, partings, worst := 0, 0, 0.0
			for _, g := range goldens(t) {
				ids := append(slices.Clone(g.Prompt), g.IDs...)
				r, err := s.Forward(t.Context(), engine.Batch{Tokens: ids, Output: engine.Output{Logits: engine.AllColumns}})
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range g.IDs {
					logits := r.Logits[(len(g.Prompt)-1+i)*plan.Vocab:][:plan.Vocab]
					steps++
					if got := int32(slices.Index(logits, slices.Max(logits))); got != want {
						partings++
						if g.Gap[i] > c.close {
							t.Errorf("%q, step %d: got token %d, want %d (gap %.3f)", g.Text, i, got, want, g.Gap[i])
						}
					}
					if i < len(g.Top) {
						for _, p := range g.Top[i] {
							worst = max(worst, math.Abs(float64(logits[int(p[0])])-p[1]))
						}
					}
				}
			}
			t.Logf("%d steps, %d partings, largest difference of a top-ten logit %.3f", steps, partings, worst)
			if worst > c.diff {
				t.Errorf("a logit differs by %.3f, want at most %v", worst, c.diff)
			}
		})
	}
}
