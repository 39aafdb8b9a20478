package toolcall

import "strings"

// tagBegins are what the names of the tags of Qwen XML begin with, and those of nearly right ones.
var tagBegins = []string{"param", "func", "tool_c", "toolc"}

// formatTag returns what follows the first "<" in a text that begins a tag of the format, however it is written, up to the
// end of its line; empty where there is none. A value whose end tag is missing must hold none.
func formatTag(text string) string {
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return ""
		}
		at += next
		inside := strings.TrimLeft(text[at+1:], `/\ `)
		for _, name := range tagBegins {
			if len(inside) >= len(name) && strings.EqualFold(inside[:len(name)], name) {
				line, _, _ := strings.Cut(text[at:], "\n")
				return line
			}
		}
	}
}

// brokenEnd returns what at the end of a value may have been meant as its end tag; empty if nothing may. The value has no
// end tag, and no white space at its end.
//
// An end tag that the value itself opened is part of it, but for one of the parameter's name.
func brokenEnd(text, param string) string {
	at := strings.LastIndexByte(text, '<')
	if at < 0 || strings.Contains(strings.TrimSuffix(text[at:], ">"), ">") {
		return likeTag(text)
	}
	tail := text[at:]
	name, ended := strings.CutPrefix(tail, "</")
	switch {
	case tail == "<":
		return tail
	case ended:
		name, whole := strings.CutSuffix(name, ">")
		name = strings.TrimSpace(name)
		if !whole || strings.EqualFold(name, param) || !opens(text[:at], name) {
			return tail
		}
		return ""
	}
	return likeTag(text)
}

// likeTag returns the last word of a text if it begins like the name of a tag of the format and has something beside it
// that stands around names: "/parameter>", "[/parameter]".
func likeTag(text string) string {
	tail := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(text[max(0, len(text)-maxTag):])
	trimmed := strings.TrimRight(tail, ">]/;|} ")
	at := len(trimmed)
	for at > 0 && (isWord(trimmed[at-1]) || trimmed[at-1] == '-') {
		at--
	}
	around := at > 0 && strings.IndexByte(`<>/\[|`, trimmed[at-1]) >= 0
	alone := (at == 0 || trimmed[at-1] == '\n') && trimmed != tail
	word := strings.ToLower(trimmed[at:])
	for _, begin := range tagBegins {
		if (around || alone) && strings.HasPrefix(word, begin) {
			return tail[max(0, at-2):]
		}
	}
	return ""
}

// opens reports whether a text has a start tag of a name.
func opens(text, name string) bool {
	for open := "<" + name; ; {
		at := strings.Index(text, open)
		if at < 0 {
			return false
		}
		text = text[at+len(open):]
		if text == "" || !isWord(text[0]) && text[0] != '-' {
			return true
		}
	}
}

// parameterWithin returns what in the text of the open value may begin the next parameter; empty if nothing may: a start tag at the start of a
// line, or anywhere in a value that began on the line of its own start tag, or one that begins a parameter which the tool
// declares and did not get yet, however the tag is written. It begins none where a </parameter> stands behind it, for that has
// text behind it, which could be no part of a call.
func (c *call) parameterWithin(text string) string {
	const short = "param"
	for at := strings.LastIndex(text, parameterClose) + 1; ; at++ {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return ""
		}
		at += next
		inside := strings.TrimLeft(text[at+1:min(len(text), at+maxTag)], " ")
		if len(inside) < len(short) || !strings.EqualFold(inside[:len(short)], short) {
			continue
		}
		tag, _, _ := strings.Cut(text[at:min(len(text), at+maxTag)], "\n")
		rest := inside[len(short):]
		if after := len("eter"); len(rest) >= after && strings.EqualFold(rest[:after], "eter") {
			rest = rest[after:]
		}
		name := strings.TrimLeft(rest, "s \t=:\"'")
		if attribute, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "name"); ok {
			name = strings.TrimLeft(attribute, " \t=:\"'")
		}
		name = name[:wordEnd(name)]
		begins := strings.HasPrefix(text[at:], parameterOpen+"=") && strings.Contains(tag, ">")
		if begins && (!c.own || c.lineStart(c.value+at)) || name != "" && c.expects(parameterOpen+"="+name+">") {
			return tag
		}
	}
}

// wordEnd returns how long the name at the start of a text is.
func wordEnd(text string) int {
	for i := range len(text) {
		if !isWord(text[i]) && text[i] != '-' && text[i] != '.' {
			return i
		}
	}
	return len(text)
}
