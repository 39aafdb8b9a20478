package dense_test

import (
	"fmt"
	"testing"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/plugins/models/dense"
)

// published are the sizes of models that were published, and of what may come after them.
var published = []struct {
	name, architecture                                  string
	layers, hidden, feedForward, heads, kv, head, vocab int
	context                                             int
	base, eps                                           float64
	window                                              int
}{
	{"Llama 2 7B", "llama", 32, 4096, 11008, 32, 32, 128, 32000, 4096, 1e4, 1e-5, 0},
	{"Llama 3 8B, 1M positions", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 1048576, 3580165449, 1e-5, 0},
	{"Llama 3 8B, 4M positions", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 4194304, 45768433869, 1e-5, 0},
	{"Llama 3.1 405B", "llama", 126, 16384, 53248, 128, 8, 128, 128256, 131072, 5e5, 1e-5, 0},
	{"Llama 3.1 405B, as far as Llama 4 goes", "llama", 126, 16384, 53248, 128, 8, 128, 202048, 10485760, 1e12, 1e-5, 0},
	{"SmolLM2 135M", "llama", 30, 576, 1536, 9, 3, 64, 49152, 8192, 1e5, 1e-5, 0},
	{"Mistral 7B v0.1", "llama", 32, 4096, 14336, 32, 8, 128, 32000, 32768, 1e4, 1e-5, 4096},
	{"Mistral Nemo", "llama", 40, 5120, 14336, 32, 8, 128, 131072, 1024000, 1e6, 1e-5, 0},
	{"Mistral Large 2", "llama", 88, 12288, 28672, 96, 8, 128, 32768, 131072, 1e6, 1e-5, 0},
	{"Qwen2.5 7B, 1M positions", "qwen2", 28, 3584, 18944, 28, 4, 128, 152064, 1010000, 1e7, 1e-5, 0},
	{"Qwen2.5 72B", "qwen2", 80, 8192, 29568, 64, 8, 128, 152064, 131072, 1e6, 1e-6, 0},
	{"Qwen3 0.6B", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, 1e6, 1e-6, 0},
	{"Qwen3 32B", "qwen3", 64, 5120, 25600, 64, 8, 128, 151936, 40960, 1e6, 1e-6, 0},
	{"a window without end", "qwen2", 2, 64, 64, 2, 2, 32, 100, 4096, 1e6, 1e-6, 1<<31 - 1},
	{"the largest base of a float32", "llama", 2, 64, 64, 2, 2, 32, 100, 4096, 3.4e38, 1e-5, 0},
}

// TestPublished plans them: no bound stands in the way of a real file.
func TestPublished(t *testing.T) {
	for _, c := range published {
		key := func(k string) string { return c.architecture + "." + k }
		md := &model.Metadata{Architecture: c.architecture, Tensors: map[string]model.TensorInfo{}, Values: map[string]any{
			"general.architecture": c.architecture, key("block_count"): int64(c.layers), key("embedding_length"): int64(c.hidden),
			key("feed_forward_length"): int64(c.feedForward), key("context_length"): int64(c.context), key("attention.head_count"): int64(c.heads),
			key("attention.head_count_kv"): int64(c.kv), key("attention.key_length"): int64(c.head), key("attention.value_length"): int64(c.head),
			key("attention.layer_norm_rms_epsilon"): c.eps, key("rope.freq_base"): c.base, key("attention.sliding_window"): int64(c.window),
		}}
		add := func(name string, shape ...int) { md.Tensors[name] = model.TensorInfo{Type: "Q4_0", Shape: shape} }
		add("token_embd.weight", c.vocab, c.hidden)
		add("output.weight", c.vocab, c.hidden)
		add("output_norm.weight", c.hidden)
		for i := range c.layers {
			blk := fmt.Sprintf("blk.%d.", i)
			for name, out := range map[string]int{"q": c.heads * c.head, "k": c.kv * c.head, "v": c.kv * c.head} {
				add(blk+"attn_"+name+".weight", out, c.hidden)
				if c.architecture == "qwen2" {
					add(blk+"attn_"+name+".bias", out)
				}
			}
			if c.architecture == "qwen3" {
				add(blk+"attn_q_norm.weight", c.head)
				add(blk+"attn_k_norm.weight", c.head)
			}
			add(blk+"attn_output.weight", c.hidden, c.heads*c.head)
			add(blk+"attn_norm.weight", c.hidden)
			add(blk+"ffn_norm.weight", c.hidden)
			add(blk+"ffn_gate.weight", c.feedForward, c.hidden)
			add(blk+"ffn_up.weight", c.feedForward, c.hidden)
			add(blk+"ffn_down.weight", c.hidden, c.feedForward)
		}
		p, err := dense.Family{}.Plan(t.Context(), md)
		if err == nil {
			_, err = p.Check()
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRopeFactor reads how far positions are drawn out, in every way in which files say so.
func TestRopeFactor(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[string]any
		want float64 // what positions are multiplied by
	}{
		{"nothing", nil, 1},
		{"none", map[string]any{"llama.rope.scaling.type": "none", "llama.rope.scaling.factor": 4.0}, 1},
		{"linear", map[string]any{"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 64.0}, 1.0 / 64},
		{"a factor without a type", map[string]any{"llama.rope.scaling.factor": 4.0}, 0.25},
		{"a factor of 0", map[string]any{"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 0.0}, 1},
		{"of older files", map[string]any{"llama.rope.scale_linear": 2.0}, 0.5},
		{"of older files, 1", map[string]any{"llama.rope.scale_linear": 1.0}, 1},
	} {
		p, err := dense.Family{}.Plan(t.Context(), with(fixture(t, "llama-untied"), c.set))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := find(t, p.Layers[0].Block, model.Rope).Attrs.Rope.FreqScale; got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
