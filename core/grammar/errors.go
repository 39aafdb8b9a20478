package grammar

import (
	"errors"
	"fmt"
)

var (
	// ErrNotAllowed reports a token that the grammar does not allow at this place.
	ErrNotAllowed = errors.New("the grammar does not allow this token here")
	// ErrClosed reports a call on a closed engine or matcher, or on one whose engine has failed.
	ErrClosed = errors.New("the grammar engine is closed")
	// ErrLimit reports a grammar that takes too much time or memory.
	ErrLimit = errors.New("the grammar is too large or too ambiguous")
)

// SchemaError says which keyword of a JSON Schema cannot be honoured.
type SchemaError struct {
	// Path is a JSON pointer to the keyword, such as "/properties/tags/uniqueItems"; empty when the engine refused the
	// schema as a whole.
	Path string
	// Reason says why.
	Reason string
}

// Error implements error.
func (e *SchemaError) Error() string {
	if e.Path == "" {
		return "JSON Schema: " + e.Reason
	}
	return fmt.Sprintf("JSON Schema at %s: %s", e.Path, e.Reason)
}

// GrammarError says why a Lark grammar was refused.
type GrammarError struct{ Reason string }

// Error implements error.
func (e *GrammarError) Error() string { return "grammar: " + e.Reason }
