// Package engine is the contract of a compute backend: sessions that run a layer range of a plan.
//
// A session holds the weights and the state of layers [Begin, End), and, where asked, the embedding before them and the
// head after them. Calls are coarse: one [Session.Forward] is one submission and at most one readback, and everything that
// a session can be told is in its one argument, a [Batch]. A lap is a value: it can be carried to another process or device
// and played there, in one message each way ([AppendBatch], [AppendResult]). The contract names no GPU type, so that a
// session can live in this process, in a child process or in a browser tab.
package engine

import (
	"context"

	"github.com/pooled/pooled/core/model"
)

// Device describes what a backend computes on.
type Device struct {
	// ID tells the device from all others of this machine, such as two equal GPUs; it is set by who lists them and lasts as
	// long as the process.
	ID string
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
	// Draft says that the session also drafts; see [Batch.Draft]. It means nothing without the embedding and the head, and for a
	// plan without a draft block.
	Draft bool
	// Context is the number of positions the state has room for.
	Context int
	// CheckpointBytes is what all checkpoints together may take; 0 allows none.
	CheckpointBytes int64
	// Undo says that laps can be taken back after they have succeeded, which the parts of a chain must. Without it a backend
	// spares itself what that needs: a copy of the recurrent state a lap, on a GPU.
	Undo bool
	// Ubatch is the greatest number of columns one pass computes; 0 leaves it to the backend. A longer batch is cut.
	Ubatch int
	// Exact keeps activations in float32 everywhere; without it a backend may round them to 8 bits before a product.
	Exact bool
	// Progress is called with the bytes loaded so far and in total; it may be nil.
	Progress func(done, total int64)
}

// Session runs a layer range. It is not safe for concurrent use, but for Close.
//
// The state holds positions [0, Len). Arithmetic does not depend on how positions are cut into batches: a column gives the
// same bits at every width.
type Session interface {
	// Forward runs a lap. One that fails or is cancelled leaves the session exactly as it was: length, kept positions,
	// checkpoints, and the bits of every later lap. The one exception is a restore that fails in the device; see
	// [ErrEmptied]. With [Config.Undo], a lap that succeeded can be taken back by the next one; once another lap has
	// begun to compute, it cannot, also when that one fails.
	//
	// Errors: [ErrBatch], [*PositionError], [ErrContextFull], [ErrKept], [*BudgetError], [ErrNoCheckpoint] and [ErrNoUndo]
	// before anything is done; [ErrDeviceLost], [ErrOutOfMemory], [ErrEmptied], [ErrClosed], the context's error.
	Forward(ctx context.Context, b Batch) (Result, error)
	// Len returns the number of positions held.
	Len() int
	// Memory returns the bytes held by weights and by state, with what is kept and saved.
	Memory() (weights, state int64)
	// Close releases everything and waits for a lap that is running.
	Close() error
}
