//go:build !nonano

// Package nano carries nano, the small model that the program works with until it has a real one. The build tag nonano
// leaves it out.
//
// nano is our own: a hybrid of 31 million weights (GGUF qwen35), trained from scratch on 334 million tokens (about 100
// million distinct): text written and put together by hand, computed tool traces, and some 280,000 short conversations
// sampled from Qwen2.5-Coder-0.5B-Instruct (Apache-2.0). MIT licence.
package nano

import _ "embed"

//go:embed nano-q4_0.gguf
var data []byte

// Data returns the model as a GGUF file, or nil in a build without it. It must not be changed.
func Data() []byte { return data }
