package chat

import (
	"errors"
	"fmt"
)

var (
	// ErrNoTemplate reports a model that comes without a chat template: a base model, to be used in raw mode.
	ErrNoTemplate = errors.New("this model has no chat template, so it cannot hold a conversation; use raw mode, which continues plain text")
	// ErrRole reports a message whose role is empty.
	ErrRole = errors.New("a message needs a role: system, user, assistant or tool")
	// ErrContinue reports that the last message cannot be continued.
	ErrContinue = errors.New("only a last message of the assistant that the template prints at the very end can be continued")
	// ErrControlText reports text that this template cannot carry safely: it contains the model's control tokens, and the
	// template changes it in a way that hides where it came from.
	ErrControlText = errors.New("a message contains text of the model's control tokens, which this template cannot carry safely; remove that text")
)

// Kinds of TemplateError.
const (
	KindRaised    = "raise_exception" // the template refused the conversation
	KindUndefined = "undefined"       // it used something that is not there
	KindRuntime   = "runtime"         // an operation on the wrong type and the like
	KindTemplate  = "template"        // it is not a valid template
	KindRequest   = "request"         // the input is not what a rendering takes
	KindLimit     = "limit"           // it ran too long or used too much memory
)

// TemplateError says why a template could not be rendered.
type TemplateError struct {
	// Kind is one of the Kind constants.
	Kind string
	// Message is the reason; for KindRaised it is the template's own text.
	Message string
	// Line of the template, from 1; 0 when unknown.
	Line int
}

// Error implements error.
func (e *TemplateError) Error() string {
	switch {
	case e.Kind == KindRequest:
		return "template input: " + e.Message
	case e.Kind == KindRaised:
		return "the model's chat template refuses this conversation: " + e.Message
	case e.Line > 0:
		return fmt.Sprintf("chat template, line %d: %s", e.Line, e.Message)
	}
	return "chat template: " + e.Message
}
