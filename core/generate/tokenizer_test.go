package generate

import "github.com/pooled/pooled/core/tokenizer"

// The tokenizers of GGUF files fit as they are.
var _ = func(t *tokenizer.Tokenizer) Tokenizer { return Tokens(t) }
