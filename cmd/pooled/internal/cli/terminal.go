package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"github.com/pooled/pooled/cmd/internal/terminal"
)

// isTerminal reports whether f is a terminal; other devices, such as the null device, are not.
func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// shown returns text of a model as it is written to Out: as it is where a program reads it.
func (c *commands) shown(s string) string {
	if c.Screen {
		return terminal.Text(s)
	}
	return s
}

// checkedWriter remembers that something could not be written, for commands that do not look.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// maxInput bounds what is read of standard input.
const maxInput = 64 << 20

// input reads standard input.
func (c *commands) input() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(c.In, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if len(b) > maxInput {
		return nil, fmt.Errorf("standard input has more than %d bytes", maxInput)
	}
	return b, nil
}
