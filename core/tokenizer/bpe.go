package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// bpe is byte-level BPE: a word starts as its bytes, and the merge of the lowest rank is applied until none is left.
//
// Source: Sennrich et al., Neural Machine Translation of Rare Words with Subword Units (2016); openai/gpt-2, src/encoder.py.
type bpe struct {
	t     *Tokenizer
	rule  rule
	merge ranker
}

func newBPE(t *Tokenizer, r rule) (*bpe, error) {
	for b := range 256 {
		if id, ok := t.words[string([]byte{byte(b)})]; ok {
			t.byByte[b] = id
		}
	}
	merges := t.vocab.Merges
	table := newPairTable(len(merges))
	var buf []byte
	for i, line := range merges {
		space := strings.IndexByte(line, ' ')
		if space <= 0 || space == len(line)-1 {
			return nil, &VocabError{Key: keyMerges, Index: i, Reason: "not two tokens with a space between"}
		}
		var ok1, ok2 bool
		buf, ok1 = appendAlphabet(buf[:0], line[:space])
		mid := len(buf)
		buf, ok2 = appendAlphabet(buf, line[space+1:])
		if !ok1 || !ok2 {
			continue
		}
		left, ok1 := t.words[string(buf[:mid])]
		right, ok2 := t.words[string(buf[mid:])]
		id, ok3 := t.words[string(buf)]
		if !ok1 || !ok2 || !ok3 {
			continue
		}
		table.add(left, right, uint32(i), id)
	}
	return &bpe{t: t, rule: r, merge: table}, nil
}

func (m *bpe) encode(dst []int32, text string, _ bool) []int32 {
	text = replaceInvalid(text)
	if m.rule.nfc {
		text = normalise(text)
	}
	for text != "" {
		n := m.rule.next(text)
		dst = m.word(dst, text[:n])
		text = text[n:]
	}
	return dst
}

// word appends the ids of one pre-token.
func (m *bpe) word(dst []int32, word string) []int32 {
	if len(word) == 1 {
		return m.oneByte(dst, word[0])
	}
	slot := m.t.cache.slot(word)
	if slot != nil {
		if e := slot.Load(); e != nil && e.word == word {
			return append(dst, e.ids...)
		}
	}
	begin := len(dst)
	if id, ok := m.whole(word); ok {
		dst = append(dst, id)
	} else {
		for rest := word; rest != ""; {
			n := cut(rest)
			dst = m.merged(dst, rest[:n])
			rest = rest[n:]
		}
	}
	if slot != nil {
		slot.Store(newEntry(word, dst[begin:]))
	}
	return dst
}

// whole looks a word up where the rule says that a word which is a token is not merged.
func (m *bpe) whole(word string) (int32, bool) {
	if !m.rule.wholeWord {
		return -1, false
	}
	id, ok := m.t.words[word]
	return id, ok
}

func (m *bpe) merged(dst []int32, word string) []int32 {
	s := getMerger(len(word))
	for i := range len(word) {
		s.id[i], s.prev[i], s.next[i] = m.t.byByte[word[i]], int32(i-1), int32(i+1)
	}
	s.merge(word, m.merge)
	for i := 0; i < len(word); i = int(s.next[i]) {
		if s.id[i] >= 0 {
			dst = append(dst, s.id[i])
		} else {
			dst = m.oneByte(dst, word[i])
		}
	}
	s.put()
	return dst
}

// oneByte appends the token of a byte; without one the unknown token, and without that nothing.
func (m *bpe) oneByte(dst []int32, b byte) []int32 {
	if id := m.t.byByte[b]; id >= 0 {
		return append(dst, id)
	}
	if m.t.unk >= 0 {
		return append(dst, m.t.unk)
	}
	return dst
}

// replaceInvalid puts U+FFFD in place of every byte that is not part of UTF-8.
func replaceInvalid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 2*utf8.UTFMax)
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
