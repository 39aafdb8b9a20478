package engine

import (
	"context"
	"encoding/hex"

	"github.com/pooled/pooled/core/gguf"
)

// ID identifies the weights of a model, so that two devices can tell whether they hold the same. It is the SHA-256 of the
// headers and sizes of the files: names, types, shapes and metadata. It is cheap, and not a proof: the tensor data is not
// read.
type ID [32]byte

// String returns the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Weights gives access to the tensors of a model, whole or by range, wherever they are. It is safe for concurrent use.
type Weights interface {
	// ID returns the identity of the model.
	ID() (ID, error)
	// Tensor describes the named tensor.
	//
	// Errors: [gguf.ErrNoTensor].
	Tensor(name string) (Tensor, error)
	// Bytes returns n bytes of the named tensor from offset on. They are read-only, and a view of the file where it is
	// mapped.
	//
	// Errors: [gguf.ErrNoTensor], a range outside the tensor, the context's, those of reading.
	// Owns: the bytes stay valid until the weights are closed.
	Bytes(ctx context.Context, name string, offset, n int64) ([]byte, error)
	// Release says that the tensor's data is no longer needed soon, so that its pages can go.
	Release(name string)
}

// Tensor describes a stored weight.
type Tensor struct {
	Type gguf.Type
	// Shape is row-major, outermost dimension first.
	Shape []int
	// Size is the length of the data. Units: bytes.
	Size int64
}
