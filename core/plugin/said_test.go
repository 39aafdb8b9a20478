package plugin

import (
	"strings"
	"testing"
)

// TestSaid picks the lines of standard error that say most.
func TestSaid(t *testing.T) {
	frame := func(n string) string { return "  File \"a.py\", line " + n + ", in f\n    g()\n    ^^^\n" }
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"the last line", "one\ntwo\n", "two"},
		{"a panic in Go", "starting\npanic: no\n\ngoroutine 1 [running]:\nmain.main()\n", "panic: no"},
		{"a short trace", "x\nTraceback (most recent call last):\n" + frame("1") + "KeyError: 1\n", "Traceback (most recent call last):\n" + frame("1") + "KeyError: 1"},
		{
			"a long trace", "Traceback (most recent call last):\n" + frame("1") + frame("2") + frame("3") + "KeyError: 1\n",
			frame("2") + frame("3") + "KeyError: 1",
		},
		{
			"the last of two traces", "Traceback (most recent call last):\n" + frame("1") + "KeyError: 1\n\nDuring handling\n\nTraceback (most recent call last):\n" + frame("2") + "KeyError: 2\n",
			"Traceback (most recent call last):\n" + frame("2") + "KeyError: 2",
		},
		{"a trace with one long message", "Traceback (most recent call last):\n" + frame("1") + strings.Repeat("m\n", 20), "m"},
		{"what a terminal would obey", "Traceback (most recent call last):\n\x1b[2J\n", "Traceback (most recent call last):\n\uFFFD[2J"},
	} {
		var out tail
		if _, err := out.Write([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if got := out.said(); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}
