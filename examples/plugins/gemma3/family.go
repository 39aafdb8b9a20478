package main

import (
	"context"
	"fmt"
	"math"

	"github.com/pooled/pooled/core/model"
)

// Family plans the text decoders of GGUF architecture gemma3.
//
// Source: Gemma Team 2025, arXiv 2503.19786.
type Family struct{}

// Info implements [model.Family].
func (Family) Info() model.Info {
	return model.Info{Name: "gemma3", Architectures: []string{"gemma3"}, Contract: model.ContractVersion}
}

// Plan implements [model.Family].
func (f Family) Plan(_ context.Context, md *model.Metadata) (*model.Plan, error) {
	m, err := read(md)
	if err != nil {
		return nil, err
	}
	b := model.NewBuilder(f.Info().Name, md.Architecture, m.hidden, m.vocab, m.context)
	b.Embed(func(o *model.Ops, tokens model.Value) model.Value {
		return o.Embed(tokens, "token_embd.weight", math.Sqrt(float64(m.hidden)))
	})
	for i := range m.layers {
		b.Layer(func(o *model.Ops, x model.Value) model.Value { return m.layer(o, x, i) })
	}
	b.Head(func(o *model.Ops, x model.Value) model.Value {
		x = o.RMSNorm(x, "output_norm.weight", m.hidden, 1, m.eps)
		return o.Linear(x, m.head, m.vocab, m.hidden)
	})
	return b.Finish(md, nil)
}

// layer is x += norm(attention(norm(x))); x += norm(feedForward(norm(x))). Its norm weights are stored as 1 + w.
func (m *sizes) layer(o *model.Ops, x model.Value, i int) model.Value {
	blk := fmt.Sprintf("blk.%d.", i)
	a, rope := m.local, m.localRope
	if (i+1)%m.pattern == 0 {
		a, rope = m.global, m.globalRope
	}

	h := o.RMSNorm(x, blk+"attn_norm.weight", m.hidden, 1, m.eps)
	q := o.Linear(h, blk+"attn_q.weight", a.Heads*a.KeyDim, m.hidden)
	k := o.Linear(h, blk+"attn_k.weight", a.KVHeads*a.KeyDim, m.hidden)
	v := o.Linear(h, blk+"attn_v.weight", a.KVHeads*a.ValueDim, m.hidden)
	q = o.RMSNorm(q, blk+"attn_q_norm.weight", a.KeyDim, a.Heads, m.eps)
	k = o.RMSNorm(k, blk+"attn_k_norm.weight", a.KeyDim, a.KVHeads, m.eps)
	q = o.Rope(q, a.Heads, rope, "")
	k = o.Rope(k, a.KVHeads, rope, "")
	h = o.Linear(o.Attention(q, k, v, a), blk+"attn_output.weight", m.hidden, a.Heads*a.ValueDim)
	x = o.Add(x, o.RMSNorm(h, blk+"post_attention_norm.weight", m.hidden, 1, m.eps))

	h = o.RMSNorm(x, blk+"ffn_norm.weight", m.hidden, 1, m.eps)
	gate := o.Linear(h, blk+"ffn_gate.weight", m.feedForward, m.hidden)
	up := o.Linear(h, blk+"ffn_up.weight", m.feedForward, m.hidden)
	h = o.Linear(o.GeGLU(gate, up), blk+"ffn_down.weight", m.hidden, m.feedForward)
	return o.Add(x, o.RMSNorm(h, blk+"post_ffw_norm.weight", m.hidden, 1, m.eps))
}

// sizes is what the file says about the model.
type sizes struct {
	layers, hidden, feedForward, vocab, context int
	eps                                         float64
	head                                        string // the tensor of the head: its own or the embedding's
	pattern                                     int    // every pattern-th layer attends to everything, the others to a window

	local, global         model.AttentionShape
	localRope, globalRope model.RopeAttrs
}

func read(md *model.Metadata) (*sizes, error) {
	r := md.Read()
	m := &sizes{
		layers:      r.Int("block_count", 1, model.MaxLayers),
		hidden:      r.Int("embedding_length", 1, model.MaxWidth),
		feedForward: r.Int("feed_forward_length", 1, model.MaxWidth),
		context:     r.IntOr("context_length", 131072, 1, model.MaxContext),
		eps:         r.Float("attention.layer_norm_rms_epsilon", 0, 1),
		head:        "token_embd.weight",
		pattern:     r.IntOr("attention.sliding_window_pattern", 6, 1, model.MaxLayers),
	}
	m.vocab = r.Rows("token_embd.weight", m.hidden)
	if md.Has("output.weight") {
		m.head = "output.weight"
	}

	heads := r.Int("attention.head_count", 1, m.hidden)
	keyDim := r.IntOr("attention.key_length", 256, 2, model.MaxWidth)
	m.global = model.AttentionShape{
		Heads:    heads,
		KVHeads:  r.IntOr("attention.head_count_kv", heads, 1, heads),
		KeyDim:   keyDim,
		ValueDim: r.IntOr("attention.value_length", 256, 1, model.MaxWidth),
		Scale:    1 / math.Sqrt(float64(keyDim)),
	}
	if m.layers == 62 {
		// The 27B model alone is scaled by its hidden size, and no key of the file says so.
		m.global.Scale = 1 / math.Sqrt(float64(m.hidden)/float64(heads))
	}
	m.local = m.global
	m.local.Window = r.Int("attention.sliding_window", 1, model.MaxContext)

	dims := r.IntOr("rope.dimension_count", keyDim, 2, keyDim)
	m.localRope = model.RopeAttrs{Dims: dims, Base: r.FloatOr("rope.freq_base_swa", 10_000, model.MinRopeBase, model.MaxRopeBase), FreqScale: 1}
	m.globalRope = model.RopeAttrs{Dims: dims, Base: r.FloatOr("rope.freq_base", 1_000_000, model.MinRopeBase, model.MaxRopeBase), FreqScale: 1}
	switch kind := r.String("rope.scaling.type", ""); kind {
	case "none":
	case "": // a factor without a kind is linear, and 0 is none
		if f := r.FloatOr("rope.scaling.factor", 1, 0, model.MaxRopeFactor); f != 0 {
			m.globalRope.FreqScale = 1 / max(f, model.MinRopeFactor)
		}
	case "linear":
		m.globalRope.FreqScale = 1 / r.Float("rope.scaling.factor", model.MinRopeFactor, model.MaxRopeFactor)
	default:
		r.Unsupported(md.Key("rope.scaling.type"), "is %q", kind)
	}
	r.RefuseOthers("attention.sliding_window", "attention.sliding_window_pattern", "rope.scaling.type", "rope.scaling.factor")
	return m, r.Err()
}
