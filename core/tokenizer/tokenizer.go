package tokenizer

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tokenizer encodes and decodes with one vocabulary.
//
// Owns: a Tokenizer is immutable but for a cache of bounded size, and safe for concurrent use.
type Tokenizer struct {
	vocab *Vocab
	kind  []byte // type of every token
	end   []bool // ends a generation

	prefix bool // a text is encoded with a space in front

	text    string   // the bytes of all tokens, one after the other
	offsets []uint32 // where a token's bytes begin in text; one more than tokens

	words    map[string]int32 // bytes of the normal tokens: what merging can produce
	others   map[string]int32 // vocabulary text of all other tokens
	specials specials
	byByte   [256]int32 // token of a byte; -1 when none
	unk      int32      // what stands for text that cannot be spelled; -1 when nothing may

	model model
	cache wordCache
}

// model encodes text without special tokens.
type model interface {
	// encode appends the ids of a text; start says that it begins the whole text or follows a special token.
	encode(dst []int32, text string, start bool) []int32
}

// Options says how [Tokenizer.Encode] treats a text.
type Options struct {
	ParseSpecial bool // the text is trusted: the spelling of a control token becomes that token
	AddSpecial   bool // add BOS and EOS where the vocabulary says so
}

// Part is a piece of a rendered prompt.
type Part struct {
	Text    string
	Special bool // from the template: may spell control tokens
}

// New builds a tokenizer; it keeps v.
//
// Errors: [UnsupportedError] and [VocabError], as [FromMetadata]. Of tokens with the same bytes the last is produced.
// Merges that name or make a token that is not a normal one have no effect; a merge without two sides is an error.
func New(v *Vocab) (*Tokenizer, error) {
	rule, err := v.rule()
	if err != nil {
		return nil, err
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	t := &Tokenizer{vocab: v, kind: v.kinds(), end: make([]bool, len(v.Tokens)), unk: -1}
	t.prefix = v.Model == ModelSPM && v.AddSpacePrefix
	t.cache.seed = maphash.MakeSeed()
	for _, id := range v.ends() {
		t.end[id] = true
	}
	t.index()
	if v.UNK >= 0 && !t.IsControl(v.UNK) {
		t.unk = v.UNK
	}
	if v.Model == ModelSPM {
		t.model = newSPM(t)
		return t, nil
	}
	t.model, err = newBPE(t, rule)
	return t, err
}

// index fills the tables that find a token by its bytes.
func (t *Tokenizer) index() {
	v := t.vocab
	size := 0
	for _, s := range v.Tokens {
		size += len(s)
	}
	text := make([]byte, 0, size)
	t.offsets = make([]uint32, len(v.Tokens)+1)
	spelled := make([]bool, len(v.Tokens)) // by the rules for normal tokens: merging may produce it
	for i, s := range v.Tokens {
		switch int32(t.kind[i]) {
		case TypeNormal:
			if v.Model == ModelSPM {
				text, spelled[i] = appendSpaces(text, s)
			} else {
				text, spelled[i] = appendAlphabet(text, s)
			}
		case TypeByte:
			if b, ok := byteToken(s); ok {
				text = append(text, b)
			}
		default:
			text = append(text, s...)
		}
		t.offsets[i+1] = uint32(len(text))
	}
	t.text = string(text)
	t.words = make(map[string]int32, len(v.Tokens))
	t.others = make(map[string]int32)
	for b := range t.byByte {
		t.byByte[b] = -1
	}
	for i := range v.Tokens {
		id, bytes := int32(i), t.raw(int32(i))
		if spelled[i] && bytes != "" {
			t.words[bytes] = id
			continue
		}
		t.others[v.Tokens[i]] = id
		switch int32(t.kind[i]) {
		case TypeByte:
			if len(bytes) == 1 {
				t.byByte[bytes[0]] = id
			}
		case TypeControl, TypeUnknown:
			t.specials.add(t.spelling(id), id, false)
		case TypeUserDefined:
			t.specials.add(t.spelling(id), id, true)
		}
	}
}

// spelling returns the text in which a special token is found.
func (t *Tokenizer) spelling(id int32) string {
	if t.vocab.Model == ModelSPM {
		return strings.ReplaceAll(t.raw(id), blockSpace, " ")
	}
	return t.raw(id)
}

// raw returns the bytes of a token of any type; id must be in range.
func (t *Tokenizer) raw(id int32) string { return t.text[t.offsets[id]:t.offsets[id+1]] }

// Encode returns the ids of a text.
func (t *Tokenizer) Encode(text string, opt Options) []int32 {
	var out []int32
	if opt.AddSpecial && t.vocab.AddBOS && t.vocab.BOS >= 0 {
		out = append(out, t.vocab.BOS)
	}
	out = t.encode(out, []Part{{Text: text, Special: opt.ParseSpecial}})
	if opt.AddSpecial && t.vocab.AddEOS && t.vocab.EOS >= 0 {
		out = append(out, t.vocab.EOS)
	}
	return out
}

// EncodeParts returns the ids of the text that the parts make together. Words and merges cross the borders between parts,
// so the ids are those of the rendered prompt, except that a control token must lie wholly in special parts.
// BOS and EOS are not added: a template writes them itself.
func (t *Tokenizer) EncodeParts(parts []Part) []int32 { return t.encode(nil, parts) }

// join returns the text that the parts make together. SentencePiece reads U+2581 as the space that it stands for in tokens
// before anything else; the parts are changed with it, so that they still make the text.
func (t *Tokenizer) join(parts []Part) (string, []Part) {
	if t.vocab.Model == ModelSPM {
		plain := make([]Part, len(parts))
		for i, p := range parts {
			plain[i] = Part{Text: strings.ReplaceAll(p.Text, blockSpace, " "), Special: p.Special}
		}
		parts = plain
	}
	if len(parts) == 1 {
		return parts[0].Text, parts
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String(), parts
}

// encode appends the ids of the text that the parts make together.
func (t *Tokenizer) encode(dst []int32, parts []Part) []int32 {
	text, parts := t.join(parts)
	dst = slices.Grow(dst, len(text)/4)
	fragment, start := 0, true // start of the text not yet encoded, and whether it opens the text or follows a special
	read := 0                  // bytes in the parts before parts[0]
	trusted := 0               // the end of the trusted text around i, when it is beyond i
	for i := 0; i < len(text); {
		if t.specials.root[text[i]] == 0 {
			i++
			continue
		}
		for len(parts) > 0 && read <= i {
			if p := parts[0]; p.Special {
				trusted = read + len(p.Text)
			}
			read += len(parts[0].Text)
			parts = parts[1:]
			// A special part continues the one before it.
			for read > i && trusted == read && len(parts) > 0 && (parts[0].Special || parts[0].Text == "") {
				read += len(parts[0].Text)
				trusted = read
				parts = parts[1:]
			}
		}
		id, end := t.specials.match(text, i, trusted)
		if id < 0 {
			i++
			continue
		}
		if fragment < i {
			dst = t.model.encode(dst, text[fragment:i], start)
		}
		dst = append(dst, id)
		i, fragment, start = end, end, true
	}
	if fragment < len(text) {
		dst = t.model.encode(dst, text[fragment:], start)
	}
	return dst
}

// maxWord is the longest word, in bytes, that is merged as one; it bounds the scratch memory. A longer one, which no real
// text has, is cut.
const maxWord = 1 << 22

// cut returns where to end a piece of at most maxWord bytes, between two runes.
func cut(word string) int {
	if len(word) <= maxWord {
		return len(word)
	}
	n := maxWord
	for n > maxWord-utf8.UTFMax && !utf8.RuneStart(word[n]) {
		n--
	}
	return n
}

// Size returns the number of tokens.
func (t *Tokenizer) Size() int { return len(t.vocab.Tokens) }

// Vocab returns the vocabulary that the tokenizer was made from; it must not be changed.
func (t *Tokenizer) Vocab() *Vocab { return t.vocab }

// IsControl reports whether id is a control token: one that marks structure and has no text.
func (t *Tokenizer) IsControl(id int32) bool { return t.has(id) && int32(t.kind[id]) == TypeControl }

// IsEOG reports whether id ends a generation.
func (t *Tokenizer) IsEOG(id int32) bool { return t.has(id) && t.end[id] }

func (t *Tokenizer) has(id int32) bool { return id >= 0 && int(id) < len(t.kind) }

// ID returns the token whose text in the vocabulary is exactly this, such as "<|im_end|>" or "Ġhello".
func (t *Tokenizer) ID(token string) (int32, bool) {
	if id, ok := t.others[token]; ok {
		return id, true
	}
	var bytes []byte
	if t.vocab.Model == ModelSPM {
		bytes, _ = appendSpaces(nil, token)
	} else {
		bytes, _ = appendAlphabet(nil, token)
	}
	id, ok := t.words[string(bytes)]
	if !ok || t.vocab.Tokens[id] != token {
		return -1, false
	}
	return id, true
}

// String describes the tokenizer in a few words.
func (t *Tokenizer) String() string {
	if t.vocab.Pre == "" {
		return fmt.Sprintf("%s, %d tokens", t.vocab.Model, t.Size())
	}
	return fmt.Sprintf("%s/%s, %d tokens", t.vocab.Model, t.vocab.Pre, t.Size())
}
