package cpu

import (
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
)

// maxMarks is how many positions a session can go back to when its state is recurrent.
const maxMarks = 4

// layerState is what one layer remembers.
type layerState struct {
	kv    *kvCache
	conv  []float32 // [taps−1, channels], oldest row first
	delta []float32 // [heads, keyDim, valueDim]
}

func newLayerState(s model.State, context int) layerState {
	var l layerState
	if s.KV != nil {
		l.kv = newKVCache(*s.KV, context)
	}
	if s.Conv != nil {
		l.conv = make([]float32, (s.Conv.Taps-1)*s.Conv.Channels)
	}
	if s.Delta != nil {
		l.delta = make([]float32, s.Delta.Heads*s.Delta.KeyDim*s.Delta.ValueDim)
	}
	return l
}

func (l *layerState) bytes() int64 {
	n := 4 * int64(len(l.conv)+len(l.delta))
	if l.kv != nil {
		n += 2 * int64(len(l.kv.keys)+len(l.kv.values))
	}
	return n
}

// mark is a copy of the recurrent state at a position. KV caches need none: positions are only ever appended, so those
// before the mark stay as they are until the session is cut back beyond it.
type mark struct {
	pos   int
	state []float32
}

// save copies the recurrent state into m, reusing its memory.
func (s *session) save(m *mark) {
	m.pos, m.state = s.n, m.state[:0]
	for i := range s.layers {
		m.state = append(append(m.state, s.layers[i].conv...), s.layers[i].delta...)
	}
}

// restore brings the recurrent state back.
func (s *session) restore(m *mark) {
	rest := m.state
	for i := range s.layers {
		rest = rest[copy(s.layers[i].conv, rest):]
		rest = rest[copy(s.layers[i].delta, rest):]
	}
}

func (s *session) recurrent() bool { return s.config.Plan.Recurrent(s.config.Range) }

func (s *session) Mark() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return engine.ErrClosed
	}
	if !s.recurrent() || (len(s.marks) > 0 && s.marks[len(s.marks)-1].pos == s.n) {
		return nil
	}
	var m mark
	if len(s.marks) == maxMarks {
		m = s.marks[0]
		s.marks = append(s.marks[:0], s.marks[1:]...)
	}
	s.save(&m)
	s.marks = append(s.marks, m)
	return nil
}

func (s *session) Rewind(n int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, engine.ErrClosed
	}
	if n < 0 {
		return 0, fmt.Errorf("position %d does not exist", n)
	}
	if n >= s.n {
		return s.n, nil
	}
	if !s.recurrent() {
		s.n = n
		return n, nil
	}
	for len(s.marks) > 0 && s.marks[len(s.marks)-1].pos > n {
		s.marks = s.marks[:len(s.marks)-1]
	}
	if len(s.marks) > 0 {
		m := &s.marks[len(s.marks)-1]
		s.restore(m)
		s.n = m.pos
		return s.n, nil
	}
	for i := range s.layers {
		clear(s.layers[i].conv)
		clear(s.layers[i].delta)
	}
	s.n = 0
	return 0, nil
}
