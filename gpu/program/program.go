// Package program lowers a layer range of a checked plan to one flat list of operations, for a backend to record or
// interpret. It is where what every backend needs is worked out once: global value numbers, widths, which tensors are
// read, and which values may share a buffer.
package program

import (
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
)

// NoLayer is the layer of the operations of the embedding and the head, DraftLayer that of the draft block's.
const (
	NoLayer    = -1
	DraftLayer = -2
)

// None is the number of a value that does not exist.
const None = -1

// Op is one operation with global value numbers.
type Op struct {
	Kind model.Kind
	// Layer is the layer it belongs to, in the numbering of the plan, or [NoLayer].
	Layer int
	// In and Out are values of the program.
	In  []int
	Out int
	// Weights are indices into [model.Plan.Tensors].
	Weights []int
	Attrs   model.Attrs
}

// Program is a layer range in the order it is computed: Trunk on every column of a batch, Head only on the columns
// whose logits are wanted.
type Program struct {
	Plan  *model.Plan
	Range model.LayerRange
	Trunk []Op
	Head  []Op
	// Widths is the width of each value. Value 0 is what enters: token ids (width 1) or the hidden state.
	Widths []int
	// Hidden is the value that leaves the last layer of the range.
	Hidden int
	// Logits is the value that leaves the head, or [None].
	Logits int
	// Embeds reports whether value 0 is token ids.
	Embeds bool
	// Draft is the draft block, or nil.
	Draft *Draft
}

// Draft is a draft block. From makes of the trunk's result, on every column, what the first draft takes for a hidden state. Embed
// makes an embedding of a token, Layer the hidden state that is handed on of both, and Head logits of that.
type Draft struct {
	From, Embed, Layer, Head []Op
	// State is the result of From, Tokens what enters Embed and Embedding its result; Joined enters Layer, the embedding before the
	// hidden state, and Next is its result; Logits is that of Head.
	State, Tokens, Embedding, Joined, Next, Logits int
}

// State returns what the operations of a layer remember.
func (p *Program) State(layer int) *model.State {
	if layer == DraftLayer {
		return &p.Plan.Draft.State
	}
	return &p.Plan.Layers[layer].State
}

// All returns every list of operations.
func (p *Program) All() [][]Op {
	all := [][]Op{p.Trunk, p.Head}
	if d := p.Draft; d != nil {
		all = append(all, d.From, d.Embed, d.Layer, d.Head)
	}
	return all
}

// Build checks the range of c and lowers it.
//
// Errors: [*model.PlanError].
func Build(c engine.Config) (*Program, error) {
	shapes, err := c.Plan.Check()
	if err != nil {
		return nil, err
	}
	r := c.Range
	if r.Begin < 0 || r.End > len(c.Plan.Layers) || r.Begin > r.End {
		return nil, &model.PlanError{Op: -1, Reason: fmt.Sprintf("it has %d layers, not [%d, %d)", len(c.Plan.Layers), r.Begin, r.End)}
	}
	if r.Len() == 0 && !c.Embed && !c.Head {
		return nil, &model.PlanError{Op: -1, Reason: fmt.Sprintf("the range [%d, %d) is empty", r.Begin, r.End)}
	}
	p := &Program{Plan: c.Plan, Range: r, Logits: None, Embeds: c.Embed, Widths: []int{c.Plan.Hidden}}
	at := 0
	if c.Embed {
		p.Widths[0] = 1
		at = p.block(&p.Trunk, &c.Plan.Embed, shapes.Embed, NoLayer, at)
	}
	for i := r.Begin; i < r.End; i++ {
		at = p.block(&p.Trunk, &c.Plan.Layers[i].Block, shapes.Layers[i], i, at)
	}
	p.Hidden = at
	if c.Head {
		p.Logits = p.block(&p.Head, &c.Plan.Head, shapes.Head, NoLayer, at)
	}
	if c.Draft && c.Embed && c.Head && c.Plan.Draft != nil {
		p.draft(shapes)
	}
	return p, nil
}

// draft lowers the draft block.
func (p *Program) draft(shapes *model.Shapes) {
	plan := p.Plan
	d := &Draft{}
	p.Draft = d
	enter := func(width int) int {
		p.Widths = append(p.Widths, width)
		return len(p.Widths) - 1
	}
	from := model.Block{Ops: plan.Head.Ops, Out: plan.Draft.From}
	d.State = p.block(&d.From, &from, shapes.Head, NoLayer, p.Hidden)
	d.Tokens = enter(1)
	d.Embedding = p.block(&d.Embed, &plan.Embed, shapes.Embed, NoLayer, d.Tokens)
	d.Joined = enter(2 * plan.Hidden)
	d.Next = p.block(&d.Layer, &plan.Draft.Block, shapes.Draft, DraftLayer, d.Joined)
	d.Logits = p.block(&d.Head, &plan.Draft.Head, shapes.DraftHead, NoLayer, d.Next)
}

// block appends the operations of b that its result needs, with in as value 0, and returns the number of its result.
func (p *Program) block(to *[]Op, b *model.Block, w model.Widths, layer, in int) int {
	needed := make([]bool, len(b.Ops)+1)
	needed[b.Out] = true
	for i := len(b.Ops) - 1; i >= 0; i-- {
		// What moves state on is computed even where nobody reads its result.
		if b.Ops[i].Kind.Facts().State != model.Stateless {
			needed[i+1] = true
		}
		if needed[i+1] {
			for _, v := range b.Ops[i].In {
				needed[v] = true
			}
		}
	}
	global := make([]int, len(b.Ops)+1)
	global[0] = in
	for i, op := range b.Ops {
		if !needed[i+1] {
			continue
		}
		o := Op{Kind: op.Kind, Layer: layer, Out: len(p.Widths), Weights: op.Weights, Attrs: op.Attrs}
		for _, v := range op.In {
			o.In = append(o.In, global[v])
		}
		p.Widths = append(p.Widths, w[i+1])
		global[i+1] = o.Out
		*to = append(*to, o)
	}
	return global[b.Out]
}

// Slots shares buffers among values: it returns the slot of each value and the width of each slot. A value's slot is
// not written again before its last reader has run, nor by that reader itself. Values in keep stay readable to the end;
// ops must make each value once. The slot of a value that ops neither make nor read is [None].
func Slots(ops []Op, widths, keep []int) (slot, slotWidths []int) {
	last := make([]int, len(widths))
	slot = make([]int, len(widths))
	for v := range slot {
		last[v], slot[v] = -1, None
	}
	for i, op := range ops {
		last[op.Out] = max(last[op.Out], i)
		for _, v := range op.In {
			last[v] = i
		}
	}
	for _, v := range keep {
		last[v] = len(ops)
	}
	var free []int
	take := func(v int) {
		best := -1
		for i, s := range free {
			if best < 0 || better(slotWidths[s], slotWidths[free[best]], widths[v]) {
				best = i
			}
		}
		if best < 0 {
			slotWidths = append(slotWidths, widths[v])
			slot[v] = len(slotWidths) - 1
			return
		}
		s := free[best]
		free = append(free[:best], free[best+1:]...)
		slotWidths[s] = max(slotWidths[s], widths[v])
		slot[v] = s
	}
	made := make([]bool, len(widths))
	for _, op := range ops {
		made[op.Out] = true
	}
	for v, l := range last { // what enters from outside lives from the start
		if l >= 0 && !made[v] {
			take(v)
		}
	}
	for i, op := range ops {
		take(op.Out)
		done := map[int]bool{}
		for _, v := range append([]int{op.Out}, op.In...) {
			if last[v] == i && !done[v] {
				done[v] = true
				free = append(free, slot[v])
			}
		}
	}
	return slot, slotWidths
}

// better reports whether a slot of width a suits a value of width want better than one of width b: the smallest that
// holds it, else the largest.
func better(a, b, want int) bool {
	if (a >= want) != (b >= want) {
		return a >= want
	}
	if a >= want {
		return a < b
	}
	return a > b
}
