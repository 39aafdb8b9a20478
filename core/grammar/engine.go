package grammar

import (
	"context"
	"encoding/json"
)

// Kind says what a Grammar's text is.
type Kind int

// Kinds of grammars.
const (
	// KindSchema is a JSON Schema, already prepared (see JSONSchema).
	KindSchema Kind = iota
	// KindLark is a grammar in llguidance's dialect of Lark.
	KindLark
)

// Grammar describes the texts that an answer may be.
type Grammar struct {
	Kind Kind
	Text string

	source *value // the schema as it was written, for Locate
}

// Lark returns a grammar in llguidance's dialect of Lark, in which %json {…} embeds a schema. Its schemas must have passed
// JSONSchema.
func Lark(text string) Grammar { return Grammar{Kind: KindLark, Text: text} }

// Layout says where a JSON text may have white space.
type Layout int

// Layouts.
const (
	// LayoutFree allows a bounded amount of white space wherever JSON does.
	LayoutFree Layout = iota
	// LayoutLine writes one line with ", " and ": ", so that more of it is forced.
	LayoutLine
)

// JSONSchema returns the grammar of the JSON texts that a schema describes. The properties of an object come in the order of
// the schema.
//
// Errors: *SchemaError for keywords that cannot be honoured.
func JSONSchema(schema json.RawMessage, layout Layout) (Grammar, error) {
	text, source, err := prepare(schema, layout)
	if err != nil {
		return Grammar{}, err
	}
	return Grammar{Kind: KindSchema, Text: text, source: source}, nil
}

// Engine starts matchers for one vocabulary.
//
// Owns: Close ends its matchers. Safe for concurrent use.
type Engine interface {
	// Matcher compiles a grammar. Errors: *SchemaError, *GrammarError, ErrLimit.
	Matcher(ctx context.Context, g Grammar) (Matcher, error)
	Close() error
}

// Matcher follows one answer.
//
// Owns: Close it. Not safe for concurrent use; matchers of one engine are.
type Matcher interface {
	// Mask sets bit id%32 of dst[id/32] for every token that may come next and clears the others. A token that ends a
	// generation is set when the answer may end here. Where one text must come, only the tokens that the tokenizer would
	// make of it are set, though Accept takes others that spell the same. dst has a bit for every token of the vocabulary at least.
	Mask(dst []uint32) error
	// Accept takes the token that was chosen. Errors: ErrNotAllowed, which changes nothing.
	Accept(id int32) error
	// FastForward returns the tokens that must come next, to be accepted without sampling. They are encoded as the
	// tokenizer would encode them; a token that the following text could still change is left out.
	FastForward() ([]int32, error)
	// Accepting reports whether the answer is complete as it stands.
	Accepting() bool
	// Stopped reports whether nothing can follow but the end.
	Stopped() bool
	Close() error
}
