package engine

import (
	"fmt"

	"github.com/pooled/pooled/core/gguf"
)

// FileWeights gives the tensors of an open file. Owns: nothing; f must stay open as long as the weights are used.
func FileWeights(f *gguf.File) Weights { return fileWeights{f} }

type fileWeights struct{ f *gguf.File }

func (w fileWeights) Tensor(name string) (Tensor, error) {
	t, ok := w.f.Tensor(name)
	if !ok {
		return Tensor{}, fmt.Errorf("tensor %s: %w", name, gguf.ErrNoTensor)
	}
	data, err := w.f.Data(t)
	if err != nil {
		return Tensor{}, fmt.Errorf("tensor %s: %w", name, err)
	}
	return Tensor{Type: t.Type, Shape: t.Shape, Data: data}, nil
}

func (w fileWeights) Release(name string) {
	if t, ok := w.f.Tensor(name); ok {
		w.f.Release(t)
	}
}
