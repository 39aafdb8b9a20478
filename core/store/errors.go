package store

import (
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/units"
)

var (
	// ErrNotFound says that no model of that name is in the folder.
	ErrNotFound = errors.New("no such model")
	// ErrNoFolder says that a store was to be opened nowhere.
	ErrNoFolder = errors.New("no folder for models was named")
	// ErrName says that a name cannot be the name of a model.
	ErrName = errors.New("not a usable model name")
	// ErrSource says that a pull source was not understood.
	ErrSource = errors.New("not a model source")
	// ErrExists says that another model has the name.
	ErrExists = errors.New("a model of this name exists")
	// ErrBusy says that another process is working on the model.
	ErrBusy = errors.New("in use by another process")
	// ErrSpace says that the disk is full or would be.
	ErrSpace = errors.New("not enough disk space")
	// ErrSize says that a file has another size than announced.
	ErrSize = errors.New("wrong size")
	// ErrHash says that a file has another SHA-256 than announced.
	ErrHash = errors.New("wrong SHA-256")
	// ErrServer says that a server refused or answered what it must not.
	ErrServer = errors.New("server error")
	// ErrNotModel says that what arrived is not a GGUF model.
	ErrNotModel = errors.New("not a GGUF model")
	// ErrIncomplete says that parts of a split model are missing.
	ErrIncomplete = errors.New("incomplete model")
)

// NotFoundError is a model that is not in the folder.
type NotFoundError struct {
	// Name is what was asked for.
	Name string
	// Source is what it can be pulled from; empty where that is not known.
	Source string
	// Similar are names that are nearly the one.
	Similar []string
}

// Error names the model, and those that may have been meant.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%v: %q%s", ErrNotFound, e.Name, didYouMean(e.Similar))
}

// Unwrap returns [ErrNotFound].
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// BusyError is a model that another process holds.
type BusyError struct {
	Name string
	PID  int // 0 when unknown
}

// Error names the model and the process.
func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is being pulled or removed by another process; wait for it to end", e.Name)
	}
	return fmt.Sprintf("%s is being pulled or removed by process %d; wait for it to end or stop it", e.Name, e.PID)
}

// Unwrap returns [ErrBusy].
func (e *BusyError) Unwrap() error { return ErrBusy }

// SpaceError is a disk that is too small for what is to be stored.
type SpaceError struct {
	Dir        string
	Need, Free int64 // bytes; Need includes a reserve
}

// Error says how much is needed and how much is free.
func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: needs %s, %s are free: %v; make room or choose another folder with POOLED_HOME",
		e.Dir, units.Bytes(e.Need), units.Bytes(e.Free), ErrSpace)
}

// Unwrap returns [ErrSpace].
func (e *SpaceError) Unwrap() error { return ErrSpace }

// SizeError is a file of another size than was announced.
type SizeError struct {
	File      string
	Want, Got int64  // Got is a lower bound when a body went on after Want bytes
	By        string // who announced Want: "catalog", "server"
}

// Error says both sizes and who announced the one.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: %v: the %s announces %d bytes, found %d", e.File, ErrSize, e.By, e.Want, e.Got)
}

// Unwrap returns [ErrSize].
func (e *SizeError) Unwrap() error { return ErrSize }

// HashError is a file whose content differs from what was announced.
type HashError struct {
	File      string
	Want, Got string // lower-case hexadecimal
}

// Error says both sums.
func (e *HashError) Error() string {
	return fmt.Sprintf("%s: %v: want %s, got %s; it was deleted, pull it again or from another source", e.File, ErrHash, e.Want, e.Got)
}

// Unwrap returns [ErrHash].
func (e *HashError) Unwrap() error { return ErrHash }

// StatusError is an answer other than the file.
type StatusError struct {
	URL  string
	Code int
}

// Error says what the status means for a person.
func (e *StatusError) Error() string {
	hint := ""
	switch e.Code {
	case 401, 403:
		hint = "; the file needs a licence to be accepted, or a token (POOLED_HUB_TOKEN)"
	case 404, 410:
		hint = "; there is no such file, check the address"
	}
	return fmt.Sprintf("%s: the server answered %d%s", e.URL, e.Code, hint)
}

// Unwrap returns [ErrServer].
func (e *StatusError) Unwrap() error { return ErrServer }
