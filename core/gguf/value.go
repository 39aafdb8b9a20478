package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is the kind of a metadata value, with the numbers of the format.
type Kind uint32

// The kinds of metadata values.
const (
	KindUint8 Kind = iota
	KindInt8
	KindUint16
	KindInt16
	KindUint32
	KindInt32
	KindFloat32
	KindBool
	KindString
	KindArray
	KindUint64
	KindInt64
	KindFloat64
)

var kindNames = [...]string{
	"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array", "uint64", "int64", "float64",
}

// String returns the name of the kind, such as "uint32".
func (k Kind) String() string {
	if int64(k) < int64(len(kindNames)) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// size returns the encoded size of a scalar, or 0 when the kind has no fixed size or does not exist.
func (k Kind) size() int {
	switch k {
	case KindUint8, KindInt8, KindBool:
		return 1
	case KindUint16, KindInt16:
		return 2
	case KindUint32, KindInt32, KindFloat32:
		return 4
	case KindUint64, KindInt64, KindFloat64:
		return 8
	}
	return 0
}

// Value is one typed metadata value. The zero Value is a uint8 of 0.
//
// An array keeps its elements as they are encoded, in one string, so that a vocabulary of 250,000 pieces is one allocation
// until it is asked for. Values do not refer to the mapped file: they stay valid after [File.Close].
//
// Owns: a Value is immutable and safe for concurrent use.
type Value struct {
	kind Kind
	elem Kind   // element kind of an array
	n    int    // elements of an array
	bits uint64 // a scalar, sign-extended for signed kinds, IEEE 754 bits for floats
	str  string // a string, or the encoded elements of an array
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Elem returns the kind of an array's elements; false when the value is not an array.
func (v Value) Elem() (Kind, bool) { return v.elem, v.kind == KindArray }

// Len returns the number of elements of an array, the number of bytes of a string, and 0 otherwise.
func (v Value) Len() int {
	switch v.kind {
	case KindArray:
		return v.n
	case KindString:
		return len(v.str)
	}
	return 0
}

// Uint returns an integer of any kind that is not negative.
func (v Value) Uint() (uint64, bool) {
	switch v.kind {
	case KindUint8, KindUint16, KindUint32, KindUint64:
		return v.bits, true
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return v.bits, int64(v.bits) >= 0
	}
	return 0, false
}

// Int returns an integer of any kind that fits an int64.
func (v Value) Int() (int64, bool) {
	switch v.kind {
	case KindUint8, KindUint16, KindUint32, KindInt8, KindInt16, KindInt32, KindInt64:
		return int64(v.bits), true
	case KindUint64:
		return int64(v.bits), v.bits <= math.MaxInt64
	}
	return 0, false
}

// Float returns a number of any kind, integers included.
func (v Value) Float() (float64, bool) {
	switch v.kind {
	case KindFloat32:
		return float64(math.Float32frombits(uint32(v.bits))), true
	case KindFloat64:
		return math.Float64frombits(v.bits), true
	case KindUint8, KindUint16, KindUint32, KindUint64:
		return float64(v.bits), true
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return float64(int64(v.bits)), true
	}
	return 0, false
}

// Bool returns a boolean.
func (v Value) Bool() (value, ok bool) { return v.bits != 0, v.kind == KindBool }

// Str returns a string.
func (v Value) Str() (string, bool) {
	if v.kind != KindString {
		return "", false
	}
	return v.str, true
}

// Strings returns an array of strings. The strings share one backing store; the slice is the caller's.
func (v Value) Strings() ([]string, bool) {
	if v.kind != KindArray || v.elem != KindString {
		return nil, false
	}
	out := make([]string, v.n)
	rest := v.str
	for i := range out {
		n := int(le64(rest))
		out[i], rest = rest[8:8+n], rest[8+n:]
	}
	return out, true
}

// Ints returns an array of integers of any kind; false when one does not fit an int64.
func (v Value) Ints() ([]int64, bool) {
	return each(v, Value.Int)
}

// Floats returns an array of numbers of any kind.
func (v Value) Floats() ([]float64, bool) {
	return each(v, Value.Float)
}

// Bools returns an array of booleans.
func (v Value) Bools() ([]bool, bool) {
	return each(v, Value.Bool)
}

// Values returns the elements of an array of any kind, nested arrays included.
func (v Value) Values() ([]Value, bool) {
	if v.kind != KindArray {
		return nil, false
	}
	out := make([]Value, v.n)
	rest := v.str
	for i := range out {
		out[i], rest = takeValue(v.elem, rest)
	}
	return out, true
}

// each converts the elements of an array of scalars.
func each[T any](v Value, get func(Value) (T, bool)) ([]T, bool) {
	size := v.elem.size()
	if v.kind != KindArray || size == 0 {
		return nil, false
	}
	out := make([]T, v.n)
	for i := range out {
		var ok bool
		if out[i], ok = get(scalar(v.elem, v.str[i*size:])); !ok {
			return nil, false
		}
	}
	return out, true
}

// takeValue decodes one value from bytes that were checked when the file was read.
func takeValue(k Kind, s string) (v Value, rest string) {
	switch k {
	case KindString:
		n := int(le64(s))
		return Value{kind: k, str: s[8 : 8+n]}, s[8+n:]
	case KindArray:
		elem, n := Kind(le32(s)), int(le64(s[4:]))
		end := s[12:]
		if size := elem.size(); size > 0 {
			end = end[n*size:]
		} else {
			for range n {
				_, end = takeValue(elem, end)
			}
		}
		return Value{kind: k, elem: elem, n: n, str: s[12 : len(s)-len(end)]}, end
	default:
		return scalar(k, s), s[k.size():]
	}
}

// scalar decodes a value of a kind with a fixed size.
func scalar(k Kind, s string) Value {
	v := Value{kind: k}
	switch k {
	case KindUint8, KindBool:
		v.bits = uint64(s[0])
	case KindInt8:
		v.bits = uint64(int8(s[0]))
	case KindUint16:
		v.bits = uint64(le16(s))
	case KindInt16:
		v.bits = uint64(int16(le16(s)))
	case KindUint32, KindFloat32:
		v.bits = uint64(le32(s))
	case KindInt32:
		v.bits = uint64(int32(le32(s)))
	case KindUint64, KindInt64, KindFloat64:
		v.bits = le64(s)
	}
	return v
}

func le16(s string) uint16 { return uint16(s[0]) | uint16(s[1])<<8 }
func le32(s string) uint32 { return uint32(le16(s)) | uint32(le16(s[2:]))<<16 }
func le64(s string) uint64 { return uint64(le32(s)) | uint64(le32(s[4:]))<<32 }

// append encodes the value as it lies in a file, without its kind.
func (v Value) append(b []byte) []byte {
	switch v.kind {
	case KindString:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v.str)))
		return append(b, v.str...)
	case KindArray:
		b = binary.LittleEndian.AppendUint32(b, uint32(v.elem))
		b = binary.LittleEndian.AppendUint64(b, uint64(v.n))
		return append(b, v.str...)
	}
	for i := range v.kind.size() {
		b = append(b, byte(v.bits>>(8*i)))
	}
	return b
}
