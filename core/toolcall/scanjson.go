package toolcall

import "strings"

// jsonState is where a scan of JSON is.
type jsonState struct {
	first   int  // where the value begins, or -1
	depth   int  // of braces and brackets
	quote   byte // of the string that the scan is in
	escaped bool
	quoted  bool // a quote stands before; whether it ends the string depends on what follows
	loose   bool // it was no end, or the comma behind it is missing
	top     bool // the value is a string
	from    int  // where the string's text begins
	to      int  // and ends
	keys    [4]string
	name    string // of a call whose name stands before the JSON
}

// json takes a byte of a JSON value. It finds the value's end even in JSON that is slightly broken: a quote ends a string
// only if a comma, a colon or a closing bracket follows it, which holds for all JSON.
func (c *call) json(i int, b byte) scan {
	if c.quote != 0 {
		if !c.inString(i, b) {
			return c.jsonTag(i, b)
		}
		if c.top {
			return c.finish(i + 1)
		}
	}
	switch b {
	case '"', '\'':
		if c.depth > 0 {
			c.quote, c.from, c.loose = b, i+1, false
		}
	case '{', '[':
		if c.first < 0 {
			c.first = i
		}
		c.depth++
	case '}', ']':
		if c.depth == 0 {
			break
		}
		if c.depth--; c.depth == 0 {
			return c.finish(i + 1)
		}
	}
	return c.jsonTag(i, b)
}

// inString takes a byte of a string and reports whether it is the first behind it.
func (c *call) inString(i int, b byte) bool {
	if c.quoted {
		switch {
		case isSpace(b):
			return false
		case strings.IndexByte(",:}]", b) >= 0:
			c.quote, c.quoted, c.tentative, c.pending = 0, false, 0, false
			c.endString(b)
			return true
		}
		c.quoted, c.loose = false, true
	}
	switch {
	case c.escaped:
		c.escaped = false
	case b == '\\':
		c.escaped = true
	case b == c.quote && c.top:
		c.quote = 0
		return true
	case b == c.quote:
		c.quoted, c.to, c.loose = true, i, false
	}
	return false
}

// endString notes keys, and the name.
func (c *call) endString(next byte) {
	if c.depth >= len(c.keys) || c.to-c.from > 128 {
		return
	}
	text := string(c.raw[c.from:c.to])
	if next == ':' {
		c.keys[c.depth] = text
		return
	}
	base := 1
	if c.raw[c.first] == '[' {
		base = 2
	}
	if c.started == "" && isOneOf(c.keys[c.depth], nameKeys) &&
		(c.depth == base || c.depth == base+1 && c.keys[base] == "function") {
		c.started = text
	}
}

// jsonTag looks for markers.
func (c *call) jsonTag(i int, b byte) scan {
	if len(c.opener.closers) == 0 {
		return scan{}
	}
	tag := c.matchTag(i, b, func(t string) verdict {
		best := compare(t, callOpen)
		for _, closer := range c.opener.closers {
			best = max(best, compare(t, closer))
		}
		return best
	})
	inside := c.quote != 0 && !c.loose
	switch {
	case tag == "":
		c.settle(b)
	case tag == callOpen && c.pending:
		return scan{over: true, body: c.tentativeBody, at: c.tentative, closed: true}
	case tag == callOpen && c.quote == 0 && strings.TrimSpace(string(c.raw[c.opened:c.tag])) == "":
		c.opened, c.tag, c.body = i+1, -1, undecided
		c.notes = append(c.notes, "dropped a second "+callOpen)
	case tag == callOpen && !inside:
		return scan{over: true, body: c.tag, at: c.tag}
	case tag == callOpen:
		c.tag = -1
	case inside:
		return c.closing(i)
	default:
		return scan{over: true, body: c.tag, at: i + 1, closed: true}
	}
	return scan{}
}
