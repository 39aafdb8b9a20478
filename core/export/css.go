package export

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// style returns a style sheet of folder dir with everything in it that it refers to: files as data URLs, imported sheets in
// place of the import. It is closed, so that nothing behind it belongs to it, and holds nothing that a page could take for a
// tag. Imports that stay come first, where alone they count.
func (in *inliner) style(dir, css string) (string, error) {
	kept, body := in.sheet(dir, css, false)
	text := kept + body
	return text, in.spend(len(text))
}

// declarations is style for what an attribute holds.
func (in *inliner) declarations(css string) (string, error) {
	_, text := in.sheet(in.base, css, true)
	return text, in.spend(len(text))
}

func (in *inliner) sheet(dir, css string, declarations bool) (kept, body string) {
	s := sheet{in: in, dir: dir, rest: strings.TrimPrefix(css, "\ufeff"), begun: declarations}
	for s.rest != "" {
		s.next()
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		s.out.WriteByte(s.open[i])
	}
	if s.half != 0 && !declarations && (len(s.open) == 0 || s.open[0] != '}') {
		s.out.WriteString("{}")
	}
	return s.kept.String(), s.out.String()
}

// sheet is a style sheet that is being written.
// Source: https://www.w3.org/TR/css-syntax-3/#tokenization
type sheet struct {
	in    *inliner
	dir   string
	rest  string // what is still to be read
	out   strings.Builder
	kept  strings.Builder // imports that stay
	open  []byte          // what closes the blocks that are open
	set   int             // how deep in blocks texts are references, as in image-set("a.png" 1x); 0: nowhere
	begun bool            // a rule was there, so imports count no longer
	half  byte            // a rule has begun outside of all blocks: '@', or another letter for one that only a block ends
	name  bool            // a name may go on
}

// cut takes n bytes.
func (s *sheet) cut(n int) string {
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}

// next reads a token and writes what becomes of it.
func (s *sheet) next() {
	name := s.name
	c := s.rest[0]
	s.name = inName(c)
	if c == '@' && !s.begun && len(s.open) == 0 && s.half == 0 && prefixFold(s.rest, "@import") && s.imported() {
		return
	}
	s.follow(c)
	switch {
	case strings.HasPrefix(s.rest, "/*"):
		n := strings.Index(s.rest[2:], "*/")
		if n < 0 {
			s.out.WriteString(quiet(s.cut(len(s.rest))) + "*/")
			return
		}
		s.out.WriteString(quiet(s.cut(n + 4)))
	case c == '"' || c == '\'':
		text, ref := s.quoted()
		if s.set > 0 && len(s.open) == s.set && !skipped(ref) {
			if u := s.in.dataURL(s.dir, ref); u != ref {
				text = `"` + u + `"`
			}
		}
		s.out.WriteString(quiet(text))
	case c == '\\':
		s.name = true
		switch {
		case len(s.rest) == 1:
			s.cut(1) // it must not take what comes behind the sheet
		case s.rest[1] == '<':
			s.cut(2)
			s.out.WriteString(`\3c `)
		default:
			s.out.WriteString(s.cut(2))
		}
	case c == '<' && isTag(s.rest[1:]):
		// Outside of texts it is part of a comparison, which a space does not change, or of "<!--", which means nothing.
		if strings.HasPrefix(s.rest, "<!--") {
			s.cut(4)
		} else {
			s.cut(1)
			s.out.WriteByte('<')
		}
		s.out.WriteByte(' ')
	case strings.IndexByte("([{", c) >= 0:
		s.begun = s.begun || c == '{'
		s.open = append(s.open, ")]}"[strings.IndexByte("([{", c)])
		if c == '(' && suffixFold(s.out.String(), "image-set") {
			s.set = len(s.open)
		}
		s.out.WriteString(s.cut(1))
	case strings.IndexByte(")]}", c) >= 0:
		switch n := len(s.open); {
		case n == 0:
			s.cut(1)
			s.out.WriteByte(' ') // it would close what the sheet is put into
			return
		case s.open[n-1] == c:
			s.open = s.open[:n-1]
			if s.set > len(s.open) {
				s.set = 0
			}
		}
		s.out.WriteString(s.cut(1))
	case !name && prefixFold(s.rest, "url("):
		text, ref := s.url()
		if !skipped(ref) {
			if u := s.in.dataURL(s.dir, ref); u != ref {
				text = `url("` + u + `")`
			}
		}
		s.out.WriteString(quiet(text))
	default:
		n := 1
		for s.name && n < len(s.rest) && inName(s.rest[n]) {
			n++
		}
		s.out.WriteString(s.cut(n))
	}
}

// inName reports whether c can be a part of a name.
func inName(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

// follow notes whether a rule has begun outside of all blocks.
func (s *sheet) follow(c byte) {
	switch {
	case len(s.open) > 1 || len(s.open) == 1 && c != '}', strings.IndexByte(" \t\n\r\f", c) >= 0, strings.HasPrefix(s.rest, "/*"),
		strings.HasPrefix(s.rest, "<!--"):
	case len(s.open) == 1 && s.open[0] == '}', c == ';' && s.half == '@':
		s.half = 0
	case s.half == 0 && c == '@':
		s.half = '@'
	case s.half == 0 && strings.IndexByte(")]}", c) < 0:
		s.half = 'a'
	}
}

// quoted takes a text in quotes, and closes it where it is not; value is what it means.
func (s *sheet) quoted() (text, value string) {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case s.rest[0]:
			text = s.cut(i + 1)
			return text, unescape(text[1:i])
		case '\n', '\r', '\f': // it ends there, and means nothing
			return s.cut(i), ""
		}
	}
	quote := s.rest[:1]
	text = s.cut(len(s.rest))
	if odd := len(text) - len(strings.TrimRight(text, `\`)); odd%2 == 1 {
		text = text[:len(text)-1]
	}
	return text + quote, unescape(text[1:])
}

// url takes a url(…), and closes it where it is not; ref is what it refers to, empty for one that means nothing.
func (s *sheet) url() (text, ref string) {
	began := s.rest
	s.cut(len("url("))
	s.space()
	if s.rest != "" && (s.rest[0] == '"' || s.rest[0] == '\'') {
		inside := began[:len(began)-len(s.rest)]
		text, ref = s.quoted()
		text = inside + text
		began = s.rest
		s.space()
		if strings.HasPrefix(s.rest, ")") {
			s.cut(1)
			return text + ")", ref
		}
		s.rest = began
		s.open = append(s.open, ')') // a function of another kind, which means nothing
		return text, ""
	}
	inside := s.rest
	for i := 0; i < len(inside); i++ {
		switch inside[i] {
		case '\\':
			i++
		case ')':
			s.cut(i + 1)
			return began[:len(began)-len(s.rest)], unescape(strings.TrimSpace(inside[:i]))
		}
	}
	s.rest = ""
	if odd := len(began) - len(strings.TrimRight(began, `\`)); odd%2 == 1 {
		began = began[:len(began)-1]
	}
	return began + ")", unescape(strings.TrimSpace(inside))
}

// gap is what may stand between two words.
var gap = regexp.MustCompile(`^(?:\s|/\*(?s:.*?)\*/)+`)

// space takes white space.
func (s *sheet) space() { s.rest = strings.TrimLeft(s.rest, " \t\n\r\f") }

// imported puts an imported sheet in place of the import. It reports false for what is none; then nothing was taken, and no
// import is looked for any more, so that a sheet is not gone through once for each.
func (s *sheet) imported() bool {
	began := s.rest
	back := func() bool {
		s.rest, s.begun = began, true
		return false
	}
	s.cut(len("@import"))
	s.cut(len(gap.FindString(s.rest)))
	var ref string
	switch {
	case s.rest == "":
		return back()
	case s.rest[0] == '"' || s.rest[0] == '\'':
		_, ref = s.quoted()
	case prefixFold(s.rest, "url("):
		_, ref = s.url()
	}
	if ref == "" {
		return back()
	}
	n, deep := 0, 0
	for ; n < len(s.rest) && (deep > 0 || s.rest[n] != ';'); n++ {
		switch s.rest[n] {
		case '(':
			deep++
		case ')':
			deep--
		case '{', '}', '"', '\'', '\\', '<':
			return back()
		}
	}
	if deep != 0 {
		return back()
	}
	when := s.cut(n)
	if s.rest != "" {
		s.cut(1)
	}
	before, after := conditions(strings.TrimSpace(comments.ReplaceAllString(when, " ")))
	if skipped(ref) {
		s.kept.WriteString(quiet(began[:len(began)-len(s.rest)]) + "\n")
		return true
	}
	kept, body, err := s.in.sheetOf(s.dir, ref)
	if err != nil {
		s.in.leave(ref, err)
		s.kept.WriteString(quiet(strings.TrimSuffix(began[:len(began)-len(s.rest)], ";")) + ";\n")
		return true
	}
	if before == "" {
		s.kept.WriteString(kept)
	}
	s.out.WriteString(before + body + after)
	return true
}

var comments = regexp.MustCompile(`/\*(?s:.*?)(?:\*/|$)`)

// sheetOf returns the style sheet that a reference means.
func (in *inliner) sheetOf(dir, ref string) (kept, body string, err error) {
	data, name, done, err := in.open(dir, ref)
	if err != nil {
		return "", "", err
	}
	defer done()
	kept, body = in.sheet(path.Dir(name), string(data), false)
	return kept, body, in.spend(len(kept) + len(body))
}

// conditions turns what stands behind an import into blocks around what is imported.
func conditions(when string) (before, after string) {
	block := func(head string) {
		before += head + " {\n"
		after += "\n}"
	}
	if prefixFold(when, "layer") {
		switch rest := when[len("layer"):]; {
		case rest == "" || rest[0] == ' ':
			block("@layer")
			when = strings.TrimSpace(rest)
		case rest[0] == '(':
			name, rest := parens(rest)
			block("@layer " + strings.TrimSpace(name))
			when = strings.TrimSpace(rest)
		}
	}
	if prefixFold(when, "supports(") {
		condition, rest := parens(when[len("supports"):])
		block("@supports (" + condition + ")")
		when = strings.TrimSpace(rest)
	}
	if when != "" {
		block("@media " + when)
	}
	return before, after
}

// parens returns what stands in the first parentheses of text, which are closed, and what follows them.
func parens(text string) (inside, rest string) {
	deep := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			deep++
		case ')':
			if deep--; deep == 0 {
				return text[1:i], text[i+1:]
			}
		}
	}
	return text[1:], ""
}

// quiet writes the texts and comments of a style sheet so that no tag begins in them.
func quiet(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var out strings.Builder
	for i := range len(text) {
		if text[i] == '<' && isTag(text[i+1:]) {
			out.WriteString(strings.Repeat(`\`, escaped(text[:i])) + `3c `)
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// escaped returns how many backslashes are missing for an escape that begins behind text: none when the last one of text
// already begins it.
func escaped(text string) int {
	return 1 - (len(text)-len(strings.TrimRight(text, `\`)))%2
}

var escapes = regexp.MustCompile(`\\(?:([0-9A-Fa-f]{1,6})\s?|(\n|\r\n|\f)|([^\n]))`)

// unescape returns what a text of a style sheet means.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escapes.ReplaceAllStringFunc(text, func(found string) string {
		m := escapes.FindStringSubmatch(found)
		if m[1] == "" {
			return m[3]
		}
		n, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil || n == 0 {
			n = 0xFFFD
		}
		return string(rune(n))
	})
}

func suffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

func prefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
