package modelv1

import (
	"fmt"

	"github.com/pooled/pooled/core/model"
)

// encodeMetadata turns md into its wire form.
//
// Errors: a value of a type that [model.Metadata.Values] does not have.
func encodeMetadata(md *model.Metadata) (*Metadata, error) {
	out := &Metadata{
		Architecture: md.Architecture,
		Values:       make(map[string]*Value, len(md.Values)),
		Tensors:      make([]*TensorInfo, 0, len(md.Tensors)),
	}
	for key, v := range md.Values {
		w, err := encodeValue(v)
		if err != nil {
			return nil, fmt.Errorf("metadata: %s: %w", key, err)
		}
		out.Values[key] = w
	}
	for name, t := range md.Tensors {
		out.Tensors = append(out.Tensors, &TensorInfo{Name: name, Type: t.Type, Shape: widen(t.Shape)})
	}
	return out, nil
}

func encodeValue(v any) (*Value, error) {
	switch x := v.(type) {
	case int64:
		return &Value{Kind: &Value_Integer{x}}, nil
	case float64:
		return &Value{Kind: &Value_Number{x}}, nil
	case bool:
		return &Value{Kind: &Value_Truth{x}}, nil
	case string:
		return &Value{Kind: &Value_Text{x}}, nil
	case []int64:
		return &Value{Kind: &Value_Integers{&Integers{Values: x}}}, nil
	case []float64:
		return &Value{Kind: &Value_Numbers{&Numbers{Values: x}}}, nil
	case []bool:
		return &Value{Kind: &Value_Truths{&Truths{Values: x}}}, nil
	case []string:
		return &Value{Kind: &Value_Texts{&Texts{Values: x}}}, nil
	}
	return nil, fmt.Errorf("has the type %T", v)
}

// encodePlan turns p into its wire form.
func encodePlan(p *model.Plan) *Plan {
	out := &Plan{
		Family: p.Family, Architecture: p.Architecture,
		Hidden: int64(p.Hidden), Vocab: int64(p.Vocab), Context: int64(p.Context),
		Embed: encodeBlock(&p.Embed), Head: encodeBlock(&p.Head),
	}
	for _, t := range p.Tensors {
		out.Tensors = append(out.Tensors, &Tensor{Name: t.Name, Shape: widen(t.Shape)})
	}
	for i := range p.Layers {
		out.Layers = append(out.Layers, encodeLayer(&p.Layers[i]))
	}
	if d := p.Draft; d != nil {
		out.Draft = &Draft{Layer: encodeLayer(&d.Layer), From: int64(d.From), Head: encodeBlock(&d.Head)}
	}
	return out
}

func encodeLayer(l *model.Layer) *Layer {
	w := &Layer{Block: encodeBlock(&l.Block)}
	if s := l.State.KV; s != nil {
		w.Kv = &KVState{Heads: int64(s.Heads), KeyDim: int64(s.KeyDim), ValueDim: int64(s.ValueDim)}
	}
	if s := l.State.Conv; s != nil {
		w.Conv = &ConvState{Channels: int64(s.Channels), Taps: int64(s.Taps)}
	}
	if s := l.State.Delta; s != nil {
		w.Delta = &DeltaState{Heads: int64(s.Heads), KeyDim: int64(s.KeyDim), ValueDim: int64(s.ValueDim)}
	}
	return w
}

func encodeBlock(b *model.Block) *Block {
	out := &Block{Out: int64(b.Out)}
	for i := range b.Ops {
		op := &b.Ops[i]
		a := &op.Attrs
		w := &Op{
			Kind: Kind(op.Kind), Inputs: widen(op.In), Weights: widen(op.Weights),
			Eps: a.Eps, Scale: a.Scale, Groups: int64(a.Groups), Offset: int64(a.Offset), Length: int64(a.Length),
			Heads: int64(a.Heads), KvHeads: int64(a.KVHeads), Window: int64(a.Window),
		}
		if r := a.Rope; r != (model.RopeAttrs{}) {
			w.Rope = &Rope{Dims: int64(r.Dims), Base: r.Base, FreqScale: r.FreqScale, Interleaved: r.Interleaved}
		}
		if r := a.Route; r != (model.RouteAttrs{}) {
			w.Route = &Route{Used: int64(r.Used), Renormalize: r.Renormalize}
		}
		out.Ops = append(out.Ops, w)
	}
	return out
}

func widen[T ~int](xs []T) []int64 {
	if len(xs) == 0 {
		return nil
	}
	out := make([]int64, len(xs))
	for i, x := range xs {
		out[i] = int64(x)
	}
	return out
}
