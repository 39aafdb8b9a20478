package exec

import (
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
)

// pass computes columns [at, at+n) of a lap. Few columns are one submission, unless the logits of more than headColumns
// are asked for.
func (s *session) pass(r *engine.Result, l *lap, at, n int) error {
	hidden, pos := s.prog.Plan.Hidden, s.ledger.Len()
	if s.prog.Embeds {
		s.inputs.put(s.tokens, words(l.Batch.Tokens[at:at+n]))
	} else if err := s.b.dev.Write(s.trunk.values[0].Buffer, 0, floatBytes(l.Batch.Hidden[at*hidden:(at+n)*hidden])); err != nil {
		return err
	}
	s.trunk.writeStep(pos, n)
	s.trunk.writeTurns(n, pos)
	p := &pass{s: s, cmds: s.cmds[:0], next: s.next[:0], columns: n, pos: pos, ahead: n <= narrow && pos+2*n <= s.context}
	defer func() { s.cmds, s.next = p.cmds, p.next }()
	p.cmds = append(p.cmds, s.first...)
	s.first = nil
	if s.undo && s.state.recurrent != nil && at == 0 { // the next lap begins alike
		p.next = append(p.next, copyAll(s.state.before, s.state.recurrent))
	}
	if err := p.add(s.trunk.stages, n, pos); err != nil {
		return err
	}
	s.ledger.Advance(n)
	var err error
	if p.cmds, err = s.keep(p.cmds, l); err != nil {
		return err
	}
	if at+n == l.Columns {
		if p.cmds, err = s.save(p.cmds, l, r); err != nil {
			return err
		}
	}
	if from := l.First(l.Batch.Output.Hidden, at, n); from < n {
		p.read(s.trunk.values[s.prog.Hidden], 4*from*hidden, 4*(n-from)*hidden, func(b []byte) { r.Hidden = append(r.Hidden, floats(b)...) })
	}
	first := l.First(l.LogitsOf, at, n)
	if first == n {
		return p.submit()
	}
	for first < n {
		k := min(s.head.columns, n-first)
		if err := p.addHead(r, l, at, first, k); err != nil {
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
	pos     int // of the first column
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

// addHead computes the logits of columns [first, first+k) of the pass, which begins with column at of the lap.
func (p *pass) addHead(r *engine.Result, l *lap, at, first, k int) error {
	s := p.s
	s.head.writeStep(p.pos+first, k)
	s.head.writeTurns(k, p.pos+first)
	row := 4 * int64(s.prog.Plan.Hidden)
	p.both(device.Command{
		Op:   device.Copy,
		From: device.View{Buffer: s.trunk.values[s.prog.Hidden].Buffer, Offset: int64(first) * row},
		To:   device.View{Buffer: s.head.values[s.prog.Hidden].Buffer, Size: int64(k) * row},
	})
	if err := p.add(s.head.stages, k, p.pos+first); err != nil {
		return err
	}
	vocab := s.prog.Plan.Vocab
	logits := s.head.values[s.prog.Logits]
	if c := l.First(l.Batch.Output.Logits, at+first, k); c < k {
		p.read(logits, 4*c*vocab, 4*(k-c)*vocab, func(b []byte) { r.Logits = append(r.Logits, floats(b)...) })
	}
	for c := l.First(l.CandidatesOf, at+first, k); c < k; c++ {
		if l.Candidates > kernel.MaxTop {
			p.read(logits, 4*c*vocab, 4*vocab, func(b []byte) { hostTop(r, floats(b), l.Candidates) })
			continue
		}
		found, err := s.searchOf(c)
		if err != nil {
			return err
		}
		if err := p.add(found.stages, k, p.pos+first); err != nil {
			return err
		}
		p.read(found.sum, 0, 4, func(b []byte) { r.LogSumExp = append(r.LogSumExp, floats(b)[0]) })
		p.read(found.top, 0, 8*kernel.MaxTop, func(b []byte) { r.Top = append(r.Top, readTop(b, l.Candidates)) })
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
		s.moved = true
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
	s.moved = true
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
