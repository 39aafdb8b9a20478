package terminal

import "testing"

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, text, line string }{
		{"plain", "héllo ✓ 日本", "héllo ✓ 日本", "héllo ✓ 日本"},
		{"lines and tabs", "a\n\tb\n", "a\n\tb\n", "a b"},
		{"carriage returns", "a\r\nb\rc", "a\nbc", "a bc"},
		{"an escape sequence", "\x1b[2Jx", `\x1b[2Jx`, `\x1b[2Jx`},
		{"an eight-bit control", "\u009b2J", `\x9b2J`, `\x9b2J`},
		{"an eight-bit control that is no text", "a\x9b2J", "a\uFFFD2J", "a\uFFFD2J"},
		{"a bell and a deletion", "\a\x7f", `\x07\x7f`, `\x07\x7f`},
		{"turned text", "a\u202eb", `a\x202eb`, `a\x202eb`},
		{"an empty text", "", "", ""},
	} {
		if got := Text(c.in); got != c.text {
			t.Errorf("%s: Text gives %q, want %q", c.name, got, c.text)
		}
		if got := Line(c.in); got != c.line {
			t.Errorf("%s: Line gives %q, want %q", c.name, got, c.line)
		}
	}
}

func TestExact(t *testing.T) {
	if got, want := Exact("a\r\n\x1bb"), "a\\x0d\n\\x1bb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"éèêë", 3, "éèê…"},
		{"a\n b\x1b[2J", 4, `a b\…`},
	} {
		if got := Short(c.in, c.n); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFirst(t *testing.T) {
	for in, want := range map[string]string{"": "", "one\n": "one", "\none\ntwo": "one …", "\x1bone": `\x1bone`} {
		if got := First(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
