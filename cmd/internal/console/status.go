package console

import (
	"fmt"
	"io"

	"github.com/pooled/pooled/cmd/internal/terminal"
)

// clearLine goes to the start of the terminal's line and empties it.
const clearLine = "\r\033[K"

// Status is a line about what goes on. At a terminal the next one replaces it; for scripts there is none.
type Status struct {
	c     *Console
	w     io.Writer
	shown bool
}

// Status returns a status on w.
func (c *Console) Status(w io.Writer) *Status { return &Status{c: c, w: w} }

// Show shows a line in place of the one before.
func (s *Status) Show(format string, args ...any) {
	if s.c.Terminal {
		s.shown = true
		fmt.Fprint(s.w, s.c.mark(clearLine), s.c.Paint(Dim, terminal.Line(fmt.Sprintf(format, args...))))
	}
}

// Clear takes the line away. It reports whether there was one.
func (s *Status) Clear() bool {
	was := s.shown
	if was {
		fmt.Fprint(s.w, s.c.mark(clearLine))
	}
	s.shown = false
	return was
}
