package quant

import "errors"

var (
	// ErrUnsupported says that a type cannot be converted by this package.
	ErrUnsupported = errors.New("tensor type not supported")
	// ErrSize says that the lengths of bytes and values do not belong together.
	ErrSize = errors.New("sizes do not match")
)
