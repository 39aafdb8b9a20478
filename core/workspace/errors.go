package workspace

import (
	"errors"
	"fmt"
)

// Causes of a [PathError], beside [io/fs.ErrNotExist] and what the system reports.
var (
	// ErrOutside says that a path leads out of the project.
	ErrOutside = errors.New("it is outside of the project")
	// ErrHidden says that a path belongs to git or to Pooled.
	ErrHidden = errors.New("it is not for tools")
	// ErrName says that a name cannot be given to a file.
	ErrName = errors.New("a file cannot have this name")
	// ErrKind says that something is not a file, or not a folder.
	ErrKind = errors.New("it is of another kind")
	// ErrBinary says that a file is not text.
	ErrBinary = errors.New("it is a binary file")
	// ErrTooLarge says that content is over a limit.
	ErrTooLarge = errors.New("it is too large")
	// ErrStale says that a file is not what it was when its change was prepared.
	ErrStale = errors.New("it has changed meanwhile; read it again")
)

// Errors of [Workspace.Undo].
var (
	// ErrNothing says that there is no change to undo.
	ErrNothing = errors.New("there is nothing to undo")
	// ErrConflict says that a file was changed by somebody else after the change that is to be undone.
	ErrConflict = errors.New("it was changed since by somebody else; undoing would lose that")
	// ErrJournal says that the journal is damaged.
	ErrJournal = errors.New("the undo journal is damaged")
)

// PathError says what is wrong with a path. It wraps its cause.
type PathError struct {
	// Path is the path as it was given, escaped.
	Path string
	// Hint says what to do, or more about the cause; it may be empty.
	Hint string
	Err  error
}

func (e *PathError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", e.Path, e.Err, e.Hint)
}

func (e *PathError) Unwrap() error { return e.Err }

func pathError(path string, err error, hint string, args ...any) error {
	return &PathError{Path: Escape(path), Err: err, Hint: fmt.Sprintf(hint, args...)}
}

// EditError says why a text was not replaced, in words that help a model to try again.
type EditError struct {
	// Path is the file.
	Path string
	// Count is how often the old text occurs: 0, or more than once.
	Count int
	// Help is the whole message after the path.
	Help string
	// Whole says that writing the whole file helps, as Help says at its end.
	Whole bool
}

func (e *EditError) Error() string { return e.Path + ": " + e.Help }
