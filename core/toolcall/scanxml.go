package toolcall

import (
	"fmt"
	"slices"
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
	inLine   bool   // a value that began on a line of its own ended in the middle of a line
	behind   bool   // text follows where the closing marker should be
	stray    int    // where text stands that may not; 0 for none
	unclear  string // why the call can be read in two ways; empty if it cannot
}

// xml takes a byte of a Qwen XML call.
func (c *call) xml(i int, b byte) scan {
	began := c.tag
	tag := c.matchTag(i, b, c.xmlTag)
	none := began >= 0 && c.tag != began // what began like a tag is none
	switch {
	case c.shut > 0:
		return c.shutting(i, b, tag, none)
	case c.value > 0:
		return c.inValue(i, b, tag)
	case tag != "":
		return c.structure(i, tag)
	case none:
		c.outside(began)
	case c.tag < 0 && !isSpace(b):
		c.outside(i)
	}
	return scan{}
}

// outside notes text that stands outside of the parameters.
func (c *call) outside(at int) {
	if c.stray == 0 {
		c.stray = at
	}
}

// doubt notes why the call can be read in two ways.
func (c *call) doubt(format string, args ...any) {
	if c.unclear == "" {
		c.unclear = fmt.Sprintf(format, args...)
	}
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

// tagName returns the name in <function=NAME> or <parameter=NAME>, and whether there is one.
func (c *call) tagName(tag, open string) (name string, ok bool) {
	rest := strings.TrimSuffix(tag[len(open):], ">")
	named := rest[0] == ' '
	if named {
		if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), "name="); !ok {
			return "", false
		}
	} else {
		rest = rest[1:]
	}
	name = rest
	for _, mark := range []string{`"`, "'"} {
		if inside, ok := strings.CutPrefix(strings.TrimSpace(rest), mark); ok {
			if name, ok = strings.CutSuffix(inside, mark); !ok {
				return "", false
			}
		}
	}
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsAny(name, " \t=/\"'") && !c.declares(name) {
		return "", false
	}
	switch {
	case named:
		c.note("read " + open + " name=…> as " + open + "=…>")
	case name != rest:
		c.note("dropped what is around the name in " + open + "=…>")
	}
	return name, true
}

// declares reports whether a name is that of a tool, or of a parameter of the tool that is called.
func (c *call) declares(name string) bool {
	t, _ := c.tools.find(c.function, c.repair)
	return c.tools.byName[name] != nil || t != nil && t.Property(name) != nil
}

func (c *call) note(repair string) {
	if !slices.Contains(c.notes, repair) {
		c.notes = append(c.notes, repair)
	}
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
	case tag == parameterClose && len(c.pairs) > 0:
		c.doubt("%s stands twice behind the parameter %s", parameterClose, c.pairs[len(c.pairs)-1].name)
	case tag == parameterClose:
		c.note("dropped a stray " + parameterClose)
	case strings.HasPrefix(tag, functionOpen):
		return c.openFunction(from, tag)
	default:
		name, ok := c.tagName(tag, parameterOpen)
		if !ok {
			c.outside(from)
			return scan{}
		}
		if c.function == "" {
			c.doubt("the parameter %s stands before the function", name)
		}
		c.param, c.value, c.own = name, i+1, false
	}
	return scan{}
}

// openFunction takes a <function=NAME>.
func (c *call) openFunction(from int, tag string) scan {
	name, ok := c.tagName(tag, functionOpen)
	switch {
	case !ok:
		c.outside(from)
	case c.function == "":
		c.function, c.started = name, name
	case len(c.pairs) > 0:
		c.note("added a missing " + functionClose)
		return scan{over: true, body: from, at: from}
	case c.function == name:
		c.note("dropped a second " + tag)
	default:
		c.doubt("it names the tools %s and %s", c.function, name)
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
		c.endOpen(c.tag)
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

// shutting takes a byte behind a </parameter>. It ends the value if a tag of the format follows. none says that what began
// like a tag is none.
func (c *call) shutting(i int, b byte, tag string, none bool) scan {
	midLine := c.own && !c.lineStart(c.shut)
	if tag != "" {
		c.inLine = c.inLine || midLine
		c.endValue(c.shut)
		return c.structure(i, tag)
	}
	if !none && (c.tag >= 0 || isSpace(b)) {
		return scan{}
	}
	at := c.shutEnd
	c.tag = -1
	if midLine && !c.hasty {
		c.shut = 0 // part of the value
	} else {
		c.endValue(c.shut)
	}
	return scan{again: at}
}

// endValue ends the open value at an offset.
func (c *call) endValue(at int) {
	text := string(c.raw[c.value:at])
	if tag := c.parameterWithin(text); tag != "" {
		c.doubt("the parameter %s holds %q, which may begin the next one; close each parameter with %s", c.param, clip(tag, 40), parameterClose)
	}
	if rest, ok := strings.CutPrefix(text, "\r\n"); ok {
		text = rest
	} else {
		text = strings.TrimPrefix(text, "\n")
	}
	if rest, ok := strings.CutSuffix(text, "\r\n"); ok {
		text = rest
	} else {
		text = strings.TrimSuffix(text, "\n")
	}
	c.pairs = append(c.pairs, pair{c.param, text})
	c.value, c.shut, c.tentative, c.pending = 0, 0, 0, false
}

// excerpt is the start of the stray text.
func (c *call) excerpt() string {
	line, _, _ := strings.Cut(string(c.raw[c.stray:]), "\n")
	return clip(line, 40)
}
