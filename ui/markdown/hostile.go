package markdown

import (
	"bytes"
	"strings"
)

// The parser takes time in proportion to the square of some things that no answer has many of. Text that has more is
// shown as it is.
const (
	// maxBrackets is the number of opening brackets in text without a blank line between.
	maxBrackets = 1024
	// maxMarkers is the number of quote and list markers that a line may start with.
	maxMarkers = 128
	// maxReread is the size of a document above which [Document.Close] does not read it as a whole once more.
	maxReread = 64 << 10
)

// hostile reports whether source has too much of what is slow to parse.
func hostile(source []byte) bool {
	brackets, fenced := 0, false
	for line := range bytes.Lines(source) {
		bare := bytes.TrimLeft(line, " \t")
		if bytes.HasPrefix(bare, []byte("```")) || bytes.HasPrefix(bare, []byte("~~~")) {
			fenced, brackets = !fenced, 0
			continue
		}
		start := line[:len(line)-len(bytes.TrimLeft(line, " \t>-+*.)0123456789"))]
		if len(start) > maxMarkers && markers(start) > maxMarkers {
			return true
		}
		if len(bytes.TrimSpace(bare)) == 0 {
			brackets = 0
		}
		if !fenced {
			brackets += bytes.Count(line, []byte("["))
		}
		if brackets > maxBrackets {
			return true
		}
	}
	return false
}

// markers counts what can open a quote or a list item at the start of a line: a long rule of one kind of sign does not
// count, for it opens nothing.
func markers(start []byte) int {
	n := bytes.Count(start, []byte(">"))
	for _, sign := range []string{"- ", "+ ", "* ", ". ", ") "} {
		n += bytes.Count(start, []byte(sign))
	}
	return n
}

// asIs returns the source as paragraphs of plain text.
func asIs(source []byte) *walker {
	w := &walker{source: source}
	for _, s := range strings.Split(strings.ReplaceAll(string(source), "\t", "    "), "\n\n") {
		if s = strings.Trim(s, "\n"); s != "" {
			w.add(Block{Kind: Paragraph, Spans: []Span{{Text: s}}})
		}
	}
	return w
}
