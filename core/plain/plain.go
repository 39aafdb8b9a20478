// Package plain makes short texts of strangers (plugins, models, files) fit to stand within a message: on one line, with
// nothing in them that a terminal obeys.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line of printable characters, at most n of them, behind which "…" says that there were more. A tab
// becomes a space; whatever else is not printable, or not UTF-8, becomes U+FFFD.
func Line(s string, n int) string {
	var b strings.Builder
	count := 0
	for _, r := range s {
		if count == n {
			b.WriteRune('…')
			break
		}
		count++
		switch {
		case r == '\t':
			r = ' '
		case !unicode.IsPrint(r):
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Is reports whether s is one line of printable characters in UTF-8.
func Is(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
