package console

import (
	"crypto/rand"
	"io"
	"os"
	"strings"

	"github.com/pooled/pooled/cmd/internal/terminal"
)

// door is the one way to a terminal: control characters in what is written are spelled out, whoever wrote it, and only what
// this package marks obeys. Marks hold a random key, so that no text can forge one.
type door struct {
	w     io.Writer
	key   string
	plain bool // w is no terminal: text passes as it is, without the marks
}

// doors returns the two outputs of a process behind doors with one key, and the key. out and err say which are terminals.
func doors(stdout, stderr *os.File) (out, err io.Writer, key string) {
	key = "\x1b_" + rand.Text()
	return &door{stdout, key, !isTerminal(stdout)}, &door{stderr, key, !isTerminal(stderr)}, key
}

// Write implements [io.Writer].
func (d *door) Write(b []byte) (int, error) {
	var out strings.Builder
	rest := string(b)
	for rest != "" {
		text, behind, marked := strings.Cut(rest, d.key)
		if !d.plain {
			text = terminal.Exact(strings.ReplaceAll(text, "\r\n", "\n"))
		}
		out.WriteString(text)
		if !marked {
			break
		}
		code, after, _ := strings.Cut(behind, markEnd)
		if !d.plain {
			out.WriteString(code)
		}
		rest = after
	}
	if _, err := io.WriteString(d.w, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// markEnd ends a mark; no code holds it.
const markEnd = "\x1b\\"

// mark makes a sequence that a terminal obeys one that passes the door.
func (c *Console) mark(code string) string {
	if c.key == "" {
		return code
	}
	return c.key + code + markEnd
}
