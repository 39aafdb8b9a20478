package chat

import "strings"

// Tags are the texts that enclose a model's reasoning.
type Tags struct{ Open, Close string }

// tagsOf returns the reasoning tags that a template mentions.
func tagsOf(template string) Tags {
	for _, t := range []Tags{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}, {"<thinking>", "</thinking>"}} {
		if strings.Contains(template, t.Open) || strings.Contains(template, t.Close) {
			return t
		}
	}
	return Tags{}
}

// Splitter parts a streamed answer into reasoning and content.
//
// Reasoning is what stands between the tags at the start of an answer; tags further on are text. White space around the
// tags belongs to neither side. A text that could be the start of a tag is held back until it is known.
//
// Owns: one answer's state; not safe for concurrent use.
type Splitter struct {
	tags  Tags
	state splitState
	held  string // not yet decided
	space string // white space of the reasoning that a closing tag would swallow
}

type splitState int

const (
	beforeTag     splitState = iota // only white space so far
	inReasoning                     // within the tags
	afterTag                        // white space after the closing tag
	inContent                       // nothing is looked for
	reasoningHead                   // white space after the opening tag
)

// NewSplitter returns a splitter for an answer. inside says that the prompt has opened the reasoning (Prompt.Reasoning).
// With empty tags everything is content.
func NewSplitter(tags Tags, inside bool) *Splitter {
	s := &Splitter{tags: tags}
	switch {
	case tags.Open == "" || tags.Close == "":
		s.state = inContent
	case inside:
		s.state = reasoningHead
	}
	return s
}

// Push takes a piece of the answer and returns what it adds to the reasoning and to the content.
func (s *Splitter) Push(piece string) (reasoning, content string) {
	s.held += piece
	var r, c strings.Builder
	for s.step(&r, &c) {
	}
	return r.String(), c.String()
}

// step handles what is held as far as one state goes; it reports whether there may be more to do.
func (s *Splitter) step(r, c *strings.Builder) bool {
	const space = " \t\r\n"
	switch s.state {
	case beforeTag:
		trimmed := strings.TrimLeft(s.held, space)
		switch {
		case strings.HasPrefix(trimmed, s.tags.Open):
			s.held, s.state = trimmed[len(s.tags.Open):], reasoningHead
		case strings.HasPrefix(s.tags.Open, trimmed):
			return false
		default:
			s.state = inContent
		}
	case reasoningHead:
		s.held = strings.TrimLeft(s.held, space)
		if s.held == "" {
			return false
		}
		s.state = inReasoning
	case inReasoning:
		text, rest, closed := strings.Cut(s.held, s.tags.Close)
		keep := ""
		if !closed {
			keep = text[len(text)-overlap(text, s.tags.Close):]
			text = text[:len(text)-len(keep)]
		}
		text = s.space + text
		kept := strings.TrimRight(text, space)
		r.WriteString(kept)
		s.space, s.held = text[len(kept):], keep
		if !closed {
			return false
		}
		s.space, s.held, s.state = "", rest, afterTag
	case afterTag:
		s.held = strings.TrimLeft(s.held, space)
		if s.held == "" {
			return false
		}
		s.state = inContent
	case inContent:
		c.WriteString(s.held)
		s.held = ""
		return false
	}
	return true
}

// overlap returns the length of the longest proper prefix of tag that text ends with.
func overlap(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

// InReasoning reports whether the answer so far ends within the reasoning.
func (s *Splitter) InReasoning() bool { return s.state == inReasoning || s.state == reasoningHead }

// Flush ends the answer and returns what was held back.
func (s *Splitter) Flush() (reasoning, content string) {
	held, space := s.held, s.space
	s.held, s.space = "", ""
	switch s.state {
	case inReasoning:
		if held != "" {
			held = space + held
		}
		return held, ""
	case beforeTag, inContent:
		return "", held
	}
	return "", ""
}
