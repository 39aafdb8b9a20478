package page

import (
	"strings"

	"golang.org/x/net/html"
)

// maxMarkup bounds the page's own HTML. Units: bytes.
const maxMarkup = 2 << 20

// markup parses HTML as browsers do and returns its nodes for the guest, which
// replays them: happy-dom's own parser is loose (it loses a script that holds "1<<2").
// A text is a string; an element is [name, [attribute, value, …], child…], its name
// "svg rect" outside HTML; a comment is ["!", text], a doctype ["!doctype", name].
//
// Errors: those of the parser, which refuses nesting beyond 512.
func markup(text string) ([]any, error) {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return children(root), nil
}

func children(n *html.Node) []any {
	out := []any{}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			out = append(out, c.Data)
		case html.CommentNode:
			out = append(out, []any{"!", c.Data})
		case html.DoctypeNode:
			out = append(out, []any{"!doctype", c.Data})
		case html.ElementNode:
			out = append(out, element(c))
		}
	}
	return out
}

func element(n *html.Node) []any {
	name := n.Data
	if n.Namespace != "" {
		name = n.Namespace + " " + name
	}
	attributes := make([]string, 0, 2*len(n.Attr))
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		attributes = append(attributes, key, a.Val)
	}
	return append([]any{name, attributes}, children(n)...)
}
