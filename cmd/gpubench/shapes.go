package main

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// shape is a model of Qwen 3.5 as its file says it, all but the weights.
type shape struct {
	hidden, layers, ffn             int
	heads, kvHeads                  int
	keyHeads, valueHeads            int
	experts, used, inner            int // 0 without experts; ffn is then that of the shared one
	vocab, headDim, deltaDim, turns int
}

// The shapes of the published models, by name.
var shapes = map[string]shape{
	"27b": {
		hidden: 5120, layers: 64, ffn: 17408, heads: 24, kvHeads: 4, keyHeads: 16, valueHeads: 48,
		vocab: 248320, headDim: 256, deltaDim: 128, turns: 64,
	},
	"35b-a3b": {
		hidden: 2048, layers: 40, ffn: 512, heads: 16, kvHeads: 2, keyHeads: 16, valueHeads: 32, experts: 256, used: 8, inner: 512,
		vocab: 248320, headDim: 256, deltaDim: 128, turns: 64,
	},
}

// plan is how the family plans the shape, with a draft block.
func (s shape) plan(positions int) (*model.Plan, error) {
	arch := "qwen35"
	if s.experts > 0 {
		arch = "qwen35moe"
	}
	md := &model.Metadata{Architecture: arch, Values: map[string]any{}, Tensors: map[string]model.TensorInfo{}}
	for key, v := range map[string]any{
		"block_count": s.layers + 1, "nextn_predict_layers": 1, "embedding_length": s.hidden, "context_length": positions,
		"attention.layer_norm_rms_epsilon": 1e-6, "attention.key_length": s.headDim, "attention.value_length": s.headDim,
		"attention.head_count": s.heads, "attention.head_count_kv": s.kvHeads, "rope.dimension_count": s.turns, "rope.freq_base": 1e7,
		"ssm.group_count": s.keyHeads, "ssm.time_step_rank": s.valueHeads, "ssm.state_size": s.deltaDim,
		"ssm.inner_size": s.valueHeads * s.deltaDim, "ssm.conv_kernel": 4,
	} {
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		md.Values[md.Key(key)] = v
	}
	tensor := func(name string, shape ...int) { md.Tensors[name] = model.TensorInfo{Type: "Q4_0", Shape: shape} }
	tensor("token_embd.weight", s.vocab, s.hidden)
	tensor("output.weight", s.vocab, s.hidden)
	tensor("output_norm.weight", s.hidden)
	for i := range s.layers + 1 {
		blk := fmt.Sprintf("blk.%d.", i)
		tensor(blk+"attn_norm.weight", s.hidden)
		tensor(blk+"post_attention_norm.weight", s.hidden)
		if attends := (i+1)%4 == 0 || i == s.layers; attends {
			tensor(blk+"attn_q.weight", 2*s.heads*s.headDim, s.hidden)
			tensor(blk+"attn_k.weight", s.kvHeads*s.headDim, s.hidden)
			tensor(blk+"attn_v.weight", s.kvHeads*s.headDim, s.hidden)
			tensor(blk+"attn_output.weight", s.hidden, s.heads*s.headDim)
			tensor(blk+"attn_q_norm.weight", s.headDim)
			tensor(blk+"attn_k_norm.weight", s.headDim)
		} else {
			values := s.valueHeads * s.deltaDim
			channels := 2*s.keyHeads*s.deltaDim + values
			tensor(blk+"attn_qkv.weight", channels, s.hidden)
			tensor(blk+"attn_gate.weight", values, s.hidden)
			tensor(blk+"ssm_conv1d.weight", channels, 4)
			tensor(blk+"ssm_alpha.weight", s.valueHeads, s.hidden)
			tensor(blk+"ssm_beta.weight", s.valueHeads, s.hidden)
			tensor(blk+"ssm_a", s.valueHeads)
			tensor(blk+"ssm_dt.bias", s.valueHeads)
			tensor(blk+"ssm_norm.weight", s.deltaDim)
			tensor(blk+"ssm_out.weight", s.hidden, values)
		}
		ending := ""
		if s.experts > 0 {
			ending = "_shexp"
			tensor(blk+"ffn_gate_inp.weight", s.experts, s.hidden)
			tensor(blk+"ffn_gate_inp_shexp.weight", 1, s.hidden)
			tensor(blk+"ffn_gate_exps.weight", s.experts, s.inner, s.hidden)
			tensor(blk+"ffn_up_exps.weight", s.experts, s.inner, s.hidden)
			tensor(blk+"ffn_down_exps.weight", s.experts, s.hidden, s.inner)
		}
		tensor(blk+"ffn_gate"+ending+".weight", s.ffn, s.hidden)
		tensor(blk+"ffn_up"+ending+".weight", s.ffn, s.hidden)
		tensor(blk+"ffn_down"+ending+".weight", s.hidden, s.ffn)
	}
	if s.experts > 0 {
		md.Values[md.Key("expert_count")] = int64(s.experts)
		md.Values[md.Key("expert_used_count")] = int64(s.used)
		md.Values[md.Key("expert_feed_forward_length")] = int64(s.inner)
		md.Values[md.Key("expert_shared_feed_forward_length")] = int64(s.ffn)
	} else {
		md.Values[md.Key("feed_forward_length")] = int64(s.ffn)
	}
	blk := fmt.Sprintf("blk.%d.nextn.", s.layers)
	tensor(blk+"enorm.weight", s.hidden)
	tensor(blk+"hnorm.weight", s.hidden)
	tensor(blk+"eh_proj.weight", s.hidden, 2*s.hidden)
	tensor(blk+"shared_head_norm.weight", s.hidden)
	return qwen35.Family{}.Plan(context.Background(), md)
}
