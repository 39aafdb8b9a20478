package store

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/gguf"
)

// plan is a source that was understood: what will be fetched and under which name.
type plan struct {
	name    string
	source  string // as it is recorded: without credentials, query and fragment
	licence string
	hub     bool     // files come from the hub, which may get the token
	files   []remote // for a download
	local   []string // for files of this machine, first part first
}

// pinned returns the sum that the source demands; empty if it demands none.
func (p *plan) pinned() string {
	if len(p.files) != 1 {
		return ""
	}
	return p.files[0].sha256
}

// remote is one file to download.
type remote struct {
	file   string // its name in the folder
	url    *url.URL
	size   int64  // 0: whatever the server announces
	sha256 string // empty: whatever the server announces
}

// plan understands a source: a catalog name, hf:owner/repository/file, an http(s) URL, or a path.
func (s *Store) plan(source string) (*plan, error) {
	switch {
	case strings.TrimSpace(source) == "":
		return nil, fmt.Errorf("%w: it is empty", ErrSource)
	case hasScheme(source, "http"), hasScheme(source, "https"):
		return s.planURL(source)
	case strings.HasPrefix(source, "hf:"):
		u, err := s.hubURL(strings.TrimPrefix(source, "hf:"))
		if err != nil {
			return nil, err
		}
		p, err := s.planURL(u)
		if p != nil {
			p.source, p.hub = source, true
		}
		return p, err
	}
	if e, ok := s.entry(source); ok {
		p, err := s.plan(e.Source)
		if err != nil {
			return nil, fmt.Errorf("catalog entry %s: %w", e.Name, err)
		}
		for i := range p.files {
			p.files[i].file = partFile(e.Name, i+1, len(p.files))
		}
		if len(p.files) == 1 {
			p.files[0].size, p.files[0].sha256 = e.Size, e.SHA256
		}
		p.name, p.licence = e.Name, e.Licence
		return p, nil
	}
	if _, err := os.Stat(source); err == nil {
		return planLocal(source)
	}
	return nil, fmt.Errorf("%w: %q is no catalog name, no file or folder here, and no http(s) or hf:owner/repository/file.gguf address%s",
		ErrSource, source, didYouMean(s.similar(source)))
}

// hasScheme reports whether a source is an address of a scheme, whose case does not matter.
func hasScheme(source, scheme string) bool {
	found, _, ok := strings.Cut(source, "://")
	return ok && strings.EqualFold(found, scheme)
}

// planURL takes a URL apart; the fragment sha256=… pins the content.
func (s *Store) planURL(raw string) (*plan, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, fmt.Errorf("%w: %q is not a valid URL", ErrSource, raw)
	}
	sum := ""
	if u.Fragment != "" {
		var ok bool
		if sum, ok = strings.CutPrefix(u.Fragment, "sha256="); !ok || !isSHA256(sum) {
			return nil, fmt.Errorf("%w: the fragment %q is not sha256= and 64 hexadecimal digits", ErrSource, u.Fragment)
		}
		sum, u.Fragment, u.RawFragment = strings.ToLower(sum), "", ""
	}
	hub, err := url.Parse(s.hub)
	isHub := err == nil && origin(hub) == origin(u)
	if isHub {
		// The address of the page that shows a file is what people copy.
		u.Path = strings.Replace(u.Path, "/blob/", "/resolve/", 1)
		u.RawPath = ""
	}
	file := path.Base(u.Path)
	if _, ok := gguf.TrimExtension(file); !ok {
		return nil, fmt.Errorf("%s: %w: %q does not end in .gguf", redact(u), ErrSource, file)
	}
	name, parts, err := nameOf(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", redact(u), err)
	}
	p := &plan{name: name, hub: isHub}
	for no := 1; no <= parts; no++ {
		f := remote{file: partFile(name, no, parts), url: u}
		if parts > 1 {
			given, _ := gguf.ParseSplitName(file)
			given.No = no
			other := *u
			other.Path, other.RawPath = path.Dir(u.Path)+"/"+given.Beside(file), ""
			f.url = &other
		} else {
			f.sha256 = sum
		}
		p.files = append(p.files, f)
	}
	if parts > 1 && sum != "" {
		return nil, fmt.Errorf("%w: a split model cannot be pinned by one sha256", ErrSource)
	}
	p.source = redact(p.files[0].url)
	return p, nil
}

// hubURL turns owner/repository[@revision]/file into a URL of the hub.
func (s *Store) hubURL(ref string) (string, error) {
	parts := strings.Split(ref, "/")
	if len(parts) < 3 {
		return "", fmt.Errorf("%w: hf:%s; want hf:owner/repository/file.gguf", ErrSource, ref)
	}
	repository, revision, ok := strings.Cut(parts[1], "@")
	if !ok {
		revision = "main"
	}
	for _, part := range append([]string{repository, revision}, parts...) {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "?#%\\ \x00") {
			return "", fmt.Errorf("%w: hf:%s; %q cannot be part of it", ErrSource, ref, part)
		}
	}
	u, err := url.Parse(s.hub)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%w: the hub %q is not an http(s) address", ErrSource, s.hub)
	}
	return u.JoinPath(parts[0], repository, "resolve", revision, strings.Join(parts[2:], "/")).String(), nil
}

// planLocal takes a file, any part of a split model, or a folder that holds one model.
func planLocal(source string) (*plan, error) {
	given, err := filepath.Abs(source)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(given)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if given, err = modelIn(given); err != nil {
			return nil, fmt.Errorf("%s %w", source, err)
		}
	}
	f, err := gguf.Open(given)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotModel, err)
	}
	defer f.Close()
	name, parts, err := nameOf(filepath.Base(given))
	if err != nil {
		return nil, err
	}
	if parts != len(f.Parts()) {
		return nil, fmt.Errorf("%s: %w: its name says %d parts, its content %d", given, ErrNotModel, parts, len(f.Parts()))
	}
	p := &plan{name: name, source: f.Path()}
	for _, part := range f.Parts() {
		p.local = append(p.local, part.Path)
	}
	return p, nil
}

// modelIn returns the model of a folder that holds one: of those that end in .gguf, else of those that begin as models do.
//
// Errors: [ErrSource].
func modelIn(dir string) (string, error) {
	models, err := scan(dir)
	if err != nil {
		return "", err
	}
	var paths []string
	for _, m := range models {
		paths = append(paths, m.Path)
	}
	if len(paths) == 0 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); !strings.HasPrefix(e.Name(), ".") && isModel(path) {
				paths = append(paths, path)
			}
		}
	}
	switch len(paths) {
	case 0:
		return "", fmt.Errorf("holds no model: %w", ErrSource)
	case 1:
		return paths[0], nil
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return "", fmt.Errorf("holds several models, name one: %s: %w", strings.Join(names, ", "), ErrSource)
}

// redact writes a URL without what may be secret or short-lived in it.
func redact(u *url.URL) string {
	out := *u
	out.User, out.RawQuery, out.ForceQuery, out.Fragment, out.RawFragment = nil, "", false, "", ""
	return out.String()
}

func isSHA256(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
}

// similar names what somebody may have meant, at most five.
func (s *Store) similar(word string) []string {
	var near []string
	if len(word) > maxName {
		return nil
	}
	w := key(word)
	add := func(name string) {
		k := key(name)
		if len(w) >= 3 && (strings.Contains(k, w) || strings.Contains(w, k)) || distance(w, k) <= 2 {
			near = append(near, name)
		}
	}
	for _, e := range s.catalog {
		add(e.Name)
	}
	if models, err := scan(s.dir); err == nil {
		for _, m := range models {
			add(m.Name)
		}
	}
	slices.Sort(near)
	near = slices.Compact(near)
	return near[:min(len(near), 5)]
}

// didYouMean asks whether one of these names was meant; of none it says nothing.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// distance is the number of edits between two short words.
func distance(a, b string) int {
	if len(a) > maxName || len(b) > maxName {
		return maxName
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
