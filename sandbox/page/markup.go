package page

import (
	"io"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxMarkup bounds the page's own HTML. Units: bytes.
const maxMarkup = 2 << 20

// markup parses HTML as browsers do and returns its nodes for the guest, which
// replays them: happy-dom's own parser is loose (it loses a script that holds "1<<2").
// A text is a string; an element is [name, [attribute, value, …], child…], its name
// "svg rect" outside HTML; a comment is ["!", text], a doctype ["!doctype", name]. A script
// that the text ends in is ["!script", [attribute, value, …], text]: browsers do not run it.
// Scripts says whether the document runs scripts, which what is in a noscript element depends on.
//
// Errors: those of the parser, which refuses nesting beyond 512.
func markup(text string, scripts bool) ([]any, error) {
	root, err := html.ParseWithOptions(&patient{strings.NewReader(text), time.Now().Add(maxParse)}, html.ParseOptionEnableScripting(scripts))
	if err != nil {
		return nil, err
	}
	var open *html.Node
	if endsInScript(text) {
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && n.Data == "script" {
				open = n
			}
		}
	}
	return children(root, open), nil
}

// maxFragment bounds what a script may hand over to be parsed. Units: bytes.
const maxFragment = 256 << 10

// fragment parses text as the content of an element, such as "tbody" or "svg g".
func fragment(context, text string) ([]any, error) {
	if len(text) > maxFragment {
		return nil, errParse
	}
	space, name, found := strings.Cut(context, " ")
	if !found {
		space, name = "", context
	}
	if name == "head" && space == "" {
		name = "body" // the package html leaves out what does not belong into a head; the standard does not
	}
	parent := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name)), Namespace: space}
	nodes, err := html.ParseFragment(&patient{strings.NewReader(text), time.Now().Add(maxParse)}, parent)
	if err != nil {
		return nil, err
	}
	out := &html.Node{Type: html.ElementNode}
	for _, n := range nodes {
		out.AppendChild(n)
	}
	return children(out, nil), nil
}

// maxParse bounds the time the host's parser takes, which runs outside the guest's clock.
const maxParse = 400 * time.Millisecond

// patient ends the text with an error when the parser has taken too long.
type patient struct {
	r     io.Reader
	until time.Time
}

func (p *patient) Read(b []byte) (int, error) {
	if time.Now().After(p.until) {
		return 0, errParse
	}
	return p.r.Read(b)
}

// endsInScript reports whether the text stops before a script's end tag.
func endsInScript(text string) bool {
	z := html.NewTokenizer(strings.NewReader(text))
	open := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return open
		case html.StartTagToken:
			name, _ := z.TagName()
			open = string(name) == "script"
		case html.EndTagToken:
			open = false
		}
	}
}

func children(n, open *html.Node) []any {
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
			out = append(out, element(c, open))
		}
	}
	return out
}

func element(n, open *html.Node) []any {
	name := n.Data
	if n.Namespace != "" {
		name = n.Namespace + " " + name
	}
	if n == open {
		name = "!script"
	}
	attributes := make([]string, 0, 2*len(n.Attr))
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		attributes = append(attributes, key, a.Val)
	}
	return append([]any{name, attributes}, children(n, open)...)
}
