package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pooled/pooled/core/export"
)

// site is a page in many files.
var site = fstest.MapFS{
	"index.html": {Data: []byte(`<!DOCTYPE html>
<html><head><title>Site</title>
<link rel="stylesheet" href="css/main.css">
<link rel="icon" href="img/dot.png">
<style>h1 { background: url(img/dot.png) }</style>
</head><body style="background: url('img/dot.png')">
<h1 id="out">waiting</h1>
<img src="img/dot.png" alt="a &quot;dot&quot;"><img src="https://example.com/x.png"><img src="none.png">
<a href="other.html">other</a>
<script src="js/a.js"></script>
<script type="module" src="js/main.js"></script>
<script>fetch('data.json')</script>
</body></html>
`)},
	"css/main.css": {Data: []byte("@import 'more.css';\n@import url(print.css) print;\nbody { background: url(../img/dot.png) }\n")},
	"css/more.css": {Data: []byte("p { color: red }")}, "css/print.css": {Data: []byte("p { color: black }")},
	"js/a.js":       {Data: []byte("window.first = 'first </script> part';\n")},
	"js/main.js":    {Data: []byte("import { say } from './lib/say.js';\nimport 'left-pad';\nsay(window.first);\n")},
	"js/lib/say.js": {Data: []byte("export function say(x) { document.getElementById('out').textContent = x; }\n")},
	"img/dot.png":   {Data: []byte("\x89PNG\r\n\x1a\n")},
}

func TestSingleHTML(t *testing.T) {
	got, left, err := export.SingleHTML(t.Context(), site, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	for _, want := range []string{
		"<style>\np { color: red }\n@media print {\np { color: black }\n}", "data:image/png;base64,iVBORw0KGgo=",
		`alt="a &#34;dot&#34;"`, "data:text/javascript;base64," + base64.StdEncoding.EncodeToString(site["js/a.js"].Data), `https://example.com/x.png`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, gone := range []string{"css/main.css", "js/a.js", "./lib/say.js", `href="img/dot.png"`, "(img/dot.png)"} {
		if strings.Contains(text, gone) {
			t.Errorf("the page still refers to %q", gone)
		}
	}
	for _, want := range []string{
		"https://example.com/x.png: it is not in the project", "none.png: there is no such file", "left-pad: a package cannot be put in",
		"other.html: links to other pages are not put in", "data.json: a script loads it while it runs",
	} {
		if !slices.Contains(left, want) {
			t.Errorf("it is not said that %q\n%q", want, left)
		}
	}
	if len(left) != 5 {
		t.Errorf("got %d notes: %q", len(left), left)
	}
	if _, _, err := export.SingleHTML(t.Context(), site, "none.html"); err == nil {
		t.Error("a page that is not there was exported")
	}
	for _, odd := range []string{"", "<script src=", "<style>", "<link rel=stylesheet href='../../x'>", "<script src='/etc/passwd'></script>", "<script>"} {
		if _, _, err := export.SingleHTML(t.Context(), fstest.MapFS{"index.html": {Data: []byte(odd)}}, "index.html"); err != nil {
			t.Errorf("%q: %v", odd, err)
		}
	}
}

func TestZip(t *testing.T) {
	var a, b bytes.Buffer
	files := fstest.MapFS{"index.html": {Data: []byte("<h1>Hi</h1>")}, "a/b.txt": {Data: []byte("b")}, "node_modules/x.js": {Data: []byte("x")}}
	for _, to := range []*bytes.Buffer{&a, &b} {
		if left, err := export.Zip(t.Context(), to, files); err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same files gave other bytes")
	}
	r, err := zip.NewReader(bytes.NewReader(a.Bytes()), int64(a.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	if want := []string{"a/b.txt", "index.html"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
