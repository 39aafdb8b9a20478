package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestDoor lets colours through that the console adds, and nothing else that a terminal would obey.
func TestDoor(t *testing.T) {
	for _, plain := range []bool{false, true} {
		var b bytes.Buffer
		key := "\x1b_KEY"
		c := &Console{Color: true, Terminal: true, key: key}
		d := &door{&b, key, plain}
		hostile := "\x1b[2J\x1b[32mgreen\x1b[0m\r\x07\u202e\u009b31m" + clearLine
		fmt.Fprintf(d, "%s|%s|", c.Paint(Green, "ok "+hostile), hostile)
		s := c.Status(d)
		s.Show("at %s", hostile)
		s.Clear()
		got := b.String()
		if plain {
			if want := "ok " + hostile + "|" + hostile + "|"; !strings.HasPrefix(got, want) || strings.Contains(got, "KEY") {
				t.Errorf("to a file: got %q, want %q first", got, want)
			}
			continue
		}
		for _, own := range []string{"\x1b[32mok ", "\x1b[0m|", clearLine + "\x1b[2mat "} {
			if !strings.Contains(got, own) {
				t.Errorf("%q is not in %q", own, got)
			}
			got = strings.ReplaceAll(got, own, "")
		}
		got = strings.ReplaceAll(strings.ReplaceAll(got, "\x1b[0m"+clearLine, ""), "\x1b[0m", "")
		if strings.ContainsAny(got, "\x1b\r\x07\u202e\u009b") {
			t.Errorf("it obeys: %q", got)
		}
	}
	c := Standard()
	if !strings.HasPrefix(c.key, "\x1b_") || len(c.key) < 20 || c.key == Standard().key {
		t.Errorf("the key is %q", c.key)
	}
}
