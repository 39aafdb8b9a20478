package workspace

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, c := range []struct {
		in, want string
		err      error
	}{
		{"index.html", "index.html", nil},
		{"", ".", nil},
		{"./", ".", nil},
		{"./a//b/", "a/b", nil},
		{"a/../b", "b", nil},
		{"naïve.txt", "naïve.txt", nil},
		{".gitignore", ".gitignore", nil},
		{"github/x", "github/x", nil},
		{"..", "", ErrOutside},
		{"../x", "", ErrOutside},
		{"a/../../x", "", ErrOutside},
		{"/etc/passwd", "", ErrOutside},
		{"//host/share", "", ErrOutside},
		{`\\host\share`, "", ErrOutside},
		{`C:\x`, "", ErrOutside},
		{"c:/x", "", ErrOutside},
		{"a\x00b", "", ErrName},
		{strings.Repeat("a/", 600), "", ErrName},
		{strings.Repeat("a/", 70), "", ErrName},
		{".git", "", ErrHidden},
		{".GIT/config", "", ErrHidden},
		{"sub/.git/hooks/x", "", ErrHidden},
		{"x/../.git", "", ErrHidden},
		{".git./config", "", ErrHidden},
		{".git /config", "", ErrHidden},
		{".git::$INDEX_ALLOCATION/x", "", ErrHidden},
		{".g\u200cit/config", "", ErrHidden},
		{"GIT~1/config", "", ErrHidden},
		{".pooled/journal", "", ErrHidden},
		{".Pooled-new-x", "", ErrHidden},
	} {
		got, err := Clean(c.in)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Clean(%.40q) = %q, %v; want %q, %v", c.in, got, err, c.want, c.err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, ok := range []string{"index.html", ".env", "a b", "日本", "console.log", "com", "com10", "lpt.txt", "null.txt", "👩‍💻.txt"} {
		if err := CheckName(ok); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", ok, err)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "a/b", `a\b`, "a:b", "a?", "a*", "a<b", `a"b`, "a|b", "a\x01", "a\nb", "\xff", "a.", "a ", " a", "\u202egpj.exe",
		"con", "NUL", "nul.txt", "Com1", "lpt9.log", "COM¹", "aux .c", "conin$", strings.Repeat("a", 256),
	} {
		if CheckName(bad) == nil {
			t.Errorf("CheckName(%q) = nil, want an error", bad)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a b.txt", "a b.txt"},
		{"naïve", "naïve"},
		{`back\slash`, `back\slash`},
		{"caf\xe9.txt", `caf\xe9.txt`},
		{"a\nb", `a\nb`},
		{"q\"\x01", `q"\x01`},
	} {
		got := Escape(c.in)
		if got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
		if back, ok := unescape(got); got != c.in && (!ok || back != c.in) {
			t.Errorf("unescape(%q) = %q, %v; want %q", got, back, ok, c.in)
		}
	}
}

// FuzzClean holds the result against what a path inside of a folder is, computed otherwise.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a/b", "../a", "a/../../b", ".git", "/x", "a\x00", `..\x`, "a//./b", ".git\u200c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		c, err := Clean(p)
		if err != nil {
			return
		}
		if !filepath.IsLocal(c) || path.Clean(c) != c || strings.ContainsRune(c, 0) {
			t.Errorf("Clean(%q) = %q", p, c)
		}
		joined := path.Join("/project", c)
		if joined != "/project" && !strings.HasPrefix(joined, "/project/") {
			t.Errorf("Clean(%q) = %q leads to %q", p, c, joined)
		}
		for _, part := range strings.Split(strings.ToLower(c), "/") {
			if part == ".git" || strings.HasPrefix(part, ".pooled") {
				t.Errorf("Clean(%q) = %q, which is hidden", p, c)
			}
		}
		if again, err := Clean(c); err != nil || again != c {
			t.Errorf("Clean(%q) = %q, %v", c, again, err)
		}
	})
}
