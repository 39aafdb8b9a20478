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
	// recurrent holds every conv and delta state, and before what it was before the last lap; both are nil where there is
	// none. Kernels are bound to the one, so that a lap copies it away first.
	recurrent, before *device.Buffer
	row               int64 // bytes of keys and values of one position in all layers
}

// kvCache is the keys and the values of a layer. Shapes: [positions, row].
type kvCache struct {
	keys, values     device.View
	keyRow, valueRow int64 // bytes of a position
}

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
				row  *int64
				dim  int
			}{{&c.keys, &c.keyRow, kv.KeyDim}, {&c.values, &c.valueRow, kv.ValueDim}} {
				*side.row = kernel.KVRow(kv.Heads, side.dim)
				s.state.row += *side.row
				n := int64(s.context) * *side.row
				if n > limit {
					return fmt.Errorf("%w: a cache of %d positions needs a binding of %d bytes, the device has %d; ask for a smaller context",
						engine.ErrOutOfMemory, s.context, n, limit)
				}
				buf, err := s.alloc(&s.stateBytes, n, device.Storage|device.CopyFrom|device.CopyTo)
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

// drop gives a buffer back before the session ends; it may be nil.
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
