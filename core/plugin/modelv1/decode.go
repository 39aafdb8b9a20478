package modelv1

import (
	"errors"
	"fmt"
	"math"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plain"
)

// MaxArchitectures bounds how many architectures a family may plan.
const MaxArchitectures = 64

// Bounds of what is converted at all; far above any model.
const (
	maxName     = 1 << 10 // bytes of a name
	maxReason   = 1 << 12 // bytes of a reason
	maxNumber   = math.MaxInt32
	maxOperands = 8 // inputs or weights of an operation
	maxDims     = 8
)

// decodeInfo checks what a plugin says about itself.
func decodeInfo(w *InfoResponse) (model.Info, error) {
	if len(w.GetArchitectures()) > MaxArchitectures {
		return model.Info{}, fmt.Errorf("it lists %d architectures, want at most %d", len(w.GetArchitectures()), MaxArchitectures)
	}
	for _, s := range append([]string{w.GetName()}, w.GetArchitectures()...) {
		if s == "" || len(s) > 64 || !plain.Is(s) {
			return model.Info{}, fmt.Errorf("it calls itself or an architecture %.64q", s)
		}
	}
	if len(w.GetArchitectures()) == 0 {
		return model.Info{}, errors.New("it lists no architecture")
	}
	return model.Info{Name: w.GetName(), Architectures: w.GetArchitectures(), Contract: int(w.GetContract())}, nil
}

// decodeMetadata turns the wire form into metadata.
func decodeMetadata(w *Metadata) (*model.Metadata, error) {
	md := &model.Metadata{
		Architecture: w.GetArchitecture(),
		Values:       make(map[string]any, len(w.GetValues())),
		Tensors:      make(map[string]model.TensorInfo, len(w.GetTensors())),
	}
	for key, v := range w.GetValues() {
		x := decodeValue(v)
		if x == nil {
			return nil, fmt.Errorf("metadata: %s has no value", key)
		}
		md.Values[key] = x
	}
	for _, t := range w.GetTensors() {
		shape := make([]int, len(t.GetShape()))
		for i, d := range t.GetShape() {
			if int64(int(d)) != d {
				return nil, fmt.Errorf("metadata: tensor %s has the dimension %d", t.GetName(), d)
			}
			shape[i] = int(d)
		}
		md.Tensors[t.GetName()] = model.TensorInfo{Type: t.GetType(), Shape: shape}
	}
	return md, nil
}

// decodeValue returns nil for a value of no or an unknown kind.
func decodeValue(v *Value) any {
	switch x := v.GetKind().(type) {
	case *Value_Integer:
		return x.Integer
	case *Value_Number:
		return x.Number
	case *Value_Truth:
		return x.Truth
	case *Value_Text:
		return x.Text
	case *Value_Integers:
		return x.Integers.GetValues()
	case *Value_Numbers:
		return x.Numbers.GetValues()
	case *Value_Truths:
		return x.Truths.GetValues()
	case *Value_Texts:
		return x.Texts.GetValues()
	}
	return nil
}

// decodePlan turns the wire form into a plan whose lists and numbers are of sane sizes; [model.Plan.Check] does the rest.
//
// Errors: [*model.PlanError].
func decodePlan(w *Plan) (*model.Plan, error) {
	d := &decoder{}
	p := &model.Plan{
		Family: d.name(w.GetFamily()), Architecture: d.name(w.GetArchitecture()),
		Hidden: d.number(w.GetHidden()), Vocab: d.number(w.GetVocab()), Context: d.number(w.GetContext()),
	}
	d.count("tensors", len(w.GetTensors()), model.MaxTensors)
	d.count("layers", len(w.GetLayers()), model.MaxLayers)
	if d.err != nil {
		return nil, d.err
	}
	p.Tensors = make([]model.Tensor, len(w.GetTensors()))
	for i, t := range w.GetTensors() {
		p.Tensors[i] = model.Tensor{Name: d.name(t.GetName()), Shape: numbers[int](d, "dimensions", t.GetShape(), maxDims)}
	}
	p.Embed = d.block("embed", w.GetEmbed())
	p.Layers = make([]model.Layer, len(w.GetLayers()))
	for i, l := range w.GetLayers() {
		p.Layers[i] = d.layer(fmt.Sprintf("layer %d", i), l)
	}
	p.Head = d.block("head", w.GetHead())
	if x := w.GetDraft(); x != nil {
		p.Draft = &model.Draft{Layer: d.layer("draft", x.GetLayer()), From: model.Value(d.number(x.GetFrom())), Head: d.block("draft head", x.GetHead())}
	}
	if d.err != nil {
		return nil, d.err
	}
	return p, nil
}

func (d *decoder) layer(where string, l *Layer) model.Layer {
	out := model.Layer{Block: d.block(where, l.GetBlock())}
	s := &out.State
	if x := l.GetKv(); x != nil {
		s.KV = &model.KVState{Heads: d.number(x.Heads), KeyDim: d.number(x.KeyDim), ValueDim: d.number(x.ValueDim)}
	}
	if x := l.GetConv(); x != nil {
		s.Conv = &model.ConvState{Channels: d.number(x.Channels), Taps: d.number(x.Taps)}
	}
	if x := l.GetDelta(); x != nil {
		s.Delta = &model.DeltaState{Heads: d.number(x.Heads), KeyDim: d.number(x.KeyDim), ValueDim: d.number(x.ValueDim)}
	}
	return out
}

// decoder converts the parts of a plan and keeps the first error and where it was.
type decoder struct {
	where string
	op    int
	kind  model.Kind
	err   error
}

func (d *decoder) fail(reason string, args ...any) {
	if d.err != nil {
		return
	}
	e := &model.PlanError{Block: d.where, Op: -1, Reason: fmt.Sprintf(reason, args...)}
	if d.kind != 0 {
		e.Op, e.Kind = d.op, d.kind
	}
	d.err = e
}

func (d *decoder) count(what string, n, most int) {
	if n > most {
		d.fail("has %d %s, want at most %d", n, what, most)
	}
}

func (d *decoder) number(x int64) int {
	if x < -maxNumber || x > maxNumber {
		d.fail("has the number %d", x)
		return 0
	}
	return int(x)
}

func (d *decoder) name(s string) string {
	if len(s) > maxName || !plain.Is(s) {
		d.fail("has the name %.64q", s)
		return ""
	}
	return s
}

// numbers converts a list; an empty one is nil.
func numbers[T ~int](d *decoder, what string, xs []int64, most int) []T {
	d.count(what, len(xs), most)
	if len(xs) == 0 || d.err != nil {
		return nil
	}
	out := make([]T, len(xs))
	for i, x := range xs {
		out[i] = T(d.number(x))
	}
	return out
}

func (d *decoder) block(where string, w *Block) model.Block {
	d.where = where
	defer func() { d.where, d.kind = "", 0 }()
	d.count("operations", len(w.GetOps()), model.MaxOps)
	if d.err != nil {
		return model.Block{}
	}
	b := model.Block{Ops: make([]model.Op, len(w.GetOps()))}
	for i, op := range w.GetOps() {
		if op.GetKind() < 1 || op.GetKind() > math.MaxUint8 {
			d.fail("operation %d is of kind %d; this version does not know it, a newer Pooled may", i, op.GetKind())
			return b
		}
		d.op, d.kind = i, model.Kind(op.GetKind())
		b.Ops[i] = model.Op{
			Kind:    d.kind,
			In:      numbers[model.Value](d, "inputs", op.GetInputs(), maxOperands),
			Weights: numbers[int](d, "weights", op.GetWeights(), maxOperands),
			Attrs: model.Attrs{
				Eps: op.GetEps(), Scale: op.GetScale(), Groups: d.number(op.GetGroups()),
				Offset: d.number(op.GetOffset()), Length: d.number(op.GetLength()),
				Heads: d.number(op.GetHeads()), KVHeads: d.number(op.GetKvHeads()), Window: d.number(op.GetWindow()),
				Rope: model.RopeAttrs{
					Dims: d.number(op.GetRope().GetDims()), Base: op.GetRope().GetBase(),
					FreqScale: op.GetRope().GetFreqScale(), Interleaved: op.GetRope().GetInterleaved(),
				},
				Route: model.RouteAttrs{Used: d.number(op.GetRoute().GetUsed()), Renormalize: op.GetRoute().GetRenormalize()},
			},
		}
	}
	d.kind = 0
	b.Out = model.Value(d.number(w.GetOut()))
	return b
}
