// Package markdown turns the text of an answer into blocks to draw, also while the answer still grows.
//
// A block is what a list shows as one item: a paragraph, a heading, a list item, a fence of code, a table. Blocks that
// did not change keep their pointers, so that what was laid out for them stays good.
package markdown

import (
	"slices"
	"strings"
	"time"
)

// Kind says what a [Block] is.
type Kind uint8

// The kinds.
const (
	Paragraph Kind = iota
	Heading
	Code
	Table
	Rule
)

// Style is a set of ways to draw a [Span].
type Style uint8

// The styles.
const (
	Bold Style = 1 << iota
	Italic
	Mono
	Strike
	Link
	// Faint marks what is an aside, such as the address of a link.
	Faint
)

// Span is text in one style. A line feed in it breaks the line.
type Span struct {
	Text  string
	Style Style
}

// Block is one item to draw. It is not changed once [Document.Blocks] returned it.
type Block struct {
	Kind Kind
	// Level is a heading's, 1 to 6.
	Level int
	// Indent and Quote count the lists and the quotes that the block is in; they are at most [MaxNesting].
	Indent, Quote int
	// Marker is drawn before the first block of a list item: a bullet or a number.
	Marker string
	// Spans are the text of a paragraph or a heading.
	Spans []Span
	// Lang is what a fence says its code is, in lower case.
	Lang string
	// Text is that of code, or of a table in columns of equal width.
	Text string
	// Open says that the fence has not ended: more code may follow.
	Open bool
}

// MaxNesting is the depth of lists and quotes that is still drawn deeper than the one before.
const MaxNesting = 6

// equal reports whether two blocks draw the same.
func (b *Block) equal(c *Block) bool {
	return b.Kind == c.Kind && b.Level == c.Level && b.Indent == c.Indent && b.Quote == c.Quote && b.Marker == c.Marker &&
		b.Lang == c.Lang && b.Text == c.Text && b.Open == c.Open && slices.Equal(b.Spans, c.Spans)
}

// Plain is the block's text without any style.
func (b *Block) Plain() string {
	if b.Kind == Code || b.Kind == Table {
		return b.Text
	}
	var s strings.Builder
	for _, sp := range b.Spans {
		s.WriteString(sp.Text)
	}
	return s.String()
}

// Document is a text and its blocks. The zero value is an empty one. Not safe for concurrent use.
type Document struct {
	source []byte
	blocks []*Block
	// base is where the last top-level block of the source starts; only what follows can still change, and fixed is
	// the number of blocks before it.
	base, fixed int
	dirty       bool
	closed      bool
	// next is when the text may be read again.
	next time.Time
}

// slow is what reading a text may take before it is done less often.
const slow = 5 * time.Millisecond

// Append adds text to the end.
func (d *Document) Append(s string) {
	if s == "" {
		return
	}
	d.source = append(d.source, s...)
	d.dirty, d.closed = true, false
}

// Close says that nothing follows: the text is read once more as a whole, unless it is very long, which settles what a
// later line may have changed, and fences that were never ended count as ended.
func (d *Document) Close() {
	if d.closed {
		return
	}
	d.closed, d.dirty = true, true
	d.next = time.Time{}
	if len(d.source) <= maxReread {
		d.base, d.fixed = 0, 0
	}
}

// Source returns the text.
func (d *Document) Source() string { return string(d.source) }

// Len returns the number of bytes of the text.
func (d *Document) Len() int { return len(d.source) }

// Blocks returns the blocks of the text so far. The slice is valid until the next call of a method.
func (d *Document) Blocks() []*Block {
	start := time.Now()
	if !d.dirty || start.Before(d.next) {
		return d.blocks
	}
	d.dirty = false
	defer func() {
		// Reading takes at most a tenth of the time; what is too long to be read again for each word waits a little.
		if took := time.Since(start); took > slow && !d.closed {
			d.next = start.Add(10 * took)
		}
	}()
	tail, last := parse(d.source[d.base:], !d.closed)
	old := d.blocks[d.fixed:]
	for i, b := range tail.blocks {
		if i < len(old) && old[i].equal(b) {
			tail.blocks[i] = old[i]
		}
	}
	d.blocks = append(d.blocks[:d.fixed], tail.blocks...)
	if last > 0 && !d.closed {
		d.base += last
		d.fixed += tail.beforeLast
	}
	return d.blocks
}
