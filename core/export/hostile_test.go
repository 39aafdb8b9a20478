package export_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/pooled/pooled/core/export"
)

// tree makes a project of name, content, name, content and so on.
func tree(parts ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i+1 < len(parts); i += 2 {
		files[parts[i]] = &fstest.MapFile{Data: []byte(parts[i+1])}
	}
	return files
}

// single exports the page of a project, within what the budget promises. Work is told by what it allocates, which does not
// hang on how busy the machine is.
func single(t *testing.T, files fs.FS) (page string, left []string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, left, err := export.SingleHTML(t.Context(), files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := len(out); n > 96<<20 {
		t.Errorf("the page has %d bytes", n)
	}
	// What was allocated in all, whenever it was given back.
	if n := after.TotalAlloc - before.TotalAlloc; n > 2<<30 {
		t.Errorf("%d MB were allocated", n>>20)
	}
	return string(out), left
}

// outline lists the elements of a page but for links and styles, and counts those and what runs.
func outline(t *testing.T, page string) (elements []string, links, styles int) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Skip("the parser does not take it:", err)
	}
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "link" && n.Namespace == "":
			links++
		case n.Data == "style" && n.Namespace == "":
			styles++
		default:
			elements = append(elements, n.Data)
		}
	}
	return elements, links, styles
}

// sameElements checks that a page has the elements of its source and none more; links may have become styles or be gone.
func sameElements(t *testing.T, source, page string) {
	t.Helper()
	elements, links, styles := outline(t, source)
	got, gotLinks, gotStyles := outline(t, page)
	if !slices.Equal(got, elements) || gotStyles < styles || gotLinks+gotStyles > links+styles {
		t.Errorf("got %q, %d links and %d styles, want %q, at most %d and %d\n%.2000s", got, gotLinks, gotStyles, elements, links, styles, page)
	}
}

func TestHostilePages(t *testing.T) {
	if testing.Short() { // as under the race detector, which makes it some twelve times slower, and pools allocate more
		t.Skip("long, and without goroutines")
	}
	// Every module imports the next one twice: two to the power of thirty copies of the last.
	powers := tree("index.html", "<script type=module src=m0.js></script>")
	sheets := tree("index.html", "<link rel=stylesheet href=s0.css>")
	for i := range 30 {
		next := fmt.Sprintf("import './m%d.js';\nimport './m%d.js';\n", i+1, i+1)
		powers[fmt.Sprintf("m%d.js", i)] = &fstest.MapFile{Data: []byte(next)}
		next = fmt.Sprintf("@import 's%d.css';@import 's%d.css';a{b:url(s%d.css)}", i+1, i+1, i+1)
		sheets[fmt.Sprintf("s%d.css", i)] = &fstest.MapFile{Data: []byte(next)}
	}
	big := strings.Repeat("a{b:c}\n", 1<<20)
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		notes []string // each begins one of the notes
	}{
		{"a sheet that is its own picture", tree("index.html", "<link rel=stylesheet href=a.css>", "a.css", "a{b:url(a.css)}"), []string{"a.css: files that refer to each other"}},
		{"a sheet that imports itself", tree("index.html", "<link rel=stylesheet href=a.css>", "a.css", "@import 'a.css';"), []string{"a.css: files that refer to each other"}},
		{"sheets in a circle", tree("index.html", "<style>@import 'a.css';</style>", "a.css", "@import 'b.css';", "b.css", "x{y:url(a.css)}"), []string{"a.css: files that refer to each other"}},
		{"modules in a circle", tree("index.html", "<script type=module>import './a.js'</script>", "a.js", "import './a.js'"), []string{"./a.js: files that refer to each other"}},
		{"powers of modules", powers, []string{"./m16.js: files refer to each other more than 16 deep"}},
		{"powers of sheets", sheets, []string{"s16.css: files refer to each other more than 16 deep"}},
		{"a large sheet, many times", tree("index.html", strings.Repeat("<link rel=stylesheet href=a.css>", 12), "a.css", big), []string{"a.css: the page would have more than 64 MB"}},
		{"a large picture, many times", tree("index.html", strings.Repeat("<img src=a.png>", 5000), "a.png", big), []string{"a.png: the page would have more than 64 MB"}},
		{"many references", tree("index.html", strings.Repeat("<img src=a.png>", 30_000), "a.png", "x"), []string{"a.png: the page refers to files more than 20000 times"}},
		{"sizes, many times", tree("index.html", "<img srcset='"+strings.Repeat("a.png 1x, ", 1<<20)+"'>", "a.png", "x"), []string{"a.png: the page refers to files more than 20000 times"}},
		{"many attributes", tree("index.html", "<img "+strings.Repeat("a=b ", 1<<20)+"src=a.png>", "a.png", "x"), nil},
		{"many missing files", tree("index.html", func() string {
			var s strings.Builder
			for i := range 5000 {
				fmt.Fprintf(&s, "<img src=%d.png>", i)
			}
			return s.String()
		}()), []string{"0.png: there is no such file", "4800 more"}},
		{"a long name", tree("index.html", "<img src="+strings.Repeat("x", 1<<20)+">"), []string{"xxx"}},
		{"imports that are none, many times", tree("index.html", "<style>"+strings.Repeat("@import 'a.css'", 1<<19)+"{</style>"), nil},
		{"comments that do not end", tree("index.html", "<style>"+strings.Repeat("url(/*)", 1<<20)+"</style>"), nil},
		{"deep SVG", tree("index.html", strings.Repeat("<svg>", 300_000)+strings.Repeat("</desc>", 300_000)), nil},
		{"deep blocks", tree("index.html", "<style>"+strings.Repeat("({[", 1<<20)+"</style>"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			page, left := single(t, c.files)
			if c.name != "deep SVG" {
				sameElements(t, string(c.files["index.html"].Data), page)
			}
			for _, want := range c.notes {
				if !slices.ContainsFunc(left, func(note string) bool { return strings.HasPrefix(note, want) }) {
					t.Errorf("no note begins with %q: %.3000q", want, left)
				}
			}
			for _, note := range left {
				if len(note) > 1000 {
					t.Errorf("a note of %d bytes: %.100q", len(note), note)
				}
			}
			if len(left) > 201 {
				t.Errorf("%d notes", len(left))
			}
		})
	}
}

// TestNothingBreaksOut puts what would end an element, or begin one, into everything that a page can hold.
func TestNothingBreaksOut(t *testing.T) {
	for _, evil := range []string{
		"</style><img src=x onerror=alert(1)>", "</STYLE\n><script>1</script>", "</script><script>evil()</script>", "<!--<script>", "</script",
		"*/</style><b>", `"</style><b>`, `'</style><b>`, `\</style><b>`, `url(</style><b>)`, `url("</style><b>")`, "<", "<!--", "-->", "]]>", "</noscript><b>",
		"<!-</style><b>", "<<!--/style><b>", "<}/style><b>", "<\\", "</textarea><b>", "</title><b>", "@import '</style><b>';", "@import 'x' </style><b>;",
		"{}}</style><b>", "`</script>`", "/</script>/", "//</script>", "a<!--b", "x<b>y", "\x00</style>", "</style/>", "<style>", "<svg><style>",
	} {
		css, js := "a{b:c}"+evil, "let a = `"+evil+"`"
		for _, source := range []string{
			"<link rel=stylesheet href=a.css><p>x</p>",
			"<style>@import 'a.css';</style><p>x</p>",
			"<style>@import 'b.css';</style><p>x</p>",
			"<script src=a.js></script><p>x</p>",
			"<script type=module src=c.js></script><p>x</p>",
			"<script type=module>import './a.js'; import '</x'</script><p>x</p>",
			"<script defer src=a.js></script><p>x</p>",
			"<p style='background: url(a.css)'>x</p>",
			"<p style='background: url(a.css#" + html.EscapeString(evil) + ")'>x</p>",
			"<img src='a.png#" + html.EscapeString(evil) + "' alt='" + html.EscapeString(evil) + "'><p>x</p>",
			"<link rel=stylesheet media='" + html.EscapeString(evil) + "' href=a.css><p>x</p>",
			"<script src=a.js data-x='" + html.EscapeString(evil) + "'></script><p>x</p>",
			"<svg><link rel=stylesheet href=a.css /><style>@import 'a.css';</style></svg><p>x</p>",
			"<svg><style /><script href=a.js /></svg><link rel=stylesheet href=a.css><p>x</p>",
			"<svg><title><img src=a.png></title><desc><link rel=stylesheet href=a.css></desc></svg><p>x</p>",
			"<noscript><link rel=stylesheet href=a.css></noscript><p>x</p>",
			"<textarea><link rel=stylesheet href=a.css></textarea><p>x</p>",
			"<title><script src=a.js></script></title><p>x</p>",
			"<!-- <link rel=stylesheet href=a.css> --><p>x</p>",
			"<template><link rel=stylesheet href=a.css><script src=a.js></script></template><p>x</p>",
			"<select><link rel=stylesheet href=a.css><script src=a.js></script></select><p>x</p>",
			"<script src=a.js>" + strings.ReplaceAll(evil, "</", "<") + "</script><p>x</p>",
			"<script src=a.js>",
			"<style>@import 'a.css';",
		} {
			files := tree("index.html", source, "a.css", css, "b.css", "@import url('a.css') screen;", "a.js", js, "c.js", "import './a.js';\n"+js, "a.png", evil)
			page, _ := single(t, files)
			sameElements(t, source, page)
			if t.Failed() {
				t.Fatalf("%q in %q", evil, source)
			}
		}
	}
}

func FuzzSingleHTML(f *testing.F) {
	f.Add([]byte("<link rel=stylesheet href=a.css><script src=a.js></script><style>@import 'a.css' screen;</style><img src=a.css>"),
		[]byte("@import 'b.css'; a { b: url(a.css); c: '</style>' } <!-- x"), []byte("import './b.js'; `</script><!--<script>`"))
	f.Add([]byte("<svg><style/><title><script src=a.js></script></svg><select><link href=a.css rel=stylesheet>"), []byte("\\"), []byte("</script"))
	f.Add([]byte("<base href=x/><p style=\"a:url('../a.css#<b>')\"><math><mi><style>@import '/b.css'"), []byte("@import 'a.css' layer(x) supports(y:z) print;"), []byte(""))
	f.Fuzz(func(t *testing.T, source, css, js []byte) {
		files := fstest.MapFS{
			"index.html": {Data: source}, "a.css": {Data: css}, "b.css": {Data: slices.Concat(css, css)},
			"a.js": {Data: js}, "b.js": {Data: slices.Concat(js, js)},
		}
		page, _ := single(t, files)
		sameElements(t, string(source), page)
	})
}

// TestSheets checks what becomes of style sheets.
func TestSheets(t *testing.T) {
	for _, c := range []struct{ name, css, want string }{
		{"as it is", "a > b { c: d }\n", "a > b { c: d }\n"},
		{"a comparison", "@media (width<600px) and (height < 1px) {}", "@media (width<600px) and (height < 1px) {}"},
		{"a comparison with a name", "@media (width<calc(1px)) {}", "@media (width< calc(1px)) {}"},
		{"a text", `a { content: "</style>" }`, `a { content: "\3c /style>" }`},
		{"a text with an escape", `a { content: "\</style>" }`, `a { content: "\3c /style>" }`},
		{"not closed", `a { b: "c`, `a { b: "c"}`},
		{"closed too often", "a{}} b{}", "a{}  b{}"},
		{"half a rule", "a", "a{}"},
		{"no reference in a text", `a { b: "url(x.png)" /* url(x.png) */ }`, `a { b: "url(x.png)" /* url(x.png) */ }`},
		{"a name that ends like url", "a { b: curl(x.png) }", "a { b: curl(x.png) }"},
		{"a reference with an escape", `a { b: url(x\.png) }`, `a { b: url("data:image/png;base64,eA==") }`},
		{"a reference in capitals", `a { b: URL( 'x.png' ) }`, `a { b: url("data:image/png;base64,eA==") }`},
		{"a reference that stays", `a { b: url(#x) url("data:,x") }`, `a { b: url(#x) url("data:,x") }`},
		{"an import with conditions", `@import url("p.css") layer(l) supports(display: grid) print;`, "@layer l {\n@supports (display: grid) {\n@media print {\np{}\n}\n}\n}"},
		{"an import in a layer", `@import "p.css" layer;`, "@layer {\np{}\n}"},
		{"an import that stays comes first", `@import "p.css"; @import "https://example.com/x.css" print;`, "@import \"https://example.com/x.css\" print;\np{} "},
		{"imports one after the other", `@import url("p.css");@import "p.css";@import url(p.css);b{}`, "p{}p{}p{}b{}"},
		{"an import of a font that stays", `@import url(//fonts.example/css?family=PT+Sans:400,700,400italic); a{}`, "@import url(//fonts.example/css?family=PT+Sans:400,700,400italic);\n a{}"},
		{"an import in capitals, below a charset", `@charset "utf-8"; @IMPORT 'p.css';`, `@charset "utf-8"; p{}`},
		{"a reference relative to the sheet", `@import "sub/s.css";`, `s{t:url("data:image/png;base64,eA==")}`},
		{"an import too late", `a{} @import "p.css";`, `a{} @import "p.css";`},
		{"an import in a comment", `/* @import "p.css"; */`, `/* @import "p.css"; */`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tree("index.html", "<style>"+strings.ReplaceAll(c.css, "</style>", "<\\/style>")+"</style>", "x.png", "x", "p.css", "p{}", "sub/s.css", "s{t:url(../x.png)}")
			if strings.Contains(c.css, "</style>") {
				files["index.html"].Data = []byte("<style>@import 'c.css';</style>")
				files["c.css"] = &fstest.MapFile{Data: []byte(c.css)}
			}
			page, _ := single(t, files)
			if got := strings.TrimSuffix(strings.TrimPrefix(page, "<style>"), "</style>"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestReferences checks how a page's references are read.
func TestReferences(t *testing.T) {
	const picture = "data:image/png;base64,eA=="
	files := tree("a.png", "x", "b,c.png", "x", "50%.png", "x", "my pic.png", "x", "sub/a.png", "x", "s.css", "\ufeffa{}", "s.js", "\ufeff1", "x.mp3", "x")
	for _, c := range []struct {
		name, source, want string
		left               []string
	}{
		{"a query and a fragment", "<img src='a.png?v=1#x'>", `<img src="` + picture + `#x">`, nil},
		{"a percent sign", "<img src='50%.png'>", `<img src="` + picture + `">`, nil},
		{"a space", "<img src=' my pic.png '><img src='my%20pic.png'>", `<img src="` + picture + `"><img src="` + picture + `">`, nil},
		{"backslashes", `<img src='sub\a.png'><img src='\\host\a.png'>`, `<img src="` + picture + `"><img src='\\host\a.png'>`, []string{`\\host\a.png: it is not in the project`}},
		{"out of the project", "<img src='../../a.png'><img src='/../a.png'>", `<img src='../../a.png'><img src="` + picture + `">`, []string{"../../a.png: it is not in the project"}},
		{"sizes", "<img srcset='a.png 1x, b,c.png 2x,data:,x 3x, none.png'>", `<img srcset="` + picture + ` 1x, ` + picture + ` 2x, data:,x 3x, none.png">`, []string{"none.png: there is no such file"}},
		{"sizes without a space", "<img srcset='a.png, a.png 2x'>", `<img srcset="` + picture + `, ` + picture + ` 2x">`, nil},
		{"a base", "<base href='sub/x.html'><img src=a.png>", `<base href='sub/x.html'><img src="` + picture + `">`, nil},
		{"a base elsewhere", "<base href='https://example.com/'><img src=a.png>", `<base href='https://example.com/'><img src=a.png>`, []string{"a.png: it is not in the project"}},
		{"a part of a picture", "<svg><use href='a.svg#b' /></svg>", "<svg><use href='a.svg#b' /></svg>", []string{"a.svg#b: browsers take no part of a picture from a data URL; put the picture itself into the page"}},
		{"a set of pictures", "<style>a{b:image-set('a.png' type('image/png') 1x, url(a.png) 2x) 'a.png'}</style>", `<style>a{b:image-set("` + picture + `" type('image/png') 1x, url("` + picture + `") 2x) 'a.png'}</style>`, nil},
		{"byte order marks", "<link rel=stylesheet href=s.css><script src=s.js></script>", "<style>\na{}\n</style><script>1</script>", nil},
		{"sheets for later", "<link rel='alternate stylesheet' href=s.css><link rel=preload as=style onload=x href=s.css>", `<link rel="alternate stylesheet" href="data:text/css;base64,YXt9"><link rel="preload" as="style" onload="x" href="data:text/css;base64,YXt9">`, nil},
		{"scripts that are none", "<script type=text/template src=s.js></script><script type=application/json>'a.png'</script>", "<script type=text/template src=s.js></script><script type=application/json>'a.png'</script>", nil},
		{"content beside a source", "<script src=s.js>no()</script>", "<script>1</script>", nil},
		{"files that a script names", "<script>new Audio('x.mp3'); i.src = `a.png`; fetch('a.png'); 'other.png'</script>", "<script>new Audio('x.mp3'); i.src = `a.png`; fetch('a.png'); 'other.png'</script>", []string{"a.png: a script loads it while it runs", "x.mp3: a script names it, and may load it while it runs"}},
		{"a policy", "<meta http-equiv=content-security-policy content=x>", "<meta http-equiv=content-security-policy content=x>", []string{"Content-Security-Policy: the page's own policy may forbid what is put in"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files["index.html"] = &fstest.MapFile{Data: []byte(c.source)}
			got, left := single(t, files)
			if got != c.want || !slices.Equal(left, c.left) {
				t.Errorf("got %s, %q\nwant %s, %q", got, left, c.want, c.left)
			}
		})
	}
}

// slow is a file system with a file that fails in the middle, one that is no file, and one that is endless on paper.
type slow struct{ fstest.MapFS }

func (s slow) Open(name string) (fs.File, error) {
	f, err := s.MapFS.Open(name)
	if err == nil && strings.HasPrefix(name, "bad") {
		return failing{f}, nil
	}
	return f, err
}

type failing struct{ fs.File }

func (f failing) Read([]byte) (int, error) { return 0, fs.ErrPermission }

func TestOneBadFileStopsNothing(t *testing.T) {
	files := slow{tree("index.html", "<img src=bad.png><img src=pipe><img src=folder><p>x</p>", "bad.png", "x", "folder/good.txt", "good")}
	files.MapFS["pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	page, left := single(t, files)
	if !strings.Contains(page, "<p>x</p>") || !slices.Equal(left, []string{"bad.png: permission denied", "pipe: it is not a file", "folder: it is not a file"}) {
		t.Errorf("got %q, %q", page, left)
	}
	var out bytes.Buffer
	left, err := export.Zip(t.Context(), &out, files)
	if err != nil || !slices.Equal(left, []string{"bad.png: permission denied", "pipe: it is not a file"}) {
		t.Errorf("got %q, %v", left, err)
	}
	if got := archived(t, out.Bytes()); !slices.Equal(got, []string{"folder/good.txt", "index.html"}) {
		t.Errorf("the archive holds %q", got)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := export.SingleHTML(ctx, site, "index.html"); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := export.Zip(ctx, &bytes.Buffer{}, site); err == nil {
		t.Error("an archive was made all the same")
	}
}
