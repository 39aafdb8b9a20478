package enginetest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/gguf"
)

// ReferenceEnv names a folder of further reference models, X.gguf with X.json and X.bin, to test besides the embedded
// ones.
const ReferenceEnv = "POOLED_REFERENCE_TINY"

//go:embed testdata/*.gz
var testdata embed.FS

// Golden is a small random model with logits, hidden states and greedy continuations that were computed elsewhere, in
// float32 on its dequantised weights. Source: transformers 5.17; testdata/make.py says how the files were copied.
type Golden struct {
	Name    string
	Arch    string
	Prompts []struct {
		Name   string
		IDs    []int32
		Logits string // "all" or "last": which positions Array("logits/"+Name) holds
	}
	Greedy []struct {
		Prompt string
		IDs    []int32
		Gap    []float64 // first minus second logit, at each step
	}
	// Hidden says for which prompt there are hidden states: Array(Tensor) is [layers+1, tokens, hidden], what enters
	// layer 0 and what leaves each layer.
	Hidden *struct{ Prompt, Tensor string }
	// State holds the recurrent state of one layer after a prompt.
	State *struct {
		Prompt      string
		Layer       int
		Delta, Conv string
	}
	// Draft are the tokens that the draft block, chained, guesses behind a prompt and the first token of its answer.
	Draft []struct {
		Prompt string
		First  int32     `json:"first_token"`
		IDs    []int32   `json:"draft_ids"`
		Gap    []float64 // first minus second logit, at each step
		Rows   string    // "row0" where the first token of the prompt takes part, too; empty in what make.py copied
	}
	Tensors map[string]struct {
		Offset int
		Shape  []int
	}
	Tokenize []struct {
		Text string
		IDs  []int32
	}
	arrays []byte
	model  []byte
}

// Goldens returns the embedded models, and those of the folder that [ReferenceEnv] names.
func Goldens(t testing.TB) []*Golden {
	t.Helper()
	var all []*Golden
	entries, err := testdata.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json.gz"); ok {
			all = append(all, golden(t, name, func(ext string) []byte { return unzip(t, "testdata/"+name+ext+".gz") }))
		}
	}
	if dir := os.Getenv(ReferenceEnv); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s=%s: no reference models there", ReferenceEnv, dir)
		}
		for _, f := range files {
			name := strings.TrimSuffix(f, ".json")
			all = append(all, golden(t, name, func(ext string) []byte {
				b, err := os.ReadFile(name + ext)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}))
		}
	}
	return all
}

func golden(t testing.TB, name string, read func(ext string) []byte) *Golden {
	t.Helper()
	g := &Golden{}
	if err := json.Unmarshal(read(".json"), g); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	g.arrays, g.model = read(".bin"), read(".gguf")
	return g
}

func unzip(t testing.TB, name string) []byte {
	t.Helper()
	b, err := testdata.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// File opens the model.
func (g *Golden) File(t testing.TB) *gguf.File {
	t.Helper()
	f, err := gguf.ReadBytes(g.model)
	if err != nil {
		t.Fatalf("%s: %v", g.Name, err)
	}
	return f
}

// Array returns a named array and its shape.
func (g *Golden) Array(t testing.TB, name string) ([]float32, []int) {
	t.Helper()
	a, ok := g.Tensors[name]
	if !ok {
		t.Fatalf("%s has no array %s", g.Name, name)
	}
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(g.arrays[a.Offset+4*i:]))
	}
	return out, a.Shape
}

// Prompt returns the ids of a named prompt.
func (g *Golden) Prompt(name string) []int32 {
	for _, p := range g.Prompts {
		if p.Name == name {
			return p.IDs
		}
	}
	panic(fmt.Sprintf("%s has no prompt %s", g.Name, name))
}
