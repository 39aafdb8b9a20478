package transcript

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknown is wrapped when there is no session of a name.
	ErrUnknown = errors.New("there is no such thing")
	// ErrVersion is wrapped when a newer program wrote a session.
	ErrVersion = errors.New("a newer version of Pooled wrote it; update this one")
	// ErrInUse is wrapped when another program goes on with the same session.
	ErrInUse = errors.New("is in use by another program; end that one, or begin a new session")
)

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
