package model

// Builder writes a plan top-down: tensors are named where they are used and operations return the values they make.
// It checks nothing; [Plan.Check] does.
type Builder struct {
	plan    *Plan
	tensors map[string]int
}

// NewBuilder starts a plan.
func NewBuilder(family, architecture string, hidden, vocab, context int) *Builder {
	return &Builder{
		plan:    &Plan{Family: family, Architecture: architecture, Hidden: hidden, Vocab: vocab, Context: context},
		tensors: map[string]int{},
	}
}

// Plan returns what was built.
func (b *Builder) Plan() *Plan { return b.plan }

// Finish returns what was built, after checking it against the file: every tensor of the plan is there in its shape, and
// every tensor of the file is in the plan, so that nothing a file asks for is left out in silence. Tensors for which
// skip returns true may be left out; skip may be nil.
//
// Errors: [*PlanError], and [*MetadataError] of an unread tensor.
func (b *Builder) Finish(md *Metadata, skip func(tensor string) bool) (*Plan, error) {
	if err := b.plan.CheckFile(md); err != nil {
		return nil, err
	}
	for _, name := range md.TensorNames() {
		if _, ok := b.tensors[name]; !ok && (skip == nil || !skip(name)) {
			return nil, &MetadataError{Name: name, Reason: "family " + b.plan.Family + " has no use for the tensor", Unsupported: true}
		}
	}
	return b.plan, nil
}

// Embed writes the embedding: f gets the token ids and returns the hidden state.
func (b *Builder) Embed(f func(o *Ops, tokens Value) Value) { b.block(&b.plan.Embed, nil, f) }

// Layer appends a layer: f gets the hidden state that enters it and returns the one that leaves it.
func (b *Builder) Layer(f func(o *Ops, x Value) Value) {
	b.plan.Layers = append(b.plan.Layers, Layer{})
	l := &b.plan.Layers[len(b.plan.Layers)-1]
	b.block(&l.Block, &l.State, f)
}

// Head writes the head: f gets the hidden state that leaves the last layer and returns the logits.
func (b *Builder) Head(f func(o *Ops, x Value) Value) { b.block(&b.plan.Head, nil, f) }

// Draft writes the draft block: layer gets the embedding and the hidden state, each [hidden], and returns the hidden state that is
// handed on; head turns that into logits. From is a value of the head, which was written before.
func (b *Builder) Draft(from Value, layer func(o *Ops, embedding, hidden Value) Value, head func(o *Ops, x Value) Value) {
	d := &Draft{From: from}
	b.plan.Draft = d
	b.block(&d.Block, &d.State, func(o *Ops, x Value) Value {
		n := b.plan.Hidden
		return layer(o, o.Slice(x, 1, 0, n), o.Slice(x, 1, n, n))
	})
	b.block(&d.Head, nil, head)
}

func (b *Builder) block(to *Block, state *State, f func(*Ops, Value) Value) {
	o := &Ops{b: b, block: to, state: state}
	to.Out = f(o, 0)
}

func (b *Builder) tensor(name string, shape ...int) int {
	if i, ok := b.tensors[name]; ok {
		return i
	}
	i := len(b.plan.Tensors)
	b.plan.Tensors = append(b.plan.Tensors, Tensor{Name: name, Shape: shape})
	b.tensors[name] = i
	return i
}

// Ops appends operations to one block.
type Ops struct {
	b     *Builder
	block *Block
	state *State
}

func (o *Ops) add(k Kind, in []Value, weights []int, a Attrs) Value {
	o.block.Ops = append(o.block.Ops, Op{Kind: k, In: in, Weights: weights, Attrs: a})
	return Value(len(o.block.Ops))
}

// Embed looks tokens up in tensor [vocab, hidden] and multiplies by scale.
func (o *Ops) Embed(tokens Value, tensor string, scale float64) Value {
	w := o.b.tensor(tensor, o.b.plan.Vocab, o.b.plan.Hidden)
	return o.add(Embed, []Value{tokens}, []int{w}, Attrs{Scale: scale})
}

// RMSNorm normalises each of groups groups of size values with tensor [size].
func (o *Ops) RMSNorm(x Value, tensor string, size, groups int, eps float64) Value {
	return o.add(RMSNorm, []Value{x}, []int{o.b.tensor(tensor, size)}, Attrs{Eps: eps, Groups: groups})
}

// L2Norm scales each of groups groups to length scale.
func (o *Ops) L2Norm(x Value, groups int, eps, scale float64) Value {
	return o.add(L2Norm, []Value{x}, nil, Attrs{Eps: eps, Groups: groups, Scale: scale})
}

// Linear multiplies by tensor [out, in].
func (o *Ops) Linear(x Value, tensor string, out, in int) Value {
	return o.add(Linear, []Value{x}, []int{o.b.tensor(tensor, out, in)}, Attrs{})
}

// LinearBias multiplies by tensor [out, in] and adds bias [out].
func (o *Ops) LinearBias(x Value, tensor, bias string, out, in int) Value {
	return o.add(Linear, []Value{x}, []int{o.b.tensor(tensor, out, in), o.b.tensor(bias, out)}, Attrs{})
}

// Add is x + y.
func (o *Ops) Add(x, y Value) Value { return o.add(Add, []Value{x, y}, nil, Attrs{}) }

// Mul is x · y by element.
func (o *Ops) Mul(x, y Value) Value { return o.add(Mul, []Value{x, y}, nil, Attrs{}) }

// Scale is x · factor.
func (o *Ops) Scale(x Value, factor float64) Value {
	return o.add(Scale, []Value{x}, nil, Attrs{Scale: factor})
}

// SiLU is x · sigmoid(x).
func (o *Ops) SiLU(x Value) Value { return o.add(SiLU, []Value{x}, nil, Attrs{}) }

// GELU is the tanh form of GELU.
func (o *Ops) GELU(x Value) Value { return o.add(GELU, []Value{x}, nil, Attrs{}) }

// SwiGLU is SiLU(gate) · up.
func (o *Ops) SwiGLU(gate, up Value) Value { return o.add(SwiGLU, []Value{gate, up}, nil, Attrs{}) }

// GeGLU is GELU(gate) · up.
func (o *Ops) GeGLU(gate, up Value) Value { return o.add(GeGLU, []Value{gate, up}, nil, Attrs{}) }

// SigmoidGate is x · sigmoid(gate), where gate is as wide as x or one number a row.
func (o *Ops) SigmoidGate(x, gate Value) Value {
	return o.add(SigmoidGate, []Value{x, gate}, nil, Attrs{})
}

// Route chooses experts by their scores. Weights are multiplied by scale.
func (o *Ops) Route(scores Value, r RouteAttrs, scale float64) Value {
	return o.add(Route, []Value{scores}, nil, Attrs{Route: r, Scale: scale})
}

// ExpertLinear multiplies by the matrices of tensor [experts, out, in] that route has chosen.
func (o *Ops) ExpertLinear(x, route Value, tensor string, experts, out, in int) Value {
	return o.add(ExpertLinear, []Value{x, route}, []int{o.b.tensor(tensor, experts, out, in)}, Attrs{})
}

// Combine adds up what the experts that route has chosen made, by their weights.
func (o *Ops) Combine(x, route Value) Value { return o.add(Combine, []Value{x, route}, nil, Attrs{}) }

// Concat joins the rows of x and y.
func (o *Ops) Concat(x, y Value) Value { return o.add(Concat, []Value{x, y}, nil, Attrs{}) }

// Slice takes [offset, offset+length) of each of groups groups.
func (o *Ops) Slice(x Value, groups, offset, length int) Value {
	return o.add(Slice, []Value{x}, nil, Attrs{Groups: groups, Offset: offset, Length: length})
}

// Rope turns heads by position. factors is the name of a tensor [r.Dims/2] or empty.
func (o *Ops) Rope(x Value, heads int, r RopeAttrs, factors string) Value {
	var w []int
	if factors != "" {
		w = []int{o.b.tensor(factors, r.Dims/2)}
	}
	return o.add(Rope, []Value{x}, w, Attrs{Heads: heads, Rope: r})
}

// AttentionShape sizes an attention operation.
type AttentionShape struct {
	Heads, KVHeads, KeyDim, ValueDim int
	// Window is the number of positions attended to, or 0 for all.
	Window int
	// Scale multiplies the dot products.
	Scale float64
}

// Attention attends over the layer's KV cache, which it declares.
func (o *Ops) Attention(q, k, v Value, s AttentionShape) Value {
	o.state.KV = &KVState{Heads: s.KVHeads, KeyDim: s.KeyDim, ValueDim: s.ValueDim}
	return o.add(Attention, []Value{q, k, v}, nil,
		Attrs{Heads: s.Heads, KVHeads: s.KVHeads, Scale: s.Scale, Window: s.Window})
}

// ShortConv convolves channels over taps tokens with tensor [channels, taps] and declares its state.
func (o *Ops) ShortConv(x Value, tensor string, channels, taps int) Value {
	o.state.Conv = &ConvState{Channels: channels, Taps: taps}
	return o.add(ShortConv, []Value{x}, []int{o.b.tensor(tensor, channels, taps)}, Attrs{})
}

// GatedDelta runs the gated delta rule with tensors a and dt [valueHeads] and declares its state.
func (o *Ops) GatedDelta(q, k, v, a, b Value, tensorA, tensorDT string, keyHeads, valueHeads, keyDim, valueDim int) Value {
	o.state.Delta = &DeltaState{Heads: valueHeads, KeyDim: keyDim, ValueDim: valueDim}
	return o.add(GatedDelta, []Value{q, k, v, a, b},
		[]int{o.b.tensor(tensorA, valueHeads), o.b.tensor(tensorDT, valueHeads)},
		Attrs{Heads: keyHeads, KVHeads: valueHeads})
}
