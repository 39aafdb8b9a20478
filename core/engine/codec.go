package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pooled/pooled/core/model"
)

// The binary form of laps. Integers are varints as in encoding/binary, signed ones zigzag; floats are little-endian; a list
// is its length and its entries.
//
//	batch:  version, flags (1 undo, 2 accept), restore, pos (signed), forget, drop, tokens (signed), hidden, keep, save,
//	        columns of hidden, logits and top, top (signed), draft as (token signed, count signed)
//	result: version, hidden, logits, top as a list of lists of (id signed, logit), log-sum-exp, accepted, next (signed),
//	        draft (signed), saved as a list of (id, bytes)
const (
	codecVersion = 1
	flagUndo     = 1
	flagAccept   = 2
)

// Bounds limit what is decoded; nothing beyond them is allocated.
type Bounds struct {
	// Columns is the most columns of a batch, Hidden the width of a hidden state and Vocab that of the logits.
	Columns, Hidden, Vocab int
}

// BoundsOf returns the bounds of laps of a plan whose sessions have room for the given number of positions.
func BoundsOf(p *model.Plan, context int) Bounds { return Bounds{context, p.Hidden, p.Vocab} }

// AppendBatch appends the binary form of b to dst.
func AppendBatch(dst []byte, b Batch) []byte {
	flags := byte(0)
	if b.Undo {
		flags |= flagUndo
	}
	if b.Output.Accept {
		flags |= flagAccept
	}
	dst = append(dst, codecVersion, flags)
	dst = binary.AppendUvarint(dst, uint64(b.Restore))
	dst = binary.AppendVarint(dst, int64(b.Pos))
	dst = appendInts(dst, b.Forget)
	dst = appendCheckpoints(dst, b.Drop)
	dst = binary.AppendUvarint(dst, uint64(len(b.Tokens)))
	for _, t := range b.Tokens {
		dst = binary.AppendVarint(dst, int64(t))
	}
	dst = appendFloats(dst, b.Hidden)
	dst = appendInts(dst, b.Keep)
	dst = appendCheckpoints(dst, b.Save)
	for _, c := range []Columns{b.Output.Hidden, b.Output.Logits, b.Output.TopOf} {
		dst = binary.AppendUvarint(dst, uint64(c))
	}
	dst = binary.AppendVarint(dst, int64(b.Output.Top))
	dst = binary.AppendVarint(dst, int64(b.Draft.Token))
	return binary.AppendVarint(dst, int64(b.Draft.Count))
}

// DecodeBatch reads what [AppendBatch] wrote. It checks the form alone; whether the batch makes sense, the session says.
//
// Errors: [ErrEncoding].
func DecodeBatch(data []byte, limit Bounds) (Batch, error) {
	var b Batch
	d := decoder{data: data}
	d.version()
	flags := d.byte()
	if flags > flagUndo|flagAccept {
		d.fail("unknown flags %#x", flags)
	}
	b.Undo, b.Output.Accept = flags&flagUndo != 0, flags&flagAccept != 0
	b.Restore = Checkpoint(d.uvarint())
	b.Pos = int(d.varint(math.MinInt32, math.MaxInt32))
	b.Forget = d.ints(MaxKept)
	b.Drop = d.checkpoints()
	b.Tokens = list(&d, limit.Columns, 1, func() int32 { return int32(d.varint(math.MinInt32, math.MaxInt32)) })
	b.Hidden = d.floats(limit.Columns, limit.Hidden)
	b.Keep = d.ints(MaxKept)
	b.Save = d.checkpoints()
	b.Output.Hidden, b.Output.Logits, b.Output.TopOf = d.columns(), d.columns(), d.columns()
	b.Output.Top = int(d.varint(0, int64(limit.Vocab)))
	b.Draft = Draft{int32(d.varint(math.MinInt32, math.MaxInt32)), int(d.varint(0, MaxDraft))}
	if err := d.end(); err != nil {
		return Batch{}, err
	}
	return b, nil
}

// AppendResult appends the binary form of r to dst.
func AppendResult(dst []byte, r Result) []byte {
	dst = append(dst, codecVersion)
	dst = appendFloats(dst, r.Hidden)
	dst = appendFloats(dst, r.Logits)
	dst = binary.AppendUvarint(dst, uint64(len(r.Top)))
	for _, top := range r.Top {
		dst = binary.AppendUvarint(dst, uint64(len(top)))
		for _, c := range top {
			dst = binary.AppendVarint(dst, int64(c.ID))
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(c.Logit))
		}
	}
	dst = appendFloats(dst, r.LogSumExp)
	dst = binary.AppendUvarint(dst, uint64(r.Accepted))
	dst = binary.AppendVarint(dst, int64(r.Next))
	dst = binary.AppendUvarint(dst, uint64(len(r.Draft)))
	for _, id := range r.Draft {
		dst = binary.AppendVarint(dst, int64(id))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Saved)))
	for _, s := range r.Saved {
		dst = binary.AppendUvarint(dst, uint64(s.ID))
		dst = binary.AppendUvarint(dst, uint64(s.Bytes))
	}
	return dst
}

// DecodeResult reads what [AppendResult] wrote.
//
// Errors: [ErrEncoding].
func DecodeResult(data []byte, limit Bounds) (Result, error) {
	var r Result
	d := decoder{data: data}
	d.version()
	r.Hidden = d.floats(limit.Columns, limit.Hidden)
	r.Logits = d.floats(limit.Columns, limit.Vocab)
	r.Top = list(&d, limit.Columns, 1, func() []Candidate {
		return list(&d, limit.Vocab, 5, func() Candidate {
			return Candidate{int32(d.varint(math.MinInt32, math.MaxInt32)), d.float()}
		})
	})
	r.LogSumExp = d.floats(limit.Columns, 1)
	r.Accepted = int(d.atMost(uint64(limit.Columns)))
	r.Next = int32(d.varint(math.MinInt32, math.MaxInt32))
	r.Draft = list(&d, MaxDraft, 1, func() int32 { return int32(d.varint(math.MinInt32, math.MaxInt32)) })
	r.Saved = list(&d, MaxCheckpoints, 2, func() Saved {
		return Saved{Checkpoint(d.uvarint()), int64(d.atMost(math.MaxInt64))}
	})
	if err := d.end(); err != nil {
		return Result{}, err
	}
	return r, nil
}

func appendInts(dst []byte, v []int) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	for _, n := range v {
		dst = binary.AppendVarint(dst, int64(n))
	}
	return dst
}

func appendCheckpoints(dst []byte, v []Checkpoint) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	for _, c := range v {
		dst = binary.AppendUvarint(dst, uint64(c))
	}
	return dst
}

func appendFloats(dst []byte, v []float32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	for _, f := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return dst
}

// decoder reads from data; after the first fault it reads zeros.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrEncoding, fmt.Sprintf(format, args...))
	}
	d.data = nil
}

// end returns the first fault.
func (d *decoder) end() error {
	if len(d.data) > 0 {
		d.fail("%d bytes follow", len(d.data))
	}
	return d.err
}

func (d *decoder) version() {
	if v := d.byte(); v != codecVersion {
		d.fail("version %d, not %d", v, codecVersion)
	}
}

func (d *decoder) byte() byte {
	if len(d.data) == 0 {
		d.fail("it is cut short")
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.fail("it is cut short")
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) atMost(limit uint64) uint64 {
	v := d.uvarint()
	if v > limit {
		d.fail("%d where at most %d may stand", v, limit)
		return 0
	}
	return v
}

func (d *decoder) varint(low, high int64) int64 {
	v, n := binary.Varint(d.data)
	switch {
	case n <= 0:
		d.fail("it is cut short")
		return 0
	case v < low || v > high:
		d.fail("%d is not between %d and %d", v, low, high)
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) float() float32 {
	if len(d.data) < 4 {
		d.fail("it is cut short")
		return 0
	}
	f := math.Float32frombits(binary.LittleEndian.Uint32(d.data))
	d.data = d.data[4:]
	return f
}

func (d *decoder) columns() Columns {
	return Columns(d.atMost(uint64(AllColumns)))
}

// count reads the length of a list of at most limit entries, each of which takes at least size bytes of what is left.
func (d *decoder) count(limit, size int) int {
	n := d.uvarint()
	switch {
	case n > uint64(max(limit, 0)):
		d.fail("a list of %d entries, at most %d are allowed", n, limit)
		return 0
	case n > uint64(len(d.data)/size):
		d.fail("it is cut short")
		return 0
	}
	return int(n)
}

func (d *decoder) ints(limit int) []int {
	return list(d, limit, 1, func() int { return int(d.varint(math.MinInt32, math.MaxInt32)) })
}

func (d *decoder) checkpoints() []Checkpoint {
	return list(d, MaxCheckpoints, 1, func() Checkpoint { return Checkpoint(d.uvarint()) })
}

// floats reads at most the given number of rows and columns.
func (d *decoder) floats(rows, width int) []float32 {
	return list(d, rows*width, 4, d.float)
}

// list reads a list; an empty one is nil.
func list[T any](d *decoder, limit, size int, read func() T) []T {
	n := d.count(limit, size)
	if n == 0 {
		return nil
	}
	v := make([]T, n)
	for i := range v {
		if d.err != nil {
			return nil
		}
		v[i] = read()
	}
	return v
}
