package model

// Mixture is a gated feed-forward network of which each token uses a few experts, as files of many architectures have it.
type Mixture struct {
	// Experts is how many there are, Inner how wide each is inside.
	Experts, Inner int
	Route          RouteAttrs
	// Scale multiplies the weights of the chosen experts.
	Scale float64
}

// Mixture reads the sizes of a mixture whose weights are a softmax over all experts, renormalized over the chosen ones. It
// refuses what is chosen in another way.
func (r *Reader) Mixture() Mixture {
	m := Mixture{
		Experts: r.Int("expert_count", 1, MaxExperts),
		Inner:   r.Int("expert_feed_forward_length", 1, MaxWidth),
		Scale:   r.FloatOr("expert_weights_scale", 1, 0, maxAttr),
	}
	m.Route = RouteAttrs{Used: r.Int("expert_used_count", 1, min(m.Experts, MaxUsedExperts)), Renormalize: true}
	if m.Scale == 0 { // as files say that there is none
		m.Scale = 1
	}
	if f := r.IntOr("expert_gating_func", 1, 0, 255); f > 1 { // 1 is softmax; 0 leaves it to the architecture
		r.Unsupported(r.md.Key("expert_gating_func"), "is %d", f)
	}
	if n := r.IntOr("expert_group_count", 1, 0, MaxExperts); n > 1 {
		r.Unsupported(r.md.Key("expert_group_count"), "is %d", n)
	}
	return m
}

// Network computes the mixture of the block whose tensors begin with blk: Σ weight · down(SiLU(gate · x) · (up · x)) over the chosen
// experts, for x [n, hidden].
func (m Mixture) Network(o *Ops, x Value, blk string, hidden int) Value {
	route := o.Route(o.Linear(x, blk+"ffn_gate_inp.weight", m.Experts, hidden), m.Route, m.Scale)
	gate := o.ExpertLinear(x, route, blk+"ffn_gate_exps.weight", m.Experts, m.Inner, hidden)
	up := o.ExpertLinear(x, route, blk+"ffn_up_exps.weight", m.Experts, m.Inner, hidden)
	return o.Combine(o.ExpertLinear(o.SwiGLU(gate, up), route, blk+"ffn_down_exps.weight", m.Experts, hidden, m.Inner), route)
}
