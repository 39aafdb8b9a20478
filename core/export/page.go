package export

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// SingleHTML returns a page of a project as one file that needs no other: style sheets and scripts stand in it, images and
// the like as data URLs. Left lists what could not be put in, each with the reason; the page refers to it as before.
//
// The files are untrusted: what is read and written is bounded, and the page has the scripts and styles of its source, not an
// element more.
//
// Errors: of an entry that cannot be read; [ErrLarge]; the context's.
func SingleHTML(ctx context.Context, files fs.FS, entry string) (page []byte, left []string, err error) {
	in := &inliner{ctx: ctx, files: files, base: path.Dir(entry), budget: pageBudget(), opened: map[string]bool{}, sources: map[string]source{}}
	text, err := in.read(files, entry, maxMarkup, errRead)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", entry, err)
	}
	if err := in.page(text); err != nil {
		return nil, nil, err
	}
	return in.out.Bytes(), in.all(), nil
}

// inliner writes a page with everything in it.
type inliner struct {
	budget
	notes
	ctx     context.Context
	files   fs.FS
	base    string // folder that the page's references start in
	remote  bool   // they start elsewhere
	based   bool   // an element has said where
	out     bytes.Buffer
	foreign foreign
	opened  map[string]bool   // files that are being put in
	sources map[string]source // files that were read
}

// source is a file, or why it cannot be read.
type source struct {
	data []byte
	err  error
}

// put writes a part of the page.
func (in *inliner) put(parts ...string) error {
	for _, p := range parts {
		in.out.WriteString(p)
	}
	if most := maxPage + 2*maxMarkup; in.out.Len() > most {
		return fmt.Errorf("the page: %w", tooLarge(int64(most)))
	}
	return in.ctx.Err()
}

// open returns the file that a reference of a document in folder dir means, and its path. Until done is called, nothing
// that is put into it can refer to it.
func (in *inliner) open(dir, ref string) (data []byte, name string, done func(), err error) {
	if err := errors.Join(in.ctx.Err(), in.step()); err != nil {
		return nil, "", nil, err
	}
	at, here := local(ref)
	if !here || in.remote {
		return nil, "", nil, errRemote
	}
	name = path.Join(dir, at)
	if strings.HasPrefix(at, "/") {
		name = strings.TrimPrefix(path.Clean(at), "/")
	}
	if !fs.ValidPath(name) {
		return nil, "", nil, errRemote
	}
	switch {
	case in.opened[name]:
		return nil, "", nil, errCircle
	case len(in.opened) == maxDepth:
		return nil, "", nil, errDeep
	}
	s, ok := in.sources[name]
	if !ok {
		s.data, s.err = in.read(in.files, name, maxPart, errRead)
		in.sources[name] = s
	}
	if s.err == nil {
		s.err = in.walk(len(s.data))
	}
	if s.err != nil {
		return nil, "", nil, s.err
	}
	in.opened[name] = true
	return s.data, name, func() { delete(in.opened, name) }, nil
}

// slashes are what browsers make of some characters of a reference.
var slashes = strings.NewReplacer(`\`, "/", "\t", "", "\n", "", "\r", "")

// local returns the path of a reference, as browsers read it, and whether it is one of the same site.
func local(ref string) (at string, here bool) {
	ref = slashes.Replace(strings.TrimSpace(ref))
	u, err := url.Parse(ref)
	switch {
	case err == nil:
		return u.Path, u.Scheme == "" && u.Host == ""
	case strings.HasPrefix(ref, "//") || strings.Contains(ref, ":"):
		return "", false
	}
	// A percent sign that begins no escape stands for itself.
	ref, _, _ = strings.Cut(ref, "#")
	ref, _, _ = strings.Cut(ref, "?")
	return ref, true
}

// skipped reports whether a reference needs no file.
func skipped(ref string) bool {
	ref = strings.TrimSpace(ref)
	for _, p := range []string{"data:", "blob:", "#", "javascript:", "mailto:", "about:"} {
		if prefixFold(ref, p) {
			return true
		}
	}
	return ref == ""
}

// dataURL returns the URL that a reference becomes; what cannot be put in stays.
func (in *inliner) dataURL(dir, ref string) string {
	if skipped(ref) {
		return ref
	}
	u, err := in.embed(dir, ref)
	if err != nil {
		in.leave(ref, err)
		return ref
	}
	return u
}

func (in *inliner) embed(dir, ref string) (string, error) {
	data, name, done, err := in.open(dir, ref)
	if err != nil {
		return "", err
	}
	defer done()
	text := string(data)
	if mediaType(name) == "text/css" {
		if text, err = in.style(path.Dir(name), text); err != nil {
			return "", err
		}
	}
	fragment := ""
	if u, err := url.Parse(strings.TrimSpace(ref)); err == nil && u.Fragment != "" {
		fragment = "#" + u.EscapedFragment()
	}
	text, err = in.encoded(mediaType(name), text)
	return text + fragment, err
}

// encoded returns data as a URL.
func (in *inliner) encoded(media, data string) (string, error) {
	if err := in.spend(len("data:;base64,") + len(media) + base64.StdEncoding.EncodedLen(len(data))); err != nil {
		return "", err
	}
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString([]byte(data)), nil
}

// mediaTypes are the same on every machine.
var mediaTypes = map[string]string{
	".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon", ".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf",
	".otf": "font/otf", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".mp4": "video/mp4", ".webm": "video/webm",
	".txt": "text/plain", ".csv": "text/csv", ".wasm": "application/wasm", ".pdf": "application/pdf", ".vtt": "text/vtt",
}

func mediaType(name string) string {
	if m := mediaTypes[strings.ToLower(path.Ext(name))]; m != "" {
		return m
	}
	return "application/octet-stream"
}

// Attributes that refer to something that is shown, by element.
var shownIn = map[string][]string{
	"img": {"src"}, "source": {"src"}, "audio": {"src"}, "video": {"src", "poster"}, "track": {"src"}, "input": {"src"},
	"image": {"href", "xlink:href"}, "embed": {"src"}, "object": {"data"}, "body": {"background"},
}

// page writes the document, token by token; what need not change keeps its bytes.
func (in *inliner) page(source []byte) error {
	z := html.NewTokenizer(bytes.NewReader(source))
	for {
		z.AllowCDATA(in.foreign.inside())
		kind := z.Next()
		raw := string(z.Raw())
		var err error
		switch kind {
		case html.ErrorToken: // the end: there is nothing that cannot be a page
			return in.put(raw)
		case html.StartTagToken, html.SelfClosingTagToken:
			err = in.tag(z, z.Token(), raw)
		case html.EndTagToken:
			name, _ := z.TagName()
			in.foreign.end(string(name))
			err = in.put(raw)
		default:
			err = in.put(raw)
		}
		if err != nil {
			return err
		}
	}
}

// tag writes an element that begins with the tag t.
func (in *inliner) tag(z *html.Tokenizer, t html.Token, raw string) error {
	if in.foreign.start(t.Data, t.Type == html.SelfClosingTagToken) {
		z.NextIsNotRawText()
		return in.element(t, raw)
	}
	switch t.Data {
	case "link":
		return in.link(t, raw)
	case "script", "style":
		content, end, closed := rest(z)
		if t.Data == "script" {
			return in.script(t, raw, content, end, closed)
		}
		return in.styleElement(t, raw, content, end)
	case "base":
		in.setBase(t)
	case "meta":
		if what, _ := attr(t, "http-equiv"); strings.EqualFold(what, "content-security-policy") {
			in.leave("Content-Security-Policy", errors.New("the page's own policy may forbid what is put in"))
		}
	}
	return in.element(t, raw)
}

// rest takes the content of a script or a style, and its end tag, if it has one.
func rest(z *html.Tokenizer) (content, end string, closed bool) {
	kind := z.Next()
	if kind == html.TextToken {
		content = string(z.Raw())
		kind = z.Next()
	}
	return content, string(z.Raw()), kind == html.EndTagToken
}

// setBase follows the first element that says where references start.
func (in *inliner) setBase(t html.Token) {
	href, ok := attr(t, "href")
	if in.based || !ok {
		return
	}
	in.based = true
	at, here := local(href)
	if !here {
		in.remote = true
		return
	}
	if !strings.HasPrefix(at, "/") {
		at = "/" + in.base + "/" + at
	}
	if !strings.HasSuffix(at, "/") {
		at = path.Dir(at)
	}
	in.base = path.Join(".", strings.TrimPrefix(path.Clean(at), "/"))
}

// element writes a tag with its references as data URLs.
func (in *inliner) element(t html.Token, raw string) error {
	changed := false
	for i, a := range t.Attr {
		v := a.Val
		switch {
		case a.Key == "style" && strings.Contains(strings.ToLower(v), "url("):
			if text, err := in.declarations(v); err == nil {
				v = text
			} else {
				in.leave("style of "+t.Data, err)
			}
		case a.Key == "srcset" || a.Key == "imagesrcset":
			v = in.srcset(v)
		case slices.Contains(shownIn[t.Data], a.Key):
			v = in.dataURL(in.base, v)
		case t.Data == "use" && (a.Key == "href" || a.Key == "xlink:href") && !skipped(v):
			in.leave(v, errors.New("browsers take no part of a picture from a data URL; put the picture itself into the page"))
		case t.Data == "iframe" && a.Key == "src" && !skipped(v):
			in.leave(v, errors.New("pages in frames are not put in"))
		case t.Data == "a" && a.Key == "href" && !skipped(v) && !strings.Contains(v, "://"):
			in.leave(v, errors.New("links to other pages are not put in"))
		}
		if v != a.Val {
			t.Attr[i].Val, changed = v, true
		}
	}
	if !changed {
		return in.put(raw)
	}
	return in.put(t.String())
}

// srcset replaces the references of a list of sizes.
// Source: https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
func (in *inliner) srcset(list string) string {
	const space = " \t\n\r\f"
	var parts []string
	for {
		list = strings.TrimLeft(list, space+",")
		if list == "" {
			return strings.Join(parts, ", ")
		}
		n := strings.IndexAny(list, space)
		if n < 0 {
			n = len(list)
		}
		ref, size := list[:n], ""
		list = list[n:]
		// A comma within a reference belongs to it, at its end it ends the entry.
		if kept := strings.TrimRight(ref, ","); kept != ref {
			ref = kept
		} else {
			size, list, _ = strings.Cut(list, ",")
		}
		parts = append(parts, strings.TrimRight(in.dataURL(in.base, ref)+" "+strings.TrimSpace(size), " "))
	}
}

func attr(t html.Token, key string) (string, bool) {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// link writes a link: a style sheet becomes an element of its own.
func (in *inliner) link(t html.Token, raw string) error {
	href, _ := attr(t, "href")
	rel, _ := attr(t, "rel")
	kinds := strings.Fields(strings.ToLower(rel))
	is := func(kind string) bool { return slices.Contains(kinds, kind) }
	_, later := attr(t, "onload") // a script makes something else of it
	_, off := attr(t, "disabled")
	switch {
	case skipped(href):
	case is("icon"), is("apple-touch-icon"), is("stylesheet") && (is("alternate") || off || later), is("preload") && later:
		for i := range t.Attr {
			if t.Attr[i].Key == "href" {
				t.Attr[i].Val = in.dataURL(in.base, href)
			}
		}
		t.Attr = without(t.Attr, "integrity", "crossorigin")
		return in.put(t.String())
	case is("stylesheet"):
		kept, body, err := in.sheetOf(in.base, href)
		if err != nil {
			in.leave(href, err)
			break
		}
		t.Data = "style"
		t.Attr = slices.DeleteFunc(t.Attr, func(a html.Attribute) bool { return a.Key != "media" && a.Key != "id" && a.Key != "class" })
		return in.rawText(t, "\n"+kept+body+"\n")
	case is("preload"), is("modulepreload"), is("manifest"):
		return nil // it only points at what is put in, or at what one file cannot have
	default:
		in.leave(href, errors.New("this kind of link is not put in"))
	}
	return in.put(raw)
}

// styleElement writes a style element.
func (in *inliner) styleElement(t html.Token, raw, content, end string) error {
	if kind, _ := attr(t, "type"); kind != "" && !strings.EqualFold(kind, "text/css") {
		return in.put(raw, content, end)
	}
	css, err := in.style(in.base, content)
	if err != nil {
		in.leave("a style element", err)
		return in.put(raw, content, end)
	}
	return in.put(raw, css, end)
}
