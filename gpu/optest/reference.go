package optest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/program"
	"github.com/pooled/pooled/gpu/ref"
)

// Weights are tensors in memory, as [engine.Weights].
type Weights map[string]engine.Tensor

// Tensor implements [engine.Weights].
func (w Weights) Tensor(name string) (engine.Tensor, error) {
	t, ok := w[name]
	if !ok {
		return t, errors.New("no such tensor")
	}
	return t, nil
}

// Release implements [engine.Weights].
func (w Weights) Release(string) {}

// Reference is the backend that every other one is judged by: the loops of gpu/ref, run over a program one operation
// after the other. Keys and values are rounded to float16, as everywhere.
type Reference struct{}

// Device implements [engine.Backend].
func (Reference) Device() engine.Device {
	return engine.Device{Backend: "reference", Name: "plain loops"}
}

// Close implements [engine.Backend].
func (Reference) Close() error { return nil }

// Open implements [engine.Backend].
func (Reference) Open(_ context.Context, c engine.Config) (engine.Session, error) {
	p, err := program.Build(c)
	if err != nil {
		return nil, err
	}
	s := &session{p: p, context: c.Context, weights: map[int][]float32{}}
	for _, w := range p.Plan.TensorsOf(p.Range, c.Embed, c.Head) {
		t, err := c.Weights.Tensor(p.Plan.Tensors[w].Name)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", p.Plan.Tensors[w].Name, err)
		}
		v := make([]float32, p.Plan.Tensors[w].Elements())
		if err := quant.Dequantize(v, t.Type, t.Data); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", p.Plan.Tensors[w].Name, err)
		}
		s.weights[w] = v
	}
	s.state = newState(p)
	return s, nil
}

type session struct {
	p       *program.Program
	context int
	pos     int
	weights map[int][]float32
	state   *layers
	marks   []mark
}

// layers is the state by layer.
type layers struct {
	keys, values, conv, delta map[int][]float32
}

type mark struct {
	pos   int
	state *layers
}

func newState(p *program.Program) *layers {
	s := &layers{map[int][]float32{}, map[int][]float32{}, map[int][]float32{}, map[int][]float32{}}
	for i := p.Range.Begin; i < p.Range.End; i++ {
		st := p.Plan.Layers[i].State
		if c := st.Conv; c != nil {
			s.conv[i] = make([]float32, (c.Taps-1)*c.Channels)
		}
		if d := st.Delta; d != nil {
			s.delta[i] = make([]float32, d.Heads*d.KeyDim*d.ValueDim)
		}
	}
	return s
}

func (l *layers) clone() *layers {
	deep := func(m map[int][]float32) map[int][]float32 {
		c := map[int][]float32{}
		for k, v := range m {
			c[k] = slices.Clone(v)
		}
		return c
	}
	return &layers{deep(l.keys), deep(l.values), deep(l.conv), deep(l.delta)}
}

func (s *session) Len() int                       { return s.pos }
func (s *session) Memory() (weights, state int64) { return 0, 0 }
func (s *session) Close() error                   { return nil }

func (s *session) Mark() error {
	s.marks = append(s.marks, mark{s.pos, s.state.clone()})
	return nil
}

func (s *session) Rewind(n int) (int, error) {
	if n >= s.pos {
		return s.pos, nil
	}
	best := mark{0, newState(s.p)}
	for _, m := range s.marks {
		if m.pos <= n && m.pos >= best.pos {
			best = m
		}
	}
	if !s.p.Plan.Recurrent(s.p.Range) {
		best = mark{n, s.state}
	}
	s.state, s.pos = best.state.clone(), best.pos
	for i := s.p.Range.Begin; i < s.p.Range.End; i++ {
		if kv := s.p.Plan.Layers[i].State.KV; kv != nil {
			s.state.keys[i] = s.state.keys[i][:s.pos*kv.Heads*kv.KeyDim]
			s.state.values[i] = s.state.values[i][:s.pos*kv.Heads*kv.ValueDim]
		}
	}
	return s.pos, nil
}

func (s *session) Forward(_ context.Context, b engine.Batch) (engine.Result, error) {
	p := s.p
	n := len(b.Tokens)
	values := make([][]float32, len(p.Widths))
	if !p.Embeds {
		n = len(b.Hidden) / p.Plan.Hidden
		values[0] = b.Hidden
	}
	if s.pos+n > s.context {
		return engine.Result{}, engine.ErrContextFull
	}
	for _, op := range p.Trunk {
		if err := s.op(op, values, b.Tokens, n); err != nil {
			return engine.Result{}, err
		}
	}
	var r engine.Result
	if b.Output.Hidden {
		r.Hidden = slices.Clone(values[p.Hidden])
	}
	if p.Logits != program.None && (b.Output.Logits != engine.NoColumns || b.Output.Top > 0) {
		for _, op := range p.Head {
			if err := s.op(op, values, nil, n); err != nil {
				return engine.Result{}, err
			}
		}
		all := values[p.Logits]
		last := all[(n-1)*p.Plan.Vocab:]
		switch b.Output.Logits {
		case engine.AllColumns:
			r.Logits = slices.Clone(all)
		case engine.LastColumn:
			r.Logits = slices.Clone(last)
		}
		if b.Output.Top > 0 {
			r.Top, r.LogSumExp = top(last, b.Output.Top)
		}
	}
	s.pos += n
	return r, nil
}

func top(logits []float32, k int) ([]engine.Candidate, float32) {
	c := make([]engine.Candidate, len(logits))
	sum := 0.0
	for i, l := range logits {
		c[i] = engine.Candidate{ID: int32(i), Logit: l}
	}
	slices.SortFunc(c, func(a, b engine.Candidate) int {
		if o := cmp.Compare(b.Logit, a.Logit); o != 0 {
			return o
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for _, l := range logits {
		sum += math.Exp(float64(l - c[0].Logit))
	}
	return c[:min(k, len(c))], c[0].Logit + float32(math.Log(sum))
}

// op computes one operation over n columns.
func (s *session) op(op program.Op, values [][]float32, tokens []int32, n int) error {
	p, a := s.p, op.Attrs
	out := make([]float32, n*p.Widths[op.Out])
	values[op.Out] = out
	in := func(i int) []float32 { return values[op.In[i]] }
	w := func(i int) []float32 {
		if i < len(op.Weights) {
			return s.weights[op.Weights[i]]
		}
		return nil
	}
	width := p.Widths[op.In[0]]
	switch op.Kind {
	case model.Embed:
		ref.Embed(out, w(0), tokens, p.Widths[op.Out], a.Scale)
	case model.RMSNorm:
		ref.RMSNorm(out, in(0), w(0), a.Eps)
	case model.L2Norm:
		ref.L2Norm(out, in(0), width/a.Groups, a.Eps, a.Scale)
	case model.Linear:
		ref.Linear(out, in(0), w(0), w(1), p.Widths[op.Out], width)
	case model.Add:
		ref.Add(out, in(0), in(1))
	case model.Mul:
		ref.Mul(out, in(0), in(1))
	case model.Scale:
		ref.Scale(out, in(0), a.Scale)
	case model.SiLU:
		ref.SiLU(out, in(0))
	case model.GELU:
		ref.GELU(out, in(0))
	case model.SwiGLU:
		ref.SwiGLU(out, in(0), in(1))
	case model.GeGLU:
		ref.GeGLU(out, in(0), in(1))
	case model.SigmoidGate:
		ref.SigmoidGate(out, in(0), in(1))
	case model.Slice:
		ref.Slice(out, in(0), width/a.Groups, a.Offset, a.Length)
	case model.Rope:
		ref.Rope(out, in(0), w(0), s.pos, ref.RopeShape{
			Heads: a.Heads, HeadDim: width / a.Heads, Dims: a.Rope.Dims,
			Base: a.Rope.Base, FreqScale: a.Rope.FreqScale, Interleaved: a.Rope.Interleaved,
		})
	case model.Attention:
		kv := p.Plan.Layers[op.Layer].State.KV
		l := op.Layer
		s.state.keys[l] = append(s.state.keys[l], rounded(in(1))...)
		s.state.values[l] = append(s.state.values[l], rounded(in(2))...)
		ref.Attention(out, in(0), s.state.keys[l], s.state.values[l], s.pos, n, ref.AttentionShape{
			Heads: a.Heads, KVHeads: a.KVHeads, KeyDim: kv.KeyDim, ValueDim: kv.ValueDim, Window: a.Window, Scale: a.Scale,
		})
	case model.ShortConv:
		ref.ShortConv(out, in(0), w(0), s.state.conv[op.Layer], width, p.Plan.Layers[op.Layer].State.Conv.Taps)
	case model.GatedDelta:
		d := p.Plan.Layers[op.Layer].State.Delta
		ref.GatedDelta(out, in(0), in(1), in(2), in(3), in(4), w(0), w(1), s.state.delta[op.Layer],
			ref.DeltaShape{KeyHeads: a.Heads, ValueHeads: a.KVHeads, KeyDim: d.KeyDim, ValueDim: d.ValueDim})
	default:
		return fmt.Errorf("the reference has no %v", op.Kind)
	}
	return nil
}

func rounded(v []float32) []float32 {
	r := make([]float32, len(v))
	for i, x := range v {
		r[i] = quant.HalfToFloat(quant.FloatToHalf(x))
	}
	return r
}

// float32Tensor stores values as they are.
func float32Tensor(v []float32, shape ...int) engine.Tensor {
	data := make([]byte, 4*len(v))
	if err := quant.Quantize(data, gguf.F32, v); err != nil {
		panic(err) // the sizes are ours
	}
	return engine.Tensor{Type: gguf.F32, Shape: shape, Data: data}
}
