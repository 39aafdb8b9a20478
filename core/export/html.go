package export

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// SingleHTML returns a page of a project as one file that needs no other: style sheets and scripts stand in it, images and
// the like as data URLs. Left lists what could not be put in, each with the reason; the page refers to it as before.
//
// Errors: of an entry that cannot be read; an export that becomes too large.
func SingleHTML(ctx context.Context, files fs.FS, entry string) (page []byte, left []string, err error) {
	source, err := fs.ReadFile(files, entry)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", entry, err)
	}
	in := &inliner{ctx: ctx, files: files, base: path.Dir(entry)}
	if err := in.page(source); err != nil {
		return nil, nil, err
	}
	return in.out.Bytes(), in.left, nil
}

// inliner writes a page with everything in it.
type inliner struct {
	ctx   context.Context
	files fs.FS
	base  string // folder of the page
	out   bytes.Buffer
	left  []string
	size  int // bytes put in
}

// errRemote says that a reference leads out of the project.
var errRemote = errors.New("it is not in the project")

// leave notes a reference that stays as it is.
func (in *inliner) leave(ref string, why error) {
	note := fmt.Sprintf("%s: %v", ref, why)
	if !slices.Contains(in.left, note) {
		in.left = append(in.left, note)
	}
}

// read returns the file that a reference of a document in folder dir means, and its path.
func (in *inliner) read(dir, ref string) (data []byte, name string, err error) {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil {
		return nil, "", err
	}
	if u.Scheme != "" || u.Host != "" {
		return nil, "", errRemote
	}
	name = path.Join(dir, u.Path)
	if strings.HasPrefix(u.Path, "/") {
		name = strings.TrimPrefix(path.Clean(u.Path), "/")
	}
	if !fs.ValidPath(name) {
		return nil, "", errRemote
	}
	if data, err = fs.ReadFile(in.files, name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such file")
		}
		return nil, "", err
	}
	if in.size += len(data); in.size > maxExport {
		return nil, "", fmt.Errorf("the page would have more than %d MB", maxExport>>20)
	}
	return data, name, in.ctx.Err()
}

// skipped reports whether a reference needs no file.
func skipped(ref string) bool {
	ref = strings.TrimSpace(strings.ToLower(ref))
	for _, p := range []string{"data:", "blob:", "#", "javascript:", "mailto:", "about:"} {
		if strings.HasPrefix(ref, p) {
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
	data, name, err := in.read(dir, ref)
	if err != nil {
		in.leave(ref, err)
		return ref
	}
	if path.Ext(name) == ".css" {
		data = []byte(in.style(path.Dir(name), string(data), 0))
	}
	fragment := ""
	if _, f, ok := strings.Cut(ref, "#"); ok {
		fragment = "#" + f
	}
	return encoded(mediaType(name), data) + fragment
}

func encoded(media string, data []byte) string {
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data)
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
	"image": {"href", "xlink:href"}, "use": {"href", "xlink:href"}, "embed": {"src"}, "object": {"data"}, "body": {"background"},
}

// page writes the document, token by token; what need not change keeps its bytes.
func (in *inliner) page(source []byte) error {
	z := html.NewTokenizer(bytes.NewReader(source))
	for {
		if err := in.ctx.Err(); err != nil {
			return err
		}
		kind := z.Next()
		raw := bytes.Clone(z.Raw())
		if kind == html.ErrorToken {
			if errors.Is(z.Err(), io.EOF) {
				in.out.Write(raw)
				return nil
			}
			return z.Err()
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			in.out.Write(raw)
			continue
		}
		t := z.Token()
		switch {
		case t.Data == "link":
			in.link(t, raw)
		case t.Data == "script" && kind == html.StartTagToken:
			in.script(z, t, raw)
		case t.Data == "style" && kind == html.StartTagToken:
			in.out.Write(raw)
			if z.Next() == html.TextToken {
				in.out.WriteString(in.style(in.base, string(z.Raw()), 0))
			} else {
				in.out.Write(z.Raw())
			}
		default:
			in.element(t, raw)
		}
	}
}

// element writes a tag with its references as data URLs.
func (in *inliner) element(t html.Token, raw []byte) {
	changed := false
	for i, a := range t.Attr {
		v := a.Val
		switch {
		case a.Key == "style" && strings.Contains(v, "url("):
			v = in.style(in.base, v, 0)
		case a.Key == "srcset":
			v = in.srcset(v)
		case slices.Contains(shownIn[t.Data], a.Key):
			v = in.dataURL(in.base, v)
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
		in.out.Write(raw)
		return
	}
	in.out.WriteString(t.String())
}

// srcset replaces the references of a list of sizes.
func (in *inliner) srcset(list string) string {
	parts := strings.Split(list, ",")
	if strings.Contains(list, "data:") {
		return list // commas stand in data URLs, too
	}
	for i, p := range parts {
		fields := strings.Fields(p)
		if len(fields) > 0 {
			fields[0] = in.dataURL(in.base, fields[0])
		}
		parts[i] = strings.Join(fields, " ")
	}
	return strings.Join(parts, ", ")
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
func (in *inliner) link(t html.Token, raw []byte) {
	href, _ := attr(t, "href")
	rel, _ := attr(t, "rel")
	kinds := strings.Fields(strings.ToLower(rel))
	switch {
	case skipped(href):
	case slices.Contains(kinds, "stylesheet"):
		data, name, err := in.read(in.base, href)
		if err != nil {
			in.leave(href, err)
			break
		}
		media := ""
		if m, ok := attr(t, "media"); ok {
			media = ` media="` + html.EscapeString(m) + `"`
		}
		css := in.style(path.Dir(name), string(data), 0)
		fmt.Fprintf(&in.out, "<style%s>\n%s\n</style>", media, endTag.ReplaceAllString(css, `<\/$1`))
		return
	case slices.Contains(kinds, "icon") || slices.Contains(kinds, "apple-touch-icon"):
		for i := range t.Attr {
			if t.Attr[i].Key == "href" {
				t.Attr[i].Val = in.dataURL(in.base, href)
			}
		}
		in.out.WriteString(t.String())
		return
	case slices.Contains(kinds, "preload"), slices.Contains(kinds, "modulepreload"), slices.Contains(kinds, "manifest"):
		return // it only points at what is put in, or at what one file cannot have
	default:
		in.leave(href, errors.New("this kind of link is not put in"))
	}
	in.out.Write(raw)
}

// endTag finds what would end a script or a style that holds it.
var endTag = regexp.MustCompile(`(?i)</(script|style)`)

// loads finds what a script loads while it runs.
var loads = regexp.MustCompile(`\b(?:fetch|importScripts|import|new\s+(?:Worker|XMLHttpRequest|EventSource|WebSocket))\s*\(\s*(["'][^"']*["'])?`)

// script writes a script element and what follows it up to its end.
func (in *inliner) script(z *html.Tokenizer, t html.Token, raw []byte) {
	src, external := attr(t, "src")
	kind, _ := attr(t, "type")
	module := strings.EqualFold(strings.TrimSpace(kind), "module")
	if !external {
		in.out.Write(raw)
		if z.Next() == html.TextToken {
			code := string(z.Raw())
			in.watch(code)
			if module {
				code = endTag.ReplaceAllString(in.imports(in.base, code, nil), `<\/$1`)
			}
			in.out.WriteString(code)
			return
		}
		in.out.Write(z.Raw())
		return
	}
	if skipped(src) {
		in.out.Write(raw)
		return
	}
	data, name, err := in.read(in.base, src)
	if err != nil {
		in.leave(src, err)
		in.out.Write(raw)
		return
	}
	code := string(data)
	in.watch(code)
	_, deferred := attr(t, "defer")
	_, async := attr(t, "async")
	if module {
		code = in.imports(path.Dir(name), code, []string{name})
	}
	var kept []html.Attribute
	for _, a := range t.Attr {
		switch {
		case a.Key == "integrity" || a.Key == "crossorigin":
		case a.Key == "src" && (deferred || async) && !module:
			// The time at which it runs hangs on its being a file.
			kept = append(kept, html.Attribute{Key: "src", Val: encoded("text/javascript", []byte(code))})
			code = ""
		case a.Key == "src":
		default:
			kept = append(kept, a)
		}
	}
	t.Attr = kept
	in.out.WriteString(t.String())
	if code != "" {
		in.out.WriteString("\n" + endTag.ReplaceAllString(code, `<\/$1`) + "\n")
	}
}

// watch notes what a script loads while it runs.
func (in *inliner) watch(code string) {
	for _, m := range loads.FindAllStringSubmatch(code, -1) {
		what := strings.Trim(m[1], `"'`)
		if what == "" || skipped(what) {
			if m[1] == "" && !strings.HasPrefix(m[0], "import") {
				in.leave(strings.TrimRight(m[0], "( "), errors.New("a script loads something while it runs"))
			}
			continue
		}
		in.leave(what, errors.New("a script loads it while it runs"))
	}
}

// imported finds the specifier of a static import or a re-export.
var imported = regexp.MustCompile(`(?m)(^|[;\s}*])((?:import|export)\s*(?:[\w$\s{},*]*?\bfrom\s*)?)(["'])([^"'\n]+)(["'])`)

// imports replaces the modules that a module imports by data URLs, and those that they import.
func (in *inliner) imports(dir, code string, chain []string) string {
	return imported.ReplaceAllStringFunc(code, func(found string) string {
		m := imported.FindStringSubmatch(found)
		ref := m[4]
		if skipped(ref) {
			return found
		}
		if !strings.HasPrefix(ref, "./") && !strings.HasPrefix(ref, "../") && !strings.HasPrefix(ref, "/") {
			in.leave(ref, errors.New("a package cannot be put in"))
			return found
		}
		data, name, err := in.read(dir, ref)
		switch {
		case err != nil:
			in.leave(ref, err)
			return found
		case slices.Contains(chain, name):
			in.leave(ref, errors.New("modules that import each other in a circle cannot be put in"))
			return found
		}
		in.watch(string(data))
		inner := in.imports(path.Dir(name), string(data), append(chain[:len(chain):len(chain)], name))
		return m[1] + m[2] + m[3] + encoded("text/javascript", []byte(inner)) + m[5]
	})
}

var (
	cssURL    = regexp.MustCompile(`url\(\s*("[^"]*"|'[^']*'|[^)"'\s]*)\s*\)`)
	cssImport = regexp.MustCompile(`@import\s+(?:url\(\s*)?("[^"]*"|'[^']*'|[^)"'\s;]+)\s*\)?([^;]*);`)
)

// maxImports bounds how deep style sheets import each other.
const maxImports = 8

// style replaces what a style sheet of folder dir refers to.
func (in *inliner) style(dir, css string, depth int) string {
	css = cssImport.ReplaceAllStringFunc(css, func(found string) string {
		m := cssImport.FindStringSubmatch(found)
		ref := strings.Trim(m[1], `"'`)
		if skipped(ref) {
			return found
		}
		if depth == maxImports {
			in.leave(ref, errors.New("style sheets import each other too deeply"))
			return found
		}
		data, name, err := in.read(dir, ref)
		if err != nil {
			in.leave(ref, err)
			return found
		}
		inner := in.style(path.Dir(name), string(data), depth+1)
		if media := strings.TrimSpace(m[2]); media != "" {
			return "@media " + media + " {\n" + inner + "\n}"
		}
		return inner
	})
	return cssURL.ReplaceAllStringFunc(css, func(found string) string {
		ref := strings.Trim(cssURL.FindStringSubmatch(found)[1], `"'`)
		if skipped(ref) {
			return found
		}
		return `url("` + in.dataURL(dir, ref) + `")`
	})
}
