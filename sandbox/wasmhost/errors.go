package wasmhost

import (
	"errors"
	"fmt"
)

var (
	// ErrMemory reports that a guest asked for more memory than it may have.
	ErrMemory = errors.New("out of memory")
	// ErrTime reports that a call ran into its time limit.
	ErrTime = errors.New("out of time")
	// ErrStack reports that a guest nested calls too deeply.
	ErrStack = errors.New("out of stack")
	// ErrTrap reports that a guest failed in another way; it is a bug of the guest.
	ErrTrap = errors.New("the guest failed")
	// ErrCacheNotPrivate reports that others may write to the folder of compiled code.
	ErrCacheNotPrivate = errors.New("the folder of compiled code is not private")
	// ErrClosed reports a call on a closed program, pool or instance.
	ErrClosed = errors.New("closed")
)

// CallError says which call of which guest failed and why. It unwraps to one of the sentinels of this package, or to
// the context's error when the caller cancelled.
type CallError struct {
	Guest, Function string
	// Said is what the guest printed before it failed, at most a few hundred bytes.
	Said string
	Err  error
}

// Error implements error.
func (e *CallError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("%s guest, %s: %v", e.Guest, e.Function, e.Err)
	}
	return fmt.Sprintf("%s guest, %s: %v (%s)", e.Guest, e.Function, e.Err, e.Said)
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }
