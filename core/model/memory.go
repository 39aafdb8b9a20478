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
		if s := l.State.KV; s != nil {
			kv += 2 * int64(context) * int64(s.Heads) * int64(s.KeyDim+s.ValueDim)
		}
		if s := l.State.Conv; s != nil {
			recurrent += 4 * int64(s.Taps-1) * int64(s.Channels)
		}
		if s := l.State.Delta; s != nil {
			recurrent += 4 * int64(s.Heads) * int64(s.KeyDim) * int64(s.ValueDim)
		}
	}
	return kv, recurrent
}

// TensorsOf returns the indices of the tensors that a session over r needs, with the embedding and the head where asked,
// each once, in the order of [Plan.Tensors].
func (p *Plan) TensorsOf(r LayerRange, embed, head bool) []int {
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
	var ids []int
	for i, u := range used {
		if u {
			ids = append(ids, i)
		}
	}
	return ids
}
