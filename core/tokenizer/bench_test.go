package tokenizer

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// longTexts are a megabyte each of what makes a careless encoder slow.
func longTexts() map[string]string {
	const n = 1 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	random, letters := make([]byte, n), make([]byte, n)
	for i := range random {
		random[i] = byte(rng.Uint32())
		letters[i] = 'a' + byte(rng.Uint32()%26)
	}
	var prose strings.Builder
	for prose.Len() < n {
		for range 1 + rng.IntN(9) {
			prose.WriteByte("etaoinshrdlu"[rng.IntN(12)])
		}
		prose.WriteString([]string{" ", " ", " ", ", ", ".\n"}[rng.IntN(5)])
	}
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"prose":     prose.String(),
		"letter":    repeat("a"),
		"letters":   string(letters),
		"spaces":    repeat(" "),
		"newlines":  repeat("\n"),
		"bytes":     string(random),
		"emoji":     repeat("😀"),
		"digits":    repeat("7"),
		"cjk":       repeat("中文字"),
		"marks":     "e" + repeat("\u0301\u0327"),
		"brackets":  repeat("<"),
		"specials":  repeat("<|im_start|"),
		"quotes":    repeat("'"),
		"blocks":    repeat("\u2581"),
		"separated": repeat("a "),
	}
}

// full returns a vocabulary that is not reduced: of the reference data when it is at hand, else of testdata when there.
func full(t testing.TB, name string) *Vocab {
	t.Helper()
	if reference != "" && name != "nano" {
		file := name
		if name == "qwen35" {
			file = "qwen2"
		}
		v := readVocab(t, filepath.Join(reference, "tokenizers", "vocab", file+".gguf"), map[string]string{"qwen2": name}[file])
		return v
	}
	if b := readBundle[bundle](t, name); b.IDs == nil {
		return b.vocab()
	}
	t.Skip("POOLED_REFERENCE is not set: testdata has this vocabulary only in part")
	return nil
}

// TestLongText fails when a text of a megabyte takes time that is not about linear: the limit is far above what a slow
// machine needs (0.6 s at most on two cores) and far below what a quadratic step would take.
func TestLongText(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the long texts are not encoded")
	}
	for _, name := range []string{"llama-spm", "nano"} {
		tok := newTokenizer(t, full(t, name))
		for kind, text := range longTexts() {
			begin := time.Now()
			ids := tok.Encode(text, Options{ParseSpecial: true})
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("%s: %s took %v", name, kind, d)
			}
			if tok.vocab.Model == ModelSPM && kind == "blocks" || !utf8.ValidString(text) {
				continue
			}
			if got, want := tok.Decode(ids, true), decoded(tok, text); got != want {
				t.Errorf("%s: %s does not come back", name, kind)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range vectorVocabs {
		b.Run(name, func(b *testing.B) {
			tok := newTokenizer(b, full(b, name))
			for kind, text := range longTexts() {
				b.Run(kind, func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						tok.Encode(text, Options{ParseSpecial: true})
					}
				})
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, name := range vectorVocabs {
		b.Run(name, func(b *testing.B) {
			v := full(b, name)
			for b.Loop() {
				newTokenizer(b, v)
			}
		})
	}
}
