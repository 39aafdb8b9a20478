package generate

import (
	"errors"
	"fmt"
)

var (
	// ErrEmptyPrompt says that there is nothing to continue.
	ErrEmptyPrompt = errors.New("the prompt is empty; it needs at least one token, such as the begin-of-text token")
	// ErrNoToken says that the mask, or a model whose logits are all −∞, leaves no token to sample.
	ErrNoToken = errors.New("no token is allowed here")
	// ErrSession is wrapped when a session breaks its contract, such as a pass that adds the wrong number of positions.
	ErrSession = errors.New("the session broke its contract")
)

// PromptTooLongError says that a prompt does not fit the context.
type PromptTooLongError struct {
	// Tokens is the length of the prompt.
	Tokens int
	// Context is the number of positions there are.
	Context int
}

// Error names both numbers.
func (e *PromptTooLongError) Error() string {
	return fmt.Sprintf("the prompt has %d tokens and the context holds %d; shorten the prompt or open the model with a larger context",
		e.Tokens, e.Context)
}

// TokenError says that a prompt or a mask names a token that the vocabulary does not have.
type TokenError struct {
	// Where says what named the token: "prompt", "stop ids" or "mask".
	Where string
	// Index is the token's place there.
	Index int
	// ID is the token.
	ID int32
	// Size is the size of the vocabulary.
	Size int
}

// Error names the token and its place.
func (e *TokenError) Error() string {
	return fmt.Sprintf("%s: token %d at index %d is not one of the vocabulary's %d tokens", e.Where, e.ID, e.Index, e.Size)
}

// LogitError says that the model computed something that is not a distribution.
type LogitError struct {
	// Position is the position whose column gave the logits.
	Position int
	// ID is the first token concerned, or −1 when it is the distribution as a whole.
	ID int32
	// Value is NaN, +Inf or what else was found.
	Value float32
}

// Error names the position, the token and the value.
func (e *LogitError) Error() string {
	if e.ID < 0 {
		return fmt.Sprintf("the logits at position %d sum to %v; the weights may be damaged or the device may compute wrongly", e.Position, e.Value)
	}
	return fmt.Sprintf("the logit of token %d at position %d is %v; the weights may be damaged or the device may compute wrongly",
		e.ID, e.Position, e.Value)
}

// OptionError says which option is unusable.
type OptionError struct {
	// Option is the field's name in [Options] or [Config].
	Option string
	// Value is what it was set to.
	Value any
	// Reason says what it must be.
	Reason string
}

// Error names the option, its value and what it must be.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s is %v; it %s", e.Option, e.Value, e.Reason)
}
