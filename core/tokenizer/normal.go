package tokenizer

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalise returns the text in Unicode normal form C.
//
// The library puts a U+034F into a run of more than 30 combining marks (the stream-safe format), which plain NFC, and
// so the models' training, does not; text with such a run is composed here.
//
// Source: Unicode Standard Annex 15; Unicode Standard, section 3.11 (D108 to D117).
func normalise(text string) string {
	if norm.NFC.IsNormalString(text) {
		return text
	}
	if !longMarks(text) {
		return norm.NFC.String(text)
	}
	return compose(decompose(text))
}

// longMarks reports whether a run of combining marks is long enough that the library would break it up. A rune can be
// decomposed into one starter and at most three marks, so runs are counted from half the library's limit on.
func longMarks(text string) bool {
	const limit = 30/2 - 2
	marks := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			marks = 0
			i++
			continue
		}
		p := norm.NFC.PropertiesString(text[i:])
		if p.LeadCCC() == 0 {
			marks = 0
		} else if marks++; marks >= limit {
			return true
		}
		i += max(p.Size(), 1)
	}
	return false
}

// decompose returns the canonical decomposition, with marks in canonical order.
func decompose(text string) []rune {
	var out []rune
	for _, r := range text {
		if d := norm.NFD.PropertiesString(string(r)).Decomposition(); d != nil {
			out = append(out, []rune(string(d))...)
		} else if s, ok := hangul(r); ok {
			out = append(out, s...)
		} else {
			out = append(out, r)
		}
	}
	for i := 0; i < len(out); {
		if ccc(out[i]) == 0 {
			i++
			continue
		}
		end := i
		for end < len(out) && ccc(out[end]) != 0 {
			end++
		}
		slices.SortStableFunc(out[i:end], func(a, b rune) int { return int(ccc(a)) - int(ccc(b)) })
		i = end
	}
	return out
}

// compose joins every mark with the starter before it where a composite exists and no mark between them blocks it.
func compose(in []rune) string {
	out := make([]rune, 0, len(in))
	starter, last := -1, uint8(0) // where the starter lies in out, and the class of the rune after it that was kept last
	for _, r := range in {
		class := ccc(r)
		if starter >= 0 && (last < class || last == 0 && starter == len(out)-1) {
			if c := norm.NFC.String(string([]rune{out[starter], r})); utf8.RuneCountInString(c) == 1 {
				out[starter], _ = utf8.DecodeRuneInString(c)
				continue
			}
		}
		if class == 0 {
			starter, last = len(out), 0
		} else {
			last = class
		}
		out = append(out, r)
	}
	return string(out)
}

func ccc(r rune) uint8 { return norm.NFC.PropertiesString(string(r)).CCC() }

// hangul decomposes a Hangul syllable, which the library's tables do not list.
func hangul(r rune) ([]rune, bool) {
	const base, vowels, tails, count = 0xac00, 21, 28, 11172
	i := r - base
	if i < 0 || i >= count {
		return nil, false
	}
	out := []rune{0x1100 + i/(vowels*tails), 0x1161 + i%(vowels*tails)/tails}
	if tail := i % tails; tail > 0 {
		out = append(out, 0x11a7+tail)
	}
	return out, true
}
