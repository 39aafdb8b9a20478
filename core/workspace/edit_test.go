package workspace

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		name, content, old, new string
		all                     bool
		want                    string
		n                       int
	}{
		{"once", "a b c", "b", "x", false, "a x c", 1},
		{"everywhere", "b b", "b", "x", true, "x x", 2},
		{"removed", "a\nb\n", "a\n", "", false, "b\n", 1},
		{"line ends of the file", "a\r\nb\r\n", "b", "x\ny", false, "a\r\nx\r\ny\r\n", 1},
		{"old has other line ends", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", false, "x\r\ny\r\nc\r\n", 1},
		{"old has other line ends than a plain file", "a\nb\nc\n", "a\r\nb", "x", false, "x\nc\n", 1},
		{"space at the end of a line in the file", "if {  \n  x\t\n}\n", "if {\n  x\n}", "y", false, "y\n", 1},
		{"space at the end of a line in old", "if {\n  x\n}\n", "if {  \n  x ", "y", false, "y\n}\n", 1},
		{"space at the end stays where nothing is said of it", "a  \nb \n", "a\nb\n", "c\n", false, "c\n", 1},
		{"one line with space after it", "k = 1 \nl = 2\n", "k = 1\nl", "m", false, "m = 2\n", 1},
	} {
		got, n, err := replace("f", c.content, c.old, c.new, c.all)
		if got != c.want || n != c.n || err != nil {
			t.Errorf("%s: got %q, %d, %v; want %q, %d", c.name, got, n, err, c.want, c.n)
		}
	}
	for _, c := range []struct {
		name, content, old, new string
		count                   int
		help                    string
	}{
		{"empty", "a", "", "x", 0, "old is empty"},
		{"same", "a", "a", "a", 0, "are the same"},
		{"twice", "a\na\n", "a", "x", 2, "2 times (lines 1, 2)"},
		{"often", strings.Repeat("a\n", 9), "a", "x", 9, "(lines 1, 2, 3, 4, 5, …)"},
		{"twice but for space", "a \nb\na  \nb\n", "a\nb", "x", 2, "2 times (lines 1, 3), but for space"},
		{"only space", "a\n", "  \n  ", "x", 0, "is not in the file"},
		{"empty file", "\n", "a", "x", 0, "write the whole file"},
		{"there already", "let total = 2;\n", "let total = 1;", "let total = 2;", 0, "already (line 1)"},
		{"other indentation", "x\n    return a;\n}\n", "return a;\n  }", "y", 0, "Closest, from line 2:\n    return a;\n}\n"},
		{"a typo", "one\nfunction calculate(a) {\ntwo\n", "function calculte(a) {", "y", 0, "Closest, from line 2:\nfunction calculate(a) {\n"},
		{"nothing alike", "one\ntwo\n", "zzzzzzzzzzzz", "y", 0, "read the file and copy"},
	} {
		_, _, err := replace("f", c.content, c.old, c.new, false)
		ee, ok := errors.AsType[*EditError](err)
		if !ok || ee.Count != c.count || !strings.Contains(ee.Help, c.help) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.help)
		}
	}
}

// FuzzReplace checks that an edit changes the one place that it says, and nothing else.
func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb \r\nc", "a\nb", "x\ny", false)
	f.Add("a a", "a", "b", true)
	f.Add("x  \n\n y\t", "x\n", "\xff", false)
	f.Add("é \n", "é", "", false)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		got, n, err := replace("f", content, old, new, all)
		if err != nil {
			if ee, ok := errors.AsType[*EditError](err); !ok || ee.Help == "" || n != 0 || got != "" {
				t.Fatalf("got %q, %d, %v", got, n, err)
			}
			if utf8.ValidString(content) && utf8.ValidString(old) && !utf8.ValidString(err.Error()) {
				t.Fatalf("the message is not UTF-8: %q", err)
			}
			return
		}
		if n < 1 || n > 1 && !all {
			t.Fatalf("%d places were replaced", n)
		}
		if n == 1 {
			// What is around the place is as it was, and the place holds old, but for space at line ends.
			ended := strings.ReplaceAll(new, "\r\n", "\n")
			head := 0
			for head < min(len(got), len(content)) && got[head] == content[head] {
				head++
			}
			fits := false
			for at := 0; at <= head && !fits; at++ {
				for _, text := range []string{new, strings.ReplaceAll(ended, "\n", "\r\n")} {
					rest, ok := strings.CutPrefix(got[at:], text)
					if !ok || !strings.HasSuffix(content, rest) || len(content)-len(rest) < at {
						continue
					}
					fits = fits || loosen(content[at:len(content)-len(rest)]).text == loosen(old).text
				}
			}
			if !fits {
				t.Fatalf("replace(%q, %q, %q) = %q", content, old, new, got)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", "a\n", "a\n", ""},
		{"changed", "a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"created", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"no end", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{
			"two places", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "x\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ny\n",
			"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+y\n",
		},
		{
			"two near places", "1\n2\n3\n4\n5\n6\n7\n", "x\n2\n3\n4\n5\n6\ny\n",
			"@@ -1,7 +1,7 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n-7\n+y\n",
		},
		{"moved", "a\nb\nc\nd\n", "b\nc\nd\na\n", "@@ -1,4 +1,4 @@\n-a\n b\n c\n d\n+a\n"},
	} {
		if got := Diff(c.a, c.b); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// FuzzDiff applies the diff and expects the second text.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("", "x")
	f.Add(strings.Repeat("a\nb\n", 20), strings.Repeat("b\na\n", 20))
	f.Fuzz(func(t *testing.T, a, b string) {
		lines := splitLines(a)
		var out strings.Builder
		at := 0
		d := splitLines(Diff(a, b))
		for i := 0; i < len(d); i++ {
			line := d[i]
			if i+1 < len(d) && strings.HasPrefix(d[i+1], "\\") {
				line = strings.TrimSuffix(line, "\n")
			}
			switch line[0] {
			case '@':
				from, _, _ := strings.Cut(strings.TrimPrefix(line, "@@ -"), ",")
				count, _, _ := strings.Cut(strings.SplitN(line, ",", 3)[1], " ")
				start := number(t, from) - 1
				if count == "0" {
					start++
				}
				for ; at < start; at++ {
					out.WriteString(lines[at])
				}
			case '+':
				out.WriteString(line[1:])
			case ' ', '-':
				if at >= len(lines) || lines[at] != line[1:] {
					t.Fatalf("line %d of the diff of %q and %q does not fit: %q", i, a, b, line)
				}
				if line[0] == ' ' {
					out.WriteString(line[1:])
				}
				at++
			}
		}
		for ; at < len(lines); at++ {
			out.WriteString(lines[at])
		}
		if out.String() != b {
			t.Fatalf("the diff of %q and %q gives %q", a, b, out.String())
		}
	})
}

func number(t *testing.T, s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			t.Fatalf("%q is no number", s)
		}
		n = n*10 + int(c-'0')
	}
	return n
}
