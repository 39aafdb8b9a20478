package starter

import "errors"

var (
	// ErrUnknown is wrapped when there is no starter of a name.
	ErrUnknown = errors.New("there is no such thing")
	// ErrNotEmpty is wrapped when a starter is to be written where something is already.
	ErrNotEmpty = errors.New("the project is not empty")
)
