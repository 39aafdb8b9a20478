package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// reader parses CommonMark with tables, strikethrough and task lists.
var reader = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()

// walker collects blocks.
type walker struct {
	source []byte
	blocks []*Block
	// beforeLast is the number of blocks that come before the last top-level node.
	beforeLast    int
	indent, quote int
	marker        string
}

// parse reads source and returns its blocks and the offset of its last top-level block, or 0 when there is at most one.
// With growing, a fence that the source leaves open is marked so.
func parse(source []byte, growing bool) (*walker, int) {
	if hostile(source) {
		return asIs(source), 0
	}
	w := &walker{source: source}
	root := reader.Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.NextSibling() == nil {
			w.beforeLast = len(w.blocks)
		}
		w.block(n)
	}
	lastNode := root.LastChild()
	if lastNode == nil {
		return w, 0
	}
	if growing && len(w.blocks) > 0 {
		if b := w.blocks[len(w.blocks)-1]; b.Kind == Code && !fenceEnded(source, lastNode) {
			open := *b
			open.Open = true
			w.blocks[len(w.blocks)-1] = &open
		}
	}
	if lastNode.PreviousSibling() == nil {
		return w, 0
	}
	at := lastNode.Pos()
	if at <= 0 || at > len(source) {
		return w, 0
	}
	return w, bytes.LastIndexByte(source[:at], '\n') + 1
}

// fenceEnded reports whether the fence that the source ends with was closed: whether its last line is one of at least
// three backticks or tildes and nothing else, after a line that opened it.
func fenceEnded(source []byte, last ast.Node) bool {
	for last.LastChild() != nil && last.LastChild().Type() == ast.TypeBlock {
		last = last.LastChild()
	}
	if _, ok := last.(*ast.FencedCodeBlock); !ok {
		return true // indented code ends at any line
	}
	trimmed := bytes.TrimRight(source, " \t\r\n")
	line := bytes.TrimLeft(trimmed[bytes.LastIndexByte(trimmed, '\n')+1:], " \t>")
	if len(line) < 3 || (line[0] != '`' && line[0] != '~') || len(bytes.Trim(line, string(line[:1]))) > 0 {
		return false
	}
	// An opening line of a fence without a language looks the same as one that closes.
	lines := last.Lines()
	start := last.Pos()
	if lines.Len() > 0 {
		start = lines.At(lines.Len() - 1).Stop
		return len(bytes.TrimSpace(trimmed[min(start, len(trimmed)):])) > 0
	}
	return bytes.Count(trimmed[max(0, min(start, len(trimmed))):], []byte("\n")) > 0
}

func (w *walker) add(b Block) {
	b.Indent, b.Quote, b.Marker = min(w.indent, MaxNesting), min(w.quote, MaxNesting), w.marker
	w.marker = ""
	w.blocks = append(w.blocks, &b)
}

func (w *walker) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.block(c)
	}
}

func (w *walker) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.add(Block{Kind: Heading, Level: n.Level, Spans: w.spans(n)})
	case *ast.FencedCodeBlock:
		lang := strings.ToLower(string(n.Language(w.source)))
		w.add(Block{Kind: Code, Lang: lang, Text: w.lines(n)})
	case *ast.CodeBlock:
		w.add(Block{Kind: Code, Text: w.lines(n)})
	case *ast.ThematicBreak:
		w.add(Block{Kind: Rule})
	case *ast.Blockquote:
		w.quote++
		w.children(n)
		w.quote--
	case *ast.List:
		w.list(n)
	case *east.Table:
		w.add(Block{Kind: Table, Text: w.table(n)})
	case *ast.HTMLBlock:
		s := w.lines(n)
		if n.HasClosure() {
			s += string(n.ClosureLine.Value(w.source))
		}
		w.add(Block{Kind: Paragraph, Spans: []Span{{Text: strings.TrimRight(s, "\n")}}})
	case *ast.LinkReferenceDefinition:
		// Links show where they lead; the definition itself is no text.
	default:
		if sp := w.spans(n); len(sp) > 0 {
			w.add(Block{Kind: Paragraph, Spans: sp})
		}
	}
}

func (w *walker) list(n *ast.List) {
	w.indent++
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		w.marker = "•"
		if n.IsOrdered() {
			w.marker = strconv.Itoa(number) + "."
			number++
		}
		before := len(w.blocks)
		w.children(item)
		if len(w.blocks) == before {
			w.add(Block{Kind: Paragraph})
		}
	}
	w.marker = ""
	w.indent--
}

func (w *walker) lines(n ast.Node) string {
	var s strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		s.Write(at.Value(w.source))
	}
	return strings.TrimRight(s.String(), "\n")
}

// spans returns the text inside a block.
func (w *walker) spans(n ast.Node) []Span {
	var out []Span
	w.inline(n, 0, &out)
	for len(out) > 0 {
		last := &out[len(out)-1]
		last.Text = strings.TrimRight(last.Text, "\n ")
		if last.Text != "" {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

func (w *walker) inline(n ast.Node, style Style, out *[]Span) {
	put := func(s string, st Style) {
		if s == "" {
			return
		}
		s = strings.ReplaceAll(s, "\t", "    ")
		if k := len(*out); k > 0 && (*out)[k-1].Style == st {
			(*out)[k-1].Text += s
			return
		}
		*out = append(*out, Span{s, st})
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			put(plain(c, w.source), style)
			if c.HardLineBreak() || c.SoftLineBreak() {
				put("\n", style)
			}
		case *ast.String:
			put(string(c.Value), style)
		case *ast.CodeSpan:
			w.inline(c, style|Mono, out)
		case *ast.Emphasis:
			if c.Level >= 2 {
				w.inline(c, style|Bold, out)
			} else {
				w.inline(c, style|Italic, out)
			}
		case *east.Strikethrough:
			w.inline(c, style|Strike, out)
		case *ast.Link:
			before := len(*out)
			w.inline(c, style|Link, out)
			w.address(put, (*out)[before:], string(c.Destination), style)
		case *ast.Image:
			put("image: ", style|Faint)
			before := len(*out)
			w.inline(c, style|Link, out)
			w.address(put, (*out)[before:], string(c.Destination), style)
		case *ast.AutoLink:
			put(string(c.Label(w.source)), style|Link)
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				at := c.Segments.At(i)
				put(string(at.Value(w.source)), style)
			}
		case *east.TaskCheckBox:
			if c.IsChecked {
				put("[x] ", style|Mono)
			} else {
				put("[ ] ", style|Mono)
			}
		default:
			w.inline(c, style, out)
		}
	}
}

// address writes where a link leads, unless its text says so: links are shown, not followed.
func (w *walker) address(put func(string, Style), shown []Span, to string, style Style) {
	var s strings.Builder
	for _, sp := range shown {
		s.WriteString(sp.Text)
	}
	if to != "" && !strings.HasSuffix(s.String(), to) {
		put(" ("+to+")", style|Faint)
	}
}

// plain returns the text of a node, with entities and escapes resolved outside of code.
func plain(t *ast.Text, source []byte) string {
	v := t.Segment.Value(source)
	if t.IsRaw() {
		return string(bytes.ReplaceAll(v, []byte("\n"), []byte(" ")))
	}
	return unescape(v)
}

// table lays a table out in columns of equal width.
func (w *walker) table(t *east.Table) string {
	var rows [][]string
	var widths []int
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			var s strings.Builder
			for _, sp := range w.spans(c) {
				s.WriteString(strings.ReplaceAll(sp.Text, "\n", " "))
			}
			if len(row) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(row)] = max(widths[len(row)], utf8.RuneCountInString(s.String()))
			row = append(row, s.String())
		}
		rows = append(rows, row)
	}
	var out strings.Builder
	for i, row := range rows {
		for j, width := range widths {
			cell := ""
			if j < len(row) {
				cell = row[j]
			}
			pad := width - utf8.RuneCountInString(cell)
			left := 0
			if j < len(t.Alignments) {
				switch t.Alignments[j] {
				case east.AlignRight:
					left = pad
				case east.AlignCenter:
					left = pad / 2
				}
			}
			if j > 0 {
				out.WriteString(" │ ")
			}
			out.WriteString(strings.Repeat(" ", left) + cell)
			if j < len(widths)-1 {
				out.WriteString(strings.Repeat(" ", pad-left))
			}
		}
		out.WriteByte('\n')
		if i == 0 {
			for j, width := range widths {
				if j > 0 {
					out.WriteString("─┼─")
				}
				out.WriteString(strings.Repeat("─", width))
			}
			out.WriteByte('\n')
		}
	}
	return strings.TrimRight(out.String(), "\n")
}
