package js

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// maxModule bounds one imported file. Units: bytes.
const maxModule = 8 << 20

// Tree resolves imports inside a file tree, by the rules of a browser: only
// relative and absolute paths, always with their extension. A leading slash is the root of
// the tree; nothing outside it has a name.
type Tree struct {
	// FS is the tree; nil allows no imports.
	FS fs.FS
}

// Normalize turns a specifier into a path inside the tree.
func (t *Tree) Normalize(base, name string) (string, error) {
	if t.FS == nil {
		return "", errNoFiles
	}
	var full string
	switch {
	case strings.HasPrefix(name, "./"), strings.HasPrefix(name, "../"):
		full = path.Join(path.Dir(base), name)
	case strings.HasPrefix(name, "/"):
		full = strings.TrimPrefix(path.Clean(name), "/")
	default:
		return "", fmt.Errorf("cannot import %q: only files of the tree can be imported, as \"./name.js\"; there are no packages here", name)
	}
	full = strings.TrimPrefix(full, "/")
	if full == ".." || strings.HasPrefix(full, "../") || !fs.ValidPath(full) {
		return "", fmt.Errorf("cannot import %q from %s: it lies outside the file tree", name, base)
	}
	return full, nil
}

// Load reads a module. JSON files become modules with a default export.
func (t *Tree) Load(name string) (string, error) {
	if t.FS == nil {
		return "", errNoFiles
	}
	text, err := ReadText(t.FS, name, maxModule)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("cannot import %s: there is no such file%s", name, t.hint(name))
		}
		return "", fmt.Errorf("cannot import %s: %w%s", name, err, t.hint(name))
	}
	if path.Ext(name) == ".json" {
		return JSONModule(text), nil
	}
	return WithImportMeta(text, fileURL(name)), nil
}

// fileURL is the address that a module of the tree believes to have.
func fileURL(name string) string { return (&url.URL{Scheme: "file", Path: "/" + name}).String() }

// WithImportMeta gives a module's source its import.meta.url, which the engine leaves
// unset. Source that does not mention it stays as it is; in other source the columns of the
// first line move, unless that line is empty.
func WithImportMeta(source, address string) string {
	if !strings.Contains(source, "import.meta") || strings.HasPrefix(source, "#!") {
		return source
	}
	quoted, _ := json.Marshal(address)
	return "import.meta.url = " + string(quoted) + ";" + source
}

// hint names the file that was probably meant.
func (t *Tree) hint(name string) string {
	for _, suffix := range []string{".js", ".mjs", ".json", "/index.js"} {
		if info, err := fs.Stat(t.FS, name+suffix); err == nil && !info.IsDir() {
			return "; did you mean " + name + suffix + "?"
		}
	}
	return ""
}

// JSONModule is the source of a module whose default export is the given JSON.
func JSONModule(text string) string {
	quoted, _ := json.Marshal(text)
	return "export default JSON.parse(" + string(quoted) + ");"
}

// ReadText reads a regular file of at most limit bytes.
func ReadText(tree fs.FS, name string, limit int64) (string, error) {
	f, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	large := fmt.Errorf("larger than %d MiB", limit>>20)
	if info.Size() > limit {
		return "", large
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	n, err := io.Copy(&b, io.LimitReader(f, limit+1)) // it may grow meanwhile
	switch {
	case err != nil:
		return "", err
	case n > limit:
		return "", large
	}
	return b.String(), nil
}
