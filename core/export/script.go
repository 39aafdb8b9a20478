package export

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// loads finds what a script loads while it runs.
var loads = regexp.MustCompile(`\b(?:fetch|importScripts|import|new\s+(?:Worker|XMLHttpRequest|EventSource|WebSocket))\s*\(\s*(["'][^"']*["'])?`)

// script writes a script element.
func (in *inliner) script(t html.Token, raw, content, end string, closed bool) error {
	src, external := attr(t, "src")
	kind, _ := attr(t, "type")
	kind = strings.ToLower(strings.TrimSpace(kind))
	module := kind == "module"
	asIs := func() error { return in.put(raw, content, end) }
	switch {
	case !closed: // browsers do not run it
		return asIs()
	case kind != "" && !module && !scriptType.MatchString(kind):
		return asIs()
	case !external && !module:
		in.watch(content)
		return asIs()
	case !external:
		in.watch(content)
		code, err := in.imports(in.base, content)
		if err == nil && code != content {
			err = in.rawText(t, code)
			return err
		}
		if err != nil {
			in.leave("a script", err)
		}
		return asIs()
	case skipped(src):
		return asIs()
	}
	code, err := in.scriptFile(src, module)
	if err != nil {
		in.leave(src, err)
		return asIs()
	}
	_, deferred := attr(t, "defer")
	_, async := attr(t, "async")
	t.Attr = without(t.Attr, "src", "integrity", "crossorigin")
	if (deferred || async) && !module {
		// The time at which it runs hangs on its being a file.
		if src, err = in.encoded("text/javascript", code); err != nil {
			in.leave("a script", err)
			return asIs()
		}
		t.Attr, code = append(t.Attr, html.Attribute{Key: "src", Val: src}), ""
	}
	return in.rawText(t, code)
}

// scriptType are the types of classic scripts.
// Source: https://mimesniff.spec.whatwg.org/#javascript-mime-type
var scriptType = regexp.MustCompile(`^(?:text|application)/(?:x-)?(?:java|ecma|j|live)script[0-9.]*$`)

// scriptFile returns the script that a reference means.
func (in *inliner) scriptFile(ref string, module bool) (string, error) {
	data, name, done, err := in.open(in.base, ref)
	if err != nil {
		return "", err
	}
	defer done()
	code := strings.TrimPrefix(string(data), "\ufeff")
	in.watch(code)
	if module {
		return in.imports(path.Dir(name), code)
	}
	return code, in.spend(len(code))
}

// named finds what looks like the name of a file that a script makes use of.
var named = regexp.MustCompile("[\"'`]([^\"'`\\s<>]{1,200}\\.(?i:png|jpe?g|gif|webp|avif|svg|mp3|ogg|wav|m4a|mp4|webm|json|txt|csv|glb|gltf|wasm|woff2?|css|html?))[\"'`]")

// watch notes what a script loads while it runs, or names and may load.
func (in *inliner) watch(code string) {
	for _, m := range loads.FindAllStringSubmatch(code, -1) {
		what := strings.Trim(m[1], `"'`)
		if what == "" || skipped(what) {
			if m[1] == "" && !strings.HasPrefix(m[0], "import") {
				in.leave(strings.TrimRight(m[0], "( "), errors.New("a script loads something while it runs"))
			}
			continue
		}
		in.leave(what, errLoads)
	}
	for _, m := range named.FindAllStringSubmatch(code, -1) {
		at, here := local(m[1])
		name := path.Join(in.base, at)
		if !here || in.has(m[1], errLoads) || !fs.ValidPath(name) || in.step() != nil {
			continue
		}
		if st, err := fs.Stat(in.files, name); err == nil && st.Mode().IsRegular() {
			in.leave(m[1], errNames)
		}
	}
}

// imported finds the specifier of a static import or a re-export.
var imported = regexp.MustCompile(`(?m)(^|[;\s}*])((?:import|export)\s*(?:[\w$\s{},*]*?\bfrom\s*)?)(["'])([^"'\n]+)(["'])`)

// imports replaces the modules that a module imports by data URLs, and those that they import.
func (in *inliner) imports(dir, code string) (string, error) {
	text := imported.ReplaceAllStringFunc(code, func(found string) string {
		m := imported.FindStringSubmatch(found)
		ref := m[4]
		if skipped(ref) {
			return found
		}
		if !strings.HasPrefix(ref, "./") && !strings.HasPrefix(ref, "../") && !strings.HasPrefix(ref, "/") {
			in.leave(ref, errors.New("a package cannot be put in"))
			return found
		}
		u, err := in.module(dir, ref)
		if err != nil {
			in.leave(ref, err)
			return found
		}
		return m[1] + m[2] + m[3] + u + m[5]
	})
	return text, in.spend(len(text))
}

// module returns the data URL of a module.
func (in *inliner) module(dir, ref string) (string, error) {
	data, name, done, err := in.open(dir, ref)
	if err != nil {
		return "", err
	}
	defer done()
	switch media := mediaType(name); media {
	case "application/json":
		return in.encoded(media, string(data))
	case "text/css":
		text, err := in.style(path.Dir(name), string(data))
		if err != nil {
			return "", err
		}
		return in.encoded(media, text)
	}
	in.watch(string(data))
	code, err := in.imports(path.Dir(name), string(data))
	if err != nil {
		return "", err
	}
	return in.encoded("text/javascript", code)
}
