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

// pass computes columns [c, c+m) of the batch. Few columns are one submission, unless the logits of more than headColumns
// are asked for.
func (s *session) pass(r *engine.Result, b engine.Batch, c, m int, last bool) error {
	hidden := s.prog.Plan.Hidden
	if s.prog.Embeds {
		s.inputs.put(s.tokens, words(b.Tokens[c:c+m]))
	} else if err := s.b.dev.Write(s.trunk.values[0].Buffer, 0, floatBytes(b.Hidden[c*hidden:(c+m)*hidden])); err != nil {
		return err
	}
	s.trunk.writeStep(s.pos, m)
	s.trunk.writeTurns(m, s.pos)
	p := &pass{s: s, cmds: s.cmds[:0], next: s.next[:0], columns: m, ahead: m <= narrow && s.pos+2*m <= s.context}
	defer func() { s.cmds, s.next = p.cmds, p.next }()
	if err := p.add(s.trunk.stages, m, s.pos); err != nil {
		return err
	}
	if b.Output.Hidden {
		p.read(s.trunk.values[s.prog.Hidden], 0, 4*m*hidden, func(b []byte) { r.Hidden = append(r.Hidden, floats(b)...) })
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
		return p.submit()
	}
	for first < m {
		k := min(s.head.columns, m-first)
		if err := p.addHead(r, b.Output, first, k, last && first+k == m); err != nil {
			return err
		}
		if err := p.submit(); err != nil {
			return err
		}
		first += k
	}
	return nil
}

func (b *block) writeStep(pos, n int) {
	b.s.inputs.put(b.step, kernel.Step{Columns: n, Pos: pos}.Append(nil))
}

// pass is a submission that is put together. The pass that probably follows, of as many columns at the next positions, is
// put together beside it, to be recorded while the device works.
type pass struct {
	s       *session
	columns int
	ahead   bool
	cmds    []device.Command
	next    []device.Command
	copies  []device.Command // to the host
	then    []func([]byte)
	sizes   []int
	bytes   int
}

// add appends stages for n columns from position pos.
func (p *pass) add(stages []stage, n, pos int) error {
	for _, st := range stages {
		var err error
		if p.cmds, err = st.add(p.cmds, n, pos); err != nil {
			return err
		}
		if !p.ahead {
			continue
		}
		if p.next, err = st.add(p.next, n, pos+p.columns); err != nil {
			return err
		}
	}
	return nil
}

// both appends a command to this pass and to the next.
func (p *pass) both(c device.Command) {
	p.cmds, p.next = append(p.cmds, c), append(p.next, c)
}

// addHead computes the logits of columns [first, first+k) of the pass.
func (p *pass) addHead(r *engine.Result, o engine.Output, first, k int, last bool) error {
	s := p.s
	s.head.writeStep(s.pos+first, k)
	s.head.writeTurns(k, s.pos+first)
	row := 4 * int64(s.prog.Plan.Hidden)
	p.both(device.Command{
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
	if err := p.add(stages, k, s.pos+first); err != nil {
		return err
	}
	switch {
	case o.Logits == engine.AllColumns:
		p.read(logits, 0, 4*k*vocab, func(b []byte) { r.Logits = append(r.Logits, floats(b)...) })
	case last && o.Logits == engine.LastColumn:
		p.read(logits, 4*(k-1)*vocab, 4*vocab, func(b []byte) { r.Logits = floats(b) })
	}
	if last && top > kernel.MaxTop {
		p.read(logits, 4*(k-1)*vocab, 4*vocab, func(b []byte) { hostTop(r, floats(b), top) })
	} else if last && top > 0 {
		var lse []byte
		p.read(s.lseFrom, 0, 8, func(b []byte) { lse = b })
		p.read(s.topFrom, 0, topBytes-8, func(b []byte) { readTop(r, append(append([]byte(nil), lse...), b...), top) })
	}
	return nil
}

// read brings bytes back, which then gets once the pass is through.
func (p *pass) read(from device.View, offset, size int, then func([]byte)) {
	p.copies = append(p.copies, device.Command{
		Op: device.Copy, From: device.View{Buffer: from.Buffer, Offset: from.Offset + int64(offset)},
		To: device.View{Offset: int64(p.bytes), Size: int64(size)},
	})
	p.then = append(p.then, then)
	p.sizes = append(p.sizes, size)
	p.bytes += size
}

// A wide pass is submitted in pieces of so many commands: the device begins while the rest is recorded (1–2 µs a command),
// and no submission is so long that a desktop takes the GPU for stuck. A pass of few columns is one submission.
const (
	narrow = 16
	piece  = 384
)

// submit runs the commands so far, hands out what they bring back and begins anew.
func (p *pass) submit() error {
	s := p.s
	if err := s.inputs.flush(s.b.dev); err != nil {
		return err
	}
	if err := p.makeRoom(); err != nil {
		return err
	}
	for _, c := range p.copies {
		c.To.Buffer = s.read
		p.both(c)
	}
	cmds := p.cmds
	for p.columns > narrow && len(cmds) > piece {
		if err := s.b.dev.Run(cmds[:piece], nil, nil, false); err != nil {
			return err
		}
		cmds = cmds[piece:]
	}
	data := make([]byte, p.bytes)
	var err error
	switch {
	case len(data) == 0:
		err = s.b.dev.Run(cmds, nil, nil, true)
	case p.ahead:
		err = s.b.dev.RunAhead(cmds, s.read, data, p.next)
	default:
		err = s.b.dev.Run(cmds, s.read, data, true)
	}
	if err != nil {
		return err
	}
	for i, then := range p.then {
		then(data[:p.sizes[i]])
		data = data[p.sizes[i]:]
	}
	p.cmds, p.next, p.copies, p.then, p.sizes, p.bytes = p.cmds[:0], p.next[:0], nil, nil, nil, 0
	return nil
}

// makeRoom makes the buffer that is read from the host large enough.
func (p *pass) makeRoom() error {
	s := p.s
	if p.bytes == 0 || s.read != nil && s.read.Size() >= int64(p.bytes) {
		return nil
	}
	if s.read != nil {
		s.drop(s.read)
		s.read = nil
	}
	buf, err := s.alloc(&s.stateBytes, int64(p.bytes), device.MapRead|device.CopyTo)
	if err == nil {
		s.read = buf
	}
	return err
}
