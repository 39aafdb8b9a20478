package toolcall

import (
	"slices"
	"strings"
)

// wrongTags are names of tags that models write instead of tool_call, as [tagWord] returns them.
var wrongTags = []string{"toolcall", "toolcalls", "tools", "tool", "functioncall", "function"}

// maxWrong bounds what stands between the brackets of a tag of a wrong name.
const maxWrong = 64

// tagWord returns a tag's name without what models get wrong in it; ok says that it may be a tag's name at all.
func tagWord(name string) (word string, ok bool) {
	var b [maxWrong]byte
	n := 0
	for i := range len(name) {
		switch c := name[i] | 0x20; {
		case c >= 'a' && c <= 'z' && n < len(b):
			b[n] = c
			n++
		case name[i] != '_' && name[i] != '-' && name[i] != ' ':
			return "", false
		}
	}
	return string(b[:n]), true
}

// isWrongTag reports whether models write a tag's name instead of tool_call.
func isWrongTag(name string) bool {
	word, ok := tagWord(name)
	return ok && slices.Contains(wrongTags, word)
}

// beginsWrongTag reports whether a name may become such a name.
func beginsWrongTag(name string) bool {
	word, ok := tagWord(name)
	return ok && slices.ContainsFunc(wrongTags, func(tag string) bool { return strings.HasPrefix(tag, word) })
}

// wrongClose judges text that may be an end tag of a wrong name.
func wrongClose(s string) verdict {
	name, ok := strings.CutPrefix(s, "</")
	if !ok {
		return compare(s, "</")
	}
	name, whole := strings.CutSuffix(name, ">")
	switch {
	case len(name) > maxWrong:
		return no
	case isWrongTag(name) && whole:
		return yes
	case !whole && beginsWrongTag(name):
		return maybe
	}
	return no
}

// wrongTag judges text that may be a call in other tags.
func (b *builder) wrongTag(s string) opening {
	inside, behind, whole := strings.Cut(s[1:], ">")
	name := strings.TrimSuffix(inside, "/")
	first, attributes, _ := strings.Cut(strings.TrimLeft(name, " "), " ")
	if !isWrongTag(name) && isWrongTag(first) {
		name = first // "tool call" is a name, too
	} else {
		attributes = ""
	}
	switch {
	case len(inside) > maxWrong || strings.ContainsAny(inside, "\n<") || !beginsWrongTag(name):
		return opening{}
	case !whole:
		return opening{verdict: maybe}
	case !isWrongTag(name):
		return opening{}
	}
	o := opening{
		marker: len(inside) + len("<>"), body: jsonBody, closers: []string{"</" + strings.TrimSpace(name) + ">", callClose},
		repaired: []string{"read <" + inside + "> as " + callOpen},
	}
	if strings.TrimSpace(attributes) != "" || strings.HasSuffix(inside, "/") {
		o.broken = "it begins with <" + inside + ">"
	}
	behind = strings.TrimLeft(behind, " \t\r\n")
	switch {
	case len(s) > maxOpening:
		return opening{}
	case behind == "":
		o.verdict = maybe
	case behind[0] == '{' || behind[0] == '[':
		o.verdict = b.jsonStart(behind)
	case behind[0] == '<':
		o.body = xmlBody
		o.verdict = b.functionStart(behind)
	}
	return o
}

// wrongMarker judges text that may be a call behind a marker that is nearly Mistral's.
func (b *builder) wrongMarker(s string) opening {
	inside, behind, whole := strings.Cut(strings.TrimPrefix(s, "["), "]")
	word, ok := tagWord(inside)
	switch {
	case !ok || len(inside) > maxWrong || len(s) > maxOpening || !strings.HasPrefix("toolcalls", word):
		return opening{}
	case !whole:
		return opening{verdict: maybe}
	case word != "toolcall" && word != "toolcalls":
		return opening{}
	}
	o := opening{
		marker: len(inside) + len("[]"), body: mistral, repaired: []string{"read [" + inside + "] as " + mistralTag},
	}
	switch behind = strings.TrimLeft(behind, " \t\r\n"); {
	case behind == "":
		o.verdict = maybe
	case behind[0] == '{' || behind[0] == '[':
		o.verdict = b.jsonStart(behind)
	default:
		for _, t := range b.tools.list {
			o.verdict = max(o.verdict, namedStart(behind, t.name))
		}
	}
	return o
}

// namedStart judges text that may be a tool's name with what comes between it and its arguments.
func namedStart(s, name string) verdict {
	rest, ok := strings.CutPrefix(s, name)
	if !ok {
		return compare(s, name)
	}
	rest = strings.TrimLeft(rest, " ")
	best := no
	for _, next := range []string{mistralArg, mistralID, "{"} {
		if strings.HasPrefix(rest, next) {
			return yes
		}
		best = max(best, compare(rest, next))
	}
	return best
}
