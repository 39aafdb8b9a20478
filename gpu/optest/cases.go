package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
)

// The limits of a case. Sums are in float32, the reference sums in float64; f16 is where a backend may keep weights of a
// type it has no kernel for as float16.
const (
	exact = 1e-11
	f16   = 1e-6
)

type maker struct{ rng *rand.Rand }

// tensor makes normal numbers of type t.
func (m *maker) tensor(t gguf.Type, scale float64, shape ...int) Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]byte, n/t.BlockLen()*t.BlockBytes())
	if !quant.Encodable(t) {
		m.blocks(t, data)
		return Tensor{Type: t, Shape: shape, Data: data}
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(m.rng.NormFloat64() * scale)
	}
	if err := quant.Quantize(data, t, v); err != nil {
		panic(err) // the sizes are ours
	}
	return Tensor{Type: t, Shape: shape, Data: data}
}

// blocks fills data with random blocks whose scales are small numbers, for types that cannot be encoded.
func (m *maker) blocks(t gguf.Type, data []byte) {
	for i := range data {
		data[i] = byte(m.rng.Uint32())
	}
	size := t.BlockBytes()
	scales := map[gguf.Type][]int{gguf.IQ4_NL: {0}, gguf.Q2_K: {80, 82}, gguf.Q3_K: {108}}[t]
	for b := 0; b < len(data); b += size {
		for _, at := range scales {
			h := quant.FloatToHalf(float32(0.001 + 0.01*m.rng.Float64()))
			data[b+at], data[b+at+1] = byte(h), byte(h>>8)
		}
	}
}

func weights(ts ...Tensor) Weights {
	w := Weights{}
	for i, t := range ts {
		w[fmt.Sprintf("w%d", i)] = t
	}
	return w
}

// inputs cuts the hidden state into values of the given widths.
func inputs(o *model.Ops, x model.Value, widths []int) []model.Value {
	var vs []model.Value
	at := 0
	for _, w := range widths {
		if len(widths) == 1 {
			return []model.Value{x}
		}
		vs = append(vs, o.Slice(x, 1, at, w))
		at += w
	}
	return vs
}

func sum(ns []int) int {
	t := 0
	for _, n := range ns {
		t += n
	}
	return t
}

// stateless makes a case of an operation without state: it stands in the head.
func stateless(name string, w Weights, widths []int, out int, f func(o *model.Ops, in []model.Value) model.Value) Case {
	b := model.NewBuilder("optest", "optest", sum(widths), out, 1<<20)
	b.Embed(func(o *model.Ops, t model.Value) model.Value { return o.Embed(t, "embed", 1) })
	b.Layer(func(_ *model.Ops, x model.Value) model.Value { return x })
	b.Head(func(o *model.Ops, x model.Value) model.Value { return f(o, inputs(o, x, widths)) })
	return Case{Name: name, Plan: b.Plan(), Weights: w, Head: true, Columns: []int{1, 3, 18}, NMSE: exact}
}

// stateful makes a case of an operation with state: it stands in a layer, and its result is spread over the hidden state.
func stateful(name string, w Weights, widths []int, out int, f func(o *model.Ops, in []model.Value) model.Value) Case {
	hidden := sum(widths)
	b := model.NewBuilder("optest", "optest", hidden, 1, 1<<20)
	b.Embed(func(o *model.Ops, t model.Value) model.Value { return o.Embed(t, "embed", 1) })
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		return o.Linear(f(o, inputs(o, x, widths)), "spread", hidden, out)
	})
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "head", 1, hidden) })
	spread := make([]float32, hidden*out)
	for r := range hidden {
		spread[r*out+r%out] = 1
	}
	all := Weights{"spread": float32Tensor(spread, hidden, out)}
	for n, t := range w {
		all[n] = t
	}
	return Case{Name: name, Plan: b.Plan(), Weights: all, Columns: []int{1, 5, 40}, NMSE: exact}
}

// Cases returns the table, the same every time.
func Cases() []Case {
	m := &maker{rand.New(rand.NewPCG(7, 7))}
	var cs []Case
	cs = append(cs, m.linears()...)
	cs = append(cs, m.glus()...)
	cs = append(cs, m.embeds()...)
	cs = append(cs, m.elements()...)
	cs = append(cs, m.norms()...)
	cs = append(cs, m.ropes()...)
	cs = append(cs, m.attentions()...)
	cs = append(cs, m.recurrents()...)
	cs = append(cs, m.routes()...)
	return append(cs, m.experts()...)
}

func (m *maker) linear(t gguf.Type, rows, cols int, bias bool, columns ...int) Case {
	ts := []Tensor{m.tensor(t, 1/math.Sqrt(float64(cols)), rows, cols)}
	name := fmt.Sprintf("linear %s %d×%d", strings.ToLower(t.String()), rows, cols)
	if bias {
		ts = append(ts, m.tensor(gguf.F32, 1, rows))
		name += " bias"
	}
	c := stateless(name, weights(ts...), []int{cols}, rows, func(o *model.Ops, in []model.Value) model.Value {
		if bias {
			return o.LinearBias(in[0], "w0", "w1", rows, cols)
		}
		return o.Linear(in[0], "w0", rows, cols)
	})
	c.Columns = columns
	if !quant.Encodable(t) && t != gguf.IQ4_NL {
		c.NMSE = f16
	}
	return c
}

func (m *maker) linears() []Case {
	var cs []Case
	for _, t := range []gguf.Type{
		gguf.F32, gguf.F16, gguf.BF16, gguf.Q4_0, gguf.Q4_1, gguf.Q5_0, gguf.Q5_1, gguf.Q8_0, gguf.IQ4_NL,
	} {
		cs = append(cs, m.linear(t, 70, 160, false, 1, 3, 40))
	}
	for _, t := range []gguf.Type{gguf.Q4_K, gguf.Q5_K, gguf.Q6_K, gguf.Q2_K, gguf.Q3_K} {
		cs = append(cs, m.linear(t, 45, 512, false, 1, 3, 40))
	}
	return append(
		cs,
		m.linear(gguf.F32, 1, 1, false, 1, 4),
		m.linear(gguf.F32, 5, 7, true, 1, 9, 70),
		m.linear(gguf.F16, 129, 33, false, 2, 65),
		m.linear(gguf.Q4_0, 1, 32, true, 1, 16),
		m.linear(gguf.Q4_0, 300, 1088, true, 1, 2, 5, 8, 17, 70),
		m.linear(gguf.Q8_0, 3100, 64, false, 1, 33),
	)
}

// glus are SwiGLUs of two products of one input, which a backend may compute at once.
func (m *maker) glus() []Case {
	var cs []Case
	for _, g := range []struct {
		t          gguf.Type
		rows, cols int
	}{{gguf.Q4_0, 96, 64}, {gguf.Q6_K, 64, 256}, {gguf.F16, 33, 32}} {
		scale := 1 / math.Sqrt(float64(g.cols))
		w := weights(m.tensor(g.t, scale, g.rows, g.cols), m.tensor(g.t, scale, g.rows, g.cols))
		c := stateless(fmt.Sprintf("linear glu %s %d×%d", strings.ToLower(g.t.String()), g.rows, g.cols), w, []int{g.cols}, g.rows,
			func(o *model.Ops, in []model.Value) model.Value {
				return o.SwiGLU(o.Linear(in[0], "w0", g.rows, g.cols), o.Linear(in[0], "w1", g.rows, g.cols))
			})
		c.Columns = []int{1, 5, 40}
		cs = append(cs, c)
	}
	return cs
}

func (m *maker) embeds() []Case {
	var cs []Case
	for _, t := range []gguf.Type{
		gguf.F32, gguf.F16, gguf.BF16, gguf.Q4_0, gguf.Q4_1, gguf.Q5_0, gguf.Q5_1, gguf.Q8_0, gguf.Q4_K, gguf.Q5_K, gguf.Q6_K,
	} {
		hidden := 256
		if t == gguf.F32 {
			hidden = 37
		}
		b := model.NewBuilder("optest", "optest", hidden, 77, 1<<20)
		b.Embed(func(o *model.Ops, tok model.Value) model.Value { return o.Embed(tok, "w0", 1.5) })
		b.Layer(func(_ *model.Ops, x model.Value) model.Value { return x })
		b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "head", 77, hidden) })
		cs = append(cs, Case{
			Name: "embed " + strings.ToLower(t.String()), Plan: b.Plan(), Weights: weights(m.tensor(t, 1, 77, hidden)),
			Embed: true, Columns: []int{1, 50}, NMSE: exact,
		})
	}
	return cs
}

func (m *maker) elements() []Case {
	const w = 333
	one := func(name string, f func(o *model.Ops, x model.Value) model.Value) Case {
		return stateless(name, nil, []int{w}, w, func(o *model.Ops, in []model.Value) model.Value { return f(o, in[0]) })
	}
	two := func(name string, f func(o *model.Ops, x, y model.Value) model.Value) Case {
		return stateless(name, nil, []int{w, w}, w, func(o *model.Ops, in []model.Value) model.Value { return f(o, in[0], in[1]) })
	}
	cs := []Case{
		two("add", (*model.Ops).Add), two("mul", (*model.Ops).Mul), two("swiglu", (*model.Ops).SwiGLU),
		two("geglu", (*model.Ops).GeGLU), two("sigmoid gate", (*model.Ops).SigmoidGate),
		one("silu", (*model.Ops).SiLU), one("gelu", (*model.Ops).GELU),
		one("scale", func(o *model.Ops, x model.Value) model.Value { return o.Scale(x, -0.37) }),
		stateless("slice", nil, []int{60}, 20, func(o *model.Ops, in []model.Value) model.Value { return o.Slice(in[0], 5, 3, 4) }),
		stateless("slice whole", nil, []int{60}, 60, func(o *model.Ops, in []model.Value) model.Value { return o.Slice(in[0], 1, 0, 60) }),
	}
	for _, big := range []string{"silu", "gelu", "swiglu", "geglu", "sigmoid gate"} {
		for _, c := range cs {
			if c.Name == big { // far beyond where exp overflows
				c.Name, c.Input = big+" large", 60
				cs = append(cs, c)
				break
			}
		}
	}
	return cs
}

func (m *maker) norms() []Case {
	var cs []Case
	for _, s := range []struct{ size, groups int }{{1, 1}, {16, 5}, {100, 3}, {1000, 1}, {128, 24}} {
		w := weights(m.tensor(gguf.F32, 1, s.size))
		width := s.size * s.groups
		cs = append(
			cs,
			stateless(fmt.Sprintf("rms norm %d×%d", s.groups, s.size), w, []int{width}, width,
				func(o *model.Ops, in []model.Value) model.Value {
					return o.RMSNorm(in[0], "w0", s.size, s.groups, 1e-5)
				}),
			stateless(fmt.Sprintf("l2 norm %d×%d", s.groups, s.size), nil, []int{width}, width,
				func(o *model.Ops, in []model.Value) model.Value { return o.L2Norm(in[0], s.groups, 1e-6, 0.25) }),
		)
	}
	w := weights(m.tensor(gguf.F32, 1, 90))
	sum := stateless("rms norm of a sum", w, []int{90, 90}, 90, func(o *model.Ops, in []model.Value) model.Value {
		s := o.Add(in[0], in[1])
		return o.Add(o.RMSNorm(s, "w0", 90, 1, 1e-5), s)
	})
	return append(cs, sum)
}

func (m *maker) ropes() []Case {
	var cs []Case
	for _, r := range []struct {
		heads, size, dims int
		interleaved       bool
		factors           bool
		start             int
	}{
		{3, 16, 16, false, false, 0},
		{3, 16, 16, true, false, 0},
		{2, 64, 16, false, true, 7},
		{5, 10, 6, true, true, 1000},
	} {
		var w Weights
		factors := ""
		if r.factors {
			f := make([]float32, r.dims/2)
			for i := range f {
				f[i] = 1 + float32(i)*0.7
			}
			w, factors = weights(float32Tensor(f, r.dims/2)), "w0"
		}
		width := r.heads * r.size
		c := stateless(fmt.Sprintf("rope %d×%d of %d", r.heads, r.dims, r.size), w, []int{width}, width,
			func(o *model.Ops, in []model.Value) model.Value {
				return o.Rope(in[0], r.heads, model.RopeAttrs{Dims: r.dims, Base: 10000, FreqScale: 0.5, Interleaved: r.interleaved}, factors)
			})
		if r.interleaved {
			c.Name += " interleaved"
		}
		c.Start = r.start
		cs = append(cs, c)
	}
	return cs
}

func (m *maker) attentions() []Case {
	var cs []Case
	for _, a := range []struct {
		heads, kv, key, value, window, start int
		columns                              []int
	}{
		{4, 4, 16, 16, 0, 0, []int{1, 5, 70}},
		{6, 2, 64, 64, 0, 50, []int{1, 9}},
		{4, 1, 33, 31, 0, 300, []int{1, 3, 20}},
		{4, 2, 32, 32, 16, 100, []int{1, 40}},
		{2, 2, 24, 40, 300, 700, []int{1, 4}},
		{6, 1, 256, 256, 0, 20, []int{1, 6}},
		{2, 1, 64, 64, 0, 560, []int{1, 12}},
	} {
		widths := []int{a.heads * a.key, a.kv * a.key, a.kv * a.value}
		c := stateful(fmt.Sprintf("attention %d/%d×%d/%d window %d after %d", a.heads, a.kv, a.key, a.value, a.window, a.start),
			nil, widths, a.heads*a.value, func(o *model.Ops, in []model.Value) model.Value {
				return o.Attention(in[0], in[1], in[2], model.AttentionShape{
					Heads: a.heads, KVHeads: a.kv, KeyDim: a.key, ValueDim: a.value, Window: a.window, Scale: 1 / math.Sqrt(float64(a.key)),
				})
			})
		c.Start, c.Columns = a.start, a.columns
		cs = append(cs, c)
	}
	return cs
}

func (m *maker) recurrents() []Case {
	var cs []Case
	for _, s := range []struct{ channels, taps int }{{50, 4}, {7, 2}, {130, 9}} {
		cs = append(cs, stateful(fmt.Sprintf("short conv %d×%d", s.channels, s.taps), weights(m.tensor(gguf.F32, 0.5, s.channels, s.taps)),
			[]int{s.channels}, s.channels, func(o *model.Ops, in []model.Value) model.Value {
				return o.ShortConv(in[0], "w0", s.channels, s.taps)
			}))
	}
	for _, d := range []struct{ keyHeads, heads, key, value int }{{2, 4, 32, 32}, {1, 3, 33, 20}, {2, 2, 8, 130}, {2, 6, 128, 128}} {
		decay := make([]float32, d.heads)
		for i := range decay {
			decay[i] = -float32(0.01 + 0.5*m.rng.Float64())
		}
		w := weights(float32Tensor(decay, d.heads), m.tensor(gguf.F32, 1, d.heads))
		widths := []int{d.keyHeads * d.key, d.keyHeads * d.key, d.heads * d.value, d.heads, d.heads}
		cs = append(cs, stateful(fmt.Sprintf("gated delta %d/%d×%d×%d", d.keyHeads, d.heads, d.key, d.value), w, widths, d.heads*d.value,
			func(o *model.Ops, in []model.Value) model.Value {
				q := o.L2Norm(in[0], d.keyHeads, 1e-6, 1/math.Sqrt(float64(d.key)))
				k := o.L2Norm(in[1], d.keyHeads, 1e-6, 1)
				return o.GatedDelta(q, k, in[2], in[3], in[4], "w0", "w1", d.keyHeads, d.heads, d.key, d.value)
			}))
	}
	return cs
}
