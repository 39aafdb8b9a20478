package gguf

import (
	"errors"
	"fmt"
)

var (
	// ErrFormat is wrapped by every error that says a file is not a well-formed GGUF file.
	ErrFormat = errors.New("not a valid GGUF file")
	// ErrNotGGUF says that a file does not begin with the GGUF magic.
	ErrNotGGUF = fmt.Errorf("%w: it does not begin with the letters GGUF", ErrFormat)
	// ErrVersion says that a file has a version that this package does not read.
	ErrVersion = fmt.Errorf("%w: unsupported version", ErrFormat)
	// ErrBigEndian says that a file was written for big-endian machines.
	ErrBigEndian = fmt.Errorf("%w: it is big-endian; use the little-endian file of the same model", ErrFormat)
	// ErrTruncated says that a file ends before its content does; a download that stopped is the usual cause.
	ErrTruncated = fmt.Errorf("%w: it is cut short", ErrFormat)
	// ErrSplit says that the parts of a split model do not fit together or are not all there.
	ErrSplit = errors.New("incomplete or mixed split model")
	// ErrLost says that a file that is open lost content that it had.
	ErrLost = errors.New("the model file was shortened, or can no longer be read, while it was in use")
	// ErrNoTensor says that a tensor does not belong to the file it was asked from.
	ErrNoTensor = errors.New("no such tensor in this file")
	// ErrType says that a tensor type is unknown or was removed from the format.
	ErrType = fmt.Errorf("%w: unusable tensor type", ErrFormat)
)

// FormatError is a malformed place in a GGUF file.
type FormatError struct {
	Path   string // the file, empty when it was read from memory
	Field  string // what was being read, such as "tensor 3 (\"blk.0.attn_q.weight\"): dims"
	Offset int64  // byte offset of the field
	Reason string // what is wrong with it
	Err    error  // a sentinel of this package
}

// Error describes the place and the fault in one line.
func (e *FormatError) Error() string {
	where := e.Path
	if where == "" {
		where = "GGUF data"
	}
	return fmt.Sprintf("%s: %s at byte %d: %s: %v", where, e.Field, e.Offset, e.Reason, e.Err)
}

// Unwrap returns the sentinel of the fault.
func (e *FormatError) Unwrap() error { return e.Err }

// TruncatedError is a file that is shorter than its header says.
type TruncatedError struct {
	Path string
	Have int64 // bytes in the file
	Want int64 // bytes that the header asks for, at least
}

// Error says how many bytes there are and how many there should be.
func (e *TruncatedError) Error() string {
	where := e.Path
	if where == "" {
		where = "GGUF data"
	}
	return fmt.Sprintf("%s: has %d bytes, its header asks for %d (%d are missing); download it again: %v",
		where, e.Have, e.Want, e.Want-e.Have, ErrTruncated)
}

// Unwrap returns [ErrTruncated].
func (e *TruncatedError) Unwrap() error { return ErrTruncated }
