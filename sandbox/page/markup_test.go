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
		{"<script>a()", `[["html",[],["head",[],["!script",[],"a()"]],["body",[]]]]`},
		{"<script>a()</script><script id=b>", `[["html",[],["head",[],["script",[],"a()"],["!script",["id","b"]]],["body",[]]]]`},
		{"<textarea><script>", `[["html",[],["head",[]],["body",[],["textarea",[],"<script>"]]]]`},
		{"<template><td>x</template>", `[["html",[],["head",[],["template",[],["td",[],"x"]]],["body",[]]]]`},
	} {
		nodes, err := markup(c.html, true)
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

func TestFragment(t *testing.T) {
	for _, c := range []struct{ context, html, want string }{
		{"div", "a<b>c", `["a",["b",[],"c"]]`},
		{"div", "<tr><td>x", `["x"]`},
		{"tbody", "<tr><td>x", `[["tr",[],["td",[],"x"]]]`},
		{"select", "<option>a<option>b", `[["option",[],"a"],["option",[],"b"]]`},
		{"svg svg", "<lineargradient>", `[["svg linearGradient",[]]]`},
		{"x-own", "<p>a<p>b", `[["p",[],"a"],["p",[],"b"]]`},
		{"", "x", `["x"]`},
	} {
		nodes, err := fragment(c.context, c.html)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(nodes); err != nil || string(b) != c.want {
			t.Errorf("%s in %q: got %s, %v, want %s", c.html, c.context, b, err, c.want)
		}
	}
	if _, err := fragment("div", strings.Repeat("x", maxFragment+1)); err == nil {
		t.Error("a fragment over the limit was parsed")
	}
}

func TestParserGivesUp(t *testing.T) {
	p := &patient{strings.NewReader("<p>x"), time.Now().Add(-time.Second)}
	if _, err := p.Read(make([]byte, 10)); err != errParse {
		t.Errorf("after its time: %v, want %v", err, errParse)
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
		nodes, err := markup(text, true)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("400 kB of %q took %v (%d nodes, %v)", piece, took, len(nodes), err)
		}
	}
}

func FuzzMarkup(f *testing.F) {
	f.Add("<!doctype html><p onclick=x()>a<svg><b>")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := markup(text, true)
		if err != nil {
			return
		}
		if _, err := json.Marshal(nodes); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzFragment(f *testing.F) {
	f.Add("svg g", "<a xlink:href=b>")
	f.Add("table", "<td><form><tr>x")
	f.Fuzz(func(t *testing.T, context, text string) {
		nodes, err := fragment(context, text)
		if err != nil {
			return
		}
		if _, err := json.Marshal(nodes); err != nil {
			t.Fatal(err)
		}
	})
}
