package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/program"
)

// lap is a checked batch; what it keeps and saves are buffers.
type lap = program.Lap[*device.Buffer]

// Forward implements [engine.Session].
func (s *session) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return engine.Result{}, engine.ErrClosed
	case s.broken != nil:
		return engine.Result{}, s.broken
	}
	l, err := s.ledger.Check(b)
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		return engine.Result{}, err
	case l.Batch.Undo:
		return engine.Result{}, s.takeBack()
	case l.Source != nil:
		return engine.Result{}, s.restore(l.Source)
	}
	var r engine.Result
	if err := s.play(ctx, l, &r); err != nil {
		return engine.Result{}, errors.Join(err, s.takeBack())
	}
	r.Settle(b.Output, b.Tokens)
	return r, nil
}

// play begins a lap and computes it, in passes.
func (s *session) play(ctx context.Context, l *lap, r *engine.Result) error {
	first, err := s.begin(l)
	if err != nil {
		return err
	}
	if first, err = s.keep(first, l); err != nil {
		return err
	}
	if l.Columns == 0 {
		if first, err = s.save(first, l, r); err != nil || len(first) == 0 {
			return err
		}
		if err = s.b.dev.Run(first, nil, nil, false); err == nil {
			s.moved = l.Back
		}
		return err
	}
	s.first = first
	for at := 0; at < l.Columns; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := l.Pass(at, s.ubatch)
		if err := s.pass(r, l, at, n); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// begin returns the commands that come before everything else in a lap: what it is about to replace is put aside, and the
// recurrent state becomes that of its position.
func (s *session) begin(l *lap) (cmds []device.Command, err error) {
	s.ledger.Begin(l)
	s.moved, s.first = false, nil
	s.overFrom, s.overTo = l.Batch.Pos, l.Batch.Pos+l.Over
	recurrent := s.state.recurrent
	// One submission either runs or the device is lost; only several can stop half-way.
	s.backed = s.undo || l.Columns > min(narrow, s.ubatch)
	if s.backed && recurrent != nil && (l.Columns > 0 || l.Back) {
		if s.state.before == nil {
			if s.state.before, err = s.alloc(&s.stateBytes, recurrent.Size(), device.CopyFrom|device.CopyTo); err != nil {
				return nil, err
			}
		}
		cmds = append(cmds, copyAll(s.state.before, recurrent))
	}
	if n := int64(l.Over) * s.state.row; s.backed && n > 0 {
		if s.over == nil || s.over.Size() < n {
			s.drop(s.over)
			s.over = nil
			if s.over, err = s.alloc(&s.stateBytes, n, device.CopyFrom|device.CopyTo); err != nil {
				return nil, err
			}
		}
		cmds = s.copyRows(cmds, s.over, 0, s.overFrom, s.overTo, false)
	}
	switch {
	case recurrent == nil || !l.Back:
	case l.From != nil:
		cmds = append(cmds, copyAll(recurrent, l.From.Copy))
	default:
		cmds = append(cmds, device.Command{Op: device.Clear, To: device.View{Buffer: recurrent, Size: recurrent.Size()}})
	}
	return cmds, nil
}

// keep keeps the position where the ledger stands, if the lap wants that.
func (s *session) keep(cmds []device.Command, l *lap) ([]device.Command, error) {
	if !s.ledger.Missing(l) {
		return cmds, nil
	}
	if s.state.recurrent == nil {
		s.ledger.Keep(s.ledger.Len(), nil)
		return cmds, nil
	}
	buf, err := s.alloc(&s.stateBytes, s.state.recurrent.Size(), device.CopyFrom|device.CopyTo)
	if err != nil {
		return nil, err
	}
	s.ledger.Keep(s.ledger.Len(), buf)
	return append(cmds, copyAll(buf, s.state.recurrent)), nil
}

// save saves the checkpoints of a lap.
func (s *session) save(cmds []device.Command, l *lap, r *engine.Result) ([]device.Command, error) {
	for _, id := range l.Batch.Save {
		buf, err := s.alloc(&s.stateBytes, max(4, s.checkpointBytes(s.ledger.Len())), device.CopyFrom|device.CopyTo)
		if err != nil {
			return nil, err
		}
		r.Saved = append(r.Saved, s.ledger.Save(id, buf))
		at := int64(0)
		if s.state.recurrent != nil {
			at = s.state.recurrent.Size()
			cmds = append(cmds, copyAll(buf, s.state.recurrent))
		}
		cmds = s.copyRows(cmds, buf, at, 0, s.ledger.Len(), false)
	}
	return cmds, nil
}

// checkpointBytes is what a checkpoint of so many positions takes.
func (s *session) checkpointBytes(positions int) int64 {
	n := int64(positions) * s.state.row
	if s.state.recurrent != nil {
		n += s.state.recurrent.Size()
	}
	return n
}

// takeBack makes the session what it was before the last lap.
func (s *session) takeBack() error {
	s.ledger.Undo()
	if !s.moved {
		return nil
	}
	s.moved = false
	if !s.backed {
		s.broken = fmt.Errorf("%w: a lap stopped half-way", engine.ErrDeviceLost)
		return s.broken
	}
	var cmds []device.Command
	if s.state.recurrent != nil {
		cmds = append(cmds, copyAll(s.state.recurrent, s.state.before))
	}
	if s.overTo > s.overFrom {
		cmds = s.copyRows(cmds, s.over, 0, s.overFrom, s.overTo, true)
	}
	if err := s.b.dev.Run(cmds, nil, nil, false); err != nil {
		s.broken = fmt.Errorf("taking a lap back: %w", err)
	}
	return s.broken
}

// restore makes a checkpoint the state.
func (s *session) restore(c *program.Saved[*device.Buffer]) error {
	var cmds []device.Command
	at := int64(0)
	if r := s.state.recurrent; r != nil {
		at = r.Size()
		cmds = append(cmds, copyAll(r, c.Copy))
	}
	cmds = s.copyRows(cmds, c.Copy, at, 0, c.Pos, true)
	s.moved = false
	err := s.b.dev.Run(cmds, nil, nil, true)
	if err == nil {
		s.ledger.Restore(c)
		return nil
	}
	s.ledger.Restore(nil)
	if r := s.state.recurrent; r != nil {
		clear := device.Command{Op: device.Clear, To: device.View{Buffer: r, Size: r.Size()}}
		if err := s.b.dev.Run([]device.Command{clear}, nil, nil, false); err != nil {
			s.broken = fmt.Errorf("emptying the state: %w", err)
		}
	}
	return fmt.Errorf("%w: %w", engine.ErrEmptied, errors.Join(err, s.broken))
}

// copyAll copies as much as fits the smaller of two buffers.
func copyAll(to, from *device.Buffer) device.Command {
	return device.Command{
		Op: device.Copy, From: device.View{Buffer: from}, To: device.View{Buffer: to, Size: min(to.Size(), from.Size())},
	}
}

// copyRows appends the copies of keys and values of positions [from, to) to buf, where they lie from at on, or back.
func (s *session) copyRows(cmds []device.Command, buf *device.Buffer, at int64, from, to int, back bool) []device.Command {
	for i := s.prog.Range.Begin; i < s.prog.Range.End; i++ {
		c, ok := s.state.kv[i]
		if !ok || from == to {
			continue
		}
		for _, side := range []struct {
			view device.View
			row  int64
		}{{c.keys, c.keyRow}, {c.values, c.valueRow}} {
			n := int64(to-from) * side.row
			a := device.View{Buffer: side.view.Buffer, Offset: int64(from) * side.row, Size: n}
			b := device.View{Buffer: buf, Offset: at, Size: n}
			if back {
				a, b = b, a
			}
			cmds = append(cmds, device.Command{Op: device.Copy, From: a, To: b})
			at += n
		}
	}
	return cmds
}
