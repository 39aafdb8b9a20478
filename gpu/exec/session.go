package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
	"github.com/pooled/pooled/gpu/program"
)

// session is a layer range in device memory.
type session struct {
	mu      sync.Mutex
	b       *backend
	prog    *program.Program
	context int
	ubatch  int
	closed  bool
	broken  error // a lap could not be taken back

	buffers                 []*device.Buffer
	groups                  []*device.Group
	weightBytes, stateBytes int64
	matrices                map[key]*matrix
	vectors                 map[int]device.View
	sources                 map[int]*source // only while the session opens
	state                   state
	ledger                  *program.Ledger[*device.Buffer]
	first                   []device.Command // what the next pass begins with
	undo                    bool             // laps are taken back after they have succeeded
	backed                  bool             // what the lap replaces was put aside
	moved                   bool             // the lap has changed the state
	over                    *device.Buffer   // keys and values of [overFrom, overTo) before the lap
	overFrom, overTo        int
	parts                   *device.Buffer // what split attention leaves
	halves                  *device.Buffer // the products of a gated linear unit

	inputs      inputs
	tokens      int64 // where they are in the inputs
	trunk, head *block
	searches    []*search // by column of the head; made as they are needed
	searchSteps int64     // where their Steps are in the inputs
	read        *device.Buffer
	scratch     []byte
	cmds, next  []device.Command // of this pass, and of the one that probably follows
}

// The columns of one pass where the caller leaves them to us: enough to keep a GPU busy, and short enough for desktops,
// which reset a GPU that is silent for two seconds.
const (
	ubatchGPU      = 256
	ubatchSoftware = 64
)

// headColumns is the most columns whose logits are computed at a time: they are wide.
const headColumns = 16

func open(ctx context.Context, b *backend, c engine.Config) (_ engine.Session, err error) {
	if c.Plan == nil || c.Weights == nil {
		return nil, errors.New("a session needs a plan and its weights")
	}
	prog, err := program.Build(c)
	if err != nil {
		return nil, err
	}
	if c.Context < 1 {
		return nil, fmt.Errorf("a context of %d positions", c.Context)
	}
	s := &session{
		b: b, prog: prog, context: c.Context, ubatch: c.Ubatch,
		matrices: map[key]*matrix{}, vectors: map[int]device.View{},
	}
	if s.ubatch < 1 {
		s.ubatch = ubatchGPU
		if b.dev.Adapter().Software {
			s.ubatch = ubatchSoftware
		}
	}
	s.ubatch = min(s.ubatch, c.Context)
	s.undo = c.Undo
	s.ledger = program.NewLedger(c, prog, s.checkpointBytes, s.drop)
	if err := s.checkOps(); err != nil {
		return nil, err
	}
	if s.sources, err = survey(c, prog); err != nil {
		return nil, err
	}
	defer func() {
		s.sources = nil
		if err != nil {
			s.release()
		}
	}()
	if err := s.openState(); err != nil {
		return nil, err
	}
	// Lowered before loading, since it decides which matrices become one.
	trunk := s.lower(prog.Trunk, prog.Hidden)
	var head []step
	if prog.Logits != program.None {
		head = s.lower(prog.Head, prog.Logits)
	}
	if err := s.checkExperts(); err != nil {
		return nil, err
	}
	if err := gguf.Guard(func() error { return s.load(ctx, c) }); err != nil {
		return nil, err
	}
	if err := s.compile(trunk, head); err != nil {
		return nil, err
	}
	// Waits, so that what fails late fails here.
	if err := b.dev.Run(nil, nil, nil, true); err != nil {
		return nil, err
	}
	return s, nil
}

// checkOps refuses what the kernels cannot do, before anything is uploaded.
func (s *session) checkOps() error {
	limits := s.b.limits
	for i, w := range s.prog.Widths {
		if n := 4 * int64(s.ubatch) * int64(w); i != s.prog.Logits && n > limits.Binding {
			return fmt.Errorf("%w: %d columns of a value %d wide need a binding of %d bytes, the device has %d",
				engine.ErrOutOfMemory, s.ubatch, w, n, limits.Binding)
		}
	}
	for _, op := range s.prog.Trunk {
		bad := func(reason string) error {
			return &model.PlanError{Block: fmt.Sprintf("layer %d", op.Layer), Op: -1, Kind: op.Kind, Reason: reason}
		}
		if op.Kind == model.GatedDelta && s.prog.Plan.Layers[op.Layer].State.Delta.KeyDim > kernel.DeltaKey {
			return bad(fmt.Sprintf("keys are wider than %d", kernel.DeltaKey))
		}
		if op.Kind == model.Attention && s.prog.Plan.Layers[op.Layer].State.KV.ValueDim > kernel.MaxValue {
			return bad(fmt.Sprintf("values are wider than %d", kernel.MaxValue))
		}
	}
	return nil
}

// load uploads the matrices; small tensors follow as operations ask for them.
func (s *session) load(ctx context.Context, c engine.Config) error {
	var total, done int64
	for _, src := range s.sources {
		total += src.Size
	}
	report := func(n int64) {
		done += n
		if c.Progress != nil {
			c.Progress(done, total)
		}
	}
	for _, w := range s.prog.Plan.TensorsOf(s.prog.Range, s.prog.Embeds, s.prog.Logits != program.None, false) {
		src := s.sources[w]
		if src != nil && src.vector() {
			if err := src.read(ctx, c.Weights); err != nil {
				return err
			}
		}
		switch {
		case src == nil:
		case !src.matrix():
			report(src.Size)
		case src.pair != nil && src.second: // comes with the first
		default:
			k, srcs := key{w, none}, []*source{src}
			if src.pair != nil {
				k, srcs = key{w, src.pair.Index}, []*source{src, src.pair}
			}
			upload := s.upload
			if src.experts() {
				upload = s.uploadExperts
			}
			m, err := upload(ctx, c.Weights, srcs, report)
			if err != nil {
				return err
			}
			s.matrices[k] = m
			for _, src := range srcs {
				c.Weights.Release(src.Name)
			}
		}
	}
	return nil
}

// lower fuses operations and notes which matrices become one.
func (s *session) lower(ops []program.Op, keep ...int) []step {
	if s.b.plain {
		return plainSteps(ops)
	}
	readers := map[int]int{}
	for _, ops := range [][]program.Op{s.prog.Trunk, s.prog.Head} {
		for _, op := range ops {
			for _, w := range op.Weights {
				readers[w]++
			}
		}
	}
	steps := fuse(ops, func(a, b int) bool {
		x, y := s.sources[a], s.sources[b]
		return a != b && readers[a] == 1 && readers[b] == 1 && x.layout.Type == y.layout.Type &&
			x.Rows == y.Rows && x.Cols == y.Cols && x.Experts == y.Experts && x.Rows/x.Experts%32 == 0 && x.Cols%32 == 0
	}, keep...)
	for _, st := range steps {
		if len(st.halves) > 0 {
			a, b := s.sources[st.halves[0].Weights[0]], s.sources[st.halves[1].Weights[0]]
			a.pair, b.pair, b.second = b, a, true
		}
	}
	return steps
}

func (s *session) compile(trunk, head []step) error {
	s.trunk = &block{s: s, columns: s.ubatch, step: s.inputs.take(kernel.StepBytes)}
	s.head = &block{s: s, columns: min(headColumns, s.ubatch), step: s.inputs.take(kernel.StepBytes)}
	s.tokens = s.inputs.take(4 * int64(s.ubatch))
	for _, b := range []struct {
		*block
		steps []step
	}{{s.trunk, trunk}, {s.head, head}} {
		if err := b.prepareTurns(b.steps); err != nil {
			return err
		}
	}
	// Apart from what every pass writes: these never change.
	s.searchSteps = s.inputs.take(int64(s.head.columns) * device.Align)
	buf, err := s.alloc(&s.stateBytes, s.inputs.size, device.Uniform|device.Storage|device.CopyTo)
	if err != nil {
		return err
	}
	s.inputs.buf, s.inputs.shadow = buf, make([]byte, s.inputs.size)
	for _, b := range []*block{s.trunk, s.head} {
		b.now = s.input(b.step, kernel.StepBytes)
	}
	if err := s.trunk.compile(trunk, s.prog.Widths, 0, s.prog.Hidden); err != nil {
		return err
	}
	if s.prog.Logits == program.None {
		s.head = nil
		return nil
	}
	if err := s.head.compile(head, s.prog.Widths, s.prog.Hidden, s.prog.Logits); err != nil {
		return err
	}
	s.searches = make([]*search, s.head.columns)
	return nil
}

// input is a part of the inputs.
func (s *session) input(at, size int64) device.View {
	return device.View{Buffer: s.inputs.buf, Offset: at, Size: size}
}

// vectorOf returns a small tensor in device memory.
func (s *session) vectorOf(w int) (device.View, error) {
	if v, ok := s.vectors[w]; ok {
		return v, nil
	}
	v, err := s.vector(s.sources[w].values)
	s.vectors[w] = v
	return v, err
}

// gates returns the two vectors of a gated delta rule, side by side.
func (s *session) gates(st *step) (device.View, error) {
	a, dt := s.sources[st.Weights[0]].values, s.sources[st.Weights[1]].values
	both := make([]float32, 0, 2*len(a))
	for i := range a {
		both = append(both, a[i], dt[i])
	}
	return s.vector(both)
}

// partsBytes bounds the memory in which attention leaves parts of long contexts.
const partsBytes = 64 << 20

// attentionParts returns the buffer that all layers leave parts in.
func (s *session) attentionParts(a kernel.Attention) (device.View, error) {
	want := min(a.PartBytes(8, a.Segments(0, s.context)+1), partsBytes)
	want = max(want, min(a.PartBytes(1, a.Segments(0, s.context)+1), s.b.limits.Binding))
	if s.parts == nil || s.parts.Size() < want {
		buf, err := s.alloc(&s.stateBytes, want, device.Storage)
		if err != nil {
			return device.View{}, err
		}
		s.parts = buf
	}
	return device.View{Buffer: s.parts, Size: s.parts.Size()}, nil
}

// Len implements [engine.Session].
func (s *session) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.Len()
}

// Memory implements [engine.Session].
func (s *session) Memory() (weights, state int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.weightBytes, s.stateBytes
}

// Close implements [engine.Session].
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.b.dev.Run(nil, nil, nil, true)
	s.release()
	if errors.Is(err, engine.ErrDeviceLost) || errors.Is(err, engine.ErrClosed) {
		return nil // there is nothing left to give back
	}
	return err
}

func (s *session) release() {
	for _, g := range s.groups {
		g.Free()
	}
	for _, b := range s.buffers {
		b.Free()
	}
	s.groups, s.buffers = nil, nil
}

func words(tokens []int32) []byte {
	b := make([]byte, 0, 4*len(tokens))
	for _, t := range tokens {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	return b
}
