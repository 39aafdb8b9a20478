// Package engine is the contract of a compute backend: sessions that run a layer range of a plan.
//
// A session holds the weights and the state of layers [Begin, End), and, where asked, the embedding before them and the
// head after them. Calls are coarse: one [Session.Forward] is one submission and at most one readback. The contract
// names no GPU type, so that a session can live in this process, in a child process or in a browser tab.
package engine

import (
	"context"
	"errors"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
)

// Errors of sessions and backends.
var (
	// ErrContextFull is wrapped when a batch does not fit behind the positions held.
	ErrContextFull = errors.New("the context is full")
	// ErrDeviceLost is wrapped when the device is gone; the session is unusable, and a new one may work.
	ErrDeviceLost = errors.New("the device was lost")
	// ErrClosed is returned by every call on a closed session.
	ErrClosed = errors.New("the session is closed")
	// ErrOutOfMemory is wrapped when weights or state do not fit the device.
	ErrOutOfMemory = errors.New("out of memory")
)

// Device describes what a backend computes on.
type Device struct {
	// Backend is [CPU] or [WebGPU].
	Backend string
	// Name is the processor's or adapter's own name.
	Name string
	// Software marks a GPU interface that is emulated on the CPU.
	Software bool
	// Memory is the device memory in bytes, or 0 when unknown.
	Memory int64
	// Detail says what else matters, such as the instruction set or the driver.
	Detail string
}

// Backend opens sessions on one device. It is safe for concurrent use.
type Backend interface {
	// Device describes the device.
	Device() Device
	// Open loads the weights of a range and allocates its state. Progress, when set in c, is called as weights load.
	//
	// Errors: [ErrOutOfMemory], [ErrDeviceLost], [*model.PlanError].
	Open(ctx context.Context, c Config) (Session, error)
	// Close releases the device; sessions must be closed before.
	Close() error
}

// Config says what a session computes.
type Config struct {
	// Plan is the checked plan of the whole model.
	Plan *model.Plan
	// Weights gives the tensors of the plan.
	Weights Weights
	// Range is the layer range.
	Range model.LayerRange
	// Embed and Head say whether the session turns token ids into hidden states and hidden states into logits.
	Embed, Head bool
	// Context is the number of positions the state has room for.
	Context int
	// Ubatch is the greatest number of columns one pass computes; 0 leaves it to the backend. A longer batch is cut.
	Ubatch int
	// Exact keeps activations in float32 everywhere; without it a backend may round them to 8 bits before a product.
	Exact bool
	// Progress is called with the bytes loaded so far and in total; it may be nil.
	Progress func(done, total int64)
}

// Weights gives access to the tensors of a file. It is safe for concurrent use.
type Weights interface {
	// Tensor returns the named tensor. Data stays valid and unchanged until the weights are closed.
	Tensor(name string) (Tensor, error)
	// Release says that the tensor's data is no longer needed soon, so that its pages can go.
	Release(name string)
}

// Tensor is the stored form of a weight.
type Tensor struct {
	Type gguf.Type
	// Shape is row-major, outermost dimension first.
	Shape []int
	Data  []byte
}

// Batch is a run of consecutive positions. Columns are causal: a column sees those before it in the batch.
type Batch struct {
	// Pos is the position of the first column; it must equal [Session.Len].
	Pos int
	// Tokens are the token ids, for a session with the embedding.
	Tokens []int32
	// Hidden is what enters the first layer, for a session without it. Shapes: [n, hidden].
	Hidden []float32
	// Output says what to return.
	Output Output
}

// Output says what a forward pass returns.
type Output struct {
	// Hidden asks for the hidden state of every column after the last layer of the range.
	Hidden bool
	// Logits asks for the logits of no, the last or all columns; it needs the head.
	Logits Columns
	// Top asks for the largest Top logits of the last column instead of all of them; it needs the head. A backend may
	// find them on the device, so that little is read back.
	Top int
}

// Columns selects columns of a batch.
type Columns uint8

// The selections.
const (
	NoColumns Columns = iota
	LastColumn
	AllColumns
)

// Result is what a forward pass returns. Its slices belong to the caller.
type Result struct {
	// Hidden is [n, hidden] when asked for.
	Hidden []float32
	// Logits is [vocab] or [n, vocab] when asked for.
	Logits []float32
	// Top holds the largest logits of the last column, largest first, the lower id first among equals.
	Top []Candidate
	// LogSumExp is log Σ exp(logit) over the last column, when Top was asked for.
	LogSumExp float32
}

// Candidate is a token and its logit.
type Candidate struct {
	ID    int32
	Logit float32
}

// Session runs a layer range. It is not safe for concurrent use, but for Close.
//
// The state holds positions [0, Len). A forward pass that fails or is cancelled leaves Len as it was and the state usable.
// Arithmetic does not depend on how positions are cut into batches: a column gives the same bits at every width.
type Session interface {
	// Forward computes b and appends its positions to the state.
	//
	// Errors: [ErrContextFull], [ErrDeviceLost], [ErrClosed], the context's error.
	Forward(ctx context.Context, b Batch) (Result, error)
	// Len returns the number of positions held.
	Len() int
	// Rewind drops positions from the end and returns how many are left: n where the state can be cut there, else the
	// latest marked position before n, else 0. State without recurrence can be cut anywhere.
	Rewind(n int) (int, error)
	// Mark makes the current position one that Rewind can return to. A session keeps the last few marks.
	Mark() error
	// Memory returns the bytes held by weights and by state.
	Memory() (weights, state int64)
	// Close releases everything and waits for a pass that is running.
	Close() error
}
