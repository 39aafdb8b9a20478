package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pooled/pooled/core/tokenizer"
)

// usualRoles are trusted: a template may build a control token from them.
var usualRoles = map[string]bool{
	RoleSystem: true, RoleUser: true, RoleAssistant: true, RoleTool: true, RoleDeveloper: true,
	"function": true, "ipython": true, "model": true, "observation": true,
}

// First and last code point of the private use planes, from which marks are taken.
const (
	firstMark = 0xf0000
	lastMark  = 0x10fffd
)

// spellings are the texts that an encoder may turn into control tokens.
type spellings struct {
	anchors map[rune]bool // first and last characters
	all     string        // lower case, each between zero bytes: what a middle is looked up in
	byFirst map[rune][]string
	longest int
}

// newSpellings collects the control tokens of a vocabulary.
func newSpellings(t *tokenizer.Tokenizer) *spellings {
	s := &spellings{anchors: map[rune]bool{}, byFirst: map[rune][]string{}}
	var all strings.Builder
	v := t.Vocab()
	for id, token := range v.Tokens {
		unknown := id < len(v.Types) && v.Types[id] == tokenizer.TypeUnknown
		if token == "" || !unknown && !t.IsControl(int32(id)) {
			continue
		}
		if v.Model == tokenizer.ModelSPM {
			token = strings.ReplaceAll(token, "\u2581", " ")
		}
		first, _ := utf8.DecodeRuneInString(token)
		last, _ := utf8.DecodeLastRuneInString(token)
		s.anchors[first], s.anchors[last] = true, true
		s.byFirst[first] = append(s.byFirst[first], token)
		s.longest = max(s.longest, len(token))
		all.WriteByte(0)
		all.WriteString(strings.ToLower(token))
	}
	for _, tokens := range s.byFirst {
		slices.SortFunc(tokens, func(a, b string) int { return len(b) - len(a) })
	}
	s.all = all.String()
	return s
}

// at returns the length of the longest control token that text starts with, or 0.
func (s *spellings) at(text string) int {
	first, _ := utf8.DecodeRuneInString(text)
	for _, token := range s.byFirst[first] {
		if strings.HasPrefix(text, token) {
			return len(token)
		}
	}
	return 0
}

// marks replaces characters of untrusted strings for one rendering.
type marks struct {
	*spellings
	used   map[rune]bool // private-use characters of the input and the template
	next   rune
	byRune map[rune]rune // character → mark
	back   map[rune]rune
}

func (s *spellings) newMarks() *marks {
	return &marks{spellings: s, used: map[rune]bool{}, next: firstMark, byRune: map[rune]rune{}, back: map[rune]rune{}}
}

// avoid notes the private-use characters of a text, so that none of them becomes a mark.
func (m *marks) avoid(text string) {
	if strings.IndexFunc(text, isPrivate) < 0 {
		return
	}
	for _, r := range text {
		if isPrivate(r) {
			m.used[r] = true
		}
	}
}

func isPrivate(r rune) bool { return r >= firstMark }

// mark returns s with its dangerous characters replaced.
func (m *marks) mark(s string) string {
	first := -1 // of a string that may be the middle of a control token
	if trimmed := strings.TrimSpace(s); trimmed != "" && len(trimmed) <= m.longest &&
		strings.Contains(m.all, strings.ToLower(trimmed)) {
		first = strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	return m.replace(s, first)
}

// anchored returns s with marks only where a control token could begin or end.
func (m *marks) anchored(s string) string { return m.replace(s, -1) }

// replace marks the anchors of s and the character at offset first.
func (m *marks) replace(s string, first int) string {
	if first < 0 && strings.IndexFunc(s, func(r rune) bool { return m.anchors[r] }) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		if i == first || m.anchors[r] {
			r = m.of(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// of returns the mark of a character, and gives the other case of a letter one too. It returns the character itself when
// no mark is left, which valid then reports.
func (m *marks) of(r rune) rune {
	if r == utf8.RuneError {
		return r // cannot begin a control token that is spelled in UTF-8
	}
	for _, c := range []rune{r, unicode.ToUpper(r), unicode.ToLower(r)} {
		if _, ok := m.byRune[c]; ok {
			continue
		}
		for m.used[m.next] || m.next&0xffff >= 0xfffe {
			m.next++
		}
		if m.next > lastMark {
			return r
		}
		m.byRune[c], m.back[m.next] = m.next, c
		m.next++
	}
	return m.byRune[r]
}

// valid reports whether there was a mark for every character.
func (m *marks) valid() bool { return m.next <= lastMark }

// json returns the marks as the renderer's field "marks".
func (m *marks) json() []byte {
	out := make(map[string]string, len(m.byRune))
	for r, mark := range m.byRune {
		out[string(r)] = string(mark)
	}
	b, _ := json.Marshal(out) // a map of strings can always be encoded
	return b
}

// prompt is a rendered text that knows which of its characters are untrusted.
type prompt struct {
	text  string
	marks []int // offsets of untrusted characters, ascending
	*spellings
}

// unmark turns a rendering back into text.
func (m *marks) unmark(rendered string) *prompt {
	p := &prompt{spellings: m.spellings}
	var b strings.Builder
	b.Grow(len(rendered))
	for i, r := range rendered {
		if plain, ok := m.back[r]; ok {
			p.marks = append(p.marks, b.Len())
			b.WriteRune(plain)
			continue
		}
		_, size := utf8.DecodeRuneInString(rendered[i:])
		b.WriteString(rendered[i : i+size])
	}
	p.text = b.String()
	return p
}

// trusted reports whether no untrusted character lies in [from, to).
func (p *prompt) trusted(from, to int) bool {
	i, _ := slices.BinarySearch(p.marks, from)
	return i == len(p.marks) || p.marks[i] >= to
}

// controlAt returns the length of the trusted control token at an offset, or 0.
func (p *prompt) controlAt(at int) int {
	if n := p.at(p.text[at:]); n > 0 && p.trusted(at, at+n) {
		return n
	}
	return 0
}

// parts cuts [from, to) for the tokenizer: untrusted characters may not be part of a control token.
func (p *prompt) parts(from, to int) []tokenizer.Part {
	var out []tokenizer.Part
	i, _ := slices.BinarySearch(p.marks, from)
	for at := from; at < to; {
		end := to
		if i < len(p.marks) && p.marks[i] < to {
			end = p.marks[i]
		}
		if end > at {
			out = append(out, tokenizer.Part{Text: p.text[at:end], Special: true})
			at = end
			continue
		}
		_, size := utf8.DecodeRuneInString(p.text[at:])
		if n := len(out); n > 0 && !out[n-1].Special {
			out[n-1].Text += p.text[at : at+size]
		} else {
			out = append(out, tokenizer.Part{Text: p.text[at : at+size]})
		}
		at += size
		i++
	}
	return out
}
