package toolcall

import (
	"fmt"
	"strings"
)

// endOpen ends the open value, whose </parameter> is missing, at an offset. White space before it is not part of the value.
func (c *call) endOpen(at int) {
	text := strings.TrimRight(string(c.raw[c.value:at]), " \t\r\n")
	named := "</" + c.param + ">"
	if shorter, ok := strings.CutSuffix(text, named); ok && !opens(shorter, c.param) {
		text = shorter
		c.note("read " + named + " as " + parameterClose)
	} else {
		if tag := brokenEnd(text, c.param); tag != "" {
			c.doubt("the parameter %s ends in %q; close it with %s", c.param, clip(tag, 40), parameterClose)
		}
		c.note("added a missing " + parameterClose)
	}
	if tag := formatTag(text); tag != "" {
		c.doubt("the parameter %s is not closed before %q; close it with %s", c.param, clip(tag, 40), parameterClose)
	}
	c.endValue(c.value + len(text))
}

// endCut ends the open value, whose </parameter> is missing, at the end of the call.
func (c *call) endCut(at int) {
	end := c.value + len(strings.TrimRight(string(c.raw[c.value:at]), " \t\r\n"))
	if strings.HasSuffix(string(c.raw[c.value:end]), functionClose) {
		end -= len(functionClose)
	} else {
		c.note("added a missing " + functionClose)
	}
	c.endOpen(end)
}

// events ends the call. body is where its inside ends.
func (c *call) events(body int, raw string, closed bool) []Event {
	if c.opener.broken != "" {
		return []Event{malformed(c.started, raw, "the tool call is not in the right form, "+c.opener.broken+"; write it as "+c.example())}
	}
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
	lead, language, fenced := strings.Cut(string(c.raw[c.opened:max(c.first, c.opened)]), fence)
	fenced = fenced && strings.TrimSpace(lead) == "" && wordEnd(strings.TrimSpace(language)) == len(strings.TrimSpace(language))
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
	case before == "json":
		notes = append(notes, "dropped json before the call")
	case before != "":
		return []Event{malformed("", raw, fmt.Sprintf("the tool call has the text %q before its JSON; write it as %s", clip(before, 40), c.example()))}
	}
	if c.done {
		switch extra := raw[c.bodyEnd:max(c.bodyEnd, min(c.skip, len(raw)))]; {
		case strings.ContainsAny(extra, "}]"):
			notes = append(notes, "dropped an extra closing brace")
		case strings.Contains(extra, ","):
			notes = append(notes, "dropped a comma behind the call")
		case strings.Contains(extra, "`") && !fenced && !c.opener.fence:
			notes = append(notes, "dropped the end of a code fence")
		}
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

// endScan ends a scan of Qwen XML where the call ends.
func (c *call) endScan(body int) {
	if c.shut > 0 && c.shutEnd > body {
		c.shut, c.tag = 0, -1 // the end of the call stands before it
		c.doubt("%s and %s stand inside of the parameter %s", callClose, parameterClose, c.param)
	}
	if c.shut > 0 {
		c.endValue(c.shut)
	}
	switch {
	case c.value > 0:
		c.endCut(body)
	case !c.done:
		c.note("added a missing " + functionClose)
		if c.tag >= 0 && c.tag < body && !strings.HasPrefix(string(c.raw[c.tag:body]), "</") {
			c.outside(c.tag) // the start of a tag, which is not to be lost
		}
	case c.inLine && c.behind:
		c.doubt("%s stands in the middle of a line, and text follows", parameterClose)
	}
}

// xmlEvent ends a call in Qwen XML.
func (c *call) xmlEvent(body int, raw string, closed bool) Event {
	c.endScan(body)
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
	case c.unclear != "":
		return malformed(c.function, raw, fmt.Sprintf("the call of %s can be read in two ways: %s", c.function, c.unclear))
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
