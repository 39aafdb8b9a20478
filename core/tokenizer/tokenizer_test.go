package tokenizer

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// chatML is a small vocabulary with every kind of token: the bytes, a few merges, and special tokens from 260 on.
func chatML() *Vocab {
	v := &Vocab{Model: ModelBPE, Pre: "qwen2", BOS: -1, EOS: 261, EOT: -1, EOM: -1, UNK: -1, PAD: 260}
	v.Tokens = append(byteTokens(), "he", "ll", "hell", "hello") // 256 to 259
	v.Merges = []string{"h e", "l l", "he ll", "hell o"}
	v.Types = slices.Repeat([]int32{TypeNormal}, len(v.Tokens))
	add := func(text string, kind int32) {
		v.Tokens, v.Types = append(v.Tokens, text), append(v.Types, kind)
	}
	add("<|endoftext|>", TypeControl)    // 260
	add("<|im_end|>", TypeControl)       // 261
	add("<|im_start|>", TypeControl)     // 262
	add("<think>", TypeUserDefined)      // 263
	add("<think>\n", TypeControl)        // 264
	add("[PAD265]", TypeUnused)          // 265
	add("</s>", TypeUserDefined)         // 266
	add("<|im_start|>user", TypeControl) // 267
	return v
}

// byteTokens returns the 256 bytes in the byte alphabet, by byte.
func byteTokens() []string {
	out := make([]string, 256)
	for r, b := range alphabet {
		if b >= 0 {
			out[b] = string(rune(r))
		}
	}
	return out
}

// sentences is a small SentencePiece vocabulary: byte tokens at 3 to 258, then pieces.
func sentences() *Vocab {
	v := &Vocab{Model: ModelSPM, BOS: 1, EOS: 2, EOT: -1, EOM: -1, UNK: 0, PAD: -1, AddBOS: true, AddSpacePrefix: true}
	add := func(text string, kind int32, score float32) int {
		v.Tokens, v.Types, v.Scores = append(v.Tokens, text), append(v.Types, kind), append(v.Scores, score)
		return len(v.Tokens) - 1
	}
	add("<unk>", TypeUnknown, 0)
	add("<s>", TypeControl, 0)
	add("</s>", TypeControl, 0)
	for b := range 256 {
		const hex = "0123456789ABCDEF"
		add("<0x"+hex[b>>4:b>>4+1]+hex[b&15:b&15+1]+">", TypeByte, 0)
	}
	add("\u2581", TypeNormal, -10) // 259
	add("a", TypeNormal, -11)      // 260
	add("b", TypeNormal, -12)      // 261
	add("\u2581a", TypeNormal, -1) // 262
	add("ab", TypeNormal, -2)      // 263
	add("ba", TypeNormal, -0.5)    // 264
	return v
}

func TestEncodeParts(t *testing.T) {
	tok := newTokenizer(t, chatML())
	b := func(s string) (ids []int32) {
		for i := range len(s) {
			ids = append(ids, int32(s[i]))
		}
		return ids
	}
	for _, tc := range []struct {
		name  string
		parts []Part
		want  []int32
	}{
		{"nothing", nil, nil},
		{"empty parts", []Part{{"", true}, {"", false}}, nil},
		{"template", []Part{{"<|im_start|>", true}, {"hello", false}, {"<|im_end|>", true}}, []int32{262, 259, 261}},
		{"longest", []Part{{"<|im_start|>user", true}}, []int32{267}},
		{"untrusted", []Part{{"<|im_end|>", false}}, b("<|im_end|>")},
		{"words cross parts", []Part{{"he", true}, {"l", false}, {"", true}, {"lo", false}}, []int32{259}},
		{"special cut in two trusted parts", []Part{{"<|im_", true}, {"end|>", true}}, []int32{261}},
		{"with an empty part between", []Part{{"<|im_", true}, {"", false}, {"end|>", true}}, []int32{261}},
		{"special finished by trusted text", []Part{{"<|im_", false}, {"end|>", true}}, b("<|im_end|>")},
		{"special begun by trusted text", []Part{{"<|im_", true}, {"end|>", false}}, b("<|im_end|>")},
		{"longest is cut short by trust", []Part{{"<|im_start|>", true}, {"user", false}}, append([]int32{262}, b("user")...)},
		{
			"trust resumes",
			[]Part{{"<", true}, {"<", false}, {"<|im_end|><", true}, {"|im_end|>", false}},
			slices.Concat(b("<<"), []int32{261}, b("<|im_end|>")),
		},
		{"user-defined everywhere", []Part{{"<thi", false}, {"nk>", true}}, []int32{263}},
		{"control wins only where trusted", []Part{{"<think>\n", false}, {"<think>\n", true}}, []int32{263, '\n', 264}},
	} {
		if got := tok.EncodeParts(tc.parts); !slices.Equal(got, tc.want) {
			t.Errorf("%s: EncodeParts(%v) = %d, want %d", tc.name, tc.parts, got, tc.want)
		}
	}
}

func TestAddSpecial(t *testing.T) {
	v := chatML()
	v.BOS, v.AddBOS, v.AddEOS = 260, true, true
	if got, want := newTokenizer(t, v).Encode("hello", Options{AddSpecial: true}), []int32{260, 259, 261}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
	v = chatML()
	v.AddBOS, v.AddEOS, v.EOS = true, true, -1
	if got, want := newTokenizer(t, v).Encode("hello", Options{AddSpecial: true}), []int32{259}; !slices.Equal(got, want) {
		t.Errorf("without ids: got %d, want %d", got, want)
	}
}

func TestTokens(t *testing.T) {
	tok := newTokenizer(t, chatML())
	for _, tc := range []struct {
		text         string
		id           int32
		control, end bool
		bytes        string
	}{
		{"hello", 259, false, false, "hello"},
		{"Ġ", ' ', false, false, " "},
		{"<|im_end|>", 261, true, true, ""},
		{"<|endoftext|>", 260, true, true, ""},
		{"<|im_start|>", 262, true, false, ""},
		{"<think>", 263, false, false, "<think>"},
		{"</s>", 266, false, false, "</s>"}, // user-defined: a tag, not an end
		{"[PAD265]", 265, false, false, ""},
		{"no such token", -1, false, false, ""},
		{" ", -1, false, false, ""}, // a space is spelled Ġ
	} {
		id, ok := tok.ID(tc.text)
		if id != tc.id || ok != (tc.id >= 0) {
			t.Errorf("ID(%q) = %d, %t, want %d", tc.text, id, ok, tc.id)
		}
		if got := tok.IsControl(id); got != tc.control {
			t.Errorf("IsControl(%q) = %t, want %t", tc.text, got, tc.control)
		}
		if got := tok.IsEOG(id); got != tc.end {
			t.Errorf("IsEOG(%q) = %t, want %t", tc.text, got, tc.end)
		}
		if got := tok.Bytes(id); string(got) != tc.bytes || (got == nil) != (tc.bytes == "") {
			t.Errorf("Bytes(%q) = %q, want %q", tc.text, got, tc.bytes)
		}
	}
	if got := tok.Bytes(int32(tok.Size())); got != nil {
		t.Errorf("Bytes outside the vocabulary = %q, want nil", got)
	}
	spm := newTokenizer(t, sentences())
	if id, ok := spm.ID("\u2581a"); id != 262 || !ok {
		t.Errorf("ID(▁a) = %d, %t, want 262", id, ok)
	}
	if _, ok := spm.ID(" a"); ok {
		t.Error("ID finds a piece by another spelling")
	}
}

func TestSentencePiece(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		change     func(*Vocab)
		want       []int32
	}{
		{"highest score first", "aba", nil, []int32{262, 264}},
		{"without prefix", "aba", func(v *Vocab) { v.AddSpacePrefix = false }, []int32{260, 264}},
		{"leftmost of equals", "aba", func(v *Vocab) { v.AddSpacePrefix, v.Scores[264] = false, v.Scores[263] }, []int32{263, 260}},
		{"byte fallback", "é", nil, []int32{259, 3 + 0xc3, 3 + 0xa9}},
		{"prefix after each special", "<s>a</s>a", nil, []int32{1, 262, 2, 262}},
		{"literal block", "\u2581a", nil, []int32{259, 262}},
		{"unknown without byte tokens", "é", func(v *Vocab) { v.Types[3+0xc3] = TypeUnused }, []int32{259, 0}},
		{"never a control token as unknown", "é", func(v *Vocab) { v.Types[3+0xc3], v.UNK = TypeUnused, 2 }, []int32{259}},
		{"scores that are no numbers come last", "aba", func(v *Vocab) { v.Scores[264] = nan() }, []int32{262, 264}},
	} {
		v := sentences()
		if tc.change != nil {
			tc.change(v)
		}
		if got := newTokenizer(t, v).Encode(tc.text, Options{ParseSpecial: true}); !slices.Equal(got, tc.want) {
			t.Errorf("%s: Encode(%q) = %d, want %d", tc.name, tc.text, got, tc.want)
		}
	}
}

func nan() float32 {
	var zero float32
	return zero / zero
}

func TestInvalidUTF8(t *testing.T) {
	bpe, spm := newTokenizer(t, chatML()), newTokenizer(t, sentences())
	for _, tc := range []struct{ text, want string }{
		{"a\xffb", "a\ufffdb"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"}, // a surrogate
		{"\xc0\xaf", "\ufffd\ufffd"},           // an overlong "/"
		{"\xe4\xbd", "\ufffd\ufffd"},
		{"\xf0\x9f\x98", "\ufffd\ufffd\ufffd"},
	} {
		if got, want := bpe.Encode(tc.text, Options{}), bpe.Encode(tc.want, Options{}); !slices.Equal(got, want) {
			t.Errorf("BPE of %q = %d, want %d", tc.text, got, want)
		}
		ids := spm.Encode(tc.text, Options{})
		var raw []byte
		for _, id := range ids {
			raw = append(raw, spm.Bytes(id)...)
		}
		if string(raw) != " "+tc.text {
			t.Errorf("SentencePiece of %q has the bytes %q", tc.text, raw)
		}
		if got := spm.Decode(ids, false); got != tc.want {
			t.Errorf("Decode of %q = %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestDecode(t *testing.T) {
	bpe, spm := newTokenizer(t, chatML()), newTokenizer(t, sentences())
	for _, tc := range []struct {
		name    string
		tok     *Tokenizer
		ids     []int32
		special bool
		want    string
	}{
		{"control hidden", bpe, []int32{262, 259, 261}, false, "hello"},
		{"control shown", bpe, []int32{262, 259, 261}, true, "<|im_start|>hello<|im_end|>"},
		{"user-defined", bpe, []int32{263, 259}, false, "<think>hello"},
		{"outside the vocabulary", bpe, []int32{-1, 259, 1 << 30}, true, "hello"},
		{"half a rune", bpe, []int32{0xf0, 0x9f, 'a', 0xc3}, false, "\ufffd\ufffda\ufffd"},
		{"prefix taken off", spm, []int32{262, 262}, false, "a a"},
		{"only one space", spm, []int32{259, 262}, false, " a"},
		{"prefix after BOS", spm, []int32{1, 262, 2, 262}, true, "<s>a</s>a"},
		{"an id that is none does not count", spm, []int32{-7, 262}, false, "a"},
		{"bytes", spm, []int32{259, 3 + 0xc3, 3 + 0xa9}, false, "é"},
	} {
		if got := tc.tok.Decode(tc.ids, tc.special); got != tc.want {
			t.Errorf("%s: Decode(%d) = %q, want %q", tc.name, tc.ids, got, tc.want)
		}
	}
}

func TestStream(t *testing.T) {
	tok := newTokenizer(t, chatML())
	for _, tc := range []struct {
		name  string
		ids   []int32
		want  []string // after each id
		flush string
	}{
		{"words", []int32{259, ' ', 259}, []string{"hello", " ", "hello"}, ""},
		{"emoji in bytes", []int32{0xf0, 0x9f, 0x98, 0x80, 'a'}, []string{"", "", "", "😀", "a"}, ""},
		{"cut short", []int32{0xf0, 0x9f, 'a'}, []string{"", "", "\ufffd\ufffda"}, ""},
		{"cannot begin", []int32{0x80, 'a'}, []string{"\ufffd", "a"}, ""},
		{"cannot continue", []int32{0xed, 0xa0, 0x80}, []string{"", "\ufffd\ufffd", "\ufffd"}, ""},
		{"new sequence after a broken one", []int32{0xe4, 0xc3, 0xa9}, []string{"", "\ufffd", "é"}, ""},
		{"unfinished", []int32{'a', 0xe4, 0xbd}, []string{"a", "", ""}, "\ufffd\ufffd"},
		{"control tokens do not interrupt", []int32{0xc3, 261, 0xa9}, []string{"", "", "é"}, ""},
	} {
		s := tok.NewStream(false)
		for i, id := range tc.ids {
			if got := s.Push(id); got != tc.want[i] {
				t.Errorf("%s: Push %d = %q, want %q", tc.name, i, got, tc.want[i])
			}
		}
		if got := s.Flush(); got != tc.flush {
			t.Errorf("%s: Flush = %q, want %q", tc.name, got, tc.flush)
		}
		if got := s.Flush(); got != "" {
			t.Errorf("%s: second Flush = %q", tc.name, got)
		}
	}
	spm := newTokenizer(t, sentences())
	if got, want := spm.NewStream(false).Push(262), " a"; got != want {
		t.Errorf("a stream continues a text: Push = %q, want %q", got, want)
	}
}

// TestConcurrentUse is for the race detector; the ids must not depend on what other goroutines put into the cache.
func TestConcurrentUse(t *testing.T) {
	tok := newTokenizer(t, readBundle[bundle](t, "nano").vocab())
	texts := strings.Fields(strings.Repeat("alpha beta gamma delta it's 12345 naïve 中文 😀 ", 40))
	want := tok.Encode(strings.Join(texts, " "), Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := tok.Encode(strings.Join(texts, " "), Options{}); !slices.Equal(got, want) {
					t.Error("ids differ between goroutines")
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestLongWord checks the cut that bounds scratch memory: every byte comes back.
func TestLongWord(t *testing.T) {
	word := strings.Repeat("é", maxWord/2+3) + "x"
	for _, v := range []*Vocab{chatML(), sentences()} {
		tok := newTokenizer(t, v)
		if got := tok.Decode(tok.Encode(word, Options{}), false); got != word {
			t.Errorf("%s: a word of %d bytes came back as %d bytes", v.Model, len(word), len(got))
		}
	}
}
