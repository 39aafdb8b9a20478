package tokenizer

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/gguf"
)

// metadataOf returns the Get method of a GGUF file with these values.
func metadataOf(t testing.TB, values map[string]any) func(string) (gguf.Value, bool) {
	t.Helper()
	w := gguf.NewWriter()
	for k, v := range values {
		if err := w.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	if _, err := w.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.ReadBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Get
}

func bpeMetadata() map[string]any {
	v := chatML()
	return map[string]any{
		keyModel: "gpt2", keyPre: "qwen2", keyTokens: v.Tokens, keyTypes: v.Types, keyMerges: v.Merges,
		keyEOS: uint32(261), keyPAD: uint32(260),
	}
}

func spmMetadata() map[string]any {
	v := sentences()
	return map[string]any{keyModel: "llama", keyPre: "default", keyTokens: v.Tokens, keyTypes: v.Types, keyScores: v.Scores}
}

func TestFromMetadata(t *testing.T) {
	v, err := FromMetadata(metadataOf(t, bpeMetadata()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := [6]int32{v.BOS, v.EOS, v.EOT, v.EOM, v.UNK, v.PAD}, [6]int32{-1, 261, -1, -1, -1, 260}; got != want {
		t.Errorf("ids = %d, want %d", got, want)
	}
	if want := []int32{260, 261}; !slices.Equal(v.EOG, want) {
		t.Errorf("EOG = %d, want %d", v.EOG, want)
	}
	if v.AddBOS || v.AddEOS || v.AddSpacePrefix {
		t.Errorf("AddBOS %t, AddEOS %t, AddSpacePrefix %t, want none", v.AddBOS, v.AddEOS, v.AddSpacePrefix)
	}
	v, err = FromMetadata(metadataOf(t, spmMetadata()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := [6]int32{v.BOS, v.EOS, v.EOT, v.EOM, v.UNK, v.PAD}, [6]int32{1, 2, -1, -1, 0, -1}; got != want {
		t.Errorf("SentencePiece's default ids = %d, want %d", got, want)
	}
	if !v.AddBOS || v.AddEOS || !v.AddSpacePrefix {
		t.Errorf("AddBOS %t, AddEOS %t, AddSpacePrefix %t, want true, false, true", v.AddBOS, v.AddEOS, v.AddSpacePrefix)
	}
	m := bpeMetadata()
	m[keyPre], m[keyPAD], m[keyEOT], m[keyEOM] = "llama-bpe", uint32(0xffffffff), uint32(262), uint32(258)
	if v, err = FromMetadata(metadataOf(t, m)); err != nil {
		t.Fatal(err)
	}
	if !v.AddBOS || v.PAD != -1 {
		t.Errorf("AddBOS %t, PAD %d, want true and -1", v.AddBOS, v.PAD)
	}
	if want := []int32{258, 260, 261, 262}; !slices.Equal(v.EOG, want) {
		t.Errorf("EOG = %d, want %d", v.EOG, want)
	}
}

func TestBadMetadata(t *testing.T) {
	for _, tc := range []struct {
		name   string
		base   func() map[string]any
		key    string
		value  any // nil removes the key
		errKey string
		want   error
	}{
		{"no model", bpeMetadata, keyModel, nil, keyModel, ErrUnsupported},
		{"other model", bpeMetadata, keyModel, "bert", keyModel, ErrUnsupported},
		{"model is a number", bpeMetadata, keyModel, uint32(1), keyModel, ErrVocab},
		{"no splitting rule", bpeMetadata, keyPre, nil, keyPre, ErrUnsupported},
		{"other splitting rule", bpeMetadata, keyPre, "viking", keyPre, ErrUnsupported},
		{"no tokens", bpeMetadata, keyTokens, nil, keyTokens, ErrVocab},
		{"empty tokens", bpeMetadata, keyTokens, []string{}, keyTokens, ErrVocab},
		{"tokens are numbers", bpeMetadata, keyTokens, []int32{1}, keyTokens, ErrVocab},
		{"too few types", bpeMetadata, keyTypes, []int32{1, 1}, keyTypes, ErrVocab},
		{"types are texts", bpeMetadata, keyTypes, []string{"a"}, keyTypes, ErrVocab},
		{"types outside", bpeMetadata, keyTypes, slices.Repeat([]int32{7}, 268), keyTypes, ErrVocab},
		{"no scores", spmMetadata, keyScores, nil, keyScores, ErrVocab},
		{"too few scores", spmMetadata, keyScores, []float32{1}, keyScores, ErrVocab},
		{"EOS outside", bpeMetadata, keyEOS, uint32(268), keyEOS, ErrVocab},
		{"EOS far outside", bpeMetadata, keyEOS, uint64(1 << 40), keyEOS, ErrVocab},
		{"EOS is a text", bpeMetadata, keyEOS, "</s>", keyEOS, ErrVocab},
		{"negative PAD", bpeMetadata, keyPAD, int32(-2), keyPAD, ErrVocab},
		{"add_bos is a number", bpeMetadata, keyAddBOS, uint32(1), keyAddBOS, ErrVocab},
		{"merges are numbers", bpeMetadata, keyMerges, []int32{1}, keyMerges, ErrVocab},
	} {
		m := tc.base()
		if tc.value == nil {
			delete(m, tc.key)
		} else {
			m[tc.key] = tc.value
		}
		_, err := FromMetadata(metadataOf(t, m))
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", tc.name, err, tc.want)
			continue
		}
		var unsupported *UnsupportedError
		var vocab *VocabError
		if key := ""; errors.As(err, &unsupported) {
			if key = unsupported.Key; key != tc.errKey {
				t.Errorf("%s: error names %q, want %q", tc.name, key, tc.errKey)
			}
		} else if errors.As(err, &vocab) {
			if key = vocab.Key; key != tc.errKey {
				t.Errorf("%s: error names %q, want %q", tc.name, key, tc.errKey)
			}
		}
	}
}

// TestBadVocab is about what New alone sees.
func TestBadVocab(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Vocab)
		key    string
		index  int
	}{
		{"merge of one token", func(v *Vocab) { v.Merges[1] = "he" }, keyMerges, 1},
		{"merge without a left side", func(v *Vocab) { v.Merges[2] = " he" }, keyMerges, 2},
		{"merge without a right side", func(v *Vocab) { v.Merges[3] = "he " }, keyMerges, 3},
		{"end outside", func(v *Vocab) { v.EOG = []int32{1, 999} }, "end-of-generation ids", 1},
		{"negative id", func(v *Vocab) { v.BOS = -2 }, keyBOS, -1},
	} {
		v := chatML()
		tc.change(v)
		_, err := New(v)
		var bad *VocabError
		if !errors.As(err, &bad) || bad.Key != tc.key || bad.Index != tc.index {
			t.Errorf("%s: error %v, want one about %s[%d]", tc.name, err, tc.key, tc.index)
		}
	}
}

// TestOddVocab is about what New accepts, with a defined meaning.
func TestOddVocab(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Vocab)
		want   []int32 // of "hello"
	}{
		{"as it is", func(*Vocab) {}, []int32{259}},
		{"unknown tokens in merges", func(v *Vocab) { v.Merges = append([]string{"h x", "zz zz"}, v.Merges...) }, []int32{259}},
		{"a merge that makes no token", func(v *Vocab) { v.Merges = append([]string{"e l"}, v.Merges...) }, []int32{259}},
		{"a merge twice: the first counts", func(v *Vocab) { v.Merges = append(v.Merges, "h e") }, []int32{259}},
		{"a token twice: the last counts", func(v *Vocab) { v.Tokens[265], v.Types[265] = "hello", TypeNormal }, []int32{265}},
		{"merging never makes a control token", func(v *Vocab) { v.Types[259] = TypeControl }, []int32{258, 'o'}},
		{"merging never makes an unused token", func(v *Vocab) { v.Types[258] = TypeUnused }, []int32{256, 257, 'o'}},
		{"no merges", func(v *Vocab) { v.Merges = nil }, []int32{'h', 'e', 'l', 'l', 'o'}},
		{"a missing byte is dropped", func(v *Vocab) { v.Tokens['o'] = "" }, []int32{258}},
		{"or unknown", func(v *Vocab) { v.Tokens['o'], v.UNK = "", 42 }, []int32{258, 42}},
		{"no types", func(v *Vocab) { v.Types = nil }, []int32{259}},
	} {
		v := chatML()
		tc.change(v)
		if got := newTokenizer(t, v).Encode("hello", Options{}); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
	v := chatML()
	v.Types = nil
	if tok := newTokenizer(t, v); !tok.IsControl(261) || tok.IsControl(262) {
		t.Error("without types, exactly the ids that the file names are control tokens")
	}
}

func TestPublishedEnds(t *testing.T) {
	for name, want := range map[string][]string{
		"smollm":    {"<|endoftext|>", "<|im_end|>"},
		"gpt-2":     {"<|endoftext|>"},
		"llama-bpe": {"<|end_of_text|>", "<|eot_id|>"},
		"qwen2":     {"<|endoftext|>", "<|im_end|>"},
		"llama-spm": {"</s>"},
		"gemma":     {"<end_of_turn>", "<eos>"},
		"nano":      {"<|endoftext|>", "<|im_end|>"},
	} {
		tok := newTokenizer(t, readBundle[bundle](t, name).vocab())
		var got []string
		for id := range int32(tok.Size()) {
			if tok.IsEOG(id) {
				got = append(got, tok.Vocab().Tokens[id])
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s ends with %q, want %q", name, got, want)
		}
	}
}
