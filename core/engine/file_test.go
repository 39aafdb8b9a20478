package engine_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
)

func modelFile(t *testing.T, name string, data []byte) *gguf.File {
	t.Helper()
	w := gguf.NewWriter()
	if err := w.Set("general.architecture", name); err != nil {
		t.Fatal(err)
	}
	if err := w.AddTensor("w", gguf.F32, []int{2, 4}, data); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := w.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.ReadBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileWeights(t *testing.T) {
	data := make([]byte, 32)
	for i := range data {
		data[i] = byte(i)
	}
	w := engine.FileWeights(modelFile(t, "a", data))
	if got, err := w.Tensor("w"); err != nil || got.Type != gguf.F32 || got.Size != 32 || len(got.Shape) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := w.Bytes(t.Context(), "w", 4, 8); err != nil || !bytes.Equal(got, data[4:12]) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, c := range []struct{ offset, n int64 }{{-1, 4}, {0, 33}, {32, 1}, {4, -1}, {1 << 62, 1 << 62}} {
		if _, err := w.Bytes(t.Context(), "w", c.offset, c.n); err == nil {
			t.Errorf("%d bytes at %d: no error", c.n, c.offset)
		}
	}
	if _, err := w.Bytes(t.Context(), "v", 0, 0); !errors.Is(err, gguf.ErrNoTensor) {
		t.Errorf("got %v, want %v", err, gguf.ErrNoTensor)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Bytes(ctx, "w", 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}

	// The identity is that of the header.
	id := func(name string, data []byte) engine.ID {
		id, err := engine.FileWeights(modelFile(t, name, data)).ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if a, b := id("a", data), id("a", make([]byte, 32)); a != b || len(a.String()) != 64 {
		t.Errorf("the same header gives %v and %v", a, b)
	}
	if a, b := id("a", data), id("b", data); a == b {
		t.Errorf("two headers give %v", a)
	}
}
