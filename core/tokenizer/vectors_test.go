package tokenizer

import "testing"

// vectorVocabs are the vocabularies of testdata with one bundle each; testdata/README.md says where they come from.
var vectorVocabs = []string{"smollm", "gpt-2", "llama-bpe", "qwen2", "qwen35", "llama-spm", "gemma", "nano"}

func TestVectors(t *testing.T) {
	for _, name := range vectorVocabs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := readBundle[bundle](t, name)
			if n := check(t, newTokenizer(t, b.vocab()), b.Cases); n < 340 {
				t.Errorf("only %d strings", n)
			}
		})
	}
}

// TestTiny checks the vocabularies of the random small models of the reference data.
func TestTiny(t *testing.T) {
	for _, b := range *readBundle[[]bundle](t, "tiny") {
		if n := check(t, newTokenizer(t, b.vocab()), b.Cases); n < 7 {
			t.Errorf("%s: only %d strings", b.Pre, n)
		}
	}
}
