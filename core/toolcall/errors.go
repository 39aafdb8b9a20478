package toolcall

import "errors"

// Errors of this package. What a grammar engine cannot honour in a schema is a *grammar.SchemaError.
var (
	// ErrFormat says that a format has no calls, or none that this package knows.
	ErrFormat = errors.New("no known tool call format")
	// ErrTool says that a tool's definition cannot be used, or that a tool is not there.
	ErrTool = errors.New("unusable tool")
)
