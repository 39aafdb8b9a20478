package plain_test

import (
	"strings"
	"testing"

	"github.com/pooled/pooled/core/plain"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		n              int
		is             bool
	}{
		{"plain", "héllo ✓", "héllo ✓", 10, true},
		{"nothing", "", "", 10, true},
		{"as long as allowed", "abc", "abc", 3, true},
		{"cut between characters", "ééé", "éé…", 2, true},
		{"a line break", "a\nb", "a\uFFFDb", 10, false},
		{"a tab", "a\tb", "a b", 10, false},
		{"an escape sequence", "\x1b[2J", "\uFFFD[2J", 10, false},
		{"turned text", "a\u202eb", "a\uFFFDb", 10, false},
		{"no UTF-8", "a\xffb", "a\uFFFDb", 10, false},
		{"a replacement character", "\uFFFD", "\uFFFD", 10, true},
		{"long", strings.Repeat("x", 1000), strings.Repeat("x", 10) + "…", 10, true},
	} {
		if got := plain.Line(c.in, c.n); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := plain.Is(c.in); got != c.is {
			t.Errorf("%s: Is says %v, want %v", c.name, got, c.is)
		}
	}
}
