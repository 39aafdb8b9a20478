package tokenizer

import (
	"math"
	"strings"
	"unicode/utf8"
)

// spm is the BPE of SentencePiece: a text starts as its runes, with spaces as letters, and the pair that makes the token
// of the highest score is merged until none is left. A symbol that is no token then becomes byte tokens.
//
// The text is cut before every space that no token can reach across, so that words are short and can be cached; the
// result is the same.
//
// Source: google/sentencepiece, src/bpe_model.cc.
type spm struct {
	t     *Tokenizer
	merge ranker
	glue  map[rune]bool // runes that some token has right before a space
}

// blockSpace stands for a space in the tokens of SentencePiece. Here tokens are kept with the space itself.
const blockSpace = "\u2581"

// appendSpaces appends the text of a token with its spaces; ok is false when it has a space already, which no text can
// spell.
func appendSpaces(dst []byte, token string) (out []byte, ok bool) {
	ok = strings.IndexByte(token, ' ') < 0
	for {
		before, after, found := strings.Cut(token, blockSpace)
		dst = append(dst, before...)
		if !found {
			return dst, ok
		}
		dst = append(dst, ' ')
		token = after
	}
}

// scores is the ranker of spm.
type scores struct {
	words  map[string]int32
	ranks  []uint32 // of a token, from its score
	longer int      // bytes of the longest word
}

func (s *scores) rank(text string, a, _, c int, _, _ int32) (uint32, int32) {
	if c-a > s.longer {
		return noRank, -1
	}
	if id, ok := s.words[text[a:c]]; ok {
		return s.ranks[id], id
	}
	return noRank, -1
}

// scoreRank maps scores to ranks: the higher the score, the lower the rank. A score that is not a number is the lowest.
func scoreRank(score float32) uint32 {
	if score != score {
		score = float32(math.Inf(-1))
	}
	bits := math.Float32bits(score + 0) // -0 becomes 0
	if bits>>31 != 0 {
		return bits
	}
	return ^(bits | 1<<31)
}

func newSPM(t *Tokenizer) *spm {
	s := &scores{words: t.words, ranks: make([]uint32, t.Size())}
	m := &spm{t: t, merge: s, glue: map[rune]bool{' ': true}}
	for i, score := range t.vocab.Scores {
		s.ranks[i] = scoreRank(score)
	}
	for word := range t.words {
		s.longer = max(s.longer, len(word))
		for from := 1; from < len(word); from++ {
			at := strings.IndexByte(word[from:], ' ')
			if at < 0 {
				break
			}
			from += at
			r, _ := utf8.DecodeLastRuneInString(word[:from])
			m.glue[r] = true
		}
	}
	return m
}

func (m *spm) encode(dst []int32, text string, start bool) []int32 {
	if start && m.t.prefix {
		text = " " + text
	}
	for text != "" {
		n := m.next(text)
		dst = m.word(dst, text[:n])
		text = text[n:]
	}
	return dst
}

// next returns the length of the first word: up to a space after a rune that no token joins with one.
func (m *spm) next(text string) int {
	for from := 1; from < len(text); from++ {
		at := strings.IndexByte(text[from:], ' ')
		if at < 0 {
			break
		}
		from += at
		if r, _ := utf8.DecodeLastRuneInString(text[:from]); !m.glue[r] {
			return from
		}
	}
	return len(text)
}

func (m *spm) word(dst []int32, word string) []int32 {
	slot := m.t.cache.slot(word)
	if slot != nil {
		if e := slot.Load(); e != nil && e.word == word {
			return append(dst, e.ids...)
		}
	}
	begin := len(dst)
	for rest := word; rest != ""; {
		n := cut(rest)
		dst = m.merged(dst, rest[:n])
		rest = rest[n:]
	}
	if slot != nil {
		slot.Store(newEntry(word, dst[begin:]))
	}
	return dst
}

func (m *spm) merged(dst []int32, word string) []int32 {
	s := getMerger(len(word))
	for i, prev := 0, -1; i < len(word); {
		_, n := utf8.DecodeRuneInString(word[i:])
		s.id[i], s.prev[i], s.next[i] = -1, int32(prev), int32(i+n)
		prev, i = i, i+n
	}
	s.merge(word, m.merge)
	for i := 0; i < len(word); {
		end := int(s.next[i])
		if id := s.id[i]; id >= 0 {
			dst = append(dst, id)
		} else {
			dst = m.symbol(dst, word[i:end])
		}
		i = end
	}
	s.put()
	return dst
}

// symbol appends a rune that was not merged: its token, its bytes, or the unknown token; without that nothing.
func (m *spm) symbol(dst []int32, r string) []int32 {
	if id, ok := m.t.words[r]; ok {
		return append(dst, id)
	}
	begin := len(dst)
	for i := range len(r) {
		id := m.t.byByte[r[i]]
		if id < 0 {
			dst = dst[:begin]
			if m.t.unk >= 0 {
				dst = append(dst, m.t.unk)
			}
			return dst
		}
		dst = append(dst, id)
	}
	return dst
}
