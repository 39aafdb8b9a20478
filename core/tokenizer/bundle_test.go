package tokenizer

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// bundle is one file of testdata: a vocabulary, perhaps reduced, and what reference implementations make of strings.
// A reduced vocabulary keeps its size and ids; the tokens that were left out are empty and unused.
type bundle struct {
	Model          string     `json:"model"`
	Pre            string     `json:"pre"`
	Size           int        `json:"size"`
	IDs            []int32    `json:"ids,omitempty"` // of the tokens below; absent when they are all there
	Tokens         []string   `json:"tokens"`
	Types          []int32    `json:"types"`
	Scores         []float32  `json:"scores,omitempty"`
	Merges         []string   `json:"merges,omitempty"`
	Named          [6]int32   `json:"named"` // BOS, EOS, EOT, EOM, UNK, PAD
	AddBOS         bool       `json:"add_bos"`
	AddEOS         bool       `json:"add_eos"`
	AddSpacePrefix bool       `json:"add_space_prefix"`
	Cases          []caseJSON `json:"cases"`
}

// caseJSON is a string and its ids: with special tokens parsed, and where they differ without (plain), and with BOS and EOS.
type caseJSON struct {
	Text   string  `json:"text,omitempty"`
	Base64 string  `json:"base64,omitempty"` // instead of Text when it is not UTF-8
	IDs    []int32 `json:"ids"`
	Plain  []int32 `json:"plain,omitempty"`
	Added  []int32 `json:"added,omitempty"`
}

func (c *caseJSON) text(t testing.TB) string {
	if c.Base64 == "" {
		return c.Text
	}
	b, err := base64.StdEncoding.DecodeString(c.Base64)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (b *bundle) vocab() *Vocab {
	v := &Vocab{
		Model: b.Model, Pre: b.Pre, Tokens: b.Tokens, Types: b.Types, Scores: b.Scores, Merges: b.Merges,
		BOS: b.Named[0], EOS: b.Named[1], EOT: b.Named[2], EOM: b.Named[3], UNK: b.Named[4], PAD: b.Named[5],
		AddBOS: b.AddBOS, AddEOS: b.AddEOS, AddSpacePrefix: b.AddSpacePrefix,
	}
	if b.IDs == nil {
		return v
	}
	v.Tokens, v.Types = make([]string, b.Size), slices.Repeat([]int32{TypeUnused}, b.Size)
	if b.Scores != nil {
		v.Scores = make([]float32, b.Size)
	}
	for i, id := range b.IDs {
		v.Tokens[id], v.Types[id] = b.Tokens[i], b.Types[i]
		if b.Scores != nil {
			v.Scores[id] = b.Scores[i]
		}
	}
	return v
}

// newBundle is the opposite of vocab: v reduced to the tokens and merges that keep accepts; nil keeps all.
func newBundle(v *Vocab, keepToken func(id int32) bool, keepMerge func(i int) bool) *bundle {
	b := &bundle{
		Model: v.Model, Pre: v.Pre, Size: len(v.Tokens), Named: [6]int32{v.BOS, v.EOS, v.EOT, v.EOM, v.UNK, v.PAD},
		AddBOS: v.AddBOS, AddEOS: v.AddEOS, AddSpacePrefix: v.AddSpacePrefix,
	}
	if keepToken == nil {
		b.Tokens, b.Types, b.Scores, b.Merges = v.Tokens, v.Types, v.Scores, v.Merges
		return b
	}
	for i, s := range v.Tokens {
		if !keepToken(int32(i)) {
			continue
		}
		b.IDs, b.Tokens, b.Types = append(b.IDs, int32(i)), append(b.Tokens, s), append(b.Types, v.Types[i])
		if v.Scores != nil {
			b.Scores = append(b.Scores, v.Scores[i])
		}
	}
	for i, s := range v.Merges {
		if keepMerge(i) {
			b.Merges = append(b.Merges, s)
		}
	}
	return b
}

func readBundle[T any](t testing.TB, name string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := new(T)
	if err := json.NewDecoder(z).Decode(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func writeBundle(t testing.TB, name string, b any) {
	t.Helper()
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err := json.NewEncoder(z).Encode(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".json.gz"), buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", name, buf.Len())
}

// tokenizer makes a tokenizer from a bundle.
func newTokenizer(t testing.TB, v *Vocab) *Tokenizer {
	t.Helper()
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// check compares a tokenizer with the reference ids, and the pieces with the text; it returns how many strings there were.
func check(t *testing.T, tok *Tokenizer, cases []caseJSON) int {
	t.Helper()
	for _, c := range cases {
		text := c.text(t)
		plain, added := c.Plain, c.Added
		if plain == nil {
			plain = c.IDs
		}
		if added == nil {
			added = c.IDs
		}
		for _, want := range []struct {
			name string
			opt  Options
			ids  []int32
		}{
			{"special", Options{ParseSpecial: true}, c.IDs},
			{"plain", Options{}, plain},
			{"added", Options{ParseSpecial: true, AddSpecial: true}, added},
		} {
			if got := tok.Encode(text, want.opt); !slices.Equal(got, want.ids) {
				t.Errorf("%s %q:\n got %d\nwant %d", want.name, text, got, want.ids)
			}
		}
		if got, want := tok.EncodeParts([]Part{{text, true}}), c.IDs; !slices.Equal(got, want) {
			t.Errorf("EncodeParts(%q) = %d, want %d", text, got, want)
		}
		if got, want := tok.Decode(plain, false), decoded(tok, text); got != want {
			t.Errorf("Decode of %q = %q, want %q", text, got, want)
		}
	}
	return len(cases)
}

// decoded is what a text comes back as.
func decoded(tok *Tokenizer, text string) string {
	text = replaceInvalid(text)
	if tok.vocab.Model == ModelSPM {
		return string(bytes.ReplaceAll([]byte(text), []byte(blockSpace), []byte(" ")))
	}
	if rules[tok.vocab.Pre].nfc {
		return normalise(text)
	}
	return text
}
