package highlight_test

import (
	"strings"
	"testing"

	"github.com/pooled/pooled/ui/highlight"
)

// show marks every token that is not plain with a letter of its class.
func show(lines [][]highlight.Token) string {
	var s strings.Builder
	for i, line := range lines {
		if i > 0 {
			s.WriteByte('\n')
		}
		for _, t := range line {
			if t.Class == highlight.Plain {
				s.WriteString(t.Text)
				continue
			}
			s.WriteString(string(".ktfsnco+-"[t.Class]) + "<" + t.Text + ">")
		}
	}
	return s.String()
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ name, lang, code, want string }{
		{"go", "go", "func f() int {\n\treturn 1 // x\n}", "k<func> f<f>() t<int> {\n    k<return> n<1> c<// x>\n}"},
		{"python", "python", "def f():\n  return 'a'\n", "k<def> f<f>():\n  k<return> s<'a'>"},
		{"json", "json", `{"a": 1}`, `{k<"a">: n<1>}`},
		{"diff", "diff", "+a\n-b\n c", "+<+a>\n-<-b>\n c"},
		{"comment over lines", "go", "/* a\nb */", "c</* a>\nc<b */>"},
		{"unknown", "no such language", "if x\ny", "if x\ny"},
		{"none", "", "if x", "if x"},
		{"empty", "go", "", ""},
		{"blank lines", "", "a\n\nb", "a\n\nb"},
		{"carriage returns", "", "a\r\nb\r\n", "a\nb"},
		{"tab stops", "", "ab\tc\n\td", "ab  c\n    d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(highlight.Lines(c.lang, c.code)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestTooLongStaysPlain(t *testing.T) {
	code := strings.Repeat("func f() {}\n", highlight.MaxSize/12+1)
	for _, line := range highlight.Lines("go", code) {
		for _, tok := range line {
			if tok.Class != highlight.Plain {
				t.Fatalf("%q is of class %d", tok.Text, tok.Class)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("go", "func f() {\n\t`x")
	f.Add("python", "'''\na")
	f.Add("html", "<script>let x = `</script>")
	f.Add("markdown", "```go\nx\n```")
	f.Fuzz(func(t *testing.T, lang, code string) {
		if len(code) > 2048 {
			return
		}
		var got strings.Builder
		for _, line := range highlight.Lines(lang, code) {
			for _, tok := range line {
				if strings.Contains(tok.Text, "\n") || tok.Class >= highlight.Classes {
					t.Fatalf("token %+v", tok)
				}
				got.WriteString(tok.Text)
			}
		}
		// Everything but line ends and the width of blanks is kept.
		bare := func(s string) string { return strings.NewReplacer("\n", "", "\r", "", "\t", "", " ", "").Replace(s) }
		if a, b := bare(got.String()), bare(code); a != b {
			t.Fatalf("%q: text %q became %q", lang, b, a)
		}
	})
}
