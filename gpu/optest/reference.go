package optest

import (
	"cmp"
	"context"
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

// Tensor is a tensor in memory.
type Tensor struct {
	Type gguf.Type
	// Shape is row-major, outermost dimension first.
	Shape []int
	Data  []byte
}

// Weights are tensors in memory, as [engine.Weights].
type Weights map[string]Tensor

// ID implements [engine.Weights]; all weights made for tests are one model.
func (w Weights) ID() (engine.ID, error) { return engine.ID{}, nil }

// Tensor implements [engine.Weights].
func (w Weights) Tensor(name string) (engine.Tensor, error) {
	t, ok := w[name]
	if !ok {
		return engine.Tensor{}, fmt.Errorf("tensor %s: %w", name, gguf.ErrNoTensor)
	}
	return engine.Tensor{Type: t.Type, Shape: t.Shape, Size: int64(len(t.Data))}, nil
}

// Bytes implements [engine.Weights].
func (w Weights) Bytes(_ context.Context, name string, offset, n int64) ([]byte, error) {
	data := w[name].Data
	if offset < 0 || n < 0 || offset > int64(len(data)) || n > int64(len(data))-offset {
		return nil, fmt.Errorf("tensor %s: %d bytes at %d are outside its %d", name, n, offset, len(data))
	}
	return data[offset : offset+n], nil
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
func (Reference) Open(ctx context.Context, c engine.Config) (engine.Session, error) {
	p, err := program.Build(c)
	if err != nil {
		return nil, err
	}
	s := &session{p: p, weights: map[int][]float32{}}
	s.ledger = program.NewLedger(c, p, s.size, func(*layers) {})
	for _, w := range p.Plan.TensorsOf(p.Range, c.Embed, c.Head, false) {
		name := p.Plan.Tensors[w].Name
		t, err := c.Weights.Tensor(name)
		if err != nil {
			return nil, err
		}
		data, err := c.Weights.Bytes(ctx, name, 0, t.Size)
		if err != nil {
			return nil, err
		}
		v := make([]float32, p.Plan.Tensors[w].Elements())
		if err := quant.Dequantize(v, t.Type, data); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		s.weights[w] = v
	}
	s.state = newState(p)
	return s, nil
}

type session struct {
	p       *program.Program
	pos     int // of the lap that is running
	weights map[int][]float32
	ledger  *program.Ledger[*layers]
	state   *layers
	before  *layers // what the last lap began with
}

// layers is the state by layer.
type layers struct {
	keys, values, conv, delta map[int][]float32
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

// cut drops keys and values from position pos on.
func (s *session) cut(pos int) {
	for i := s.p.Range.Begin; i < s.p.Range.End; i++ {
		if kv := s.p.Plan.Layers[i].State.KV; kv != nil {
			s.state.keys[i] = s.state.keys[i][:pos*kv.Heads*kv.KeyDim]
			s.state.values[i] = s.state.values[i][:pos*kv.Heads*kv.ValueDim]
		}
	}
}

// size is what a checkpoint takes in float32.
func (s *session) size(positions int) int64 {
	kv, recurrent := s.p.Plan.StateBytes(s.p.Range, positions)
	return 2*kv + recurrent
}

func (s *session) Len() int                       { return s.ledger.Len() }
func (s *session) Memory() (weights, state int64) { return 0, s.size(s.Len()) }
func (s *session) Close() error                   { return nil }

// Forward takes a copy of the whole state before every lap, and for everything that is kept.
func (s *session) Forward(_ context.Context, b engine.Batch) (engine.Result, error) {
	lap, err := s.ledger.Check(b)
	switch {
	case err != nil:
		return engine.Result{}, err
	case lap.Batch.Undo:
		s.state = s.before
		s.ledger.Undo()
		return engine.Result{}, nil
	case lap.Source != nil:
		s.state = lap.Source.Copy.clone()
		s.ledger.Restore(lap.Source)
		return engine.Result{}, nil
	}
	s.before = s.state.clone()
	s.ledger.Begin(lap)
	switch {
	case lap.From != nil:
		s.state = lap.From.Copy.clone()
	case lap.Back && lap.Batch.Pos == 0:
		s.state = newState(s.p)
	case lap.Back:
		s.cut(lap.Batch.Pos)
	}
	r, err := s.run(lap)
	if err != nil {
		s.state = s.before
		s.ledger.Undo()
		return engine.Result{}, err
	}
	r.Settle(b.Output, b.Tokens)
	return r, nil
}

// run computes a lap up to each position that is to be kept.
func (s *session) run(lap *program.Lap[*layers]) (engine.Result, error) {
	var r engine.Result
	for at := 0; ; {
		if s.ledger.Missing(lap) {
			s.ledger.Keep(s.ledger.Len(), s.state.clone())
		}
		if at == lap.Columns {
			break
		}
		n := lap.Pass(at, lap.Columns)
		if err := s.pass(lap, &r, at, n); err != nil {
			return r, err
		}
		s.ledger.Advance(n)
		at += n
	}
	for _, id := range lap.Batch.Save {
		r.Saved = append(r.Saved, s.ledger.Save(id, s.state.clone()))
	}
	return r, nil
}

// pass computes columns [at, at+n).
func (s *session) pass(lap *program.Lap[*layers], r *engine.Result, at, n int) error {
	p := s.p
	s.pos = s.ledger.Len()
	values := make([][]float32, len(p.Widths))
	var tokens []int32
	if p.Embeds {
		tokens = lap.Batch.Tokens[at : at+n]
	} else {
		values[0] = lap.Batch.Hidden[at*p.Plan.Hidden : (at+n)*p.Plan.Hidden]
	}
	for _, op := range p.Trunk {
		if err := s.op(op, values, tokens, n); err != nil {
			return err
		}
	}
	r.Hidden = append(r.Hidden, values[p.Hidden][p.Plan.Hidden*lap.First(lap.Batch.Output.Hidden, at, n):]...)
	if lap.First(lap.LogitsOf, at, n) == n {
		return nil
	}
	for _, op := range p.Head {
		if err := s.op(op, values, nil, n); err != nil {
			return err
		}
	}
	logits, vocab := values[p.Logits], p.Plan.Vocab
	r.Logits = append(r.Logits, logits[vocab*lap.First(lap.Batch.Output.Logits, at, n):]...)
	for c := lap.First(lap.CandidatesOf, at, n); c < n; c++ {
		candidates, sum := top(logits[c*vocab:(c+1)*vocab], lap.Candidates)
		r.Top, r.LogSumExp = append(r.Top, candidates), append(r.LogSumExp, sum)
	}
	return nil
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
	case model.Route:
		ref.Route(out, in(0), width, a.Route.Used, a.Route.Renormalize, a.Scale)
	case model.ExpertLinear:
		s := p.Plan.Tensors[op.Weights[0]].Shape
		ref.ExpertLinear(out, in(0), in(1), w(0), p.Widths[op.In[1]]/2, s[1], s[2])
	case model.Concat:
		second := p.Widths[op.In[1]]
		for t := range n {
			copy(out[t*(width+second):], in(0)[t*width:(t+1)*width])
			copy(out[t*(width+second)+width:], in(1)[t*second:(t+1)*second])
		}
	case model.Combine:
		ref.Combine(out, in(0), in(1), p.Widths[op.In[1]]/2, p.Widths[op.Out])
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
func float32Tensor(v []float32, shape ...int) Tensor {
	data := make([]byte, 4*len(v))
	if err := quant.Quantize(data, gguf.F32, v); err != nil {
		panic(err) // the sizes are ours
	}
	return Tensor{Type: gguf.F32, Shape: shape, Data: data}
}
