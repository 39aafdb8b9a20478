package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Writer builds a GGUF file of version 3: metadata and tensors are declared first, then [Writer.WriteTo] streams them.
//
// Owns: not safe for concurrent use. Data given to AddTensor is kept, not copied, until WriteTo.
type Writer struct {
	keys    []string
	meta    map[string]Value
	tensors []pending
	names   map[string]bool
}

type pending struct {
	name  string
	typ   Type
	ne    []uint64 // innermost first
	size  int64
	write func(io.Writer) error
}

// NewWriter returns an empty writer.
func NewWriter() *Writer {
	return &Writer{meta: map[string]Value{}, names: map[string]bool{}}
}

// Set sets a metadata key; a second call replaces the value.
//
// Values: every sized integer and float, bool, string, slices of those, and [Value]. An int becomes the first of uint32,
// int32 and int64 that holds it, a []int the first that holds all.
//
// Errors: a bad key, a value of another type, general.alignment that is no power of two of 8 or more.
func (w *Writer) Set(key string, value any) error {
	if key == "" || len(key) > maxKey || !utf8.ValidString(key) {
		return fmt.Errorf("metadata key %q: want 1 to %d bytes of UTF-8", key, maxKey)
	}
	v, ok := encodeValue(value)
	if !ok {
		return fmt.Errorf("metadata %q: a value of type %T has no GGUF form", key, value)
	}
	if key == "general.alignment" {
		if a, ok := v.Uint(); !ok || a < 8 || a > 1<<30 || a&(a-1) != 0 {
			return fmt.Errorf("metadata %q: %v is not a power of two of 8 or more", key, value)
		}
	}
	if _, ok := w.meta[key]; !ok {
		w.keys = append(w.keys, key)
	}
	w.meta[key] = v
	return nil
}

// AddTensor declares a tensor and its data.
//
// Shapes: row-major, outermost dimension first, as [Tensor].
//
// Errors: as [Writer.AddTensorFunc]; data has another size than the shape asks for.
func (w *Writer) AddTensor(name string, t Type, shape []int, data []byte) error {
	if err := w.add(name, t, shape, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	}); err != nil {
		return err
	}
	last := len(w.tensors) - 1
	if want := w.tensors[last].size; int64(len(data)) != want {
		w.tensors = w.tensors[:last]
		delete(w.names, name)
		return fmt.Errorf("tensor %q: %d bytes of data, %v %v needs %d", name, len(data), t, shape, want)
	}
	return nil
}

// AddTensorFunc declares a tensor whose data is written by a function when its turn comes, so that a synthetic model of
// many gigabytes needs no memory. The function must write exactly the size of the tensor.
//
// Errors: a bad or repeated name, an unknown type, a shape that no file may hold.
func (w *Writer) AddTensorFunc(name string, t Type, shape []int, write func(io.Writer) error) error {
	return w.add(name, t, shape, write)
}

func (w *Writer) add(name string, t Type, shape []int, write func(io.Writer) error) error {
	if name == "" || len(name) > maxTensorName || !utf8.ValidString(name) {
		return fmt.Errorf("tensor name %q: want 1 to %d bytes of UTF-8", name, maxTensorName)
	}
	if w.names[name] {
		return fmt.Errorf("tensor %q was added already", name)
	}
	if !t.Known() {
		return fmt.Errorf("tensor %q: %w: %v", name, ErrType, t)
	}
	if len(shape) < 1 || len(shape) > maxDims {
		return fmt.Errorf("tensor %q: %d dimensions; 1 to %d are allowed", name, len(shape), maxDims)
	}
	ne := make([]uint64, len(shape))
	for i, d := range shape {
		ne[len(shape)-1-i] = uint64(max(d, 0))
	}
	size, reason := tensorBytes(t, ne)
	if reason != "" {
		return fmt.Errorf("tensor %q: shape %v: %s", name, shape, reason)
	}
	w.names[name] = true
	w.tensors = append(w.tensors, pending{name: name, typ: t, ne: ne, size: size, write: write})
	return nil
}

// WriteTo writes the file and returns its size.
//
// Errors: those of out and of tensor functions; a function that wrote too much or too little is named.
func (w *Writer) WriteTo(out io.Writer) (int64, error) {
	align := int64(defaultAlignment)
	if v, ok := w.meta["general.alignment"]; ok {
		align, _ = v.Int()
	}
	head, err := w.header(align)
	if err != nil {
		return 0, err
	}
	o := &counted{w: out}
	if _, err := o.Write(head); err != nil {
		return o.n, err
	}
	for _, t := range w.tensors {
		if err := o.pad(align); err != nil {
			return o.n, err
		}
		start := o.n
		o.limit = start + t.size
		if err := t.write(o); err != nil {
			return o.n, fmt.Errorf("tensor %q: %w", t.name, err)
		}
		if got := o.n - start; got != t.size {
			return o.n, fmt.Errorf("tensor %q: its function wrote %d bytes, its shape needs %d", t.name, got, t.size)
		}
		o.limit = 0
	}
	return o.n, o.pad(align)
}

// header encodes everything before the tensor data, without the padding.
func (w *Writer) header(align int64) ([]byte, error) {
	le := binary.LittleEndian
	b := []byte("GGUF")
	b = le.AppendUint32(b, 3)
	b = le.AppendUint64(b, uint64(len(w.tensors)))
	b = le.AppendUint64(b, uint64(len(w.keys)))
	for _, key := range w.keys {
		v := w.meta[key]
		b = appendString(b, key)
		b = le.AppendUint32(b, uint32(v.kind))
		b = v.append(b)
	}
	off := int64(0)
	for _, t := range w.tensors {
		b = appendString(b, t.name)
		b = le.AppendUint32(b, uint32(len(t.ne)))
		for _, n := range t.ne {
			b = le.AppendUint64(b, n)
		}
		b = le.AppendUint32(b, uint32(t.typ))
		b = le.AppendUint64(b, uint64(off))
		if t.size > math.MaxInt64/2-off {
			return nil, fmt.Errorf("tensor %q: the file would be larger than any file system", t.name)
		}
		off = (off + t.size + align - 1) / align * align
	}
	return b, nil
}

// counted counts what is written and refuses more than a tensor's share.
type counted struct {
	w     io.Writer
	n     int64
	limit int64 // 0: none
}

func (c *counted) Write(b []byte) (int, error) {
	if c.limit > 0 && int64(len(b)) > c.limit-c.n {
		return 0, fmt.Errorf("more data than its shape needs")
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func (c *counted) pad(align int64) error {
	_, err := c.Write(make([]byte, (align-c.n%align)%align))
	return err
}

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}

// encodeValue turns a Go value into a metadata value.
func encodeValue(value any) (Value, bool) {
	switch x := value.(type) {
	case Value:
		return x, true
	case int:
		kind := intKind(x, x)
		return Value{kind: kind, bits: uint64(x)}, true
	case uint8:
		return Value{kind: KindUint8, bits: uint64(x)}, true
	case int8:
		return Value{kind: KindInt8, bits: uint64(x)}, true
	case uint16:
		return Value{kind: KindUint16, bits: uint64(x)}, true
	case int16:
		return Value{kind: KindInt16, bits: uint64(x)}, true
	case uint32:
		return Value{kind: KindUint32, bits: uint64(x)}, true
	case int32:
		return Value{kind: KindInt32, bits: uint64(x)}, true
	case uint64:
		return Value{kind: KindUint64, bits: x}, true
	case int64:
		return Value{kind: KindInt64, bits: uint64(x)}, true
	case float32:
		return Value{kind: KindFloat32, bits: uint64(math.Float32bits(x))}, true
	case float64:
		return Value{kind: KindFloat64, bits: math.Float64bits(x)}, true
	case bool:
		v := Value{kind: KindBool}
		if x {
			v.bits = 1
		}
		return v, true
	case string:
		return Value{kind: KindString, str: x}, true
	case []string:
		return array(KindString, x, func(b []byte, s string) []byte { return appendString(b, s) }), true
	case []Value:
		return arrayOfValues(x)
	case []int:
		lo, hi := 0, 0
		for _, n := range x {
			lo, hi = min(lo, n), max(hi, n)
		}
		kind := intKind(lo, hi)
		return array(kind, x, func(b []byte, n int) []byte { return Value{kind: kind, bits: uint64(n)}.append(b) }), true
	case []uint8:
		return fixed(KindUint8, x), true
	case []int8:
		return fixed(KindInt8, x), true
	case []uint16:
		return fixed(KindUint16, x), true
	case []int16:
		return fixed(KindInt16, x), true
	case []uint32:
		return fixed(KindUint32, x), true
	case []int32:
		return fixed(KindInt32, x), true
	case []uint64:
		return fixed(KindUint64, x), true
	case []int64:
		return fixed(KindInt64, x), true
	case []float32:
		return fixed(KindFloat32, x), true
	case []float64:
		return fixed(KindFloat64, x), true
	case []bool:
		return fixed(KindBool, x), true
	}
	return Value{}, false
}

// intKind returns the kind for ints between lo and hi.
func intKind(lo, hi int) Kind {
	switch {
	case lo >= 0 && int64(hi) <= math.MaxUint32:
		return KindUint32
	case lo >= math.MinInt32 && hi <= math.MaxInt32:
		return KindInt32
	}
	return KindInt64
}

func array[T any](elem Kind, items []T, app func([]byte, T) []byte) Value {
	var b []byte
	for _, x := range items {
		b = app(b, x)
	}
	return Value{kind: KindArray, elem: elem, n: len(items), str: string(b)}
}

func fixed[T any](elem Kind, items []T) Value {
	var b bytes.Buffer
	// A bytes.Buffer does not fail and T has a fixed size.
	_ = binary.Write(&b, binary.LittleEndian, items)
	return Value{kind: KindArray, elem: elem, n: len(items), str: b.String()}
}

// arrayOfValues encodes values of one kind, which may be arrays.
func arrayOfValues(items []Value) (Value, bool) {
	if len(items) == 0 {
		return Value{}, false
	}
	for _, x := range items {
		if x.kind != items[0].kind {
			return Value{}, false
		}
	}
	return array(items[0].kind, items, func(b []byte, v Value) []byte { return v.append(b) }), true
}
