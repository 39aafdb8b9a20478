package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Bytes returns the bytes that a token stands for; nil for a token that has no text of its own: control, unknown and
// unused ones, and ids outside the vocabulary. A token may hold part of a UTF-8 sequence. The slice is the caller's.
func (t *Tokenizer) Bytes(id int32) []byte {
	s, ok := t.piece(id, false)
	if !ok {
		return nil
	}
	return []byte(s)
}

// piece returns the text of a token; special includes tokens that have none of their own, by their name.
func (t *Tokenizer) piece(id int32, special bool) (string, bool) {
	if !t.has(id) {
		return "", false
	}
	switch int32(t.kind[id]) {
	case TypeControl, TypeUnknown, TypeUnused:
		if !special {
			return "", false
		}
	}
	return t.raw(id), true
}

// Decode returns the text of the ids, which are taken to be a whole text: a space that [Tokenizer.Encode] put in front
// (AddSpacePrefix) is taken off again. With special, tokens without text of their own appear by their name. Ids outside the
// vocabulary are left out, and bytes that are not UTF-8 become U+FFFD, one a byte.
func (t *Tokenizer) Decode(ids []int32, special bool) string {
	var b strings.Builder
	s := t.NewStream(special)
	strip := t.prefix
	for _, id := range ids {
		text, matched := s.Push(id), t.matched(id)
		if strip && !matched {
			text = strings.TrimPrefix(text, " ")
		}
		b.WriteString(text)
		if t.has(id) {
			strip = t.prefix && matched
		}
	}
	b.WriteString(s.Flush())
	return b.String()
}

// matched reports whether a token is one that is found in the text itself, after which a text starts anew.
func (t *Tokenizer) matched(id int32) bool {
	if !t.has(id) {
		return false
	}
	k := int32(t.kind[id])
	return k == TypeControl || k == TypeUserDefined || k == TypeUnknown
}

// Stream decodes a generation as it comes, without ever giving half a character away. It continues a text: no space is
// taken off its front.
//
// Owns: a Stream belongs to one goroutine.
type Stream struct {
	t       *Tokenizer
	special bool
	pending [utf8.UTFMax]byte // the beginning of a sequence that later tokens may complete
	n       int
}

// NewStream returns a stream; with special, tokens without text of their own appear by their name.
func (t *Tokenizer) NewStream(special bool) *Stream { return &Stream{t: t, special: special} }

// Push returns the text that is certain once id has come: what was held back before, and the token's own text but for an
// unfinished UTF-8 sequence at its end. A byte that cannot become part of a sequence any more is U+FFFD.
func (s *Stream) Push(id int32) string {
	piece, ok := s.t.piece(id, s.special)
	if !ok {
		return ""
	}
	if s.n == 0 && utf8.ValidString(piece) {
		return piece
	}
	var b strings.Builder
	text := string(s.pending[:s.n]) + piece
	s.n = 0
	for text != "" {
		if !utf8.FullRuneInString(text) {
			s.n = copy(s.pending[:], text)
			break
		}
		r, n := utf8.DecodeRuneInString(text)
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

// Flush returns what was held back, as U+FFFD for each byte, and empties the stream; call it when the generation ends.
func (s *Stream) Flush() string {
	n := s.n
	s.n = 0
	return strings.Repeat(string(utf8.RuneError), n)
}
