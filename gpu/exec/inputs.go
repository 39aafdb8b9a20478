package exec

import (
	"github.com/pooled/pooled/gpu/device"
)

// inputs is what the host writes before a pass: the Steps, the tokens, the rope tables. They are parts of one buffer, so
// that a decode step needs one write: each takes staging memory in the driver, and with it up to half a millisecond.
type inputs struct {
	buf    *device.Buffer
	size   int64 // while the session compiles, how much is taken
	shadow []byte
	dirty  []span // in ascending order
}

// span is the bytes [begin, end).
type span struct{ begin, end int }

// near is how many unchanged bytes are written along, rather than to write twice.
const near = 8 << 10

// take reserves bytes and returns where they begin.
func (in *inputs) take(size int64) int64 {
	at := in.size
	in.size = up(at+size, device.Align)
	return at
}

// put changes bytes from at on; they reach the device with the next flush.
func (in *inputs) put(at int64, data []byte) {
	s := span{int(at), int(at) + copy(in.shadow[at:], data)}
	i := 0
	for i < len(in.dirty) && in.dirty[i].end+near < s.begin {
		i++
	}
	j := i
	for j < len(in.dirty) && in.dirty[j].begin <= s.end+near {
		s.begin, s.end = min(s.begin, in.dirty[j].begin), max(s.end, in.dirty[j].end)
		j++
	}
	in.dirty = append(in.dirty[:i], append([]span{s}, in.dirty[j:]...)...)
}

// flush writes what has changed.
func (in *inputs) flush(d *device.Device) error {
	for _, s := range in.dirty {
		if err := d.Write(in.buf, int64(s.begin), in.shadow[s.begin:s.end]); err != nil {
			return err
		}
	}
	in.dirty = in.dirty[:0]
	return nil
}
