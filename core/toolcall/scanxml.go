package toolcall

import (
	"fmt"
	"strings"
)

// Tags of Qwen XML.
const (
	functionClose  = "</function>"
	parameterClose = "</parameter>"
	functionOpen   = "<function"  // =NAME>
	parameterOpen  = "<parameter" // =NAME>
	maxTag         = 200
)

// xmlState is where a scan of Qwen XML is.
type xmlState struct {
	function string
	pairs    []pair
	param    string // whose value is open
	value    int    // where the value begins; 0 outside of values
	own      bool   // the value began on a line of its own
	shut     int    // where the </parameter> stands that may end the value; 0 for none
	shutEnd  int
	stray    int // where text stands that may not; 0 for none
}

// xml takes a byte of a Qwen XML call.
func (c *call) xml(i int, b byte) scan {
	tag := c.matchTag(i, b, c.xmlTag)
	switch {
	case c.shut > 0:
		return c.shutting(i, b, tag)
	case c.value > 0:
		return c.inValue(i, b, tag)
	case tag != "":
		return c.structure(i, tag)
	case c.tag < 0 && !isSpace(b):
		if c.stray == 0 {
			c.stray = i
		}
	}
	return scan{}
}

// xmlTag judges what may be a tag of the format.
func (c *call) xmlTag(t string) verdict {
	best := max(compare(t, callOpen), compare(t, functionClose), compare(t, parameterClose))
	for _, closer := range c.opener.closers {
		best = max(best, compare(t, closer))
	}
	if best != no {
		return best
	}
	for _, open := range []string{functionOpen, parameterOpen} {
		if len(t) <= len(open) {
			if strings.HasPrefix(open, t) {
				return maybe
			}
			continue
		}
		next := t[len(open)]
		if !strings.HasPrefix(t, open) || next != '=' && next != ' ' || len(t) > maxTag || strings.ContainsAny(t[1:], "\n<") {
			continue
		}
		if t[len(t)-1] == '>' {
			return yes
		}
		return maybe
	}
	return no
}

// tagName returns the name in <function=NAME> or <parameter=NAME>.
func (c *call) tagName(tag, open string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(tag, ">"), open)
	if !ok || rest == "" {
		return "", false
	}
	if rest[0] == ' ' {
		rest = strings.TrimSpace(rest)
		if rest, ok = strings.CutPrefix(rest, "name="); !ok {
			return "", false
		}
		c.note("read " + open + " name=…> as " + open + "=…>")
	} else {
		rest = rest[1:]
	}
	return strings.Trim(rest, `"' `), true
}

func (c *call) note(repair string) {
	for _, n := range c.notes {
		if n == repair {
			return
		}
	}
	c.notes = append(c.notes, repair)
}

// structure takes a tag outside of values.
func (c *call) structure(i int, tag string) scan {
	from := c.tag
	c.tag = -1
	switch {
	case c.isCloser(tag):
		return scan{over: true, body: from, at: i + 1, closed: true}
	case tag == callOpen:
		if c.function == "" && c.stray == 0 {
			c.opened, c.body = i+1, undecided
			c.note("dropped a second " + callOpen)
			return scan{}
		}
		return scan{over: true, body: from, at: from}
	case tag == functionClose:
		return c.finish(i + 1)
	case tag == parameterClose:
		c.note("dropped a stray " + parameterClose)
	case strings.HasPrefix(tag, functionOpen):
		if c.function != "" {
			c.note("added a missing " + functionClose)
			return scan{over: true, body: from, at: from}
		}
		c.function, _ = c.tagName(tag, functionOpen)
		c.started = c.function
	default:
		if name, ok := c.tagName(tag, parameterOpen); ok {
			c.param, c.value, c.own = name, i+1, false
		}
	}
	return scan{}
}

// lineStart reports whether an offset is the first of a line, not counting spaces.
func (c *call) lineStart(at int) bool {
	for at--; at >= 0 && (c.raw[at] == ' ' || c.raw[at] == '\t'); at-- {
		if at < c.value {
			return true
		}
	}
	return at < 0 || c.raw[at] == '\n'
}

// inValue takes a byte of a value.
func (c *call) inValue(i int, b byte, tag string) scan {
	if i == c.value || i == c.value+1 && c.raw[c.value] == '\r' {
		c.own = c.own || b == '\n'
	}
	switch {
	case tag == "":
		c.settle(b)
	case c.pending && tag == callOpen:
		return scan{over: true, body: c.tentativeBody, at: c.tentative, closed: true}
	case tag == parameterClose:
		c.shut, c.shutEnd, c.tag = c.tag, i+1, -1
	case c.isCloser(tag):
		return c.closing(i)
	case strings.HasPrefix(tag, parameterOpen) && c.repair && c.lineStart(c.tag) && c.expects(tag):
		c.note("added a missing " + parameterClose)
		c.endValue(c.tag)
		return c.structure(i, tag)
	default:
		c.tag = -1
		c.settle(b)
	}
	return scan{}
}

// expects reports whether the tool declares the parameter of a tag and has not got it yet.
func (c *call) expects(tag string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(tag, ">"), parameterOpen+"=")
	t, _ := c.tools.find(c.function, c.repair)
	if !ok || t == nil || t.Property(rest) == nil || rest == c.param {
		return false
	}
	for _, p := range c.pairs {
		if p.name == rest {
			return false
		}
	}
	return true
}

// shutting takes a byte behind a </parameter>. It ends the value if a tag of the format follows.
func (c *call) shutting(i int, b byte, tag string) scan {
	if tag == "" {
		if c.tag >= 0 || isSpace(b) {
			return scan{}
		}
		at := c.shutEnd
		if c.own && !c.lineStart(c.shut) && !c.hasty {
			c.shut = 0 // part of the value
			return scan{again: at}
		}
		c.endValue(c.shut)
		return scan{again: at}
	}
	c.endValue(c.shut)
	return c.structure(i, tag)
}

// endValue ends the open value at an offset.
func (c *call) endValue(at int) {
	text := string(c.raw[c.value:at])
	text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	c.pairs = append(c.pairs, pair{c.param, text})
	c.value, c.shut, c.tentative, c.pending = 0, 0, 0, false
}

// excerpt is the start of the stray text.
func (c *call) excerpt() string {
	line, _, _ := strings.Cut(string(c.raw[c.stray:]), "\n")
	return clip(line, 40)
}

// endCut ends the open value, whose </parameter> is missing, at the end of the call.
func (c *call) endCut(at int) {
	text := strings.TrimRight(string(c.raw[c.value:at]), " \t\r\n")
	text, closed := strings.CutSuffix(text, functionClose)
	if !closed {
		c.note("added a missing " + functionClose)
	}
	text = strings.TrimRight(text, " \t\r\n")
	if shorter, ok := strings.CutSuffix(text, "</"+c.param+">"); ok {
		text = shorter
		c.note("read </" + c.param + "> as " + parameterClose)
	} else {
		c.note("added a missing " + parameterClose)
	}
	c.endValue(c.value + len(text))
}

// events ends the call. body is where its inside ends.
func (c *call) events(body int, raw string, closed bool) []Event {
	notes := append(append([]string(nil), c.opener.repaired...), c.notes...)
	if c.body == xmlBody {
		return []Event{c.xmlEvent(body, raw, closed)}
	}
	if !closed && len(c.opener.closers) > 0 {
		notes = append(notes, "added a missing "+c.opener.closers[0])
	}
	inside := string(c.raw[c.opened:max(body, c.opened)])
	var before string
	if c.first >= 0 {
		end := body
		if c.done {
			end = c.inside
		}
		before = strings.TrimSpace(strings.TrimLeft(string(c.raw[c.opened:c.first]), " \t\r\n`"))
		inside = string(c.raw[c.first:end])
	}
	fenced := strings.Contains(string(c.raw[c.opened:max(c.first, c.opened)]), fence)
	switch {
	case c.first < 0 && strings.TrimSpace(inside) == "":
	case c.first < 0:
		return []Event{malformed("", raw, fmt.Sprintf("%q is no tool call; write it as %s", clip(strings.TrimSpace(inside), 40), c.example()))}
	case c.name != "":
	case fenced && !c.opener.fence:
		notes = append(notes, "took the call out of a code fence")
	case before != "" && c.tools.byName[before] != nil:
		c.name = before
		notes = append(notes, "read the name from before the arguments")
	case before != "" && before != "json":
		return []Event{malformed("", raw, fmt.Sprintf("the tool call has the text %q before its JSON; write it as %s", clip(before, 40), c.example()))}
	}
	if c.skip > c.bodyEnd && c.done && strings.ContainsAny(string(c.raw[c.bodyEnd:c.skip]), "}]") {
		notes = append(notes, "dropped an extra closing brace")
	}
	if len(notes) > 0 && !c.repair {
		return []Event{malformed("", raw, "the tool call is not in the right form; write it as "+c.example())}
	}
	if len(notes) == 0 {
		notes = nil
	}
	if c.name == "" {
		return c.builder.json(inside, raw, notes)
	}
	value, more, err := mend(inside)
	if err != nil || more != nil && !c.repair {
		return []Event{malformed(c.name, raw, fmt.Sprintf("the arguments of %s are not valid JSON; write the call as %s", c.name, c.example()))}
	}
	e := c.builder.finish(c.name, value, append(notes, more...))
	e.Raw = raw
	return []Event{e}
}

// xmlEvent ends a call in Qwen XML.
func (c *call) xmlEvent(body int, raw string, closed bool) Event {
	switch {
	case c.shut > 0:
		c.endValue(c.shut)
		c.note("added a missing " + functionClose)
	case c.value > 0:
		c.endCut(body)
	case !c.done:
		c.note("added a missing " + functionClose)
	}
	if !closed {
		c.note("added a missing " + c.opener.closers[0])
	}
	notes := append(append([]string(nil), c.opener.repaired...), c.notes...)
	if c.format != QwenXML {
		notes = append(notes, "read a call in XML")
	}
	if len(notes) == 0 {
		notes = nil
	}
	switch {
	case c.function == "" && c.stray == 0 && len(c.pairs) == 0:
		return malformed("", raw, "the tool call is empty; write it as "+c.example())
	case c.function == "":
		return malformed("", raw, "the tool call has no <function=NAME>; write it as "+c.example())
	case c.stray != 0:
		return malformed(c.function, raw, fmt.Sprintf("the call of %s has text outside of its parameters (%q); write it as %s", c.function, c.excerpt(), c.example()))
	case notes != nil && !c.repair:
		return malformed(c.function, raw, "the tool call is not in the right form; write it as "+c.example())
	}
	for _, p := range c.pairs {
		if at := strings.Index(p.text, "\n"+callOpen); at >= 0 && strings.HasPrefix(strings.TrimLeft(p.text[at+1+len(callOpen):], " \t\r\n"), functionOpen+"=") {
			return malformed(c.function, raw, fmt.Sprintf("parameter %s is not closed before the next %s", p.name, callOpen))
		}
	}
	return c.builder.xml(c.function, c.pairs, raw, notes)
}
