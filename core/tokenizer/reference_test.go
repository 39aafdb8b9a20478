package tokenizer

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/gguf"
)

// The reference data, when it is at hand: POOLED_REFERENCE=DIR runs the full vocabularies of that folder. With -update the
// bundles in testdata are made from it again.
var (
	reference = os.Getenv("POOLED_REFERENCE")
	update    = flag.Bool("update", false, "write testdata from the data in POOLED_REFERENCE")
)

// keptWhole are the vocabularies that testdata holds in full; the others are reduced to what their strings need.
var keptWhole = map[string]bool{"smollm": true, "llama-spm": true}

func TestReference(t *testing.T) {
	if reference == "" {
		t.Skip("POOLED_REFERENCE is not set: the full vocabularies are not tested, only those in testdata")
	}
	for _, name := range vectorVocabs {
		if name == "nano" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			file := name
			if name == "qwen35" {
				file = "qwen2"
			}
			v := readVocab(t, filepath.Join(reference, "tokenizers", "vocab", file+".gguf"), map[string]string{"qwen2": name}[file])
			tok := newTokenizer(t, v)
			cases := referenceCases(t, name, v)
			t.Logf("%d strings", check(t, tok, cases))
			if *update && !t.Failed() {
				b := reduce(t, v, cases)
				if keptWhole[name] {
					b = newBundle(v, nil, nil)
				}
				b.Cases = cases
				writeBundle(t, name, b)
			}
		})
	}
}

// TestReferenceNano checks the vocabulary inside the nano model against the strings in testdata and its golden prompts.
func TestReferenceNano(t *testing.T) {
	if reference == "" {
		t.Skip("POOLED_REFERENCE is not set: the vocabulary of the nano model file is not tested")
	}
	tok := newTokenizer(t, readVocab(t, filepath.Join(reference, "..", "models", "nano-q4_0.gguf"), ""))
	n := check(t, tok, readBundle[bundle](t, "nano").Cases)
	var golden []struct {
		Text   string
		Prompt []int32
	}
	readJSON(t, filepath.Join(reference, "nano", "golden-q4_0.json"), &golden)
	for _, g := range golden {
		if got := tok.Encode(g.Text, Options{ParseSpecial: true, AddSpecial: true}); !slices.Equal(got, g.Prompt) {
			t.Errorf("%q:\n got %d\nwant %d", g.Text, got, g.Prompt)
		}
	}
	t.Logf("%d strings, %d prompts", n, len(golden))
}

func TestReferenceTiny(t *testing.T) {
	if reference == "" {
		t.Skip("POOLED_REFERENCE is not set: the tiny model files are not tested, only the vocabularies in testdata")
	}
	files, _ := filepath.Glob(filepath.Join(reference, "tiny", "*.json"))
	if len(files) == 0 {
		t.Fatal("no tiny models")
	}
	var bundles []*bundle
	n := 0
	for _, file := range files {
		var x struct {
			Tokenize []caseJSON
			Chat     caseJSON
		}
		readJSON(t, file, &x)
		v := readVocab(t, strings.TrimSuffix(file, "json")+"gguf", "")
		cases := append(x.Tokenize, x.Chat)
		tok := newTokenizer(t, v)
		for i := range cases {
			if c := &cases[i]; strings.Contains(c.Text, "<|") {
				c.Plain = tok.Encode(c.Text, Options{}) // no reference for these: only that they come back
			}
			if v.AddBOS {
				cases[i].Added = append([]int32{v.BOS}, cases[i].IDs...)
			}
		}
		n += check(t, tok, cases)
		b := newBundle(v, nil, nil)
		b.Cases = cases
		if !slices.ContainsFunc(bundles, func(o *bundle) bool { return o.Pre == b.Pre && slices.Equal(o.Tokens, b.Tokens) }) {
			bundles = append(bundles, b)
		}
	}
	t.Logf("%d files, %d vocabularies, %d strings", len(files), len(bundles), n)
	if *update && !t.Failed() {
		writeBundle(t, "tiny", bundles)
	}
}

// TestReferenceReal checks the prompts of the small published models.
func TestReferenceReal(t *testing.T) {
	if reference == "" {
		t.Skip("POOLED_REFERENCE is not set: the prompts of the published models are not tested")
	}
	for model, name := range map[string]string{"smollm2-135m": "smollm", "qwen2.5-coder-0.5b": "qwen2", "gemma3-270m": "gemma"} {
		var x struct{ Cases []caseJSON }
		readJSON(t, filepath.Join(reference, "real", model+".json"), &x)
		if len(x.Cases) == 0 {
			t.Errorf("%s: no prompts", model)
		}
		tok := newTokenizer(t, readVocab(t, filepath.Join(reference, "tokenizers", "vocab", name+".gguf"), ""))
		for _, c := range x.Cases {
			got := tok.Encode(c.Text, Options{ParseSpecial: true, AddSpecial: true})
			if !slices.Equal(got, c.IDs) {
				t.Errorf("%s: %q:\n got %d\nwant %d", model, c.Text, got, c.IDs)
			}
		}
		t.Logf("%s: %d prompts", model, len(x.Cases))
	}
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// readVocab reads the vocabulary of a GGUF file; pre replaces the splitting rule when it is not empty.
func readVocab(t testing.TB, path, pre string) *Vocab {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := FromMetadata(f.Get)
	if err != nil {
		t.Fatal(err)
	}
	if pre != "" {
		v.Pre = pre
	}
	return v
}

// notFollowed are the strings of invalid UTF-8, in base64, that llama.cpp reads as no other library does: it lets a surrogate
// and an overlong "/" through, and takes 0xff for the first byte of four. TestInvalidUTF8 has what becomes of them here.
var notFollowed = map[string][]string{ModelBPE: {"7aCA", "wK8="}, ModelSPM: {"Yf9i"}}

// referenceCases reads the strings and ids of one vocabulary, by the rules of the reference data's README: where the
// model's own library differs from llama.cpp (NFC, and tokens that merely look like an end token), the library is right.
func referenceCases(t testing.TB, name string, v *Vocab) []caseJSON {
	t.Helper()
	var texts []struct{ Text, Base64 string }
	readJSON(t, filepath.Join(reference, "tokenizers", "strings.json"), &texts)
	var file struct {
		Cases []struct {
			String        int     `json:"string"`
			IDs           []int32 `json:"ids"`
			NoSpecial     []int32 `json:"ids_no_special"`
			AddSpecial    []int32 `json:"ids_add_special"`
			Tokenizers    []int32 `json:"ids_tokenizers"`
			SentencePiece []int32 `json:"ids_sentencepiece"`
		} `json:"cases"`
	}
	readJSON(t, filepath.Join(reference, "tokenizers", name+".json"), &file)
	var out []caseJSON
	for _, x := range file.Cases {
		c := caseJSON{Text: texts[x.String].Text, Base64: texts[x.String].Base64, IDs: x.IDs, Plain: x.NoSpecial, Added: x.AddSpecial}
		if x.Tokenizers != nil {
			c.IDs = x.Tokenizers
		}
		if x.SentencePiece != nil {
			c.Plain = x.SentencePiece
		}
		if slices.Contains(notFollowed[v.Model], c.Base64) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// reduce returns v with only what encoding the cases ever finds: every token and merge that a lookup hit. What a lookup
// missed is missed still, so encoding takes the same steps.
func reduce(t *testing.T, v *Vocab, cases []caseJSON) *bundle {
	tok := newTokenizer(t, v)
	tokens, merges := map[int32]bool{}, map[int]bool{}
	for i, k := range tok.kind {
		if k := int32(k); k == TypeByte || k == TypeUserDefined && !strings.HasPrefix(v.Tokens[i], "[PAD1517") ||
			k == TypeControl && !strings.HasPrefix(v.Tokens[i], "<unused") || k == TypeUnknown || len(tok.raw(int32(i))) == 1 {
			tokens[int32(i)] = true
		}
	}
	spy := &recorder{tokens: tokens, merges: merges}
	switch m := tok.model.(type) {
	case *bpe:
		spy.ranker, m.merge = m.merge, spy
	case *spm:
		spy.ranker, m.merge = m.merge, spy
	}
	for _, c := range cases {
		for _, opt := range []Options{{ParseSpecial: true}, {}} {
			for _, id := range tok.Encode(c.text(t), opt) {
				tokens[id] = true
			}
		}
	}
	return newBundle(v, func(id int32) bool { return tokens[id] }, func(i int) bool { return merges[i] })
}

// recorder notes what a ranker finds.
type recorder struct {
	ranker
	tokens map[int32]bool
	merges map[int]bool
}

func (r *recorder) rank(text string, a, b, c int, left, right int32) (uint32, int32) {
	rank, id := r.ranker.rank(text, a, b, c, left, right)
	if rank != noRank {
		r.merges[int(rank)] = true
		for _, x := range []int32{left, right, id} {
			if x >= 0 {
				r.tokens[x] = true
			}
		}
	}
	return rank, id
}
