package agent

import (
	"context"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
)

// Model answers. A hub's model becomes one with its template's call format.
//
// Owns: the agent uses it for one answer at a time.
type Model interface {
	// Name is what the model is called. Ids that were sampled by a model of another name are not used again.
	Name() string
	// Context is the number of positions there is room for.
	Context() int
	// Format is how the model writes calls.
	Format() toolcall.Format
	// Tokenizer is the model's.
	Tokenizer() *tokenizer.Tokenizer
	// Prompt turns a conversation into ids through the model's template.
	Prompt(ctx context.Context, req chat.Request) (*chat.Prompt, error)
	// Generate answers a prompt, as [generate.Sequence.Generate] does, when its turn comes. While it waits, place gets the
	// number of answers that come before.
	Generate(ctx context.Context, prompt []int32, opt generate.Options, place func(ahead int), emit func(generate.Token) error) (generate.Result, error)
}
