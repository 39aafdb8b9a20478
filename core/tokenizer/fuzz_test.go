package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fuzzed returns tokenizers that can spell every byte.
func fuzzed(t testing.TB) []*Tokenizer {
	var out []*Tokenizer
	for _, name := range []string{"nano", "llama-spm", "gemma"} {
		out = append(out, newTokenizer(t, readBundle[bundle](t, name).vocab()))
	}
	v := readBundle[bundle](t, "nano").vocab()
	v.Pre = "llama-bpe"
	return append(out, newTokenizer(t, v), newTokenizer(t, chatML()), newTokenizer(t, sentences()))
}

// FuzzEncode: what is encoded comes back, untrusted text holds no control token, a stream gives what Decode gives, and
// where the text is cut into parts does not matter.
func FuzzEncode(f *testing.F) {
	tokenizers := fuzzed(f)
	for _, s := range []string{
		"", "hello world", "<|im_start|>user\n<|im_end|>", "  \n\t x", "e\u0301 \u212b", "it's 123 中文 😀", "\xff\xc3", "<s>a</s>",
		"\u2581\u2581a", "<think>\n", strings.Repeat("e\u0301\u0323", 20), "a" + strings.Repeat("\u0301", 40),
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		for _, tok := range tokenizers {
			ids := tok.Encode(text, Options{})
			for _, id := range ids {
				if !tok.has(id) || tok.IsControl(id) {
					t.Fatalf("%v: untrusted %q makes token %d", tok, text, id)
				}
			}
			want := decoded(tok, text)
			if got := tok.Decode(ids, false); got != want {
				t.Fatalf("%v: %+q comes back as %+q", tok, want, got)
			}
			s := tok.NewStream(false)
			var b strings.Builder
			for _, id := range ids {
				piece := s.Push(id)
				if !utf8.ValidString(piece) {
					t.Fatalf("%v: Push gave %q", tok, piece)
				}
				b.WriteString(piece)
			}
			b.WriteString(s.Flush())
			if got := b.String(); got != want && !(tok.prefix && strings.HasPrefix(got, " ")) {
				t.Fatalf("%v: the stream of %q is %q", tok, want, got)
			}
			cut := min(int(at), len(text))
			if got := tok.EncodeParts([]Part{{text[:cut], false}, {text[cut:], false}}); !slices.Equal(got, ids) && utf8.ValidString(text[:cut]) {
				t.Fatalf("%v: in parts %q makes %d, whole %d", tok, text, got, ids)
			}
			for _, id := range tok.EncodeParts([]Part{{text[:cut], false}, {"", true}, {text[cut:], false}}) {
				if tok.IsControl(id) {
					t.Fatalf("%v: untrusted parts of %q make token %d", tok, text, id)
				}
			}
			special := tok.Encode(text, Options{ParseSpecial: true})
			if got := tok.Decode(special, true); got != want && tok.vocab.Model == ModelBPE && norm.NFC.IsNormalString(text) {
				t.Fatalf("%v: with special tokens %q comes back as %q", tok, want, got)
			}
		}
	})
}

// FuzzNormalise compares our composition with the library's where the library does not add runes.
func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"e\u0301", "\u1100\u1161\u11a8", "\u0f73\u0301", "\u0344", "a\u0327\u0301", "\u0b47\u0b3e", "\u2adc", "각\u11a8"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = replaceInvalid(text)
		if longMarks(text) {
			return
		}
		if got, want := compose(decompose(text)), norm.NFC.String(text); got != want {
			t.Errorf("%+q composes to %+q, want %+q", text, got, want)
		}
	})
}

// FuzzVocab: no vocabulary makes anything panic, give an id outside it, or turn untrusted text into a control token.
func FuzzVocab(f *testing.F) {
	f.Add(true, "a\nb\nab\n<s>\n</s>", "\x01\x01\x01\x03\x03", "a b\nb a", int32(3), int32(4), "ab<s>ba")
	f.Add(false, "<unk>\n<s>\n</s>\n<0x41>\n\u2581\na\n\u2581a", "\x02\x03\x03\x06\x01\x01\x01", "", int32(1), int32(2), "a aA")
	f.Add(true, "a\na\n\n\xff", "\x01\x04\x05\x06", "a a\na", int32(-1), int32(0), "aaa\xff")
	f.Fuzz(func(t *testing.T, bytes bool, tokens, types, merges string, bos, eos int32, text string) {
		v := &Vocab{Model: ModelSPM, Pre: "qwen35", BOS: bos, EOS: eos, EOT: -1, EOM: -1, UNK: eos, PAD: -1, AddBOS: true, AddEOS: true}
		v.AddSpacePrefix = len(text)%2 == 0
		v.Tokens = strings.Split(tokens, "\n")
		if types != "" {
			for i := range len(types) {
				v.Types = append(v.Types, int32(types[i]))
			}
		}
		if bytes {
			v.Model = ModelBPE
			if merges != "" {
				v.Merges = strings.Split(merges, "\n")
			}
		} else {
			for i := range v.Tokens {
				v.Scores = append(v.Scores, float32(len(merges)-i*i%7))
			}
		}
		tok, err := New(v)
		if err != nil {
			return
		}
		for _, id := range tok.Encode(text, Options{}) {
			if !tok.has(id) || tok.IsControl(id) {
				t.Fatalf("untrusted text makes token %d", id)
			}
		}
		ids := tok.Encode(text, Options{ParseSpecial: true, AddSpecial: true})
		for _, id := range ids {
			if !tok.has(id) {
				t.Fatalf("token %d is outside the vocabulary", id)
			}
			tok.Bytes(id)
		}
		if got := tok.Decode(ids, true); !utf8.ValidString(got) {
			t.Fatalf("Decode gave %q", got)
		}
		for i, s := range v.Tokens {
			if id, ok := tok.ID(s); !ok || v.Tokens[id] != s {
				t.Fatalf("ID(%q) = %d, %t for token %d", s, id, ok, i)
			}
		}
	})
}
