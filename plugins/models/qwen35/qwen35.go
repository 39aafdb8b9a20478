// Package qwen35 plans the hybrid decoders of GGUF architectures qwen35 and qwen35moe (Qwen 3.5, 3.6 and 3.8): most layers
// mix tokens by a gated delta rule, some by gated attention, and each has a gated feed-forward network, in qwen35moe a mixture
// of experts beside one that all tokens share. A block at the end of a file drafts.
//
// Source: Yang et al. 2024, arXiv 2412.06464, for the delta rule.
package qwen35

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/pooled/pooled/core/model"
)

// Family is the family; its zero value is ready.
type Family struct{}

// Info implements [model.Family].
func (Family) Info() model.Info {
	return model.Info{Name: "qwen35", Architectures: []string{"qwen35", "qwen35moe"}, Contract: model.ContractVersion}
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
	for i, recurrent := range m.recurrent {
		b.Layer(func(o *model.Ops, x model.Value) model.Value {
			blk := fmt.Sprintf("blk.%d.", i)
			h := o.RMSNorm(x, blk+"attn_norm.weight", m.hidden, 1, m.eps)
			if recurrent {
				x = o.Add(x, m.delta(o, h, blk))
			} else {
				x = o.Add(x, m.attend(o, h, blk))
			}
			return m.feed(o, x, blk)
		})
	}
	var normed model.Value
	b.Head(func(o *model.Ops, x model.Value) model.Value {
		normed = o.RMSNorm(x, "output_norm.weight", m.hidden, 1, m.eps)
		return o.Linear(normed, m.head, m.vocab, m.hidden)
	})
	if m.drafts(md) {
		m.planDraft(b, md, normed)
		return b.Finish(md, nil)
	}
	return b.Finish(md, m.inDraftBlock)
}

// feed adds what the feed-forward network of a layer makes of x.
func (m *sizes) feed(o *model.Ops, x model.Value, blk string) model.Value {
	h := o.RMSNorm(x, blk+"post_attention_norm.weight", m.hidden, 1, m.eps)
	if m.mixture.Experts == 0 {
		return o.Add(x, m.network(o, h, blk, ""))
	}
	shared := o.SigmoidGate(m.network(o, h, blk, "_shexp"), o.Linear(h, blk+"ffn_gate_inp_shexp.weight", 1, m.hidden))
	return o.Add(x, o.Add(m.mixture.Network(o, h, blk, m.hidden), shared))
}

// drafts reports whether the file has one draft block of the form that is known. Others are left out, since answers do not
// depend on them.
func (m *sizes) drafts(md *model.Metadata) bool {
	blk := fmt.Sprintf("blk.%d.", len(m.recurrent))
	return m.draft == 1 && md.Has(blk+"nextn.eh_proj.weight") && md.Has(blk+"nextn.shared_head_norm.weight") && md.Has(blk+"attn_q.weight") &&
		!md.Has(blk+"nextn.embed_tokens.weight")
}

// planDraft plans the draft block, which is a layer with attention over the joined embedding and hidden state.
func (m *sizes) planDraft(b *model.Builder, md *model.Metadata, normed model.Value) {
	blk := fmt.Sprintf("blk.%d.", len(m.recurrent))
	b.Draft(normed, func(o *model.Ops, embedding, hidden model.Value) model.Value {
		e := o.RMSNorm(embedding, blk+"nextn.enorm.weight", m.hidden, 1, m.eps)
		h := o.RMSNorm(hidden, blk+"nextn.hnorm.weight", m.hidden, 1, m.eps)
		x := o.Linear(o.Concat(e, h), blk+"nextn.eh_proj.weight", m.hidden, 2*m.hidden)
		x = o.Add(x, m.attend(o, o.RMSNorm(x, blk+"attn_norm.weight", m.hidden, 1, m.eps), blk))
		return o.RMSNorm(m.feed(o, x, blk), blk+"nextn.shared_head_norm.weight", m.hidden, 1, m.eps)
	}, func(o *model.Ops, x model.Value) model.Value {
		head := m.head
		if own := blk + "nextn.shared_head_head.weight"; md.Has(own) {
			head = own
		}
		return o.Linear(x, head, m.vocab, m.hidden)
	})
}

// network is the gated feed-forward network whose tensors have the given ending.
func (m *sizes) network(o *model.Ops, h model.Value, blk, ending string) model.Value {
	gate := o.Linear(h, blk+"ffn_gate"+ending+".weight", m.feedForward, m.hidden)
	up := o.Linear(h, blk+"ffn_up"+ending+".weight", m.feedForward, m.hidden)
	return o.Linear(o.SwiGLU(gate, up), blk+"ffn_down"+ending+".weight", m.hidden, m.feedForward)
}

// attend is attention whose query comes with a gate, head by head, that the result is multiplied by.
func (m *sizes) attend(o *model.Ops, h model.Value, blk string) model.Value {
	a := m.attention
	queryGate := o.Linear(h, blk+"attn_q.weight", a.Heads*2*a.KeyDim, m.hidden)
	q := o.Slice(queryGate, a.Heads, 0, a.KeyDim)
	gate := o.Slice(queryGate, a.Heads, a.KeyDim, a.KeyDim)
	k := o.Linear(h, blk+"attn_k.weight", a.KVHeads*a.KeyDim, m.hidden)
	v := o.Linear(h, blk+"attn_v.weight", a.KVHeads*a.ValueDim, m.hidden)
	q = o.RMSNorm(q, blk+"attn_q_norm.weight", a.KeyDim, a.Heads, m.eps)
	k = o.RMSNorm(k, blk+"attn_k_norm.weight", a.KeyDim, a.KVHeads, m.eps)
	q = o.Rope(q, a.Heads, m.rope, "")
	k = o.Rope(k, a.KVHeads, m.rope, "")
	y := o.SigmoidGate(o.Attention(q, k, v, a), gate)
	return o.Linear(y, blk+"attn_output.weight", m.hidden, a.Heads*a.ValueDim)
}

// l2Eps stands in the root of the query and key normalisation of the delta rule; no file says it.
const l2Eps = 1e-6

// delta is the gated delta rule over convolved queries, keys and values.
func (m *sizes) delta(o *model.Ops, h model.Value, blk string) model.Value {
	keys, values := m.keyHeads*m.keyDim, m.valueHeads*m.valueDim
	qkv := o.Linear(h, blk+"attn_qkv.weight", 2*keys+values, m.hidden)
	qkv = o.SiLU(o.ShortConv(qkv, blk+"ssm_conv1d.weight", 2*keys+values, m.taps))
	q := o.L2Norm(o.Slice(qkv, 1, 0, keys), m.keyHeads, l2Eps, 1/math.Sqrt(float64(m.keyDim)))
	k := o.L2Norm(o.Slice(qkv, 1, keys, keys), m.keyHeads, l2Eps, 1)
	v := o.Slice(qkv, 1, 2*keys, values)
	alpha := o.Linear(h, blk+"ssm_alpha.weight", m.valueHeads, m.hidden)
	beta := o.Linear(h, blk+"ssm_beta.weight", m.valueHeads, m.hidden)
	y := o.GatedDelta(q, k, v, alpha, beta, blk+"ssm_a", blk+"ssm_dt.bias", m.keyHeads, m.valueHeads, m.keyDim, m.valueDim)
	y = o.RMSNorm(y, blk+"ssm_norm.weight", m.valueDim, m.valueHeads, m.eps)
	y = o.SwiGLU(o.Linear(h, blk+"attn_gate.weight", values, m.hidden), y)
	return o.Linear(y, blk+"ssm_out.weight", m.hidden, values)
}

// sizes is what the file says about the model.
type sizes struct {
	hidden, feedForward, vocab, context int
	eps                                 float64
	head                                string        // the tensor of the head: its own or the embedding's
	recurrent                           []bool        // for each layer of the trunk: the delta rule, not attention
	draft                               int           // blocks after the trunk
	mixture                             model.Mixture // of qwen35moe; feedForward is then that of the shared network

	attention model.AttentionShape
	rope      model.RopeAttrs

	keyHeads, valueHeads, keyDim, valueDim int // of the delta rule
	taps                                   int // of its convolution
}

func read(md *model.Metadata) (*sizes, error) {
	r := md.Read()
	m := &sizes{head: "token_embd.weight"}
	switch md.Architecture {
	case "qwen35":
		m.feedForward = r.Int("feed_forward_length", 1, model.MaxWidth)
		r.Refuse("expert_count")
	case "qwen35moe":
		m.feedForward = r.Int("expert_shared_feed_forward_length", 1, model.MaxWidth)
		m.mixture = r.Mixture()
	default:
		r.Unsupported("general.architecture", "is %q", md.Architecture)
	}
	m.hidden = r.Int("embedding_length", 1, model.MaxWidth)
	m.context = r.Int("context_length", 1, model.MaxContext)
	m.eps = r.Float("attention.layer_norm_rms_epsilon", 0, 1)
	m.draft = r.IntOr("nextn_predict_layers", 0, 0, 16)
	if factor := r.FloatOr("rope.scaling.factor", 1, 0, model.MaxRopeFactor); factor != 0 && factor != 1 {
		r.Unsupported(md.Key("rope.scaling.factor"), "is %v", factor)
	}
	r.RefuseOthers("expert_count", "nextn_predict_layers", "rope.scaling.factor")
	m.vocab = r.Rows("token_embd.weight", m.hidden)
	if md.Has("output.weight") {
		m.head = "output.weight"
	}
	m.recurrent = layerKinds(r, m.draft)

	keyDim := r.Int("attention.key_length", 1, model.MaxWidth)
	heads := r.Int("attention.head_count", 1, model.MaxWidth)
	m.attention = model.AttentionShape{
		Heads:    heads,
		KVHeads:  r.Int("attention.head_count_kv", 1, heads),
		KeyDim:   keyDim,
		ValueDim: r.IntOr("attention.value_length", keyDim, keyDim, keyDim), // the gate is as wide as the query
		Scale:    1 / math.Sqrt(float64(keyDim)),
	}
	// rope.dimension_sections share the dimensions out among the axes of an image; in text all have the same position.
	m.rope = model.RopeAttrs{
		Dims:      r.Int("rope.dimension_count", 2, keyDim),
		Base:      r.Float("rope.freq_base", model.MinRopeBase, model.MaxRopeBase),
		FreqScale: 1,
	}

	m.keyHeads = r.Int("ssm.group_count", 1, model.MaxWidth)
	m.valueHeads = r.Int("ssm.time_step_rank", 1, model.MaxWidth)
	m.keyDim = r.Int("ssm.state_size", 1, model.MaxWidth)
	m.valueDim = r.Int("ssm.inner_size", m.valueHeads, model.MaxWidth) / m.valueHeads
	m.taps = r.Int("ssm.conv_kernel", 2, 64)
	return m, r.Err()
}

// layerKinds says which layers of the trunk are recurrent. The list counts more than the interval: files whose
// pattern is irregular have both.
func layerKinds(r *model.Reader, draft int) []bool {
	blocks := r.Int("block_count", draft+1, model.MaxLayers)
	if list, ok := r.Bools("attention.recurrent_layers"); ok {
		r.WantLen("attention.recurrent_layers", len(list), blocks)
		if r.Err() != nil {
			return nil
		}
		return list[:blocks-draft]
	}
	every := r.IntOr("full_attention_interval", 4, 1, model.MaxLayers)
	kinds := make([]bool, blocks-draft)
	for i := range kinds {
		kinds[i] = (i+1)%every != 0
	}
	return kinds
}

// inDraftBlock reports whether a tensor belongs to a block after the trunk.
func (m *sizes) inDraftBlock(tensor string) bool {
	for i := range m.draft {
		if strings.HasPrefix(tensor, fmt.Sprintf("blk.%d.", len(m.recurrent)+i)) {
			return true
		}
	}
	return false
}
