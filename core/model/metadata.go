package model

import (
	"fmt"
	"maps"
	"slices"
)

// Metadata is what a family sees of a model file: its scalar and short array values and its tensor directory.
// The vocabulary and the chat template, which no plan depends on, are left out.
type Metadata struct {
	// Architecture is general.architecture.
	Architecture string
	// Values maps a key to int64, float64, bool, string, []int64, []float64, []bool or []string.
	Values map[string]any
	// Tensors maps a tensor's name to its description.
	Tensors map[string]TensorInfo
}

// TensorInfo describes a tensor of a file.
type TensorInfo struct {
	// Type is the name of its GGUF type, such as "Q4_0".
	Type string
	// Shape is row-major, outermost dimension first.
	Shape []int
}

// Key returns the key with the architecture in front: Key("block_count") is "llama.block_count".
func (m *Metadata) Key(key string) string { return m.Architecture + "." + key }

// Has reports whether the file has the tensor.
func (m *Metadata) Has(tensor string) bool { _, ok := m.Tensors[tensor]; return ok }

// TensorNames returns the names of all tensors, sorted.
func (m *Metadata) TensorNames() []string { return slices.Sorted(maps.Keys(m.Tensors)) }

// Reader reads values of a [Metadata] and remembers the first error, so that a family reads top-down and checks once.
type Reader struct {
	md  *Metadata
	err error
}

// Read returns a reader of m whose keys are relative to the architecture.
func (m *Metadata) Read() *Reader { return &Reader{md: m} }

// Err returns the first error: a [*MetadataError].
func (r *Reader) Err() error { return r.err }

func (r *Reader) fail(key, reason string, args ...any) {
	if r.err == nil {
		r.err = &MetadataError{Name: key, Reason: fmt.Sprintf(reason, args...)}
	}
}

// Int returns a whole number in [least, most]; without the key it is an error.
func (r *Reader) Int(key string, least, most int) int { return r.int(key, nil, least, most) }

// IntOr is [Reader.Int] with a value for an absent key.
func (r *Reader) IntOr(key string, absent, least, most int) int {
	return r.int(key, &absent, least, most)
}

func (r *Reader) int(key string, absent *int, least, most int) int {
	key = r.md.Key(key)
	v, ok := r.md.Values[key]
	if !ok {
		if absent != nil {
			return *absent
		}
		r.fail(key, "is missing")
		return least
	}
	n, ok := v.(int64)
	switch {
	case !ok:
		r.fail(key, "is %T, want a whole number", v)
	case n < int64(least) || n > int64(most):
		r.fail(key, "is %d, want %d to %d", n, least, most)
	default:
		return int(n)
	}
	return least
}

// Float returns a number in [least, most]; without the key it is an error.
func (r *Reader) Float(key string, least, most float64) float64 {
	return r.float(key, nil, least, most)
}

// FloatOr is [Reader.Float] with a value for an absent key.
func (r *Reader) FloatOr(key string, absent, least, most float64) float64 {
	return r.float(key, &absent, least, most)
}

func (r *Reader) float(key string, absent *float64, least, most float64) float64 {
	key = r.md.Key(key)
	v, ok := r.md.Values[key]
	if !ok {
		if absent != nil {
			return *absent
		}
		r.fail(key, "is missing")
		return least
	}
	x, ok := v.(float64)
	if n, whole := v.(int64); whole {
		x, ok = float64(n), true
	}
	switch {
	case !ok:
		r.fail(key, "is %T, want a number", v)
	case !(least <= x && x <= most): // so that NaN fails
		r.fail(key, "is %v, want %v to %v", x, least, most)
	default:
		return x
	}
	return least
}

// String returns a text, or absent where the key is.
func (r *Reader) String(key, absent string) string {
	key = r.md.Key(key)
	v, ok := r.md.Values[key]
	if !ok {
		return absent
	}
	s, ok := v.(string)
	if !ok {
		r.fail(key, "is %T, want text", v)
	}
	return s
}

// Bools returns an array of truth values and whether the key is present.
func (r *Reader) Bools(key string) ([]bool, bool) {
	key = r.md.Key(key)
	v, ok := r.md.Values[key]
	if !ok {
		return nil, false
	}
	b, ok := v.([]bool)
	if !ok {
		r.fail(key, "is %T, want an array of truth values", v)
	}
	return b, ok
}

// Ints returns an array of whole numbers and whether the key is present.
func (r *Reader) Ints(key string) ([]int64, bool) {
	key = r.md.Key(key)
	v, ok := r.md.Values[key]
	if !ok {
		return nil, false
	}
	n, ok := v.([]int64)
	if !ok {
		r.fail(key, "is %T, want an array of whole numbers", v)
	}
	return n, ok
}

// Rows returns the number of rows of a matrix of the file that has the given number of columns.
func (r *Reader) Rows(tensor string, columns int) int {
	t, ok := r.md.Tensors[tensor]
	switch {
	case !ok:
		r.fail(tensor, "the file has no such tensor")
	case len(t.Shape) != 2 || t.Shape[0] < 1 || t.Shape[1] != columns:
		r.fail(tensor, "has the shape %v, want a matrix of %d columns", t.Shape, columns)
	default:
		return t.Shape[0]
	}
	return 1
}

// Refuse fails with [ErrUnsupported] when one of the keys is present and asks for something: is not 0, false, empty
// or "none".
func (r *Reader) Refuse(keys ...string) {
	for _, key := range keys {
		key = r.md.Key(key)
		switch v := r.md.Values[key].(type) {
		case nil:
		case int64, float64, bool, string:
			if v != int64(0) && v != 0.0 && v != false && v != "" && v != "none" {
				r.Unsupported(key, "is %v", v)
			}
		default:
			r.Unsupported(key, "is present")
		}
	}
}

// Unsupported fails with [ErrUnsupported]: name is the whole key or the tensor, and the reason says what it asks for.
func (r *Reader) Unsupported(name, reason string, args ...any) {
	if r.err == nil {
		r.err = &MetadataError{Name: name, Reason: fmt.Sprintf(reason, args...), Unsupported: true}
	}
}

// WantLen fails when the array at key has n elements and not want.
func (r *Reader) WantLen(key string, n, want int) {
	if n != want {
		r.fail(r.md.Key(key), "has %d elements, want %d", n, want)
	}
}
