package export

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// The content of a script or a style stands in a page as it is, up to its end tag, and nothing can be escaped in it. What is
// put there comes from files, so it is made so that no page around it can read a tag in it.

// breaks finds what ends a script, or makes a browser look for the end elsewhere.
// Source: https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements
var breaks = regexp.MustCompile(`(?i)</script|<!--`)

// rawText writes a script or a style with its content. A script that would break out is referred to as a data URL, where
// its text is exact; a style sheet is written by [sheet], which leaves nothing that looks like a tag.
func (in *inliner) rawText(t html.Token, content string) error {
	if t.Data == "script" && breaks.MatchString(content) {
		src, err := in.encoded("text/javascript", content)
		if err != nil {
			return err
		}
		t.Attr, content = append(without(t.Attr, "src"), html.Attribute{Key: "src", Val: src}), ""
	}
	return in.put(html.Token{Type: html.StartTagToken, Data: t.Data, Attr: t.Attr}.String(), content, "</", t.Data, ">")
}

// without returns attributes but for those of some names.
func without(attrs []html.Attribute, names ...string) []html.Attribute {
	var kept []html.Attribute
next:
	for _, a := range attrs {
		for _, n := range names {
			if a.Key == n {
				continue next
			}
		}
		kept = append(kept, a)
	}
	return kept
}

// isTag reports whether a "<" before rest would be read as the beginning of a tag or a comment.
func isTag(rest string) bool {
	return rest != "" && (strings.IndexByte("/!?", rest[0]) >= 0 || letter(rest[0]))
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
