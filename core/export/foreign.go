package export

import "slices"

// foreign follows where in a page SVG and MathML stand: there, the names of elements mean something else, and what is a
// script or a style in HTML is ordinary markup.
// Source: https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inforeign
type foreign struct{ stack []string }

// maxForeign bounds how deep it is followed.
const maxForeign = 64

// holdsHTML are the elements of SVG and MathML that hold HTML.
var holdsHTML = map[string]bool{
	"foreignobject": true, "desc": true, "title": true, "mi": true, "mo": true, "mn": true, "ms": true, "mtext": true, "annotation-xml": true,
}

// leaves are the elements of HTML that end SVG and MathML wherever they stand.
var leaves = map[string]bool{
	"b": true, "big": true, "blockquote": true, "body": true, "br": true, "center": true, "code": true, "dd": true, "div": true, "dl": true,
	"dt": true, "em": true, "embed": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "head": true, "hr": true,
	"i": true, "img": true, "li": true, "listing": true, "menu": true, "meta": true, "nobr": true, "ol": true, "p": true, "pre": true,
	"ruby": true, "s": true, "small": true, "span": true, "strong": true, "strike": true, "sub": true, "sup": true, "table": true,
	"tt": true, "u": true, "ul": true, "var": true,
}

// inside reports whether what comes next is not HTML.
func (f *foreign) inside() bool {
	n := len(f.stack)
	return n > 0 && !holdsHTML[f.stack[n-1]]
}

// start follows a start tag, and reports whether it is one of SVG or MathML.
func (f *foreign) start(name string, closed bool) bool {
	for f.inside() && leaves[name] {
		f.stack = f.stack[:len(f.stack)-1]
	}
	inside := f.inside()
	if !closed && len(f.stack) < maxForeign && (name == "svg" || name == "math" || inside && holdsHTML[name]) {
		f.stack = append(f.stack, name)
	}
	return inside
}

// end follows an end tag.
func (f *foreign) end(name string) {
	for i := range slices.Backward(f.stack) {
		if f.stack[i] == name {
			f.stack = f.stack[:i]
			return
		}
	}
}
