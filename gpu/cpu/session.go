package cpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/mat"
	"github.com/pooled/pooled/gpu/cpu/pool"
	"github.com/pooled/pooled/gpu/program"
)

const (
	// maxUbatch is the most columns of one pass: enough for a product to be bound by arithmetic.
	maxUbatch = 512
	// scratchBytes bounds the memory of a pass's values; wide models get shorter passes.
	scratchBytes = 48 << 20
	// headColumns is how many columns of logits are computed at once when all are wanted.
	headColumns = 16
	// atomicColumns is the longest batch that is computed without looking at the context in between, so that nothing has
	// to be saved to take it back.
	atomicColumns = 8
)

type session struct {
	config engine.Config
	prog   *program.Program
	w      *weights
	pool   *pool.Pool
	ubatch int

	mu     sync.Mutex // held by every call
	closed bool
	trunk  tape
	head   tape
	acts   mat.Acts
	ropes  []*ropeTable
	layers []layerState // by layer − Range.Begin
	tokens []int32      // of the pass that is running
	n      int          // positions held
	marks  []mark
	undo   mark // the recurrent state before the batch that is running
}

// tape is a list of operations with the buffers of their values.
type tape struct {
	steps []step
	slot  []int       // of each value
	width []int       // of each value
	bufs  [][]float32 // of each slot, grown to the longest pass so far
	slots []int       // width of each slot
}

// step computes one operation, or a few joined ones, on n columns.
type step struct {
	layer int
	run   func(n int)
}

// value returns the buffer of value v. Shapes: [n, width].
func (t *tape) value(v, n int) []float32 {
	return t.bufs[t.slot[v]][:n*t.width[v]]
}

// grow makes room for n columns.
func (t *tape) grow(n int) {
	for i, w := range t.slots {
		if len(t.bufs[i]) < n*w {
			t.bufs[i] = make([]float32, n*w)
		}
	}
}

func newSession(c engine.Config, p *program.Program, w *weights, pl *pool.Pool) (*session, error) {
	s := &session{config: c, prog: p, w: w, pool: pl}
	for i := c.Range.Begin; i < c.Range.End; i++ {
		s.layers = append(s.layers, newLayerState(c.Plan.Layers[i].State, c.Context))
	}
	s.trunk = s.compile(groupLinear(p.Trunk), []int{p.Hidden}, 0)
	s.head = s.compile(groupLinear(p.Head), []int{p.Hidden, max(p.Logits, 0)}, p.Hidden)
	total := 1
	for _, w := range s.trunk.slots {
		total += w
	}
	s.ubatch = min(maxUbatch, max(32, scratchBytes/(4*total)))
	if c.Ubatch > 0 {
		s.ubatch = c.Ubatch
	}
	return s, nil
}

func (s *session) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func (s *session) Memory() (weights, state int64) {
	for i := range s.layers {
		state += s.layers[i].bytes()
	}
	return s.w.bytes, state
}

func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.w, s.layers, s.marks, s.trunk, s.head = &weights{}, nil, nil, tape{}, tape{}
	return nil
}

func (s *session) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.check(b)
	if err != nil {
		return engine.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return engine.Result{}, err
	}
	if n <= min(atomicColumns, s.ubatch) {
		return s.guarded(context.WithoutCancel(ctx), b, n)
	}
	s.save(&s.undo)
	r, err := s.guarded(ctx, b, n)
	if err != nil {
		s.restore(&s.undo)
		s.n = s.undo.pos
		return engine.Result{}, err
	}
	return r, nil
}

// check returns the number of columns of a batch that can be computed.
func (s *session) check(b engine.Batch) (int, error) {
	if s.closed {
		return 0, engine.ErrClosed
	}
	hidden := s.config.Plan.Hidden
	n := len(b.Tokens)
	if !s.prog.Embeds {
		n = len(b.Hidden) / hidden
		if len(b.Hidden)%hidden != 0 || len(b.Tokens) != 0 {
			return 0, fmt.Errorf("layers %d to %d read hidden states of %d values, not %d values and %d tokens",
				s.config.Range.Begin, s.config.Range.End, hidden, len(b.Hidden), len(b.Tokens))
		}
	} else if len(b.Hidden) != 0 {
		return 0, fmt.Errorf("a session with the embedding reads tokens, not hidden states")
	}
	switch {
	case n == 0:
		return 0, fmt.Errorf("the batch is empty")
	case b.Pos != s.n:
		return 0, fmt.Errorf("the batch begins at position %d, but %d are held", b.Pos, s.n)
	case n > s.config.Context-s.n:
		return 0, fmt.Errorf("%w: %d positions are held and %d more do not fit into %d", engine.ErrContextFull, s.n, n, s.config.Context)
	case (b.Output.Logits != engine.NoColumns || b.Output.Top > 0) && s.prog.Logits == program.None:
		return 0, fmt.Errorf("the session ends at layer %d and has no head for logits", s.config.Range.End)
	}
	for i, id := range b.Tokens {
		if id < 0 || int(id) >= s.config.Plan.Vocab {
			return 0, fmt.Errorf("token %d of the batch is %d, but the vocabulary has %d", i, id, s.config.Plan.Vocab)
		}
	}
	return n, nil
}

// guarded is forward where the file of the embedding may have been shortened. Its rows are the first that a pass reads:
// one that fails there has changed nothing.
func (s *session) guarded(ctx context.Context, b engine.Batch, n int) (r engine.Result, err error) {
	err = gguf.Guard(func() (err error) {
		r, err = s.forward(ctx, b, n)
		return err
	})
	return r, err
}

// forward computes a checked batch in passes of at most ubatch columns.
func (s *session) forward(ctx context.Context, b engine.Batch, n int) (engine.Result, error) {
	var r engine.Result
	hidden := s.config.Plan.Hidden
	for at := 0; at < n; at += s.ubatch {
		cols := min(s.ubatch, n-at)
		s.trunk.grow(cols)
		if s.prog.Embeds {
			s.tokens = b.Tokens[at : at+cols]
		} else {
			copy(s.trunk.value(0, cols), b.Hidden[at*hidden:])
		}
		for _, t := range s.ropes {
			t.fill(s.n, cols)
		}
		layer := program.NoLayer
		for _, st := range s.trunk.steps {
			if st.layer != layer {
				if err := ctx.Err(); err != nil {
					return r, err
				}
			}
			layer = st.layer
			st.run(cols)
		}
		s.n += cols
		h := s.trunk.value(s.prog.Hidden, cols)
		if b.Output.Hidden {
			r.Hidden = append(r.Hidden, h...)
		}
		if b.Output.Logits == engine.AllColumns {
			for c := 0; c < cols; c += headColumns {
				m := min(headColumns, cols-c)
				r.Logits = append(r.Logits, s.logits(h[c*hidden:(c+m)*hidden], c, m)...)
			}
		}
		if at+cols == n {
			s.last(&r, b.Output, h[(cols-1)*hidden:], cols-1)
		}
	}
	return r, nil
}

// last fills in what is wanted of the last column of the pass, column at, whose hidden state is h.
func (s *session) last(r *engine.Result, want engine.Output, h []float32, at int) {
	if want.Logits != engine.LastColumn && want.Top <= 0 {
		return
	}
	logits := s.logits(h, at, 1)
	if want.Logits == engine.LastColumn {
		r.Logits = append([]float32(nil), logits...)
	}
	if want.Top > 0 {
		r.Top, r.LogSumExp = top(logits, want.Top)
	}
}

// logits runs the head on n columns of the pass, from column at on; the result is valid until the next call.
func (s *session) logits(h []float32, at, n int) []float32 {
	s.ropesFrom(at)
	defer s.ropesFrom(0)
	s.head.grow(n)
	copy(s.head.value(s.prog.Hidden, n), h)
	for _, st := range s.head.steps {
		st.run(n)
	}
	return s.head.value(s.prog.Logits, n)
}

// ropesFrom says which column of the pass the next operations' first row is.
func (s *session) ropesFrom(column int) {
	for _, t := range s.ropes {
		t.first = column
	}
}
