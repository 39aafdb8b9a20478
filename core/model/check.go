package model

import (
	"fmt"
	"math"
	"slices"
)

// Bounds of a plan that no published model comes near; they keep every size that is computed from a plan within int64, and
// every number within float32, in which files keep them and backends compute.
const (
	// MaxLayers bounds the number of layers. Published: 126 (Llama 3.1 405B).
	MaxLayers = 1 << 10
	// MaxWidth bounds the width of every value but the logits. Published: 53,248 (the same, between gate and down).
	MaxWidth = 1 << 20
	// MaxVocab bounds the number of logits. Published: 262,208 (Gemma 3).
	MaxVocab = 1 << 24
	// MaxContext bounds the number of positions. Published: 10,485,760 (Llama 4 Scout).
	MaxContext = 1 << 26
	// MaxTensors bounds the number of tensors. Published: 1,138 of dense models.
	MaxTensors = 1 << 16
	// MaxOps bounds the number of operations of a block.
	MaxOps = 1 << 10
	// MaxExperts bounds the number of experts of a layer. Published: 512 (Qwen3-Next).
	MaxExperts = 1 << 12
	// MaxUsedExperts bounds how many of them a token goes to. Published: 10 (the same).
	MaxUsedExperts = 64

	// MinRopeBase bounds the base of rotary embeddings from below: a pair turns by a radian a position at most, so that angles
	// stay exact.
	MinRopeBase = 1
	// MaxRopeBase bounds it from above. Published: 4.5e10 (Llama 3 with 4M positions).
	MaxRopeBase = math.MaxFloat32
	// MinRopeFactor and MaxRopeFactor bound how far positions are drawn out. Published: 64.
	MinRopeFactor, MaxRopeFactor = 1e-6, 1e9

	maxTaps = 64
	// maxState bounds the bytes of a session over the whole plan at its full context, of which a session takes the part that
	// fits: 16 TiB, three times Llama 3.1 405B at the longest published context.
	maxState = 1 << 44
	// maxAttr bounds the numbers that scale values.
	maxAttr = 1e9
)

// Widths are the widths of the values of one block; Widths[v] belongs to value v. Value 0 of the embedding, the token
// ids, has width 1.
type Widths []int

// Shapes are the inferred widths of every value of a plan.
type Shapes struct {
	Embed  Widths
	Layers []Widths
	Head   Widths
	// Draft and DraftHead are those of the draft block, where there is one.
	Draft, DraftHead Widths
}

// Check infers the width of every value and checks the whole plan: kinds, operands, attributes, tensors and states.
// With a nil error the plan can be executed without further checks, on weights of the shapes it declares.
//
// Errors: [*PlanError].
func (p *Plan) Check() (*Shapes, error) {
	if err := p.checkSizes(); err != nil {
		return nil, err
	}
	s, err := p.checkBlocks()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkBlocks checks everything but sizes.
func (p *Plan) checkBlocks() (*Shapes, error) {
	s := &Shapes{Layers: make([]Widths, len(p.Layers))}
	state := int64(0)
	var err error
	if s.Embed, err = p.checkBlock("embed", &p.Embed, nil, 1, p.Hidden); err != nil {
		return nil, err
	}
	for i := range p.Layers {
		l := &p.Layers[i]
		name := fmt.Sprintf("layer %d", i)
		if err := checkState(name, l.State); err != nil {
			return nil, err
		}
		// One layer takes less than 1 << 60 bytes, see checkState, so that the sum cannot overflow before it is too large.
		kv, recurrent := p.StateBytes(LayerRange{i, i + 1}, p.Context)
		if state += kv + recurrent; state > maxState {
			return nil, &PlanError{Block: name, Op: -1, Reason: fmt.Sprintf(
				"%d positions take more than %d GiB of state up to here", p.Context, maxState>>30)}
		}
		if s.Layers[i], err = p.checkBlock(name, &l.Block, &l.State, p.Hidden, p.Hidden); err != nil {
			return nil, err
		}
	}
	if s.Head, err = p.checkBlock("head", &p.Head, nil, p.Hidden, p.Vocab); err != nil {
		return nil, err
	}
	return s, p.checkDraft(s, state)
}

// checkDraft checks the draft block; state is what all layers keep.
func (p *Plan) checkDraft(s *Shapes, state int64) (err error) {
	const name = "draft"
	d := p.Draft
	if d == nil {
		return nil
	}
	bad := func(reason string, args ...any) error {
		return &PlanError{Block: name, Op: -1, Reason: fmt.Sprintf(reason, args...)}
	}
	switch {
	case d.From < 0 || int(d.From) >= len(s.Head) || s.Head[d.From] != p.Hidden:
		return bad("value %d of the head is no hidden state", d.From)
	case d.State.Recurrent():
		return bad("keeps a state that cannot be cut anywhere")
	}
	if err := checkState(name, d.State); err != nil {
		return err
	}
	if state += p.DraftBytes(p.Context); state > maxState {
		return bad("%d positions take more than %d GiB of state", p.Context, maxState>>30)
	}
	if s.Draft, err = p.checkBlock(name, &d.Block, &d.State, 2*p.Hidden, p.Hidden); err != nil {
		return err
	}
	s.DraftHead, err = p.checkBlock("draft head", &d.Head, nil, p.Hidden, p.Vocab)
	return err
}

// CheckFile checks that the file whose metadata is given has every tensor of the plan, in its shape.
//
// Errors: [*PlanError].
func (p *Plan) CheckFile(md *Metadata) error {
	for _, t := range p.Tensors {
		have, ok := md.Tensors[t.Name]
		if !ok {
			return &PlanError{Op: -1, Tensor: t.Name, Reason: "the file has no such tensor"}
		}
		if !SameShape(have.Shape, t.Shape) {
			return &PlanError{Op: -1, Tensor: t.Name, Reason: fmt.Sprintf("the plan says %v, the file has %v", t.Shape, have.Shape)}
		}
	}
	return nil
}

// SameShape reports whether two shapes are equal, leaving out dimensions of 1 at the front, which GGUF does not keep.
func SameShape(a, b []int) bool {
	for len(a) > 1 && a[0] == 1 {
		a = a[1:]
	}
	for len(b) > 1 && b[0] == 1 {
		b = b[1:]
	}
	return slices.Equal(a, b)
}

func (p *Plan) checkSizes() error {
	whole := func(reason string, args ...any) error {
		return &PlanError{Op: -1, Reason: fmt.Sprintf(reason, args...)}
	}
	for _, c := range []struct {
		name    string
		n, most int
	}{
		{"hidden size", p.Hidden, MaxWidth},
		{"vocabulary", p.Vocab, MaxVocab},
		{"context", p.Context, MaxContext},
		{"number of layers", len(p.Layers), MaxLayers},
		{"number of tensors", len(p.Tensors), MaxTensors},
	} {
		if c.n < 1 || c.n > c.most {
			return whole("%s is %d, want 1 to %d", c.name, c.n, c.most)
		}
	}
	seen := make(map[string]bool, len(p.Tensors))
	for _, t := range p.Tensors {
		bad := func(reason string) error { return &PlanError{Op: -1, Tensor: t.Name, Reason: reason} }
		if t.Name == "" {
			return whole("a tensor has no name")
		}
		if seen[t.Name] {
			return bad("is listed twice")
		}
		seen[t.Name] = true
		if len(t.Shape) < 1 || len(t.Shape) > 3 {
			return bad(fmt.Sprintf("has %d dimensions, want 1 to 3", len(t.Shape)))
		}
		most := []int{MaxVocab, MaxVocab}
		if len(t.Shape) == 3 {
			most = []int{MaxExperts, MaxWidth, MaxWidth}
		}
		for i, d := range t.Shape {
			if d < 1 || d > most[i] {
				return bad(fmt.Sprintf("shape %v is out of bounds", t.Shape))
			}
		}
	}
	return nil
}

func checkState(block string, s State) error {
	bad := func(what string) error {
		return &PlanError{Block: block, Op: -1, Reason: what + " is out of bounds"}
	}
	// The product of a layer's state dimensions stays small enough for context × state to fit int64.
	in := func(ns ...int) bool {
		prod := 1
		for _, n := range ns {
			if n < 1 || n > MaxWidth {
				return false
			}
			if prod *= n; prod > 1<<30 {
				return false
			}
		}
		return true
	}
	if s.KV != nil && !(in(s.KV.Heads, s.KV.KeyDim) && in(s.KV.Heads, s.KV.ValueDim)) {
		return bad("the KV cache")
	}
	if s.Conv != nil && (!in(s.Conv.Channels, s.Conv.Taps) || s.Conv.Taps < 2 || s.Conv.Taps > maxTaps) {
		return bad("the convolution state")
	}
	if s.Delta != nil && !in(s.Delta.Heads, s.Delta.KeyDim, s.Delta.ValueDim) {
		return bad("the delta state")
	}
	return nil
}

func (p *Plan) checkBlock(name string, b *Block, state *State, in, out int) (Widths, error) {
	if len(b.Ops) > MaxOps {
		return nil, &PlanError{Block: name, Op: -1, Reason: fmt.Sprintf("has %d operations, want at most %d", len(b.Ops), MaxOps)}
	}
	c := &checker{plan: p, block: name, widths: make(Widths, 1, len(b.Ops)+1), state: state, embed: name == "embed"}
	c.widths[0] = in
	for i := range b.Ops {
		w, err := c.op(i, &b.Ops[i])
		if err != nil {
			return nil, err
		}
		c.widths = append(c.widths, w)
	}
	if b.Out < 0 || int(b.Out) >= len(c.widths) || (b.Out == 0 && name == "embed") {
		return nil, &PlanError{Block: name, Op: -1, Reason: fmt.Sprintf("its result, value %d, does not exist", b.Out)}
	}
	if w := c.widths[b.Out]; w != out {
		return nil, &PlanError{Block: name, Op: -1, Reason: fmt.Sprintf("its result is %d wide, want %d", w, out)}
	}
	if state != nil {
		for _, s := range []struct {
			declared, used bool
			name           string
		}{
			{state.KV != nil, c.usedKV, "KV cache"},
			{state.Conv != nil, c.usedConv, "convolution state"},
			{state.Delta != nil, c.usedDelta, "delta state"},
		} {
			if s.declared && !s.used {
				return nil, &PlanError{Block: name, Op: -1, Reason: "no operation uses its " + s.name}
			}
		}
	}
	return c.widths, nil
}
