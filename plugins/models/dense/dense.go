// Package dense plans decoders whose layers are all alike, attention and a gated feed-forward network: the GGUF
// architectures llama (Llama 2 and 3, SmolLM2, Mistral), qwen2 and qwen3, and qwen3moe, whose network is a mixture of experts.
//
// Source: Touvron et al. 2023, arXiv 2302.13971; Qwen Team 2024, arXiv 2407.10671; Qwen Team 2025, arXiv 2505.09388.
package dense

import (
	"context"
	"fmt"
	"math"

	"github.com/pooled/pooled/core/model"
)

// Family is the family; its zero value is ready.
type Family struct{}

// Info implements [model.Family].
func (Family) Info() model.Info {
	return model.Info{Name: "dense", Architectures: []string{"llama", "qwen2", "qwen3", "qwen3moe"}, Contract: model.ContractVersion}
}

// Plan implements [model.Family].
func (f Family) Plan(_ context.Context, md *model.Metadata) (*model.Plan, error) {
	m, err := read(md)
	if err != nil {
		return nil, err
	}
	b := model.NewBuilder(f.Info().Name, md.Architecture, m.hidden, m.vocab, m.context)
	b.Embed(func(o *model.Ops, tokens model.Value) model.Value {
		return o.Embed(tokens, "token_embd.weight", 1)
	})
	for i := range m.layers {
		b.Layer(func(o *model.Ops, x model.Value) model.Value { return m.layer(o, x, fmt.Sprintf("blk.%d.", i)) })
	}
	b.Head(func(o *model.Ops, x model.Value) model.Value {
		x = o.RMSNorm(x, "output_norm.weight", m.hidden, 1, m.eps)
		return o.Linear(x, m.head, m.vocab, m.hidden)
	})
	return b.Finish(md, nil)
}

// layer is x += attention(norm(x)); x += feedForward(norm(x)).
func (m *sizes) layer(o *model.Ops, x model.Value, blk string) model.Value {
	h := o.RMSNorm(x, blk+"attn_norm.weight", m.hidden, 1, m.eps)
	q := m.linear(o, h, blk+"attn_q", m.attention.Heads*m.attention.KeyDim, m.hidden, m.qkvBias)
	k := m.linear(o, h, blk+"attn_k", m.attention.KVHeads*m.attention.KeyDim, m.hidden, m.qkvBias)
	v := m.linear(o, h, blk+"attn_v", m.attention.KVHeads*m.attention.ValueDim, m.hidden, m.qkvBias)
	if m.qkNorm {
		q = o.RMSNorm(q, blk+"attn_q_norm.weight", m.attention.KeyDim, m.attention.Heads, m.eps)
		k = o.RMSNorm(k, blk+"attn_k_norm.weight", m.attention.KeyDim, m.attention.KVHeads, m.eps)
	}
	q = o.Rope(q, m.attention.Heads, m.rope, m.ropeFactors)
	k = o.Rope(k, m.attention.KVHeads, m.rope, m.ropeFactors)
	a := o.Attention(q, k, v, m.attention)
	x = o.Add(x, m.linear(o, a, blk+"attn_output", m.hidden, m.attention.Heads*m.attention.ValueDim, false))

	h = o.RMSNorm(x, blk+"ffn_norm.weight", m.hidden, 1, m.eps)
	if m.mixture.Experts > 0 {
		return o.Add(x, m.mixture.Network(o, h, blk, m.hidden))
	}
	gate := m.linear(o, h, blk+"ffn_gate", m.feedForward, m.hidden, false)
	up := m.linear(o, h, blk+"ffn_up", m.feedForward, m.hidden, false)
	return o.Add(x, m.linear(o, o.SwiGLU(gate, up), blk+"ffn_down", m.hidden, m.feedForward, false))
}

// linear adds a bias where the architecture or the file has one.
func (m *sizes) linear(o *model.Ops, x model.Value, name string, out, in int, bias bool) model.Value {
	if bias || m.md.Has(name+".bias") {
		return o.LinearBias(x, name+".weight", name+".bias", out, in)
	}
	return o.Linear(x, name+".weight", out, in)
}

// sizes is what the file says about the model.
type sizes struct {
	md                                          *model.Metadata
	layers, hidden, feedForward, vocab, context int
	eps                                         float64
	attention                                   model.AttentionShape
	rope                                        model.RopeAttrs
	ropeFactors                                 string // the tensor of per-pair factors (Llama 3), or empty
	head                                        string // the tensor of the head: its own or the embedding's
	qkvBias, qkNorm                             bool
	mixture                                     model.Mixture // in place of feedForward, where there are experts
}

func read(md *model.Metadata) (*sizes, error) {
	r := md.Read()
	m := &sizes{
		md:      md,
		layers:  r.Int("block_count", 1, model.MaxLayers),
		hidden:  r.Int("embedding_length", 1, model.MaxWidth),
		context: r.Int("context_length", 1, model.MaxContext),
		eps:     r.Float("attention.layer_norm_rms_epsilon", 0, 1),
		head:    "token_embd.weight",
	}
	m.vocab = r.Rows("token_embd.weight", m.hidden)
	if md.Has("output.weight") {
		m.head = "output.weight"
	}

	heads := r.Int("attention.head_count", 1, m.hidden)
	keyDim := r.IntOr("attention.key_length", max(1, m.hidden/heads), 1, model.MaxWidth)
	m.attention = model.AttentionShape{
		Heads:    heads,
		KVHeads:  r.IntOr("attention.head_count_kv", heads, 1, heads),
		KeyDim:   keyDim,
		ValueDim: r.IntOr("attention.value_length", max(1, m.hidden/heads), 1, model.MaxWidth),
		Window:   min(r.IntOr("attention.sliding_window", 0, 0, math.MaxInt32), model.MaxContext),
		Scale:    1 / math.Sqrt(float64(keyDim)),
	}

	m.rope = model.RopeAttrs{
		Dims:      r.IntOr("rope.dimension_count", keyDim, 2, keyDim),
		Base:      r.FloatOr("rope.freq_base", 10000, model.MinRopeBase, model.MaxRopeBase),
		FreqScale: 1 / ropeFactor(r, md),
	}
	if md.Has("rope_freqs.weight") {
		m.ropeFactors = "rope_freqs.weight"
	}

	switch md.Architecture {
	case "llama":
		// Its converters reorder the rows of q and k so that neighbours turn together.
		m.rope.Interleaved = true
	case "qwen2":
		m.qkvBias = true
	case "qwen3":
		m.qkNorm = true
	case "qwen3moe":
		m.qkNorm = true
		m.mixture = r.Mixture()
	default:
		r.Unsupported("general.architecture", "is %q", md.Architecture)
	}
	if m.mixture.Experts == 0 {
		m.feedForward = r.Int("feed_forward_length", 1, model.MaxWidth)
		r.Refuse("expert_count")
	}
	r.RefuseOthers("expert_count", "attention.sliding_window", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear")
	return m, r.Err()
}

// ropeFactor returns what positions are divided by. A factor without a type is linear, older files call it scale_linear, and 0
// is none, all as the reference has it.
func ropeFactor(r *model.Reader, md *model.Metadata) float64 {
	kind := r.String("rope.scaling.type", "")
	if kind == "none" {
		return 1
	}
	if kind != "" && kind != "linear" {
		r.Unsupported(md.Key("rope.scaling.type"), "is %q", kind)
		return 1
	}
	for _, key := range []string{"rope.scaling.factor", "rope.scale_linear"} {
		switch v, ok := md.Values[md.Key(key)]; {
		case !ok:
		case v == 0.0 || v == int64(0):
			return 1
		default:
			return r.Float(key, model.MinRopeFactor, model.MaxRopeFactor)
		}
	}
	if kind == "linear" {
		return r.Float("rope.scaling.factor", model.MinRopeFactor, model.MaxRopeFactor) // which is missing
	}
	return 1
}
