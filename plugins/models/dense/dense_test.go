package dense_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/modeltest"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/plugins/models/dense"
)

// fixture reads the metadata of a tiny model.
func fixture(t *testing.T, name string) *model.Metadata {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	md, err := modeltest.ReadMetadata(f)
	if err != nil {
		t.Fatal(err)
	}
	return md
}

// TestMain lets the test binary stand for Pooled, which serves the family when it is started again.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "plugin" {
		serve.Family(dense.Family{})
		return
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	files, err := modeltest.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no fixtures")
	}
	catalog := plugin.NewCatalog("", model.Families{dense.Family{}}, plugin.Options{})
	defer catalog.Close()
	remote, err := catalog.Family(t.Context(), "llama")
	if err != nil {
		t.Fatal(err)
	}
	for how, f := range map[string]model.Family{"in process": dense.Family{}, "through gRPC": remote} {
		for _, r := range modeltest.Run(t.Context(), f, files) {
			t.Run(how+" "+r.Name, func(t *testing.T) {
				if r.Err != nil {
					t.Error(r.Err)
				}
			})
		}
	}
	for _, f := range files {
		direct, err := dense.Family{}.Plan(t.Context(), f.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		wired, err := remote.Plan(t.Context(), f.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(direct, wired) {
			t.Errorf("%s: the plan that went through gRPC is another one", f.Name)
		}
	}
}

// find returns the first operation of a kind in the block.
func find(t *testing.T, b model.Block, k model.Kind) model.Op {
	t.Helper()
	for _, op := range b.Ops {
		if op.Kind == k {
			return op
		}
	}
	t.Fatalf("no operation %v among %v", k, kinds(b))
	return model.Op{}
}

func kinds(b model.Block) string {
	var names []string
	for _, op := range b.Ops {
		names = append(names, op.Kind.String())
	}
	return strings.Join(names, " ")
}

func TestLayers(t *testing.T) {
	const tail = " Attention Linear Add RMSNorm Linear Linear SwiGLU Linear Add"
	for _, c := range []struct {
		file, ops string
		layers    int
		qWeights  int // weights of the query projection: 2 with a bias
		head      string
		rope      model.RopeAttrs
		factors   bool
		kv        model.KVState
		heads     int
	}{
		{
			file: "llama-untied", ops: "RMSNorm Linear Linear Linear Rope Rope" + tail, layers: 4, qWeights: 1, head: "output.weight",
			rope: model.RopeAttrs{Dims: 32, Base: 1e4, FreqScale: 1, Interleaved: true}, kv: model.KVState{Heads: 1, KeyDim: 32, ValueDim: 32}, heads: 4,
		},
		{
			file: "llama-rope3", ops: "RMSNorm Linear Linear Linear Rope Rope" + tail, layers: 6, qWeights: 1, head: "token_embd.weight", factors: true,
			rope: model.RopeAttrs{Dims: 32, Base: 1e4, FreqScale: 1, Interleaved: true}, kv: model.KVState{Heads: 4, KeyDim: 32, ValueDim: 32}, heads: 4,
		},
		{
			file: "qwen2-tied", ops: "RMSNorm Linear Linear Linear Rope Rope" + tail, layers: 5, qWeights: 2, head: "token_embd.weight",
			rope: model.RopeAttrs{Dims: 16, Base: 1e6, FreqScale: 1}, kv: model.KVState{Heads: 2, KeyDim: 16, ValueDim: 16}, heads: 4,
		},
		{
			file: "qwen3-untied", ops: "RMSNorm Linear Linear Linear RMSNorm RMSNorm Rope Rope" + tail, layers: 6, qWeights: 1, head: "output.weight",
			rope: model.RopeAttrs{Dims: 32, Base: 1e6, FreqScale: 1}, kv: model.KVState{Heads: 2, KeyDim: 32, ValueDim: 32}, heads: 8,
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			p, err := dense.Family{}.Plan(t.Context(), fixture(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Layers) != c.layers {
				t.Errorf("%d layers, want %d", len(p.Layers), c.layers)
			}
			l := p.Layers[len(p.Layers)-1]
			if got := kinds(l.Block); got != c.ops {
				t.Errorf("operations\ngot  %s\nwant %s", got, c.ops)
			}
			if got := len(find(t, l.Block, model.Linear).Weights); got != c.qWeights {
				t.Errorf("the query projection has %d weights, want %d", got, c.qWeights)
			}
			if got := p.Tensors[p.Head.Ops[1].Weights[0]].Name; got != c.head {
				t.Errorf("head %s, want %s", got, c.head)
			}
			rope := find(t, l.Block, model.Rope)
			if rope.Attrs.Rope != c.rope || (len(rope.Weights) == 1) != c.factors {
				t.Errorf("rope %+v with %d weights, want %+v, factors %v", rope.Attrs.Rope, len(rope.Weights), c.rope, c.factors)
			}
			if l.State.KV == nil || *l.State.KV != c.kv || l.State.Recurrent() {
				t.Errorf("state %+v, want a KV cache %+v", l.State, c.kv)
			}
			if a := find(t, l.Block, model.Attention).Attrs; a.Heads != c.heads || a.Window != 0 {
				t.Errorf("attention %+v, want %d heads and no window", a, c.heads)
			}
		})
	}
}

// with returns the metadata with keys set; nil takes one away.
func with(md *model.Metadata, set map[string]any) *model.Metadata {
	md.Values = maps.Clone(md.Values)
	for k, v := range set {
		if v == nil {
			delete(md.Values, k)
		} else {
			md.Values[k] = v
		}
	}
	return md
}

func TestOptions(t *testing.T) {
	p, err := dense.Family{}.Plan(t.Context(), with(fixture(t, "llama-untied"), map[string]any{
		"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0, "llama.attention.sliding_window": int64(64),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, p.Layers[0].Block, model.Rope).Attrs.Rope.FreqScale; got != 0.25 {
		t.Errorf("frequency scale %v, want 0.25", got)
	}
	if got := find(t, p.Layers[0].Block, model.Attention).Attrs.Window; got != 64 {
		t.Errorf("window %v, want 64", got)
	}

	md := fixture(t, "llama-untied")
	md.Tensors["blk.1.ffn_up.bias"] = model.TensorInfo{Type: "F32", Shape: []int{192}}
	p, err = dense.Family{}.Plan(t.Context(), md)
	if err != nil {
		t.Fatal(err)
	}
	biased := 0
	for _, l := range p.Layers {
		for _, op := range l.Ops {
			if op.Kind == model.Linear && len(op.Weights) == 2 {
				biased++
			}
		}
	}
	if biased != 1 {
		t.Errorf("%d biased products, want 1", biased)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file  string
		set         map[string]any
		add, drop   string // a tensor
		want        string // in the error
		unsupported bool
	}{
		{name: "experts", file: "llama-untied", set: map[string]any{"llama.expert_count": int64(8)}, want: "llama.expert_count: is 8", unsupported: true},
		{name: "yarn", file: "qwen2-tied", set: map[string]any{"qwen2.rope.scaling.type": "yarn"}, want: `qwen2.rope.scaling.type: is "yarn"`, unsupported: true},
		{name: "soft cap", file: "llama-tied", set: map[string]any{"llama.attn_logit_softcapping": 50.0}, want: "attn_logit_softcapping", unsupported: true},
		{name: "window pattern", file: "llama-tied", set: map[string]any{"llama.attention.sliding_window_pattern": []bool{true}}, want: "sliding_window_pattern", unsupported: true},
		{name: "embedding model", file: "qwen3-tied", set: map[string]any{"qwen3.pooling_type": int64(3)}, want: "pooling_type", unsupported: true},
		{name: "other architecture", file: "llama-tied", set: map[string]any{"general.architecture": "gpt2"}, want: "gpt2"},
		{name: "unknown tensor", file: "llama-tied", add: "blk.0.attn_q.scale", want: "blk.0.attn_q.scale: family dense has no use", unsupported: true},
		{name: "missing key", file: "llama-tied", set: map[string]any{"llama.block_count": nil}, want: "llama.block_count: is missing"},
		{name: "text for a number", file: "llama-tied", set: map[string]any{"llama.block_count": "six"}, want: "llama.block_count: is string"},
		{name: "too many layers", file: "llama-tied", set: map[string]any{"llama.block_count": int64(1 << 40)}, want: "llama.block_count: is 1099511627776"},
		{name: "linear without factor", file: "llama-tied", set: map[string]any{"llama.rope.scaling.type": "linear"}, want: "llama.rope.scaling.factor: is missing"},
		{name: "missing bias", file: "qwen2-tied", drop: "blk.4.attn_v.bias", want: "blk.4.attn_v.bias"},
		{name: "missing norm", file: "qwen3-tied", drop: "blk.1.attn_k_norm.weight", want: "blk.1.attn_k_norm.weight"},
		{name: "missing embedding", file: "qwen3-tied", drop: "token_embd.weight", want: "token_embd.weight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			md := with(fixture(t, c.file), c.set)
			md.Architecture = md.Values["general.architecture"].(string)
			if c.add != "" {
				md.Tensors[c.add] = model.TensorInfo{Type: "F32", Shape: []int{1}}
			}
			delete(md.Tensors, c.drop)
			_, err := dense.Family{}.Plan(context.Background(), md)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
			if c.unsupported != errors.Is(err, model.ErrUnsupported) {
				t.Errorf("%v: wraps ErrUnsupported: %v, want %v", err, !c.unsupported, c.unsupported)
			}
		})
	}
}
