// Package highlight splits code into tokens to colour.
package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// Class says what a [Token] is.
type Class uint8

// The classes.
const (
	Plain Class = iota
	Keyword
	Type
	Function
	String
	Number
	Comment
	Operator
	// Inserted and Deleted are lines of a diff.
	Inserted
	Deleted
	// Classes is the number of classes.
	Classes
)

// Token is text of one class, without line feeds.
type Token struct {
	Text  string
	Class Class
}

// MaxSize is the size in bytes above which code stays plain.
const MaxSize = 128 << 10

// Lines splits code into lines of tokens. A language that is not known, or empty, leaves the code plain. Tabs become
// spaces up to the next multiple of four columns.
func Lines(lang, code string) [][]Token {
	if lang != "" && len(code) <= MaxSize {
		if l := lexers.Get(lang); l != nil {
			if lines, ok := lex(chroma.Coalesce(l), code); ok {
				return lines
			}
		}
	}
	return PlainLines(code)
}

// PlainLines splits code into lines without looking at its language.
func PlainLines(code string) [][]Token {
	var b builder
	b.add(Plain, code)
	return b.done()
}

func lex(l chroma.Lexer, code string) (lines [][]Token, ok bool) {
	// A lexer is a table of regular expressions that others wrote; what one of them makes of hostile code must not end
	// the program.
	defer func() {
		if recover() != nil {
			lines, ok = nil, false
		}
	}()
	it, err := l.Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return nil, false
	}
	var b builder
	n := 0
	for t := it(); t != chroma.EOF; t = it() {
		n += len(t.Value)
		b.add(classOf(t.Type), t.Value)
	}
	// Some lexers end the last line where the code does not.
	return b.done(), n == len(code) || n == len(code)+1 && !strings.HasSuffix(code, "\n")
}

func classOf(t chroma.TokenType) Class {
	switch {
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameException:
		return Type
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return Keyword
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameBuiltin, t == chroma.NameDecorator, t == chroma.NameAttribute:
		return Function
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.NameConstant:
		return Number
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Operator):
		return Operator
	case t == chroma.GenericInserted:
		return Inserted
	case t == chroma.GenericDeleted:
		return Deleted
	}
	return Plain
}

const tabWidth = 4

// builder collects tokens line by line.
type builder struct {
	lines [][]Token
	line  []Token
	col   int
}

func (b *builder) add(c Class, s string) {
	for {
		text, rest, found := strings.Cut(s, "\n")
		text = b.expand(strings.TrimSuffix(text, "\r"))
		if text != "" {
			if k := len(b.line); k > 0 && b.line[k-1].Class == c {
				b.line[k-1].Text += text
			} else {
				b.line = append(b.line, Token{text, c})
			}
		}
		if !found {
			return
		}
		b.lines = append(b.lines, b.line)
		b.line, b.col = nil, 0
		s = rest
	}
}

// expand replaces tabs and counts columns.
func (b *builder) expand(s string) string {
	if !strings.Contains(s, "\t") {
		b.col += len([]rune(s))
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if r != '\t' {
			out.WriteRune(r)
			b.col++
			continue
		}
		n := tabWidth - b.col%tabWidth
		out.WriteString(strings.Repeat(" ", n))
		b.col += n
	}
	return out.String()
}

func (b *builder) done() [][]Token {
	if len(b.line) > 0 || len(b.lines) == 0 {
		b.lines = append(b.lines, b.line)
	}
	return b.lines
}
