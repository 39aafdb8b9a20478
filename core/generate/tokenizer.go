package generate

// Tokenizer is what this package needs to know of a vocabulary; [Tokens] makes one of a tokenizer.
type Tokenizer interface {
	// Size is the number of tokens; ids are in [0, Size).
	Size() int
	// IsEOG says whether a token ends a generation.
	IsEOG(id int32) bool
	// Decode starts a decoding; with special, control tokens are written out too.
	Decode(special bool) Decoder
}

// Decoder turns ids into text piece by piece. Bytes that are not yet a whole character are held back.
type Decoder interface {
	// Push adds a token and returns the text that is complete.
	Push(id int32) string
	// Flush returns what was held back; each byte of an incomplete character becomes U+FFFD.
	Flush() string
}

// Vocabulary is a tokenizer whose NewStream returns a decoder of its own type.
type Vocabulary[D Decoder] interface {
	Size() int
	IsEOG(id int32) bool
	NewStream(special bool) D
}

// Tokens adapts a vocabulary, such as a *tokenizer.Tokenizer, to a [Tokenizer].
func Tokens[D Decoder](v Vocabulary[D]) Tokenizer { return tokens[D]{v} }

type tokens[D Decoder] struct{ Vocabulary[D] }

func (t tokens[D]) Decode(special bool) Decoder { return t.NewStream(special) }
