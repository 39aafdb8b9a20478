package toolcall

import (
	"slices"
	"strings"
)

// call is a call that is being written.
type call struct {
	*builder
	raw    []byte // white space and markers included
	opened int    // where the inside begins
	opener opening
	body   body
	hasty  bool // believe closing markers inside of strings and values

	started string // the tool's name once it is there
	told    bool   // whether to tell it
	notes   []string
	tag     int // where a tag may have begun, or -1

	// A closing marker inside of a string or value, which is one only if nothing but calls follows.
	tentative, tentativeBody int
	pending                  bool

	inside  int     // where the inside ended, when it did
	bodyEnd int     // the same, or where the code fence behind it ended
	done    bool    // the inside has ended
	skip    int     // up to here nothing of weight came behind it
	ticks   int     // of the code fence behind it
	follow  verdict // whether a call follows an unsure one

	jsonState
	xmlState
}

// scan is what a byte did.
type scan struct {
	over     bool // the call ends at at, its inside at body
	body, at int
	closed   bool // by its marker
	again    int  // if not 0: take the bytes from here once more
}

// step takes a byte.
func (c *call) step(b byte) scan {
	c.raw = append(c.raw, b)
	i := len(c.raw) - 1
	if c.done {
		return c.after(i, b)
	}
	switch c.body {
	case undecided, mistral:
		switch {
		case isSpace(b):
			return scan{}
		case c.body == mistral && b != '[' && b != '{':
			c.body = nameBefore
		case c.body == undecided && b == '<':
			c.body = xmlBody
		default:
			c.body = jsonBody
		}
	}
	switch c.body {
	case xmlBody:
		return c.xml(i, b)
	case nameBefore:
		return c.before(i, b)
	}
	return c.json(i, b)
}

// complete reports whether nothing but the closing marker is missing.
func (c *call) complete() bool { return c.done }

// finish notes where the inside ended.
func (c *call) finish(at int) scan {
	c.done, c.inside, c.bodyEnd, c.skip, c.tag = true, at, at, at, -1
	if len(c.opener.closers) == 0 && !c.opener.fence && !c.opener.unsure && !c.repair {
		return scan{over: true, body: at, at: at, closed: true}
	}
	return scan{}
}

// after takes a byte between the end of the inside and the closing marker.
func (c *call) after(i int, b byte) scan {
	if c.opener.unsure {
		return c.following(i, b)
	}
	if len(c.opener.closers) == 0 && !c.opener.fence {
		if b == '}' || b == ']' {
			c.skip++
			return scan{}
		}
		return scan{over: true, body: c.bodyEnd, at: c.skip, closed: true}
	}
	if c.skip == i && c.trivial(b) {
		c.skip++
		if c.opener.fence && b == '`' && strings.HasSuffix(string(c.raw[i-2:]), fence) {
			return scan{over: true, body: c.bodyEnd, at: i + 1, closed: true}
		}
		return scan{}
	}
	tag := string(c.raw[c.skip:])
	best := no
	for _, closer := range c.opener.closers {
		best = max(best, compare(tag, closer))
	}
	switch {
	case best == yes:
		return scan{over: true, body: c.bodyEnd, at: i + 1, closed: true}
	case len(c.opener.closers) > 0 && c.repair:
		best = max(best, c.misnamed(i, tag))
	}
	if best == no && b == '{' && c.body == jsonBody && strings.TrimSpace(string(c.raw[c.bodyEnd:c.skip])) == "," {
		return scan{over: true, body: c.bodyEnd, at: c.skip} // between two calls
	}
	if best == no {
		c.behind = true
		return scan{over: true, body: c.bodyEnd, at: c.bodyEnd, closed: len(c.opener.closers) == 0}
	}
	return scan{over: best == yes, body: c.bodyEnd, at: i + 1, closed: true}
}

// misnamed judges what stands where the closing marker should be: one that is nearly right ends the call, and an end tag of
// Qwen XML that stands there once more is passed over.
func (c *call) misnamed(i int, tag string) verdict {
	again := max(compare(tag, functionClose), compare(tag, parameterClose))
	if again != yes {
		v := wrongClose(tag)
		if v == yes {
			c.note("read " + tag + " as " + c.opener.closers[0])
		}
		return max(again, v)
	}
	c.skip = i + 1
	c.note("dropped a stray " + tag)
	if tag == parameterClose && len(c.pairs) > 0 {
		c.doubt("%s stands behind %s", parameterClose, functionClose)
	}
	return maybe
}

// trivial reports whether a byte behind the inside still belongs to the call: white space, the end of a code fence, braces
// too many.
func (c *call) trivial(b byte) bool {
	return isSpace(b) || c.repair && (b == '`' || b == '}' || b == ']' || b == ',' && c.body == jsonBody)
}

// trails reports whether all of the text behind the inside belongs to the call; it may end in a part of the marker.
func (c *call) trails() bool {
	rest := string(c.raw[c.skip:])
	return rest == "" || slices.ContainsFunc(c.opener.closers, func(closer string) bool { return strings.HasPrefix(closer, rest) })
}

// following judges what comes behind an unsure call.
func (c *call) following(i int, b byte) scan {
	if c.skip == i {
		if isSpace(b) {
			c.skip++
			return scan{}
		}
		if c.opener.fence && b == '`' {
			c.skip++
			if c.ticks++; c.ticks == len(fence) {
				c.bodyEnd, c.opener.fence = i+1, false
			}
			return scan{}
		}
	}
	if c.follow = c.opening(string(c.raw[c.skip:]), true, true).verdict; c.follow == maybe {
		return scan{}
	}
	return scan{over: true, body: c.bodyEnd, at: c.bodyEnd, closed: true}
}

// before takes a byte of a name that stands before JSON.
func (c *call) before(i int, b byte) scan {
	if b != '{' && (b != '"' || !strings.HasSuffix(string(c.raw), mistralArg+`"`)) {
		return scan{}
	}
	name := strings.TrimSuffix(strings.TrimSpace(string(c.raw[c.opened:i])), mistralArg)
	name, _, _ = strings.Cut(name, mistralID)
	c.name, c.started = strings.TrimSpace(name), strings.TrimSpace(name)
	c.body = jsonBody
	if b == '"' {
		c.first, c.quote, c.top = i, b, true
		return scan{}
	}
	return c.json(i, b)
}

// matchTag follows a tag in the raw text and returns it once it is whole. among says which texts may be one.
func (c *call) matchTag(i int, b byte, among func(string) verdict) (tag string) {
	if c.tag >= 0 {
		t := string(c.raw[c.tag : i+1])
		switch among(t) {
		case yes:
			return t
		case maybe:
			return ""
		}
		c.tag = -1
	}
	if b == '<' {
		c.tag = i
	}
	return ""
}

// isCloser reports whether a tag ends the call.
func (c *call) isCloser(tag string) bool { return slices.Contains(c.opener.closers, tag) }

// closing handles a closing marker inside of a string or a value, where it may be part of the text.
func (c *call) closing(i int) scan {
	from := c.tag
	c.tag = -1
	if c.hasty {
		return scan{over: true, body: from, at: i + 1, closed: true}
	}
	if c.tentative == 0 {
		c.tentative, c.tentativeBody, c.pending = i+1, from, true
	}
	return scan{}
}

// settle drops a pending closing marker when something else than a call follows it.
func (c *call) settle(b byte) {
	if c.pending && !isSpace(b) && c.tag < 0 {
		c.pending = false
	}
}
