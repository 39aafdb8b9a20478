package gguf

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Limits of a header. They are far above any real model and keep a hostile one cheap.
const (
	maxHeader     = 512 << 20 // bytes before the tensor data
	maxEntries    = 1 << 20   // metadata entries, and tensors
	maxKey        = 65535     // bytes of a key (the specification's limit)
	maxTensorName = 1024      // bytes of a tensor name (ggml's own limit is 64)
	maxDims       = 4
	maxNesting    = 4 // arrays inside arrays
	readAhead     = 256 << 10
)

// cursor reads a header. Every take is checked against the end of the file before anything is allocated.
type cursor struct {
	path  string
	src   source
	size  int64  // of the file
	pos   int64  // next byte
	buf   []byte // the first bytes of the file, as many as were needed so far
	field string // what is being read, for errors
}

// in names the field that following reads belong to.
func (c *cursor) in(format string, args ...any) { c.field = fmt.Sprintf(format, args...) }

// fail returns a format error at off.
func (c *cursor) fail(off int64, err error, format string, args ...any) error {
	return &FormatError{Path: c.path, Field: c.field, Offset: off, Reason: fmt.Sprintf(format, args...), Err: err}
}

// left is the number of bytes between the cursor and the end of the file or the header limit.
func (c *cursor) left() int64 { return min(c.size, maxHeader) - c.pos }

// need checks that n more bytes are there and makes them addressable.
func (c *cursor) need(n uint64) error {
	if n > uint64(c.left()) {
		if c.size > maxHeader && n <= uint64(c.size-c.pos) {
			return c.fail(c.pos, ErrFormat, "the header is larger than %d bytes", maxHeader)
		}
		if n > 1<<50 {
			return c.fail(c.pos, ErrFormat, "a length of %d bytes is absurd", n)
		}
		return c.fail(c.pos, ErrTruncated, "needs %d bytes, %d are left; the file should have at least %d bytes, it has %d",
			n, c.size-c.pos, c.pos+int64(n), c.size)
	}
	end := c.pos + int64(n)
	if end <= int64(len(c.buf)) {
		return nil
	}
	grown := max(end, 2*int64(len(c.buf)), readAhead)
	if m, ok := c.src.(*memory); ok {
		grown = int64(len(m.data))
	}
	buf, err := c.src.view(0, int(min(grown, c.size, maxHeader)))
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.path, c.field, err)
	}
	c.buf = buf
	return nil
}

// take returns the next n bytes; they are valid until the source is closed.
func (c *cursor) take(n uint64) ([]byte, error) {
	if err := c.need(n); err != nil {
		return nil, err
	}
	b := c.buf[c.pos : c.pos+int64(n)]
	c.pos += int64(n)
	return b, nil
}

func (c *cursor) u32() (uint32, error) {
	b, err := c.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64() (uint64, error) {
	b, err := c.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// name reads a string that names something: not empty, valid UTF-8, of limited length.
func (c *cursor) name(limit int) (string, error) {
	start := c.pos
	n, err := c.u64()
	if err != nil {
		return "", err
	}
	if n == 0 || n > uint64(limit) {
		return "", c.fail(start, ErrFormat, "a name of %d bytes; 1 to %d are allowed", n, limit)
	}
	b, err := c.take(n)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", c.fail(start, ErrFormat, "a name that is not UTF-8")
	}
	return string(b), nil
}

// value reads one metadata value of kind k.
func (c *cursor) value(k Kind) (Value, error) {
	start := c.pos
	if err := c.skip(k, 0); err != nil {
		return Value{}, err
	}
	v, _ := takeValue(k, string(c.buf[start:c.pos]))
	return v, nil
}

// skip passes over one value and checks everything in it.
func (c *cursor) skip(k Kind, depth int) error {
	switch k {
	case KindString:
		n, err := c.u64()
		if err != nil {
			return err
		}
		_, err = c.take(n)
		return err
	case KindArray:
		return c.skipArray(depth + 1)
	case KindBool:
		return c.skipBools(1)
	}
	size := k.size()
	if size == 0 {
		return c.fail(c.pos, ErrFormat, "unknown value kind %d", uint32(k))
	}
	_, err := c.take(uint64(size))
	return err
}

func (c *cursor) skipArray(depth int) error {
	start := c.pos
	if depth > maxNesting {
		return c.fail(start, ErrFormat, "arrays nested more than %d deep", maxNesting)
	}
	e, err := c.u32()
	if err != nil {
		return err
	}
	n, err := c.u64()
	if err != nil {
		return err
	}
	elem := Kind(e)
	least := uint64(elem.size())
	switch elem {
	case KindString:
		least = 8
	case KindArray:
		least = 12
	}
	if least == 0 {
		return c.fail(start, ErrFormat, "an array of the unknown kind %d", e)
	}
	if n > uint64(c.left())/least {
		return c.fail(start, ErrTruncated, "an array of %d %v elements of at least %d bytes each, %d bytes are left",
			n, elem, least, c.left())
	}
	switch elem {
	case KindString, KindArray:
		for range n {
			if err := c.skip(elem, depth); err != nil {
				return err
			}
		}
		return nil
	case KindBool:
		return c.skipBools(n)
	}
	_, err = c.take(n * least)
	return err
}

func (c *cursor) skipBools(n uint64) error {
	start := c.pos
	b, err := c.take(n)
	if err != nil {
		return err
	}
	for i, x := range b {
		if x > 1 {
			return c.fail(start+int64(i), ErrFormat, "a boolean of %d; only 0 and 1 are allowed", x)
		}
	}
	return nil
}
