package tool

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrFault says that a set of tools does not keep to the contract: it crashed, hung or answered nonsense.
	ErrFault = errors.New("the tool is broken")
	// ErrSchema says that the declaration of a tool's parameters cannot be used.
	ErrSchema = errors.New("the parameters are not declared in a form that is understood")
	// ErrClosed is returned by a closed [Session].
	ErrClosed = errors.New("the tools are closed")
)

// FaultError is a fault of a set in this process. It wraps [ErrFault] and its cause.
type FaultError struct {
	// Set is the set's name.
	Set string
	Err error
}

func (e *FaultError) Error() string   { return fmt.Sprintf("tools %s: %v", e.Set, e.Err) }
func (e *FaultError) Unwrap() []error { return []error{e.Err, ErrFault} }

// SchemaError says what in a declaration cannot be used. It wraps [ErrSchema].
type SchemaError struct {
	// Path leads to it, such as "properties.path.type".
	Path, Reason string
}

func (e *SchemaError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }
func (e *SchemaError) Unwrap() error { return ErrSchema }

// ArgumentError says what is wrong with the arguments of a call, in words that help a model to try again.
type ArgumentError struct {
	// Tool is the tool that was called.
	Tool string
	// Problems are all that was found.
	Problems []string
	// Usage is the tool's signature, such as "read_file(path, offset?, limit?)".
	Usage string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s. Usage: %s", e.Tool, strings.Join(e.Problems, "; "), e.Usage)
}

// Failed returns the result that tells a model of a call that broke down.
func Failed(err error) Result { return Result{Text: "error: " + err.Error(), IsError: true} }
