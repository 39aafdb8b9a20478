//go:build cgo && !js && (linux || darwin || windows)

package exec

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/kernel"
	"github.com/pooled/pooled/gpu/optest"
	"github.com/pooled/pooled/gpu/program"
)

// tensors makes random weights for a plan: matrices as typ, vectors as F32.
func tensors(t *testing.T, p *model.Plan, typ gguf.Type) optest.Weights {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 2))
	w := optest.Weights{}
	for _, tt := range p.Tensors {
		typ := typ
		if len(tt.Shape) == 1 || tt.Shape[1]%typ.BlockLen() != 0 {
			typ = gguf.F32
		}
		v := make([]float32, tt.Elements())
		for i := range v {
			v[i] = float32(rng.NormFloat64()) / float32(math.Sqrt(float64(tt.Shape[len(tt.Shape)-1])))
			if len(tt.Shape) == 1 {
				v[i] = -float32(0.5 + rng.Float64())
			}
		}
		data := make([]byte, len(v)/typ.BlockLen()*typ.BlockBytes())
		if err := quant.Quantize(data, typ, v); err != nil {
			t.Fatal(err)
		}
		w[tt.Name] = optest.Tensor{Type: typ, Shape: tt.Shape, Data: data}
	}
	return w
}

// hybrid is a plan with a layer of attention and one of recurrence, and every pattern that is fused.
func hybrid(vocab int) *model.Plan {
	b := model.NewBuilder("test", "test", 64, vocab, 4096)
	b.Embed(func(o *model.Ops, x model.Value) model.Value { return o.Embed(x, "embed", 1) })
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		h := o.RMSNorm(x, "n1", 64, 1, 1e-6)
		rope := model.RopeAttrs{Dims: 8, Base: 1e4, FreqScale: 1}
		qg := o.Linear(h, "q", 128, 64)
		q := o.Rope(o.RMSNorm(o.Slice(qg, 4, 16, 16), "qn", 16, 4, 1e-6), 4, rope, "")
		k := o.Rope(o.Linear(h, "k", 32, 64), 2, rope, "")
		a := o.Attention(q, k, o.Linear(h, "v", 32, 64), model.AttentionShape{Heads: 4, KVHeads: 2, KeyDim: 16, ValueDim: 16, Scale: 0.25})
		a = o.SigmoidGate(a, o.Slice(qg, 4, 0, 16))
		s := o.Add(x, o.Linear(a, "o", 64, 64))
		s = o.Add(s, o.RMSNorm(a, "n2", 64, 1, 1e-6))
		h = o.RMSNorm(s, "n3", 64, 1, 1e-6)
		f := o.SwiGLU(o.Linear(h, "gate", 96, 64), o.Linear(h, "up", 96, 64))
		return o.Add(o.Linear(f, "down", 64, 96), s)
	})
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		h := o.RMSNorm(x, "n4", 64, 1, 1e-6)
		c := o.SiLU(o.ShortConv(o.Linear(h, "qkv", 128, 64), "conv", 128, 4))
		q := o.L2Norm(o.Slice(c, 1, 0, 32), 2, 1e-6, 0.25)
		k := o.L2Norm(o.Slice(c, 1, 32, 32), 2, 1e-6, 1)
		d := o.GatedDelta(q, k, o.Slice(c, 1, 64, 64), o.Linear(h, "alpha", 4, 64), o.Linear(h, "beta", 4, 64), "a", "dt", 2, 4, 16, 16)
		d = o.SwiGLU(o.Linear(h, "z", 64, 64), o.RMSNorm(d, "ssm", 16, 4, 1e-6))
		return o.Add(x, o.Linear(d, "out", 64, 64))
	})
	b.Head(func(o *model.Ops, x model.Value) model.Value {
		return o.Linear(o.RMSNorm(x, "n5", 64, 1, 1e-6), "head", vocab, 64)
	})
	return b.Plan()
}

func config(p *model.Plan, w engine.Weights, context int) engine.Config {
	return engine.Config{Plan: p, Weights: w, Range: model.LayerRange{End: len(p.Layers)}, Embed: true, Head: true, Context: context}
}

func mustOpen(t *testing.T, b engine.Backend, c engine.Config) *session {
	t.Helper()
	s, err := b.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*session)
}

func ids(n, vocab int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32((i*7919 + 13) % vocab)
	}
	return v
}

func forward(t *testing.T, s engine.Session, tokens []int32, o engine.Output) engine.Result {
	t.Helper()
	r, err := s.Forward(t.Context(), engine.Batch{Pos: s.Len(), Tokens: tokens, Output: o})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFusedEqualsPlain(t *testing.T) {
	b := openBackend(t)
	p := hybrid(200)
	w := tensors(t, p, gguf.Q8_0)
	fused := mustOpen(t, b, config(p, w, 100))
	b.plain = true
	plain := mustOpen(t, b, config(p, w, 100))
	reference, err := optest.Reference{}.Open(t.Context(), config(p, w, 100))
	if err != nil {
		t.Fatal(err)
	}
	if f, n := len(fused.trunk.stages), len(plain.trunk.stages); f >= n {
		t.Errorf("%d fused stages, %d plain ones: nothing is fused", f, n)
	}
	for _, n := range []int{1, 7, 40} {
		all := engine.Output{Logits: engine.AllColumns, Hidden: engine.AllColumns}
		got, same := forward(t, fused, ids(n, 200), all), forward(t, plain, ids(n, 200), all)
		want := forward(t, reference, ids(n, 200), all)
		if e := optest.NMSE(got.Logits, same.Logits); e > 1e-11 {
			t.Errorf("%d columns: fused and plain differ, NMSE %.2g", n, e)
		}
		if e := optest.NMSE(got.Hidden, want.Hidden); e > 1e-7 {
			t.Errorf("%d columns: NMSE %.2g from the reference", n, e)
		}
	}
}

// TestMatmulEqualsMatvec runs every product with the kernel for many columns and with that for few: they agree to the bit.
func TestMatmulEqualsMatvec(t *testing.T) {
	b := openBackend(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range optest.Cases() {
		if !strings.HasPrefix(c.Name, "linear ") {
			continue
		}
		const n = 13
		batch := engine.Batch{Output: engine.Output{Logits: engine.AllColumns}}
		for range n * c.Plan.Hidden {
			batch.Hidden = append(batch.Hidden, float32(rng.NormFloat64()))
		}
		var logits [2][]float32
		for i, few := range []int{0, fewColumns} {
			b.few = few
			s := mustOpen(t, b, engine.Config{Plan: c.Plan, Weights: c.Weights, Head: true, Context: n, Ubatch: n})
			r, err := s.Forward(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			logits[i] = r.Logits
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(logits[0], logits[1]) {
			t.Errorf("%s: the kernels for many and for few columns differ, NMSE %.2g", c.Name, optest.NMSE(logits[0], logits[1]))
		}
	}
}

// TestOneSubmission checks that a pass of few columns, its logits and the search for the best are one submission.
func TestOneSubmission(t *testing.T) {
	b := openBackend(t)
	p := hybrid(200)
	s := mustOpen(t, b, config(p, tensors(t, p, gguf.Q4_0), 100))
	for _, n := range []int{1, 5, narrow} {
		for _, o := range []engine.Output{{}, {Top: 4}, {Top: 100, Hidden: engine.AllColumns}, {Top: 3, TopOf: engine.AllColumns}, {Accept: true}, {Logits: engine.LastColumn}, {Logits: engine.AllColumns, Top: 1}} {
			before := b.dev.Submissions()
			forward(t, s, ids(n, 200), o)
			if got := b.dev.Submissions() - before; got != 1 {
				t.Errorf("%d columns with output %+v: %d submissions, want 1", n, o, got)
			}
			before = b.dev.Submissions()
			if _, err := s.Forward(t.Context(), engine.Batch{Tokens: ids(n, 200), Keep: []int{n}, Output: o}); err != nil {
				t.Fatal(err)
			}
			if got := b.dev.Submissions() - before; got != 1 {
				t.Errorf("going back with %d columns and output %+v: %d submissions, want 1", n, o, got)
			}
			if _, err := s.Forward(t.Context(), engine.Batch{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRecordedAhead checks that decoding only has to submit what was recorded while the step before ran, also across the
// positions where attention takes another form, and that this changes no bit.
func TestRecordedAhead(t *testing.T) {
	b := openBackend(t)
	p := hybrid(200)
	w := tensors(t, p, gguf.Q4_0)
	s := mustOpen(t, b, config(p, w, 600))
	one := mustOpen(t, b, config(p, w, 600))
	const start, steps = 250, 12
	tokens := ids(start+steps, 200)
	forward(t, s, tokens[:start], engine.Output{})
	want := forward(t, one, tokens, engine.Output{Logits: engine.AllColumns}).Logits[start*200:]
	before := b.dev.RecordedAhead()
	for i := range steps {
		got := forward(t, s, tokens[start+i:start+i+1], engine.Output{Logits: engine.LastColumn}).Logits
		if !slices.Equal(got, want[i*200:(i+1)*200]) {
			t.Errorf("step %d: other logits than in one batch", i)
		}
	}
	if got := b.dev.RecordedAhead() - before; got != steps-1 {
		t.Errorf("%d of %d steps were recorded ahead, want all but the first", got, steps)
	}
	// What was recorded uses buffers of s; closing it must not leave them to be submitted.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	forward(t, one, ids(1, 200), engine.Output{Logits: engine.LastColumn})
}

func TestFuseKeepsWhatIsRead(t *testing.T) {
	op := func(k model.Kind, out int, in ...int) program.Op {
		return program.Op{Kind: k, In: in, Out: out, Weights: []int{0}}
	}
	for _, c := range []struct {
		name string
		ops  []program.Op
		keep []int
		want int
	}{
		{"residual", []program.Op{op(model.Linear, 1, 0), op(model.Add, 2, 0, 1)}, []int{2}, 1},
		{"the product is read again", []program.Op{op(model.Linear, 1, 0), op(model.Add, 2, 0, 1), op(model.SiLU, 3, 1)}, []int{2, 3}, 3},
		{"the product is kept", []program.Op{op(model.Linear, 1, 0), op(model.Add, 2, 0, 1)}, []int{1, 2}, 2},
		{"twice the product", []program.Op{op(model.Linear, 1, 0), op(model.Add, 2, 1, 1)}, []int{2}, 2},
		{"norm of a sum", []program.Op{op(model.SiLU, 1, 0), op(model.Add, 2, 0, 1), op(model.RMSNorm, 3, 2)}, []int{2, 3}, 2},
		{"convolution and SiLU", []program.Op{op(model.ShortConv, 1, 0), op(model.SiLU, 2, 1)}, []int{2}, 1},
		{"GLU", []program.Op{op(model.Linear, 1, 0), op(model.Linear, 2, 0), op(model.SwiGLU, 3, 1, 2)}, []int{3}, 1},
		{"GLU of two inputs", []program.Op{op(model.Linear, 1, 0), op(model.Linear, 2, 1), op(model.SwiGLU, 3, 1, 2)}, []int{3}, 3},
		{"GLU read again", []program.Op{op(model.Linear, 1, 0), op(model.Linear, 2, 0), op(model.SwiGLU, 3, 1, 2)}, []int{2, 3}, 3},
		{"gated norm", []program.Op{op(model.RMSNorm, 1, 0), op(model.SwiGLU, 2, 0, 1)}, []int{2}, 1},
		{"the norm is the gate", []program.Op{op(model.RMSNorm, 1, 0), op(model.SwiGLU, 2, 1, 0)}, []int{2}, 2},
		{"norm and rope", []program.Op{op(model.RMSNorm, 1, 0), op(model.Rope, 2, 1)}, []int{2}, 1},
		{"norm of twice a value", []program.Op{op(model.Add, 1, 0, 0), op(model.RMSNorm, 2, 1)}, []int{2}, 2},
	} {
		if got := fuse(c.ops, func(int, int) bool { return true }, c.keep...); len(got) != c.want {
			t.Errorf("%s: %d steps, want %d", c.name, len(got), c.want)
		}
	}
}

func TestTop(t *testing.T) {
	b := openBackend(t)
	for _, vocab := range []int{5, 1024, 70001} {
		p := hybrid(vocab)
		s := mustOpen(t, b, config(p, tensors(t, p, gguf.Q4_0), 100))
		forward(t, s, ids(3, vocab), engine.Output{})
		for _, k := range []int{1, 40, kernel.MaxTop, kernel.MaxTop + 1} {
			r := forward(t, s, ids(2, vocab), engine.Output{Logits: engine.LastColumn, Top: k})
			want := engine.Result{}
			hostTop(&want, r.Logits, min(k, vocab))
			if !slices.Equal(r.Top[0], want.Top[0]) {
				t.Errorf("vocabulary %d, top %d: got %v, want %v", vocab, k, r.Top, want.Top)
			}
			if d := math.Abs(float64(r.LogSumExp[0] - want.LogSumExp[0])); d > 1e-4 {
				t.Errorf("vocabulary %d: log of the sum %v, want %v", vocab, r.LogSumExp[0], want.LogSumExp[0])
			}
		}
	}
}

// TestTies checks that the lower id comes first among equal logits.
func TestTies(t *testing.T) {
	b := openBackend(t)
	p := hybrid(3000)
	w := tensors(t, p, gguf.F32)
	clear(w["head"].Data)
	s := mustOpen(t, b, config(p, w, 10))
	r := forward(t, s, ids(1, 3000), engine.Output{Top: 5})
	for i, c := range r.Top[0] {
		if c.ID != int32(i) || c.Logit != 0 {
			t.Errorf("candidate %d is %+v", i, c)
		}
	}
}

// TestParts cuts matrices by rows, as a device with small bindings makes it necessary.
func TestParts(t *testing.T) {
	b := openBackend(t)
	p := hybrid(2000)
	w := tensors(t, p, gguf.Q8_0)
	whole := mustOpen(t, b, config(p, w, 64))
	limits := b.limits
	small := limits
	small.Binding = 33 << 10
	b.limits = small
	defer func() { b.limits = limits }()
	parts := mustOpen(t, b, config(p, w, 64))
	cut := 0
	for _, m := range parts.matrices {
		cut = max(cut, len(m.parts))
	}
	if cut < 2 {
		t.Fatal("no matrix was cut")
	}
	all := engine.Output{Logits: engine.AllColumns}
	if got, want := forward(t, parts, ids(40, 2000), all), forward(t, whole, ids(40, 2000), all); !slices.Equal(got.Logits, want.Logits) {
		t.Error("matrices in parts give other bits")
	}
	small.Binding = 1 << 10
	b.limits = small
	if _, err := b.Open(t.Context(), config(p, w, 64)); !errors.Is(err, engine.ErrOutOfMemory) {
		t.Errorf("bindings that hold no row: %v, want out of memory", err)
	}
}

// TestCancel cancels between two passes of one batch: the state is as before it.
func TestCancel(t *testing.T) {
	b := openBackend(t)
	p := hybrid(200)
	c := config(p, tensors(t, p, gguf.Q8_0), 200)
	c.Ubatch = 8
	s := mustOpen(t, b, c)
	tokens := ids(60, 200)
	logits := engine.Output{Logits: engine.LastColumn}
	forward(t, s, tokens[:10], engine.Output{})
	want := forward(t, s, tokens[10:50], logits).Logits
	if _, err := s.Forward(t.Context(), engine.Batch{Tokens: tokens[:10]}); err != nil {
		t.Fatal(err)
	}
	for stop := range 4 {
		ctx := &countdown{Context: t.Context(), left: stop}
		_, err := s.Forward(ctx, engine.Batch{Pos: 10, Tokens: tokens[10:50]})
		if !errors.Is(err, context.Canceled) || s.Len() != 10 {
			t.Errorf("cancelled after %d passes: %v, %d positions", stop, err, s.Len())
		}
	}
	if got := forward(t, s, tokens[10:50], logits).Logits; !slices.Equal(got, want) {
		t.Error("after cancelling the logits have other bits")
	}
}

// countdown is a context that is cancelled when it has been asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestClose(t *testing.T) {
	b := openBackend(t)
	p := hybrid(200)
	s := mustOpen(t, b, config(p, tensors(t, p, gguf.Q8_0), 20))
	if w, st := s.Memory(); w < 1000 || st < 1000 {
		t.Errorf("memory %d and %d", w, st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forward(t.Context(), engine.Batch{Tokens: ids(1, 200)}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("Forward on a closed session: %v", err)
	}
}

// TestUntrustedWeights opens files that do not match their plan.
func TestUntrustedWeights(t *testing.T) {
	b := openBackend(t)
	p := hybrid(200)
	for name, change := range map[string]func(w optest.Weights){
		"missing":    func(w optest.Weights) { delete(w, "qkv") },
		"short":      func(w optest.Weights) { t := w["qkv"]; t.Data = t.Data[:len(t.Data)-1]; w["qkv"] = t },
		"shape":      func(w optest.Weights) { t := w["qkv"]; t.Shape = []int{64, 128}; w["qkv"] = t },
		"type":       func(w optest.Weights) { t := w["qkv"]; t.Type = gguf.I32; w["qkv"] = t },
		"no type":    func(w optest.Weights) { t := w["qkv"]; t.Type = 9999; w["qkv"] = t },
		"short norm": func(w optest.Weights) { t := w["n1"]; t.Data = nil; w["n1"] = t },
	} {
		w := tensors(t, p, gguf.Q8_0)
		change(w)
		if s, err := b.Open(t.Context(), config(p, w, 20)); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := b.Open(t.Context(), config(p, tensors(t, p, gguf.Q8_0), 1<<30)); !errors.Is(err, engine.ErrOutOfMemory) {
		t.Errorf("a context of 2^30: %v, want out of memory", err)
	}
}
