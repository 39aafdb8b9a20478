package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds the nesting of what lenient reads.
const maxDepth = 200

// syntaxError is what is wrong with a JSON text, for the model.
type syntaxError struct {
	at     int
	reason string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.at, e.reason) }

// lenient turns text that is almost JSON into JSON, as far as it can mean one thing only.
type lenient struct {
	in       string
	at       int
	out      []byte
	repaired []string
	depth    int
}

// mend returns the text as valid JSON, with the repairs that it took.
//
// Errors: *syntaxError.
func mend(text string) (json.RawMessage, []string, error) {
	if json.Valid([]byte(text)) {
		return json.RawMessage(strings.TrimSpace(text)), nil, nil
	}
	l := &lenient{in: text}
	if err := l.value(); err != nil {
		return nil, nil, err
	}
	rest := strings.TrimSpace(l.in[l.at:])
	if strings.Trim(rest, "}] \t\r\n") != "" {
		return nil, nil, &syntaxError{l.at, "text after the end of the JSON value"}
	} else if rest != "" {
		l.note("dropped an extra closing brace")
	}
	if !json.Valid(l.out) {
		return nil, nil, &syntaxError{0, "not JSON"}
	}
	return l.out, l.repaired, nil
}

func (l *lenient) note(repair string) {
	if !slices.Contains(l.repaired, repair) {
		l.repaired = append(l.repaired, repair)
	}
}

func (l *lenient) fail(format string, args ...any) error {
	return &syntaxError{l.at, fmt.Sprintf(format, args...)}
}

func (l *lenient) space() {
	for l.at < len(l.in) && isSpace(l.in[l.at]) {
		l.at++
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (l *lenient) peek() byte {
	l.space()
	if l.at == len(l.in) {
		return 0
	}
	return l.in[l.at]
}

func (l *lenient) value() error {
	if l.depth++; l.depth > maxDepth {
		return l.fail("nested too deeply")
	}
	defer func() { l.depth-- }()
	switch c := l.peek(); {
	case c == 0:
		return l.fail("the value is missing")
	case c == '{':
		return l.sequence('}', true)
	case c == '[':
		return l.sequence(']', false)
	case c == '"' || c == '\'':
		return l.text(c)
	case c == '-' || c >= '0' && c <= '9':
		return l.number()
	default:
		return l.word()
	}
}

// sequence reads an object or an array.
func (l *lenient) sequence(end byte, keyed bool) error {
	l.out = append(l.out, l.in[l.at])
	l.at++
	for n := 0; ; n++ {
		c := l.peek()
		if c == ',' && n > 0 {
			l.at++
			switch c = l.peek(); c {
			case end, 0:
				l.note("dropped a trailing comma")
			case ',':
				return l.fail("two commas in a row")
			default:
				l.out = append(l.out, ", "...)
			}
		} else if n > 0 && c != end && c != 0 {
			return l.fail("a comma or %q is missing before %s", string(end), l.near())
		}
		switch {
		case c == end:
			l.at++
			l.out = append(l.out, end)
			return nil
		case c == 0:
			l.note("added a missing closing brace")
			l.out = append(l.out, end)
			return nil
		}
		if keyed {
			if err := l.key(); err != nil {
				return err
			}
		}
		if err := l.value(); err != nil {
			return err
		}
	}
}

func (l *lenient) key() error {
	switch c := l.peek(); {
	case c == '"' || c == '\'':
		if err := l.text(c); err != nil {
			return err
		}
	case isWord(c):
		start := l.at
		for l.at < len(l.in) && isWord(l.in[l.at]) {
			l.at++
		}
		l.out = append(l.out, quote(l.in[start:l.at])...)
		l.note("quoted a key")
	default:
		return l.fail("a key in double quotes is missing before %s", l.near())
	}
	if l.peek() != ':' {
		return l.fail("a colon is missing before %s", l.near())
	}
	l.at++
	l.out = append(l.out, ": "...)
	return nil
}

// text reads a string.
func (l *lenient) text(mark byte) error {
	start := l.at
	l.at++
	l.out = append(l.out, '"')
	for l.at < len(l.in) {
		c := l.in[l.at]
		switch {
		case c == '\\':
			if err := l.escape(); err != nil {
				return err
			}
			continue
		case c == mark:
			l.at++
			back := l.at
			if next := l.peek(); next != 0 && !strings.ContainsRune(",:}]", rune(next)) {
				l.at = back
				if mark == '"' {
					return l.fail(`a double quote inside a string must be written as \" (or a comma is missing) before %s`, l.near())
				}
				return l.fail("strings must stand in double quotes; unclear where the one in single quotes ends, before %s", l.near())
			}
			l.at = back
			if mark == '\'' {
				l.note("read single quotes as double quotes")
			}
			l.out = append(l.out, '"')
			return nil
		case c == '"':
			l.out = append(l.out, `\"`...) // inside single quotes
		case c < ' ':
			l.out = append(l.out, strings.Trim(string(quote(string(rune(c)))), `"`)...)
			l.note("escaped a line break or tab in a string")
		default:
			l.out = append(l.out, c)
		}
		l.at++
	}
	l.at = start
	return l.fail("the string that begins with %s is not closed", l.near())
}

func (l *lenient) escape() error {
	if l.at+1 == len(l.in) {
		return l.fail("the text ends in a backslash")
	}
	switch c := l.in[l.at+1]; c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		l.out = append(l.out, '\\', c)
	case '\'':
		l.out = append(l.out, '\'')
		l.note(`read \' as '`)
	case 'u':
		if l.at+6 > len(l.in) || strings.Trim(l.in[l.at+2:l.at+6], "0123456789abcdefABCDEF") != "" {
			return l.fail(`\u takes four hexadecimal digits`)
		}
		l.out = append(l.out, l.in[l.at:l.at+6]...)
		l.at += 4
	default:
		return l.fail(`\%c is not a JSON escape; write a backslash as \\`, c)
	}
	l.at += 2
	return nil
}

func (l *lenient) number() error {
	start := l.at
	for l.at < len(l.in) && strings.IndexByte("+-.eE0123456789", l.in[l.at]) >= 0 {
		l.at++
	}
	n := l.in[start:l.at]
	if !json.Valid([]byte(n)) {
		l.at = start
		return l.fail("%.40s is not a number", n)
	}
	l.out = append(l.out, n...)
	return nil
}

func (l *lenient) word() error {
	start := l.at
	for l.at < len(l.in) && isWord(l.in[l.at]) {
		l.at++
	}
	w := l.in[start:l.at]
	switch w {
	case "true", "false", "null":
		l.out = append(l.out, w...)
		return nil
	case "True", "False":
		l.out = append(l.out, strings.ToLower(w)...)
	case "None":
		l.out = append(l.out, "null"...)
	default:
		l.at = start
		return l.fail("a JSON value is missing before %s", l.near())
	}
	l.note("read " + w + " as JSON")
	return nil
}

// near quotes the text ahead.
func (l *lenient) near() string {
	l.space()
	rest := l.in[l.at:]
	if rest == "" {
		return "the end"
	}
	return fmt.Sprintf("%q", clip(rest, 20))
}

// clip shortens text to about n bytes, at a character's border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
