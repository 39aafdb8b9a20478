package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // sizes of images
	_ "image/jpeg" // sizes of images
	_ "image/png"  // sizes of images
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/pooled/pooled/sandbox/js"
)

// origin is where the page believes to be served from.
const origin = "http://app.local"

// maxFile bounds one file that a page reads. Units: bytes.
const maxFile = 16 << 20

const (
	// maxMissing bounds the list of missing files, maxAddress what is kept and told of an address. Units of that: bytes.
	maxMissing = 200
	maxAddress = 2 << 10
	// maxInline bounds the modules that came as data URLs. Units: bytes.
	maxInline = 32 << 20
	// maxImportMap bounds an import map. Units: bytes.
	maxImportMap = 256 << 10
)

// types are the media types by extension: the same on every machine.
var types = map[string]string{
	".html": "text/html", ".htm": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css",
	".json": "application/json", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".svg": "image/svg+xml",
	".xml": "application/xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".webp": "image/webp", ".ico": "image/x-icon", ".wasm": "application/wasm", ".woff2": "font/woff2", ".woff": "font/woff",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4", ".pdf": "application/pdf",
}

// tree serves the page's files and notes which are missing.
type tree struct {
	fs        fs.FS
	entry     string
	importMap map[string]string
	missing   []string
	inline    map[string]string // modules that came as data URLs, by the names that they have here
	inlined   int               // bytes of those
}

func (t *tree) miss(name string) {
	name = short(name)
	for _, m := range t.missing {
		if m == name {
			return
		}
	}
	if len(t.missing) < maxMissing {
		t.missing = append(t.missing, name)
	}
}

// short cuts an address for people.
func short(address string) string {
	if len(address) <= maxAddress {
		return address
	}
	return strings.ToValidUTF8(address[:maxAddress], "") + "…"
}

// locate turns a URL into a path in the tree. The second result is false for
// addresses elsewhere.
func (t *tree) locate(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://"+u.Host != origin {
		return "", false
	}
	name := strings.TrimPrefix(path.Clean("/"+u.Path), "/")
	if name == "" {
		return t.entry, true
	}
	if info, err := fs.Stat(t.fs, name); err == nil && info.IsDir() {
		name = path.Join(name, "index.html")
	}
	return name, fs.ValidPath(name)
}

// answer is what the guest receives for a read.
type answer struct {
	Status int     `json:"status,omitempty"`
	Type   string  `json:"type,omitempty"`
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
	Width  int     `json:"width,omitempty"`
	Height int     `json:"height,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// read answers the guest's request for an address; kind says what it is for.
func (t *tree) read(address, kind string) string {
	b, _ := json.Marshal(t.answer(address, kind))
	return string(b)
}

func (t *tree) answer(address, kind string) answer {
	if strings.HasPrefix(address, "data:") {
		return inline(address, kind)
	}
	name, ok := t.locate(address)
	if !ok {
		t.miss(address)
		return answer{Error: "there is no network here: " + short(address)}
	}
	text, err := js.ReadText(t.fs, name, maxFile)
	if err != nil {
		t.miss(name)
		if errors.Is(err, fs.ErrNotExist) {
			text := "there is no file " + short(name)
			return answer{Status: 404, Type: "text/plain", Text: &text}
		}
		return answer{Error: short(name + ": " + err.Error())}
	}
	media := types[strings.ToLower(path.Ext(name))]
	if media == "" {
		media = "application/octet-stream"
	}
	return content(media, text, kind)
}

// inline answers with what a data URL holds.
// Source: RFC 2397
func inline(address, kind string) answer {
	head, data, ok := strings.Cut(strings.TrimPrefix(address, "data:"), ",")
	data, _, _ = strings.Cut(data, "#")
	text, err := url.PathUnescape(data)
	if media, found := strings.CutSuffix(head, ";base64"); found && err == nil {
		var b []byte
		b, err = base64.StdEncoding.DecodeString(text)
		head, text = media, string(b)
	}
	if !ok || err != nil {
		return answer{Error: "this is no data: " + short(address)}
	}
	if head, _, _ = strings.Cut(head, ";"); head == "" {
		head = "text/plain"
	}
	return content(head, text, kind)
}

// content answers with a file.
func content(media, text, kind string) answer {
	a := answer{Status: 200, Type: media}
	switch {
	case kind == "image":
		if config, _, err := image.DecodeConfig(strings.NewReader(text)); err == nil {
			a.Width, a.Height = config.Width, config.Height
		}
	case utf8.ValidString(text):
		a.Text = &text
	default:
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		a.Base64 = &encoded
	}
	return a
}

func (t *tree) setImportMap(text string) error {
	imports := map[string]string{}
	if len(text) > maxImportMap {
		return fmt.Errorf("the import map has more than %d KiB", maxImportMap>>10)
	}
	if err := json.Unmarshal([]byte(text), &imports); err != nil {
		return err
	}
	if t.importMap == nil {
		t.importMap = imports
	}
	return nil
}

// normalize resolves an import as browsers do: by URL, after the import map.
// Modules of the tree are named by their path.
func (t *tree) normalize(base, name string) (string, error) {
	if strings.HasPrefix(name, "data:") {
		return t.keep(name)
	}
	if target, ok := t.importMap[name]; ok {
		name = target
	} else if prefix, target := t.longestPrefix(name); prefix != "" {
		name = target + strings.TrimPrefix(name, prefix)
	} else if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && !strings.HasPrefix(name, "/") && !strings.Contains(name, "://") {
		return "", fmt.Errorf("cannot import %q: a name without ./ needs an import map, and there are no packages here", name)
	}
	if strings.HasPrefix(base, "data:") && !strings.Contains(name, "://") {
		return "", fmt.Errorf("cannot import %q: a module from a data URL lies in no folder", name)
	}
	from, err := url.Parse(origin + "/" + strings.TrimPrefix(base, "/"))
	if err != nil {
		return "", err
	}
	u, err := from.Parse(name)
	if err != nil {
		return "", fmt.Errorf("cannot import %q: %w", name, err)
	}
	if u.Scheme+"://"+u.Host != origin {
		return u.String(), nil
	}
	return strings.TrimPrefix(path.Clean(u.Path), "/"), nil
}

// keep names the module of a data URL by its content, for the machine takes no long names.
func (t *tree) keep(address string) (string, error) {
	sum := sha256.Sum256([]byte(address))
	name := "data:" + hex.EncodeToString(sum[:8])
	if _, ok := t.inline[name]; ok {
		return name, nil
	}
	a := inline(address, "module")
	switch {
	case a.Error != "":
		return "", errors.New(a.Error)
	case a.Text == nil:
		return "", errors.New("cannot import a data URL that is not text")
	case t.inlined+len(*a.Text) > maxInline:
		return "", fmt.Errorf("the modules in data URLs have more than %d MiB", maxInline>>20)
	}
	text := *a.Text
	if a.Type == "application/json" {
		text = js.JSONModule(text)
	}
	if t.inline == nil {
		t.inline = map[string]string{}
	}
	t.inline[name], t.inlined = text, t.inlined+len(text)
	return name, nil
}

// longestPrefix finds the import map entry "lib/" for "lib/part.js".
func (t *tree) longestPrefix(name string) (prefix, target string) {
	for p, to := range t.importMap {
		if strings.HasSuffix(p, "/") && strings.HasPrefix(name, p) && len(p) > len(prefix) {
			prefix, target = p, to
		}
	}
	return prefix, target
}

// load returns the source of a module.
func (t *tree) load(name string) (string, error) {
	if text, ok := t.inline[name]; ok {
		return text, nil
	}
	address := name
	if !strings.Contains(name, "://") {
		address = origin + "/" + (&url.URL{Path: name}).EscapedPath()
	}
	switch a := t.answer(address, "module"); {
	case a.Error != "":
		return "", fmt.Errorf("cannot import %s: %s", name, a.Error)
	case a.Status != 200:
		return "", fmt.Errorf("cannot import %s: there is no such file", name)
	case a.Text == nil:
		return "", fmt.Errorf("cannot import %s: it is not text", name)
	case a.Type == "application/json":
		return js.JSONModule(*a.Text), nil
	default:
		return js.WithImportMeta(*a.Text, address), nil
	}
}
