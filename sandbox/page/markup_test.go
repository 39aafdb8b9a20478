package page

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestMarkup(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"", `[["html",[],["head",[]],["body",[]]]]`},
		{"<!doctype html><p a=1>x<!--c-->", `[["!doctype","html"],["html",[],["head",[]],["body",[],["p",["a","1"],"x",["!","c"]]]]]`},
		{"<svg viewbox=1><a xlink:href=b>", `[["html",[],["head",[]],["body",[],["svg svg",["viewBox","1"],["svg a",["xlink:href","b"]]]]]]`},
		{"<script>1<<2</script>", `[["html",[],["head",[],["script",[],"1<<2"]],["body",[]]]]`},
		{"<template><td>x</template>", `[["html",[],["head",[],["template",[],["td",[],"x"]]],["body",[]]]]`},
	} {
		nodes, err := markup(c.html)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(nodes)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(json.RawMessage(b)); err != nil {
			t.Fatal(err)
		}
		if s := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(got.String()), `\u003c`, "<"), `\u003e`, ">"); s != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.html, s, c.want)
		}
	}
}

// TestMarkupStaysFast feeds the host's parser what has made parsers slow: it
// runs outside the sandbox's clock.
func TestMarkupStaysFast(t *testing.T) {
	for _, piece := range []string{
		"<a>", "<div>", "<b><p>", "</p>", "<table><a>", "<a></b>", "<font><font><font><font><p>", "<svg><a>", "<select><option>",
		"<template>", "<!--", "&", "&#", "<p a", "<", "<x y=", "<table><tr>x", "<b></b>", "<frameset>", "<math><mi>",
	} {
		text := strings.Repeat(piece, 400_000/len(piece))
		began := time.Now()
		nodes, err := markup(text)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("400 kB of %q took %v (%d nodes, %v)", piece, took, len(nodes), err)
		}
	}
}

func FuzzMarkup(f *testing.F) {
	f.Add("<!doctype html><p onclick=x()>a<svg><b>")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := markup(text)
		if err != nil {
			return
		}
		if _, err := json.Marshal(nodes); err != nil {
			t.Fatal(err)
		}
	})
}
