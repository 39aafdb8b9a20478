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

		{"CRLF in old and new, LF in the file", "a\nb\nc\n", "a\r\nb", "A\r\nB", false, "A\nB\nc\n", 1},
		{"CRLF in new, LF in the file", "a\nb\nc\n", "b", "x\r\ny", false, "a\nx\ny\nc\n", 1},
		{"LF and CRLF in new, CRLF in the file", "a\r\nb\r\n", "b", "x\r\ny\nz", false, "a\r\nx\r\ny\r\nz\r\n", 1},
		{"LF and CRLF in new, everywhere", "a\r\nb\r\na\r\n", "a\n", "x\ny\r\n", true, "x\r\ny\r\nb\r\nx\r\ny\r\n", 2},
		{"new has CRLF, old has it and the file too", "a\r\nb\r\n", "a\r\nb", "a\r\nc", false, "a\r\nc\r\n", 1},
		{"a mixed file, before LF", "a\r\nb\nc\n", "b", "x\ny", false, "a\r\nx\ny\nc\n", 1},
		{"a mixed file, before CRLF", "a\nb\r\nc\n", "b", "x\ny", false, "a\nx\r\ny\r\nc\n", 1},
		{"a mixed file, at its end", "a\nb\r\nc", "c", "x\ny", false, "a\nb\r\nx\r\ny", 1},
		{"a mixed file keeps what stays", "a\r\nb\nc\r\nd", "a\nb\nc\nd", "a\nB\nc\nD", false, "a\r\nB\nc\r\nD", 1},
		{"a mixed file, everywhere", "b\r\nb\n", "b", "x\ny", true, "x\r\ny\r\nx\ny\n", 2},
		{"CR alone in the file", "a\rb\rc\r", "a\nb", "A\nB\nC", false, "A\rB\rC\rc\r", 1},
		{"CR alone in all", "a\rb\r", "a\rb", "A\rB", false, "A\rB\r", 1},
		{"CR as a byte of a line", "a\rb\nc\n", "a\rb", "a\rx\ny", false, "a\rx\ny\nc\n", 1},
		{"CR CR LF", "a\r\r\nb\r\r\n", "b", "c\nd", false, "a\r\r\nc\r\nd\r\r\n", 1},
		{"no line end in the file, LF in new", "a", "a", "b\nc", false, "b\nc", 1},
		{"no line end in the file, CRLF in new", "a", "a", "b\r\nc\nd", false, "b\r\nc\r\nd", 1},
		{"old ends in a line end that the file lacks", "a\nb", "b\n", "c\n", false, "a\nc", 1},
		{"old ends in a CRLF that the file lacks", "a\r\nb", "a\r\nb\r\n", "c\r\nd\r\n", false, "c\r\nd", 1},
		{"a line end at the end of the file is removed", "a\r\nb\r\n", "b\n", "b", false, "a\r\nb", 1},
		{"a byte order mark in the file", bom + "a\r\nb", "a\nb", "c\nd", false, bom + "c\r\nd", 1},
		{"a byte order mark in all", bom + "a", bom + "a", bom + "b", false, bom + "b", 1},
		{"a byte order mark in new", "a\nb\n", "b", bom + "c", false, "a\nc\n", 1},
		{"a byte order mark in old and new", "a\n", bom + "a", bom + "c", false, "c\n", 1},
		{"a byte order mark taken away", bom + "a\n", bom + "a", "a", false, "a\n", 1},
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
		{"the same but for line ends", "a\r\nb", "a\r\nb", "a\nb", 0, "nothing to change"},
		{"the same but for line ends, in LF", "a\nb", "a\nb", "a\r\nb", 0, "nothing to change"},
		{"the same but for a byte order mark", "a\n", "a", bom + "a", 0, "nothing to change"},
		{"the same but for a line end that is not there", "a\nb", "b\n", "b", 0, "nothing to change"},
		{"the same as what is there", "a\nb  \n", "b \n", "b  \n", 0, "nothing to change"},
		{"twice, in LF and in CRLF", "a\nb\na\r\nb\r\n", "a\nb", "x", 2, "2 times (lines 1, 3)"},
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
	f.Add("a\rb\r", "a\nb", "c\r\nd", false)
	f.Add("a\r\nb\nc", "b\n", "x\r\ny\n", true)
	f.Add("\uFEFFa\nb", "b\n", "\uFEFFc", false)
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
		if got == content {
			t.Fatalf("replace(%q, %q, %q) changes nothing", content, old, new)
		}
		checkEnds(t, content, new, got)
		if n > 1 {
			return
		}
		// What is around the place is as it was, and the place holds old, but for line ends and space before them.
		ends := strings.NewReplacer("\r\n", "\n")
		if !strings.Contains(content, "\n") && strings.Contains(content, "\r") {
			ends = strings.NewReplacer("\r\n", "\n", "\r", "\n")
		}
		plain, after := ends.Replace(content), ends.Replace(got)
		head := 0
		for head < min(len(after), len(plain)) && after[head] == plain[head] {
			head++
		}
		for at := 0; at <= head; at++ {
			for _, text := range []string{new, strings.TrimPrefix(new, bom)} {
				for _, text := range []string{ends.Replace(text), strings.TrimSuffix(ends.Replace(text), "\n")} {
					rest, ok := strings.CutPrefix(after[at:], text)
					if !ok || !strings.HasSuffix(plain, rest) || len(plain)-len(rest) < at {
						continue
					}
					there := loosen(plain[at : len(plain)-len(rest)]).text
					for _, text := range []string{old, strings.TrimPrefix(old, bom)} {
						text = loosen(ends.Replace(text)).text
						if there == text || rest == "" && there == strings.TrimSuffix(text, "\n") {
							return
						}
					}
				}
			}
		}
		t.Fatalf("replace(%q, %q, %q) = %q", content, old, new, got)
	})
}

// checkEnds checks that a file keeps its kind of line ends, and takes over that of the new text if it has none.
func checkEnds(t *testing.T, content, new, got string) {
	t.Helper()
	kind := func(s string) string {
		n, crlf := strings.Count(s, "\n"), strings.Count(s, "\r\n")
		switch {
		case n == 0 && strings.Contains(s, "\r"):
			return "CR"
		case n == 0:
			return "none"
		case crlf == 0:
			return "LF"
		case crlf == n:
			return "CRLF"
		}
		return "mixed"
	}
	before, after := kind(content), kind(got)
	switch {
	case before == "mixed", after == "none", before == after:
	case before == "none" && after != "mixed":
	case after == "CR" && !strings.Contains(got, "\n"): // all line ends were removed, and a byte "\r" is left
	default:
		t.Fatalf("%s became %s: %q with %q is %q", before, after, content, new, got)
	}
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
