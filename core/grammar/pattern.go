package grammar

import (
	"fmt"
	"regexp"
	"strings"
)

// Classes of ECMA 262 that the engine's dialect defines otherwise.
const (
	lineEnds = `\n\r\x{2028}\x{2029}`
	spaces   = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
)

var (
	counted  = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
	opening  = regexp.MustCompile(`^\((\?:|\?<[A-Za-z_][A-Za-z0-9_]*>)?`)
	numbered = regexp.MustCompile(`^\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\})`)
	property = regexp.MustCompile(`^\\[pP]\{[A-Za-z_=]+\}`)
)

// translate returns a pattern of JSON Schema (ECMA 262, Unicode) in the dialect of the engine (Rust's regex), in which some of
// it means something else.
func translate(pattern string) (string, error) {
	var b strings.Builder
	for rest := pattern; rest != ""; {
		var n int
		var err error
		switch rest[0] {
		case '\\':
			n, err = translateEscape(&b, rest, false)
		case '[':
			n, err = translateClass(&b, rest)
		case '(':
			n = len(opening.FindString(rest))
			if b.WriteString(rest[:n]); n < len(rest) && n == 1 && rest[1] == '?' {
				err = fmt.Errorf("%.4q", rest)
			}
		case '{':
			n = len(counted.FindString(rest))
			if b.WriteString(rest[:n]); n == 0 {
				err = fmt.Errorf("%.4q", rest)
			}
		case '}':
			n = 1
			b.WriteString(`\}`)
		case '.':
			n = 1
			b.WriteString(`[^` + lineEnds + `]`)
		default:
			n = 1
			b.WriteByte(rest[0])
		}
		if err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	return b.String(), nil
}

// translateEscape translates the escape that a text begins with and returns its length.
func translateEscape(b *strings.Builder, text string, class bool) (int, error) {
	if len(text) < 2 {
		return 0, fmt.Errorf("%q at the end", text)
	}
	for _, known := range []*regexp.Regexp{numbered, property} {
		if n := len(known.FindString(text)); n > 0 {
			b.WriteString(text[:n])
			return n, nil
		}
	}
	switch c := text[1]; {
	case strings.IndexByte("dDwWtnrfv", c) >= 0:
		b.WriteString(text[:2])
	case c == 's' && class:
		b.WriteString(spaces)
	case c == 's':
		b.WriteString(`[` + spaces + `]`)
	case c == 'S':
		b.WriteString(`[^` + spaces + `]`)
	case c == 'b' && class:
		b.WriteString(`\x08`)
	case c == '0' && (len(text) == 2 || text[2] < '0' || text[2] > '9'):
		b.WriteString(`\x00`)
	case strings.IndexByte(`^$\.*+?()[]{}|-`, c) >= 0:
		b.WriteString(text[:2])
	case c == '/':
		b.WriteByte(c)
	default:
		return 0, fmt.Errorf("%.2q", text)
	}
	return 2, nil
}

// translateClass translates the class that a text begins with and returns its length.
func translateClass(b *strings.Builder, text string) (int, error) {
	switch {
	case strings.HasPrefix(text, `[^]`):
		b.WriteString(`(?s:.)`)
		return 3, nil
	case strings.HasPrefix(text, `[]`):
		return 0, fmt.Errorf("%q, which nothing matches", `[]`)
	}
	b.WriteByte('[')
	i := 1
	if strings.HasPrefix(text, `[^`) {
		b.WriteByte('^')
		i = 2
	}
	for i < len(text) {
		switch c := text[i]; {
		case c == ']':
			b.WriteByte(c)
			return i + 1, nil
		case c == '\\':
			n, err := translateEscape(b, text[i:], true)
			if err != nil {
				return 0, err
			}
			i += n
			continue
		case strings.HasPrefix(text[i:], "--"):
			return 0, fmt.Errorf("%q in a class", "--")
		case strings.IndexByte("[&~^", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
		i++
	}
	return 0, fmt.Errorf("a class that does not end")
}

// translateMember translates a pattern in place.
func translateMember(v *value, at string) error {
	pattern, ok := v.scalar.(string)
	if !ok {
		return errorf(at, "a pattern is a string")
	}
	translated, err := translate(pattern)
	if err != nil {
		return errorf(at, "%v cannot be enforced in a pattern", err)
	}
	v.scalar = translated
	return nil
}

// translateKeys translates the patterns of patternProperties in place.
func translateKeys(v *value, at string) error {
	if v.kind != '{' {
		return errorf(at, "this must be an object")
	}
	for i, m := range v.members {
		translated, err := translate(m.key)
		if err != nil {
			return errorf(at+"/"+escape(m.key), "%v cannot be enforced in a pattern", err)
		}
		v.members[i].key = translated
	}
	return nil
}
