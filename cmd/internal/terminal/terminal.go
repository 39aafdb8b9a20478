// Package terminal makes text that a model, a file, a page or a server wrote safe to show to a person.
package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Text is [Exact] without carriage returns, which many files end their lines with.
func Text(s string) string { return Exact(strings.ReplaceAll(s, "\r", "")) }

// Exact spells out the control characters of s, which could move the cursor, hide or fake text, or set the clipboard: an
// escape becomes \x1b. Line breaks and tabs stay.
func Exact(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD") // a terminal may take a byte above 0x7f for a control
	if strings.IndexFunc(s, obeyed) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if obeyed(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is [Text] on one line: white space of any kind becomes single spaces.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// Short is [Line] with at most n characters, behind which "…" stands for the rest.
func Short(s string, n int) string {
	s = Line(s)
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// First is the first line of s, behind which "…" stands for more of them.
func First(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		line += " …"
	}
	return Exact(line)
}

// obeyed reports whether a terminal may do something else with r than show it. What turns the direction of text round
// counts, too: it can make a name look like another.
func obeyed(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
