package transcript

import (
	"errors"
	"fmt"
)

// ErrUnknown is wrapped when there is no session of a name.
var ErrUnknown = errors.New("there is no such thing")

// DamagedError says which line of a session cannot be read.
type DamagedError struct {
	// Path is the file, Line the number of the line from 1.
	Path string
	Line int
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the session %s is damaged: line %d: %v", e.Path, e.Line, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }
