package model

// Recurrent reports whether any layer of r keeps recurrent state, so that a session cannot be cut back to any position.
func (p *Plan) Recurrent(r LayerRange) bool {
	for _, l := range p.Layers[r.Begin:r.End] {
		if l.State.Recurrent() {
			return true
		}
	}
	return false
}

// StateBytes returns the bytes of the state of layer range r at the given number of positions: float16 keys and
// values, float32 recurrent state.
func (p *Plan) StateBytes(r LayerRange, context int) (kv, recurrent int64) {
	for _, l := range p.Layers[r.Begin:r.End] {
		kv += l.State.kvBytes(context)
		if s := l.State.Conv; s != nil {
			recurrent += 4 * int64(s.Taps-1) * int64(s.Channels)
		}
		if s := l.State.Delta; s != nil {
			recurrent += 4 * int64(s.Heads) * int64(s.KeyDim) * int64(s.ValueDim)
		}
	}
	return kv, recurrent
}

// DraftBytes returns the bytes of the state of the draft block at the given number of positions; 0 without one.
func (p *Plan) DraftBytes(context int) int64 {
	if p.Draft == nil {
		return 0
	}
	return p.Draft.State.kvBytes(context)
}

// kvBytes is what the KV cache takes.
func (s State) kvBytes(context int) int64 {
	if s.KV == nil {
		return 0
	}
	return 2 * int64(context) * int64(s.KV.Heads) * int64(s.KV.KeyDim+s.KV.ValueDim)
}

// TensorsOf returns the indices of the tensors that a session over r needs, with the embedding, the head and the draft block
// where asked, each once, in the order of [Plan.Tensors]. The draft block needs the embedding and the head.
func (p *Plan) TensorsOf(r LayerRange, embed, head, draft bool) []int {
	used := make([]bool, len(p.Tensors))
	mark := func(b *Block) {
		for _, op := range b.Ops {
			for _, w := range op.Weights {
				used[w] = true
			}
		}
	}
	if embed {
		mark(&p.Embed)
	}
	for i := range p.Layers[r.Begin:r.End] {
		mark(&p.Layers[r.Begin+i].Block)
	}
	if head {
		mark(&p.Head)
	}
	if draft && p.Draft != nil {
		mark(&p.Draft.Block)
		mark(&p.Draft.Head)
	}
	var ids []int
	for i, u := range used {
		if u {
			ids = append(ids, i)
		}
	}
	return ids
}
