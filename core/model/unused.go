package model

import "slices"

// Arithmetic are the keys, below the architecture's, that make the files of one architecture or another compute something else
// than without them, each with a value that asks for it. A family that does not know such a key must refuse it: what it leaves
// out nobody sees, but for answers that are worse.
//
// Source: the keys of llama.cpp's llama-arch.cpp.
var Arithmetic = []struct {
	Key   string
	Value any
}{
	{"attention.clamp_kqv", 8.0},
	{"attention.max_alibi_bias", 8.0},
	{"attention.scale", 0.5},
	{"attention.sliding_window", int64(7)},
	{"attention.sliding_window_pattern", int64(2)},
	{"attention.temperature_length", int64(8192)},
	{"attention.temperature_scale", 0.1},
	{"attn_logit_softcapping", 50.0},
	{"embedding_scale", 12.0},
	{"expert_count", int64(8)},
	{"final_logit_softcapping", 30.0},
	{"logit_scale", 0.0625},
	{"nextn_predict_layers", int64(1)},
	{"pooling_type", int64(1)},
	{"residual_scale", 0.22},
	{"rope.scale_linear", 8.0},
	{"rope.scaling.factor", 8.0},
	{"rope.scaling.type", "yarn"},
	{"use_parallel_residual", true},
}

// RefuseOthers is [Reader.Refuse] of all [Arithmetic] keys but those named, which the family computes or looks at by itself.
func (r *Reader) RefuseOthers(known ...string) {
	for _, a := range Arithmetic {
		if !slices.Contains(known, a.Key) {
			r.Refuse(a.Key)
		}
	}
}
