package exec

import (
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
)

// state is what the layers of a session remember.
type state struct {
	kv          map[int]kvCache
	conv, delta map[int]device.View
	// recurrent holds every conv and delta state; it is nil where there is none.
	recurrent *device.Buffer
	marks     []mark
	backup    *device.Buffer
}

type kvCache struct{ keys, values device.View }

// mark is a copy of the recurrent state at a position.
type mark struct {
	pos int
	buf *device.Buffer
}

// maxMarks is how many marks a session keeps.
const maxMarks = 4

// openState allocates the state of the layer range.
func (s *session) openState() error {
	s.state = state{kv: map[int]kvCache{}, conv: map[int]device.View{}, delta: map[int]device.View{}}
	limit := s.b.limits.Binding
	size := int64(0)
	r := s.prog.Range
	for i := r.Begin; i < r.End; i++ {
		l := s.prog.Plan.Layers[i].State
		if kv := l.KV; kv != nil {
			c := kvCache{}
			for _, side := range []struct {
				view *device.View
				dim  int
			}{{&c.keys, kv.KeyDim}, {&c.values, kv.ValueDim}} {
				n := int64(s.context) * kernel.KVRow(kv.Heads, side.dim)
				if n > limit {
					return fmt.Errorf("%w: a cache of %d positions needs a binding of %d bytes, the device has %d; ask for a smaller context",
						engine.ErrOutOfMemory, s.context, n, limit)
				}
				buf, err := s.alloc(&s.stateBytes, n, device.Storage)
				if err != nil {
					return err
				}
				*side.view = device.View{Buffer: buf, Size: n}
			}
			s.state.kv[i] = c
		}
		if c := l.Conv; c != nil {
			n := 4 * int64(c.Taps-1) * int64(c.Channels)
			s.state.conv[i] = device.View{Offset: size, Size: n}
			size = up(size+n, device.Align)
		}
		if d := l.Delta; d != nil {
			n := 4 * int64(d.Heads) * int64(d.KeyDim) * int64(d.ValueDim)
			if n > limit {
				return fmt.Errorf("%w: a delta state of %d bytes, a binding of the device has %d", engine.ErrOutOfMemory, n, limit)
			}
			s.state.delta[i] = device.View{Offset: size, Size: n}
			size = up(size+n, device.Align)
		}
	}
	if size == 0 {
		return nil
	}
	buf, err := s.alloc(&s.stateBytes, size, device.Storage|device.CopyFrom|device.CopyTo)
	if err != nil {
		return err
	}
	s.state.recurrent = buf
	for _, m := range []map[int]device.View{s.state.conv, s.state.delta} {
		for i, v := range m {
			v.Buffer = buf
			m[i] = v
		}
	}
	return nil
}

// copyState copies the recurrent state.
func (s *session) copyState(to, from *device.Buffer) error {
	return s.b.dev.Run([]device.Command{{
		Op: device.Copy, From: device.View{Buffer: from}, To: device.View{Buffer: to, Size: s.state.recurrent.Size()},
	}}, nil, nil, false)
}

// Mark implements [engine.Session].
func (s *session) Mark() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return engine.ErrClosed
	}
	if s.state.recurrent == nil || s.pos == 0 {
		return nil
	}
	marks := s.state.marks
	for i, m := range marks { // the same position again: it becomes the newest
		if m.pos == s.pos {
			s.state.marks = append(append(marks[:i:i], marks[i+1:]...), m)
			return nil
		}
	}
	var buf *device.Buffer
	if len(marks) == maxMarks {
		buf = marks[0].buf
		marks = append([]mark(nil), marks[1:]...)
	} else {
		var err error
		if buf, err = s.alloc(&s.stateBytes, s.state.recurrent.Size(), device.CopyFrom|device.CopyTo); err != nil {
			return err
		}
	}
	s.state.marks = marks
	if err := s.copyState(buf, s.state.recurrent); err != nil {
		return err
	}
	s.state.marks = append(marks, mark{s.pos, buf})
	return nil
}

// Rewind implements [engine.Session].
func (s *session) Rewind(n int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, engine.ErrClosed
	}
	n = max(n, 0)
	if n >= s.pos {
		return s.pos, nil
	}
	if s.state.recurrent == nil {
		s.pos = n
		return n, nil
	}
	best := mark{}
	for _, m := range s.state.marks {
		if m.pos <= n && m.pos > best.pos {
			best = m
		}
	}
	if best.buf == nil {
		err := s.b.dev.Run([]device.Command{{
			Op: device.Clear, To: device.View{Buffer: s.state.recurrent, Size: s.state.recurrent.Size()},
		}}, nil, nil, false)
		if err != nil {
			return 0, err
		}
	} else if err := s.copyState(s.state.recurrent, best.buf); err != nil {
		return 0, err
	}
	s.pos = best.pos
	// What was marked later belongs to positions that are gone; its memory is kept for the next mark.
	kept := s.state.marks[:0:0]
	for _, m := range s.state.marks {
		if m.pos <= s.pos {
			kept = append(kept, m)
		} else {
			s.drop(m.buf)
		}
	}
	s.state.marks = kept
	return s.pos, nil
}

// drop gives a buffer back before the session ends.
func (s *session) drop(buf *device.Buffer) {
	for i, b := range s.buffers {
		if b == buf {
			s.buffers = append(s.buffers[:i], s.buffers[i+1:]...)
			s.stateBytes -= buf.Size()
			buf.Free()
			return
		}
	}
}
