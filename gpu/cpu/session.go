package cpu

import (
	"context"
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
	layers []layerState // by layer − Range.Begin, then that of the draft block
	draft  *drafter     // nil without a draft block
	tokens []int32      // of the pass that is running

	ledger        *program.Ledger[*stateCopy]
	columns       int          // of the lap that is running
	over          rows         // what the last lap wrote over
	recurrentSize int          // values of all recurrent states
	copies        []columnCopy // of the pass that is running
	spare         []*stateCopy // to be written again
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
	if p.Draft != nil {
		s.layers = append(s.layers, newLayerState(c.Plan.Draft.State, c.Context))
	}
	s.eachRecurrent(func(r *recurrent) {
		r.at = s.recurrentSize
		s.recurrentSize += len(r.now)
	})
	s.ledger = program.NewLedger(c, p, s.checkpointBytes, s.recycle)
	s.trunk = s.compile(groupLinear(p.Trunk), []int{p.Hidden}, 0)
	s.head = s.compile(groupLinear(p.Head), []int{p.Hidden, max(p.Logits, 0)}, p.Hidden)
	if p.Draft != nil {
		s.compileDraft()
	}
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
	return s.ledger.Len()
}

func (s *session) Memory() (weights, state int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.layers {
		if kv := s.layers[i].kv; kv != nil {
			state += kv.bytes()
		}
	}
	s.ledger.Copies(func(c *stateCopy) { state += c.bytes() })
	for _, c := range s.spare {
		state += c.bytes()
	}
	return s.w.bytes, state + 2*4*int64(s.recurrentSize) + 2*int64(cap(s.over.kv))
}

func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.draft = nil
	s.w, s.layers, s.trunk, s.head, s.over, s.recurrentSize = &weights{}, nil, tape{}, tape{}, rows{}, 0
	s.copies, s.spare = nil, nil
	s.ledger = program.NewLedger(s.config, s.prog, s.checkpointBytes, func(*stateCopy) {})
	return nil
}

func (s *session) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return engine.Result{}, engine.ErrClosed
	}
	lap, err := s.ledger.Check(b)
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		return engine.Result{}, err
	case lap.Batch.Undo:
		s.takeBack()
		return engine.Result{}, nil
	case lap.Source != nil:
		s.restore(lap.Source)
		return engine.Result{}, nil
	}
	s.begin(lap)
	var r engine.Result
	err = gguf.Guard(func() error { return s.run(ctx, lap, &r) }) // rows of the embedding are read from the file
	if err != nil {
		s.takeBack()
		return engine.Result{}, err
	}
	r.Settle(lap.Batch.Output, lap.Batch.Tokens)
	return r, nil
}

// run computes a lap that has begun, in passes.
func (s *session) run(ctx context.Context, lap *program.Lap[*stateCopy], r *engine.Result) error {
	if s.ledger.Missing(lap) {
		s.ledger.Keep(lap.Batch.Pos, s.copyRecurrent())
	}
	for at := 0; at < lap.Columns; {
		n := min(s.ubatch, lap.Columns-at)
		if err := s.pass(ctx, lap, r, at, n); err != nil {
			return err
		}
		at += n
	}
	if len(lap.Batch.Save) > 0 {
		if err := s.fillDraft(ctx); err != nil {
			return err
		}
	}
	for _, id := range lap.Batch.Save {
		r.Saved = append(r.Saved, s.ledger.Save(id, s.copyAll()))
	}
	var err error
	r.Draft, err = s.guess(ctx, lap.Batch.Draft)
	return err
}

// layer returns the state of a layer, and position where its next column stands.
func (s *session) layer(i int) *layerState {
	if i == program.DraftLayer {
		return &s.layers[len(s.layers)-1]
	}
	return &s.layers[i-s.config.Range.Begin]
}

func (s *session) position(layer int) int {
	if layer == program.DraftLayer {
		return s.draft.pos
	}
	return s.ledger.Len()
}

// pass computes columns [at, at+n) of a lap.
func (s *session) pass(ctx context.Context, lap *program.Lap[*stateCopy], r *engine.Result, at, n int) error {
	hidden := s.config.Plan.Hidden
	s.trunk.grow(n)
	if s.prog.Embeds {
		s.tokens = lap.Batch.Tokens[at : at+n]
	} else {
		copy(s.trunk.value(0, n), lap.Batch.Hidden[at*hidden:])
	}
	for _, t := range s.ropes {
		t.fill(s.ledger.Len(), n)
	}
	s.beginCopies(lap, n)
	layer := program.NoLayer
	for _, st := range s.trunk.steps {
		if st.layer != layer {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		layer = st.layer
		st.run(n)
	}
	s.keepCopies()
	s.ledger.Advance(n)
	h := s.trunk.value(s.prog.Hidden, n)
	if err := s.noteDraft(ctx, lap.Batch.Tokens[at:], h, n); err != nil {
		return err
	}
	r.Hidden = append(r.Hidden, h[hidden*lap.First(lap.Batch.Output.Hidden, at, n):]...)
	for c := lap.First(lap.LogitsOf, at, n); c < n; c += headColumns {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := min(headColumns, n-c)
		s.output(lap, r, s.logits(h[c*hidden:(c+m)*hidden], c, m), at+c, m)
	}
	return nil
}

// output takes what is wanted from the logits of columns [at, at+n) of a lap.
func (s *session) output(lap *program.Lap[*stateCopy], r *engine.Result, logits []float32, at, n int) {
	vocab := s.config.Plan.Vocab
	r.Logits = append(r.Logits, logits[vocab*lap.First(lap.Batch.Output.Logits, at, n):]...)
	for c := lap.First(lap.CandidatesOf, at, n); c < n; c++ {
		candidates, sum := top(logits[c*vocab:][:vocab], lap.Candidates)
		r.Top, r.LogSumExp = append(r.Top, candidates), append(r.LogSumExp, sum)
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
