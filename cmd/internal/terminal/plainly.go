package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Plainly is [Exact] for what a person is asked to allow: characters that cannot be seen, spaces that are none, and letters
// that look like those of the Latin words they stand in are written as \u{…}.
func Plainly(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || obeyed(r) }) < 0 {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); {
		if !wordy(runes[i]) {
			if r := runes[i]; obeyed(r) || mark(r) || unseen(r) && !joins(runes, i) {
				fmt.Fprintf(&b, `\u{%x}`, r)
			} else {
				b.WriteRune(r)
			}
			i++
			continue
		}
		end := i
		for end < len(runes) && wordy(runes[end]) {
			end++
		}
		word(&b, runes[i:end])
		i = end
	}
	return b.String()
}

// lookalike are the scripts with letters that look like Latin ones.
var lookalike = []*unicode.RangeTable{
	unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret, unicode.Georgian,
	unicode.Tifinagh, unicode.Canadian_Aboriginal,
}

// word writes a word; where it mixes Latin letters with those of a script that looks alike, the others are spelled out.
func word(b *strings.Builder, runes []rune) {
	latin := false
	for _, r := range runes {
		latin = latin || unicode.Is(unicode.Latin, r)
	}
	for _, r := range runes {
		switch {
		case unseen(r), latin && unicode.IsOneOf(lookalike, r), wide(r), mark(r):
			fmt.Fprintf(b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
}

// wordy reports whether a rune is of a word.
func wordy(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && !unseen(r) || r == '_'
}

// wide reports whether r is a wide form of an ASCII character, or one of the letters for mathematics.
func wide(r rune) bool {
	return r >= 0xff01 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d7ff
}

// mark reports whether r looks like one of the marks that programs are made of and is not it, or is a Roman number.
func mark(r rune) bool {
	switch r {
	case 0x1c3, 0x37e, 0x589, 0x5c3, 0x2024, 0x2044, 0x2215, 0x2216, 0x2236, 0xa789: // like ! ; : : . / / \ : :
		return true
	}
	return r >= 0x2160 && r <= 0x217f
}

// unseen reports whether r leaves no mark of its own, or looks like a plain space.
func unseen(r rune) bool {
	switch {
	case r == ' ' || r == '\n' || r == '\t':
		return false
	case unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Co):
		return true
	}
	switch r {
	case 0x2800, 0x16fe4, 0x1d159: // the empty braille cell, a filler, a note without a head
		return true
	}
	return false
}

// joins reports whether an unseen rune makes an emoji of the symbol before it, as in a red heart or a family.
func joins(runes []rune, i int) bool {
	if runes[i] != 0x200d && runes[i] != 0xfe0f || i == 0 {
		return false
	}
	before := runes[i-1]
	return unicode.In(before, unicode.So, unicode.Sk) || before == 0xfe0f && runes[i] == 0x200d
}
