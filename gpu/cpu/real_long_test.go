//go:build long

package cpu_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/plugins/models/dense"
)

// modelsEnv names the folder with the real models.
const modelsEnv = "POOLED_MODELS"

// real is a greedy path of a real model, computed elsewhere in float32 on its dequantised weights.
type real struct {
	Model  string
	SHA256 string
	Cases  []struct {
		IDs       []int32     `json:"ids"`
		Greedy    []int32     `json:"greedy"`
		Gap       []float64   `json:"gap"`
		TopIDs    [][]int32   `json:"top_ids"`
		TopLogits [][]float64 `json:"top_logits"`
		LogSumExp []float64   `json:"logsumexp"`
	}
}

// TestRealModels goes along the references' paths on the models in the folder that POOLED_MODELS names. The limits are
// those of llama.cpp on the same files: KL divergence to the float32 model at most 1.5 times its own, and at most one
// point less agreement on the likeliest token.
func TestRealModels(t *testing.T) {
	dir := os.Getenv(modelsEnv)
	if dir == "" {
		t.Skipf("SKIPPED: set %s to a folder of GGUF files", modelsEnv)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range files {
		sums[sum(t, f)] = f
	}
	b := cpu.New(2)
	defer b.Close()
	for _, c := range []struct {
		reference          string
		kl, top1, exactMax float64
	}{
		{"smollm2-135m", 1.5 * 2.3e-3, 0.984 - 0.01, 0.1},
		{"qwen2.5-coder-0.5b", 1.5 * 4.1e-4, 0.991 - 0.01, 0.1},
	} {
		r := readReal(t, c.reference)
		path, ok := sums[r.SHA256]
		if !ok {
			t.Errorf("%s: no file in %s has the SHA-256 %s", c.reference, dir, r.SHA256)
			continue
		}
		t.Run(c.reference+"/rounded", func(t *testing.T) {
			got := r.follow(t, b, path, false)
			t.Logf("%d steps: mean KL %.2e, same likeliest token %.1f %%, largest log-probability difference %.3f", got.steps, got.kl, 100*got.top1, got.worst)
			if got.kl > c.kl || got.top1 < c.top1 {
				t.Errorf("want KL at most %.2e and at least %.1f %%", c.kl, 100*c.top1)
			}
		})
		t.Run(c.reference+"/exact", func(t *testing.T) {
			got := r.follow(t, b, path, true)
			t.Logf("%d steps: mean KL %.2e, same likeliest token %.1f %%, largest log-probability difference %.4f", got.steps, got.kl, 100*got.top1, got.worst)
			if got.worst > c.exactMax || got.wrong > 0 {
				t.Errorf("want a largest difference of %v; %d tokens differ where the gap is above 0.2", c.exactMax, got.wrong)
			}
		})
	}
}

func sum(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func readReal(t *testing.T, name string) *real {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := &real{}
	if err := json.NewDecoder(z).Decode(r); err != nil {
		t.Fatal(err)
	}
	return r
}

type agreement struct {
	steps, wrong    int
	kl, top1, worst float64
}

// follow computes the reference's paths and compares the distributions: the twenty likeliest tokens and the rest.
func (r *real) follow(t *testing.T, b engine.Backend, path string, exact bool) (a agreement) {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plan, err := dense.Family{}.Plan(t.Context(), ggufmeta.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Open(t.Context(), engine.Config{
		Plan: plan, Weights: engine.FileWeights(f), Range: model.LayerRange{End: len(plan.Layers)},
		Embed: true, Head: true, Context: 1024, Exact: exact,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	same := 0
	for _, c := range r.Cases {
		prefix := len(c.IDs) - 1
		if _, err := s.Forward(t.Context(), engine.Batch{Tokens: c.IDs[:prefix]}); err != nil {
			t.Fatal(err)
		}
		ids := append(slices.Clone(c.IDs[prefix:]), c.Greedy[:len(c.Greedy)-1]...)
		res, err := s.Forward(t.Context(), engine.Batch{Pos: prefix, Tokens: ids, Output: engine.Output{Logits: engine.AllColumns}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Greedy {
			logits := res.Logits[i*plan.Vocab:][:plan.Vocab]
			a.steps++
			if got := int32(slices.Index(logits, slices.Max(logits))); got == want {
				same++
			} else if c.Gap[i] > 0.2 {
				a.wrong++
			}
			norm := logSumExp(logits)
			pRest, qRest := 1.0, 1.0
			for j, id := range c.TopIDs[i] {
				lp, lq := c.TopLogits[i][j]-c.LogSumExp[i], float64(logits[id])-norm
				p, q := math.Exp(lp), math.Exp(lq)
				a.kl += p * (lp - lq)
				pRest, qRest = pRest-p, qRest-q
				a.worst = max(a.worst, math.Abs(lp-lq))
			}
			if pRest > 1e-6 && qRest > 1e-9 {
				a.kl += pRest * math.Log(pRest/qRest)
			}
		}
	}
	a.kl /= float64(a.steps)
	a.top1 = float64(same) / float64(a.steps)
	return a
}

func logSumExp(x []float32) float64 {
	most := float64(slices.Max(x))
	total := 0.0
	for _, v := range x {
		total += math.Exp(float64(v) - most)
	}
	return most + math.Log(total)
}
