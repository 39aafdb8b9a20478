package qjs

import (
	"errors"
	"fmt"
)

var (
	// ErrModule says that a WebAssembly module is not one this package can prepare.
	ErrModule = errors.New("qjs: unsupported wasm module")
	// ErrMemory says that the guest's linear memory is full.
	ErrMemory = errors.New("qjs: out of memory")
	// ErrStack says that the guest recursed too deeply for the host to carry on.
	ErrStack = errors.New("qjs: stack exhausted")
	// ErrLarge says that a text of the guest is longer than MaxText.
	ErrLarge = errors.New("qjs: text too long")
	// ErrInterrupted says that Hooks.Interrupt ended a call between two jobs.
	ErrInterrupted = errors.New("qjs: interrupted")
	// ErrClosed says that the machine or engine was closed.
	ErrClosed = errors.New("qjs: closed")
)

// Trap is a guest that ended abnormally. The machine is unusable afterwards;
// the host and every other machine are unaffected.
type Trap struct {
	Cause error
}

// Error describes the trap.
func (t *Trap) Error() string { return fmt.Sprintf("qjs: guest trapped: %v", t.Cause) }

// Unwrap returns what wazero or a hook reported.
func (t *Trap) Unwrap() error { return t.Cause }

// Exception is a JavaScript value that was thrown and not caught. Value is
// owned by whoever receives the error.
type Exception struct {
	Value Handle
}

// Error says that the guest threw; the machine's owner turns Value into words.
func (*Exception) Error() string { return "qjs: uncaught exception" }
