// Package ggufmeta makes the [model.Metadata] that a family reads out of a GGUF file.
package ggufmeta

import (
	"slices"
	"strings"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
)

// MaxArray is the number of elements up to which an array is kept: enough for one a layer, too few for a vocabulary.
const MaxArray = 4096

// Of returns the metadata of f without the tokenizer, without arrays longer than [MaxArray] and without values of kinds
// that [model.Metadata] does not have, such as nested arrays. It keeps no reference to f.
func Of(f *gguf.File) *model.Metadata {
	md := &model.Metadata{Values: map[string]any{}, Tensors: make(map[string]model.TensorInfo, len(f.Tensors()))}
	for _, key := range f.Keys() {
		if strings.HasPrefix(key, "tokenizer.") {
			continue
		}
		v, _ := f.Get(key)
		if x := value(v); x != nil {
			md.Values[key] = x
		}
	}
	md.Architecture, _ = md.Values["general.architecture"].(string)
	for _, t := range f.Tensors() {
		md.Tensors[t.Name] = model.TensorInfo{Type: t.Type.String(), Shape: slices.Clone(t.Shape)}
	}
	return md
}

// value returns v as a value of a [model.Metadata], or nil when it has no place there.
func value(v gguf.Value) any {
	if v.Kind() == gguf.KindArray {
		if v.Len() > MaxArray {
			return nil
		}
		if x, ok := v.Ints(); ok {
			return x
		}
		if x, ok := v.Floats(); ok {
			return x
		}
		if x, ok := v.Bools(); ok {
			return x
		}
		if x, ok := v.Strings(); ok {
			return slices.Clone(x)
		}
		return nil
	}
	if x, ok := v.Int(); ok {
		return x
	}
	if x, ok := v.Bool(); ok {
		return x
	}
	if x, ok := v.Str(); ok {
		return x
	}
	if x, ok := v.Float(); ok {
		return x
	}
	return nil
}
