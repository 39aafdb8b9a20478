package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/pooled/pooled/core/gguf"
)

// FileWeights gives the tensors of an open file. Owns: nothing; f must stay open as long as the weights are used.
func FileWeights(f *gguf.File) Weights {
	return &fileWeights{f, sync.OnceValues(func() (ID, error) {
		sum, err := f.HeaderSum()
		return ID(sum), err
	})}
}

type fileWeights struct {
	f  *gguf.File
	id func() (ID, error)
}

func (w *fileWeights) ID() (ID, error) { return w.id() }

func (w *fileWeights) Tensor(name string) (Tensor, error) {
	t, err := w.find(name)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{Type: t.Type, Shape: t.Shape, Size: t.Bytes()}, nil
}

func (w *fileWeights) Bytes(ctx context.Context, name string, offset, n int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := w.find(name)
	if err != nil {
		return nil, err
	}
	data, err := w.f.Range(t, offset, n)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	return data, nil
}

func (w *fileWeights) Release(name string) {
	if t, ok := w.f.Tensor(name); ok {
		w.f.Release(t)
	}
}

func (w *fileWeights) find(name string) (*gguf.Tensor, error) {
	t, ok := w.f.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("tensor %s: %w", name, gguf.ErrNoTensor)
	}
	return t, nil
}
