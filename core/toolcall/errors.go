package toolcall

import (
	"errors"
	"fmt"
)

// Errors of this package.
var (
	// ErrFormat says that a format has no calls, or none that this package knows.
	ErrFormat = errors.New("no known tool call format")
	// ErrTool says that a tool's definition cannot be used.
	ErrTool = errors.New("unusable tool")
	// ErrUnsupported is what every *SchemaError is.
	ErrUnsupported = errors.New("schema keyword cannot be honoured")
)

// SchemaError says what the grammar engine cannot hold a model to.
type SchemaError struct {
	// Path leads to the keyword, such as tools[0].parameters.properties.n.not.
	Path string
	// Reason says what is wrong with it.
	Reason string
}

func (e *SchemaError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// Is makes every SchemaError an ErrUnsupported.
func (e *SchemaError) Is(target error) bool { return target == ErrUnsupported }
