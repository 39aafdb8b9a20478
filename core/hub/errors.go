package hub

import (
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/units"
)

// Errors of loading a model.
var (
	// ErrNoDevice is wrapped when nothing fits the device that was asked for.
	ErrNoDevice = errors.New("no such device")
	// ErrClosed is returned by a hub or a model that was closed.
	ErrClosed = errors.New("closed")
	// ErrBusy is returned when a conversation is asked to answer while it still answers.
	ErrBusy = errors.New("the conversation is still answering")
	// ErrNothing is returned when there is no answer to give again.
	ErrNothing = errors.New("there is no answer to give again")
)

// MemoryError says that a model does not fit a device.
type MemoryError struct {
	// Weights, State and Reserve are what is needed, in bytes: tensors, caches, and what is kept free beside them.
	Weights, State, Reserve int64
	// Used is what other models take there already.
	Used int64
	// Memory is what the device has.
	Memory int64
	// Context is the number of positions that State is for.
	Context int
}

func (e *MemoryError) Error() string {
	used := ""
	if e.Used > 0 {
		used = fmt.Sprintf(", of which other models take %s", units.Bytes(e.Used))
	}
	return fmt.Sprintf("the model needs %s for weights, %s for a context of %d and %s in reserve, but the device has %s%s; choose a smaller context or model",
		units.Bytes(e.Weights), units.Bytes(e.State), e.Context, units.Bytes(e.Reserve), units.Bytes(e.Memory), used)
}
