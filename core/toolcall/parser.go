package toolcall

import (
	"fmt"
	"strings"
)

// Options say what a Parser expects.
type Options struct {
	// Format of the model's calls. None and Unknown make everything text.
	Format Format
	// Tools that the model was told of. Without any, every name is taken and every value of Qwen XML is a string.
	Tools []Tool
	// NoRepair reads calls as they are written: near misses are no calls.
	NoRepair bool
}

// Parser finds the calls in an answer while it is being written.
//
// Time is linear in the length of the answer, and so is memory while a call is open.
// Owns: one answer; not safe for concurrent use.
type Parser struct {
	builder
	out    []Event
	shown  []byte // text that is decided and not yet in out
	hold   []byte // white space, and after it what may be the start of a call
	spaces int    // how much of hold is white space
	fresh  bool   // nothing but calls and white space so far
	line   bool   // hold starts a line
	call   *call
	sent   int // how much of the call's raw text went out in CallDelta
	hasty  bool
}

// NewParser returns a parser for one answer.
//
// Errors: ErrTool for a tool whose name or schema is not one.
func NewParser(o Options) (*Parser, error) {
	if o.Format > MistralArgs {
		return nil, fmt.Errorf("format %d: %w", o.Format, ErrFormat)
	}
	tools, err := newToolset(o.Tools)
	if err != nil {
		return nil, err
	}
	return &Parser{builder: builder{o.Format, tools, !o.NoRepair}, fresh: true, line: true}, nil
}

// Push takes the next piece of the answer.
func (p *Parser) Push(text string) []Event {
	p.feed([]byte(text))
	return p.take()
}

// Special takes a control token that the model sampled, by its text, where the decoder leaves control tokens out of the
// text. Markers of the format count; every other token is ignored.
func (p *Parser) Special(text string) []Event {
	for _, marker := range p.format.Markers() {
		if text == marker {
			return p.Push(text)
		}
	}
	return nil
}

// Finish ends the answer. The parser is not to be used afterwards.
func (p *Parser) Finish(end End) []Event {
	for p.call != nil {
		if c := p.call; c.tentative > 0 && !c.complete() {
			// A closing marker that looked like part of a string was none: read on behind it, and from now on believe
			// such markers, so that the rest is read once more only.
			p.hasty = true
			p.end(c.tentativeBody, c.tentative, true)
			continue
		}
		p.last(end)
	}
	p.spaces = 0
	p.shown = append(p.shown, p.hold...)
	p.hold = nil
	return p.take()
}

// last ends a call at the end of the answer.
func (p *Parser) last(end End) {
	c := p.call
	switch {
	case c.complete() && (p.repair || len(c.opener.closers) == 0):
		at := c.bodyEnd
		if c.trails() {
			at = len(c.raw)
		}
		p.end(c.bodyEnd, at, len(c.opener.closers) == 0)
	case end == Cut:
		p.call = nil
		p.emit(Event{Kind: Unfinished, Name: c.started, Raw: string(c.raw)})
	default:
		p.end(len(c.raw), len(c.raw), false)
	}
}

func (p *Parser) feed(b []byte) {
	if !p.format.Known() {
		p.shown = append(p.shown, b...)
		return
	}
	for _, c := range b {
		if p.call != nil {
			p.inCall(c)
		} else {
			p.inText(c)
		}
	}
}

// take returns the events so far.
func (p *Parser) take() []Event {
	p.show()
	if c := p.call; c != nil && c.started != "" && c.told && p.sent < len(c.raw) {
		p.out = append(p.out, Event{Kind: CallDelta, Name: c.started, Text: string(c.raw[p.sent:])})
		p.sent = len(c.raw)
	}
	out := p.out
	p.out = nil
	return out
}

func (p *Parser) show() {
	if len(p.shown) > 0 {
		p.out = append(p.out, Event{Kind: Text, Text: string(p.shown)})
		p.shown = p.shown[:0]
	}
}

func (p *Parser) emit(e Event) {
	p.show()
	p.out = append(p.out, e)
}

// inText takes a byte outside of calls.
func (p *Parser) inText(c byte) {
	if len(p.hold) == p.spaces {
		if isSpace(c) {
			p.hold = append(p.hold, c)
			p.spaces++
			p.line = p.line || c == '\n'
			return
		}
		if c != '<' && c != '[' && c != '{' && c != '`' {
			p.release(append(p.hold, c))
			return
		}
	}
	p.hold = append(p.hold, c)
	tail := p.hold[p.spaces:]
	switch o := p.opening(string(tail), p.line, p.fresh); o.verdict {
	case no:
		rest := append([]byte(nil), tail[1:]...)
		p.release(p.hold[:p.spaces+1])
		p.feed(rest)
	case yes:
		p.open(o)
	}
}

// release shows text.
func (p *Parser) release(text []byte) {
	p.shown = append(p.shown, text...)
	p.hold, p.spaces = p.hold[:0], 0
	c := text[len(text)-1]
	if !isSpace(c) && (p.format != LlamaJSON || c != ';' && c != ',') {
		p.fresh = false
	}
	p.line = false
}

// open begins a call with what is on hold.
func (p *Parser) open(o opening) {
	p.call = &call{
		builder: &p.builder, raw: append([]byte(nil), p.hold[:p.spaces]...), opened: p.spaces + o.marker,
		opener: o, body: o.body, hasty: p.hasty, told: !o.unsure, tag: -1, follow: maybe,
		jsonState: jsonState{first: -1},
	}
	rest := append([]byte(nil), p.hold[p.spaces:]...)
	p.call.raw = append(p.call.raw, rest[:o.marker]...)
	p.hold, p.spaces, p.sent = p.hold[:0], 0, 0
	p.feed(rest[o.marker:])
}

// inCall takes a byte of a call.
func (p *Parser) inCall(b byte) {
	c := p.call
	before := c.started
	e := c.step(b)
	if before == "" && c.started != "" && c.told {
		if t, _ := p.tools.find(c.started, p.repair); t != nil {
			c.started = t.name
		}
		p.emit(Event{Kind: CallStart, Name: c.started})
		p.sent = len(c.raw)
	}
	switch {
	case e.over:
		p.end(e.body, e.at, e.closed)
	case e.again > 0:
		rest := append([]byte(nil), c.raw[e.again:]...)
		c.raw = c.raw[:e.again]
		p.feed(rest)
	}
}

// end closes the call at an offset of its raw text, and reads the rest anew. The call's body ends at another offset.
func (p *Parser) end(body, at int, closed bool) {
	c := p.call
	p.call = nil
	rest := append([]byte(nil), c.raw[at:]...)
	raw := string(c.raw[:at])
	events := c.events(body, raw, closed)
	if c.opener.unsure && c.follow == no {
		p.shown = append(p.shown, raw...) // an example in a text, not a call
		p.fresh, p.line = false, strings.HasSuffix(raw, "\n")
	} else {
		for _, e := range events {
			p.emit(e)
		}
		p.fresh, p.line = true, true
	}
	p.feed(rest)
}
