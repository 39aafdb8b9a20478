package workspace

import (
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of paths in bytes.
const (
	maxPath  = 1024
	maxName  = 255
	maxDepth = 64
	maxLinks = 40
)

// Clean returns the shortest form of a path that a caller gave, "." for the project itself.
//
// Errors: [*PathError] with [ErrOutside], [ErrHidden] or [ErrName].
func Clean(p string) (string, error) {
	switch {
	case len(p) > maxPath:
		return "", pathError(p[:40]+"…", ErrName, "the path is longer than %d bytes", maxPath)
	case strings.ContainsRune(p, 0):
		return "", pathError(p, ErrName, "it holds a NUL byte")
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || hasDrive(p):
		return "", pathError(p, ErrOutside, "paths start in the project folder, such as index.html")
	}
	c := path.Clean(p)
	if c == ".." || strings.HasPrefix(c, "../") {
		return "", pathError(p, ErrOutside, "paths start in the project folder, such as index.html")
	}
	if c == "." {
		return c, nil
	}
	parts := strings.Split(c, "/")
	if len(parts) > maxDepth {
		return "", pathError(p, ErrName, "it is more than %d folders deep", maxDepth)
	}
	for _, name := range parts {
		if hidden(name) {
			return "", pathError(p, ErrHidden, "")
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(c)) {
		return "", pathError(p, ErrName, "this system reserves it")
	}
	return c, nil
}

// hasDrive reports whether p begins like C:\ or C:/.
func hasDrive(p string) bool {
	if len(p) < 3 || p[1] != ':' || p[2] != '/' && p[2] != '\\' {
		return false
	}
	c := p[0] | 0x20
	return c >= 'a' && c <= 'z'
}

// hidden reports whether a file system might take name for ".git" or for one of Pooled's own. Windows ignores dots and
// spaces at the end, a stream after a colon, and case, and has short names; macOS ignores case and some invisible letters.
func hidden(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.ToValidUTF8(name, "\ufffd"))
	name = strings.TrimRight(name, ". ")
	return name == ".git" || strings.HasPrefix(name, ".pooled") || strings.HasPrefix(name, "git~") || strings.HasPrefix(name, "pooled~")
}

// skipped reports whether a folder is left out of searches: what a package manager put there is not the project.
func skipped(name string) bool { return strings.EqualFold(name, "node_modules") }

// CheckName reports why a new file or folder cannot be called name, or nil: what it takes to exist on every system.
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return errors.New("it is no name")
	case len(name) > maxName:
		return errors.New("it is longer than 255 bytes")
	case !utf8.ValidString(name):
		return errors.New("it is not UTF-8")
	case strings.ContainsAny(name, `/\:*?"<>|`):
		return errors.New(`it holds one of / \ : * ? " < > |`)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) && r != '\u200d' }):
		return errors.New("it holds a character that cannot be seen")
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, " "):
		return errors.New("it begins or ends with a space or ends with a dot")
	case device(name):
		return errors.New("it is the name of a device on Windows")
	}
	return nil
}

// device reports whether Windows takes name for a device: CON, NUL, COM1 and so on, whatever follows a dot.
func device(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if rest, ok := strings.CutPrefix(base, "COM"); ok {
		return digit(rest)
	}
	rest, ok := strings.CutPrefix(base, "LPT")
	return ok && digit(rest)
}

func digit(s string) bool {
	switch s {
	case "¹", "²", "³":
		return true
	}
	return len(s) == 1 && s[0] >= '0' && s[0] <= '9'
}

// Escape makes a path fit to be shown: one that is not UTF-8 or holds invisible characters is written as in a Go string,
// "caf\xe9.txt". [Workspace] takes the escaped form for the file, too.
func Escape(p string) string {
	if utf8.ValidString(p) && !strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return p
	}
	q := strconv.Quote(p)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// unescape is the inverse of [Escape] for what was escaped.
func unescape(p string) (string, bool) {
	if !strings.Contains(p, `\`) {
		return p, false
	}
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(p, `"`, `\"`) + `"`)
	return s, err == nil && Escape(s) == p
}
