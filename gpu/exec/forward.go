package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
)

// Forward implements [engine.Session].
func (s *session) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.check(b)
	if err != nil {
		return engine.Result{}, err
	}
	begin := s.pos
	// One pass either runs or the device is lost; only several can stop half-way, and recurrent state cannot be cut.
	guarded := n > s.ubatch && s.state.recurrent != nil
	if guarded {
		if err := s.save(); err != nil {
			return engine.Result{}, err
		}
	}
	r, err := s.forward(ctx, b, n)
	if err != nil {
		moved := s.pos != begin
		s.pos = begin
		if guarded && moved {
			err = errors.Join(err, s.copyState(s.state.recurrent, s.state.backup))
		}
		return engine.Result{}, err
	}
	return r, nil
}

// check refuses a batch that does not fit and returns its number of columns.
func (s *session) check(b engine.Batch) (int, error) {
	hidden := s.prog.Plan.Hidden
	n := len(b.Tokens)
	switch {
	case s.closed:
		return 0, engine.ErrClosed
	case s.prog.Embeds && len(b.Hidden) > 0, !s.prog.Embeds && len(b.Tokens) > 0:
		return 0, errors.New("a session takes tokens with the embedding, and hidden states without")
	case !s.prog.Embeds:
		if len(b.Hidden)%hidden != 0 {
			return 0, fmt.Errorf("%d numbers are not whole hidden states of %d", len(b.Hidden), hidden)
		}
		n = len(b.Hidden) / hidden
	}
	switch {
	case n == 0:
		return 0, errors.New("the batch is empty")
	case b.Pos != s.pos:
		return 0, fmt.Errorf("the batch begins at position %d, the session holds %d", b.Pos, s.pos)
	case n > s.context-s.pos:
		return 0, fmt.Errorf("%w: %d positions do not fit behind %d of %d", engine.ErrContextFull, n, s.pos, s.context)
	case s.head == nil && (b.Output.Logits != engine.NoColumns || b.Output.Top > 0):
		return 0, errors.New("logits need the head")
	case b.Output.Top < 0 || b.Output.Logits > engine.AllColumns:
		return 0, errors.New("the batch asks for an output that does not exist")
	}
	for i, t := range b.Tokens {
		if t < 0 || int(t) >= s.prog.Plan.Vocab {
			return 0, fmt.Errorf("token %d of the batch is %d, the vocabulary has %d", i, t, s.prog.Plan.Vocab)
		}
	}
	return n, nil
}

// save keeps the recurrent state for the case that a long batch stops half-way.
func (s *session) save() error {
	if s.state.backup == nil {
		buf, err := s.alloc(&s.stateBytes, s.state.recurrent.Size(), device.CopyFrom|device.CopyTo)
		if err != nil {
			return err
		}
		s.state.backup = buf
	}
	return s.copyState(s.state.backup, s.state.recurrent)
}

func (s *session) forward(ctx context.Context, b engine.Batch, n int) (engine.Result, error) {
	var r engine.Result
	if b.Output.Hidden {
		r.Hidden = make([]float32, 0, n*s.prog.Plan.Hidden)
	}
	if b.Output.Logits == engine.AllColumns {
		r.Logits = make([]float32, 0, n*s.prog.Plan.Vocab)
	}
	for c := 0; c < n; {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		m := min(s.ubatch, n-c)
		if err := s.pass(&r, b, c, m, c+m == n); err != nil {
			return r, err
		}
		s.pos += m
		c += m
	}
	return r, nil
}

// pass computes columns [c, c+m) of the batch, in one submission unless the logits of many columns are asked for.
func (s *session) pass(r *engine.Result, b engine.Batch, c, m int, last bool) error {
	hidden := s.prog.Plan.Hidden
	in := s.trunk.values[0].Buffer
	var err error
	if s.prog.Embeds {
		err = s.b.dev.Write(in, 0, words(b.Tokens[c:c+m]))
	} else {
		err = s.b.dev.Write(in, 0, floatBytes(b.Hidden[c*hidden:(c+m)*hidden]))
	}
	if err != nil {
		return err
	}
	if err := s.writeStep(0, s.pos, m); err != nil {
		return err
	}
	if err := s.trunk.writeTurns(m, s.pos); err != nil {
		return err
	}
	cmds := s.cmds[:0]
	for _, st := range s.trunk.stages {
		if cmds, err = st.add(cmds, m, s.pos); err != nil {
			return err
		}
	}
	s.cmds = cmds
	out := &readback{}
	if b.Output.Hidden {
		out.add(s.trunk.values[s.prog.Hidden], 0, 4*m*hidden, func(b []byte) { r.Hidden = append(r.Hidden, floats(b)...) })
	}
	first := m // the first column whose logits are wanted
	switch {
	case s.head == nil:
	case b.Output.Logits == engine.AllColumns:
		first = 0
	case last && (b.Output.Logits == engine.LastColumn || b.Output.Top > 0):
		first = m - 1
	}
	if first == m {
		return s.submit(cmds, out, m)
	}
	for first < m {
		k := min(s.head.columns, m-first)
		if cmds, err = s.addHead(cmds, out, r, b.Output, first, k, last && first+k == m); err != nil {
			return err
		}
		if err := s.submit(cmds, out, m); err != nil {
			return err
		}
		cmds, out = s.cmds[:0], &readback{}
		first += k
	}
	return nil
}

func (s *session) writeStep(offset int64, pos, n int) error {
	step := kernel.Step{Columns: n, Pos: pos}
	return s.b.dev.Write(s.steps, offset, step.Append(nil))
}

// addHead computes the logits of columns [first, first+k) of the pass.
func (s *session) addHead(cmds []device.Command, out *readback, r *engine.Result, o engine.Output, first, k int, last bool) ([]device.Command, error) {
	if err := s.writeStep(device.Align, s.pos+first, k); err != nil {
		return nil, err
	}
	if err := s.head.writeTurns(k, s.pos+first); err != nil {
		return nil, err
	}
	row := 4 * int64(s.prog.Plan.Hidden)
	cmds = append(cmds, device.Command{
		Op:   device.Copy,
		From: device.View{Buffer: s.trunk.values[s.prog.Hidden].Buffer, Offset: int64(first) * row},
		To:   device.View{Buffer: s.head.values[s.prog.Hidden].Buffer, Size: int64(k) * row},
	})
	stages := s.head.stages
	vocab := s.prog.Plan.Vocab
	logits := s.head.values[s.prog.Logits]
	top := min(o.Top, vocab)
	if last && top > 0 && top <= kernel.MaxTop {
		stages = append(stages[:len(stages):len(stages)], s.top...)
	}
	var err error
	for _, st := range stages {
		if cmds, err = st.add(cmds, k, s.pos+first); err != nil {
			return nil, err
		}
	}
	switch {
	case o.Logits == engine.AllColumns:
		out.add(logits, 0, 4*k*vocab, func(b []byte) { r.Logits = append(r.Logits, floats(b)...) })
	case last && o.Logits == engine.LastColumn:
		out.add(logits, 4*(k-1)*vocab, 4*vocab, func(b []byte) { r.Logits = floats(b) })
	}
	if last && top > kernel.MaxTop {
		out.add(logits, 4*(k-1)*vocab, 4*vocab, func(b []byte) { hostTop(r, floats(b), top) })
	} else if last && top > 0 {
		var lse []byte
		out.add(s.lseFrom, 0, 8, func(b []byte) { lse = b })
		out.add(s.topFrom, 0, topBytes-8, func(b []byte) { readTop(r, append(append([]byte(nil), lse...), b...), top) })
	}
	return cmds, nil
}

// readback is what one submission brings back.
type readback struct {
	copies []device.Command
	then   []func([]byte)
	sizes  []int
	bytes  int
}

func (o *readback) add(from device.View, offset, size int, then func([]byte)) {
	o.copies = append(o.copies, device.Command{
		Op: device.Copy, From: device.View{Buffer: from.Buffer, Offset: from.Offset + int64(offset)},
		To: device.View{Offset: int64(o.bytes), Size: int64(size)},
	})
	o.then = append(o.then, then)
	o.sizes = append(o.sizes, size)
	o.bytes += size
}

// A wide pass is submitted in pieces of so many commands: the device begins while the rest is recorded (1 µs a command),
// and no submission is so long that a desktop takes the GPU for stuck. A pass of few columns is one submission.
const (
	narrow = 16
	piece  = 384
)

// submit runs the commands of a pass of n columns and hands out what they bring back.
func (s *session) submit(cmds []device.Command, out *readback, n int) error {
	for n > narrow && len(cmds) > piece {
		if err := s.b.dev.Run(cmds[:piece], nil, nil, false); err != nil {
			return err
		}
		cmds = cmds[piece:]
	}
	if out.bytes == 0 {
		return s.b.dev.Run(cmds, nil, nil, true)
	}
	if s.read == nil || s.read.Size() < int64(out.bytes) {
		if s.read != nil {
			s.drop(s.read)
			s.read = nil
		}
		buf, err := s.alloc(&s.stateBytes, int64(out.bytes), device.MapRead|device.CopyTo)
		if err != nil {
			return err
		}
		s.read = buf
	}
	for _, c := range out.copies {
		c.To.Buffer = s.read
		cmds = append(cmds, c)
	}
	data := make([]byte, out.bytes)
	if err := s.b.dev.Run(cmds, s.read, data, true); err != nil {
		return err
	}
	for i, then := range out.then {
		then(data[:out.sizes[i]])
		data = data[out.sizes[i]:]
	}
	return nil
}
