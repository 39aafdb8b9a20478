package toolcall

import (
	"slices"
	"strings"
)

// verdict says whether text is the start of a call.
type verdict uint8

const (
	no verdict = iota
	maybe
	yes
)

// body is how the inside of a call is written.
type body uint8

const (
	undecided  body = iota // after <tool_call>: JSON or XML
	jsonBody               // a JSON value
	xmlBody                // <function=…>
	mistral                // after [TOOL_CALLS]: JSON or a name
	nameBefore             // a name, then JSON
)

// opening is what a call begins with.
type opening struct {
	verdict  verdict
	marker   int // length of what the inside does not see
	body     body
	closers  []string // what ends it; none: the end of the JSON value does
	fence    bool     // a code fence is around it
	unsure   bool     // a call only if no text follows
	broken   string   // what makes it malformed; empty if nothing does
	repaired []string
}

// maxOpening bounds what is held back for a call without markers.
const maxOpening = 256

// opening judges text outside of calls. line says whether the text starts a line, and fresh whether nothing but calls
// stands before it.
func (b *builder) opening(tail string, line, fresh bool) opening {
	best := b.marked(tail)
	if best.verdict == yes {
		return best
	}
	try := func(o opening) {
		if o.verdict > best.verdict {
			best = o
		}
	}
	if b.format == LlamaJSON && fresh && tail[0] == '{' {
		try(opening{verdict: b.jsonStart(tail), body: jsonBody})
	}
	if !b.repair || b.tools.none() || !line || best.verdict == yes {
		return best
	}
	switch tail[0] {
	case '{', '[':
		o := opening{verdict: b.jsonStart(tail), body: jsonBody, unsure: !fresh, repaired: []string{"added the missing call markers"}}
		if fresh && (b.format == QwenXML || b.format == HermesJSON) {
			o.closers = []string{callClose} // it may stand in the markers of the call before
		}
		try(o)
		if b.format == MistralJSON || b.format == MistralArgs {
			try(b.wrongMarker(tail))
		}
	case '`':
		o := opening{body: jsonBody, fence: true, unsure: !fresh, repaired: []string{"took the call out of a code fence"}}
		o.verdict, o.marker = b.fenceStart(tail)
		try(o)
	case '<':
		if b.format == QwenXML || b.format == HermesJSON {
			try(opening{
				verdict: b.functionStart(tail), body: xmlBody, closers: []string{callClose},
				repaired: []string{"added a missing " + callOpen},
			})
			try(b.wrongTag(tail))
		}
	}
	return best
}

// marked looks for the format's own marker.
func (b *builder) marked(tail string) opening {
	o := opening{}
	marker := callOpen
	switch b.format {
	case QwenXML, HermesJSON:
		o.closers = []string{callClose}
	case LlamaJSON:
		marker, o.body = pythonTag, jsonBody
	default:
		marker, o.body = mistralTag, mistral
	}
	o.marker = len(marker)
	o.verdict = compare(tail, marker)
	return o
}

// compare says whether text is a marker or the start of one.
func compare(text, marker string) verdict {
	switch {
	case text == marker:
		return yes
	case strings.HasPrefix(marker, text):
		return maybe
	}
	return no
}

// names says whether a string names a tool; without tools every string does.
func (b *builder) names(name string) verdict {
	if b.tools.none() {
		return yes
	}
	if t, _ := b.tools.find(name, b.repair); t != nil {
		return yes
	}
	return no
}

// jsonStart judges text that begins with a brace or a bracket: it must name a tool before anything else of weight.
func (b *builder) jsonStart(s string) verdict {
	if len(s) > maxOpening {
		return no
	}
	r := reader{s: s}
	if r.peek() == '[' {
		r.at++
	}
	if r.peek() == '{' {
		r.at++
	} else if r.peek() != 0 {
		return no
	}
	for {
		key, whole, ok := r.quoted()
		switch {
		case !ok && !whole:
			return no
		case !whole:
			return maybe
		}
		name, wrapper := slices.Contains(nameKeys, key), slices.Contains(wrapperKeys, key)
		if !name && !wrapper && !slices.Contains(otherKeys, key) {
			return no
		}
		if c := r.peek(); c == 0 {
			return maybe
		} else if c != ':' {
			return no
		}
		r.at++
		c := r.peek()
		if c == '[' && wrapper {
			r.at++
			c = r.peek()
		}
		switch {
		case c == 0:
			return maybe
		case c == '{' && (wrapper || key == "function"):
			r.at++
			continue
		case wrapper:
			return no
		}
		value, whole, ok := r.quoted()
		switch {
		case !ok && !whole:
			return no
		case !whole:
			return maybe
		case name:
			return b.names(value)
		}
		if c := r.peek(); c == 0 {
			return maybe
		} else if c != ',' {
			return no
		}
		r.at++
	}
}

// reader reads the start of a JSON text.
type reader struct {
	s  string
	at int
}

func (r *reader) peek() byte {
	for r.at < len(r.s) && isSpace(r.s[r.at]) {
		r.at++
	}
	if r.at == len(r.s) {
		return 0
	}
	return r.s[r.at]
}

// quoted reads a plain string. Neither whole nor ok means that there is none; ok alone that its end is not there yet.
func (r *reader) quoted() (text string, whole, ok bool) {
	c := r.peek()
	if c == 0 {
		return "", false, true
	}
	if c != '"' && c != '\'' {
		return "", false, false
	}
	rest := r.s[r.at+1:]
	end := strings.IndexByte(rest, c)
	if end < 0 {
		return "", false, !strings.ContainsAny(rest, "\\\n")
	}
	r.at += end + 2
	return rest[:end], true, true
}

// fence is what begins and ends a code block.
const fence = "```"

// fenceStart judges text that begins with a backtick. The offset is where the JSON begins.
func (b *builder) fenceStart(s string) (verdict, int) {
	if len(s) < len(fence) {
		return compare(s, fence), 0
	}
	if !strings.HasPrefix(s, fence) {
		return no, 0
	}
	at := len(fence)
	for at < len(s) && (isWord(s[at]) || s[at] == '-') && at < 20 {
		at++
	}
	for at < len(s) && isSpace(s[at]) {
		at++
	}
	switch {
	case at == len(s) && at < maxOpening:
		return maybe, 0
	case at == len(s) || s[at] != '{' && s[at] != '[':
		return no, 0
	}
	return b.jsonStart(s[at:]), at
}

// functionStart judges text that may be <function=NAME> without its <tool_call>.
func (b *builder) functionStart(s string) verdict {
	const tag = "<function="
	if len(s) <= len(tag) {
		if strings.HasPrefix(tag, s) {
			return maybe
		}
		return no
	}
	name := s[len(tag):]
	if !strings.HasPrefix(s, tag) || len(s) > maxOpening || strings.ContainsAny(name, "\n<") {
		return no
	}
	if name, ok := strings.CutSuffix(name, ">"); ok {
		return b.names(strings.Trim(name, `"' `))
	}
	return maybe
}
