package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/pooled/pooled/core/event"
)

// slowPrompt is how many tokens must be left to read of a prompt for that to be shown.
const slowPrompt = 1024

// Answer prints an answer as it comes: what the model says, what it thinks in another colour, and a line about what it waits
// for, which goes again.
type Answer struct {
	c         *Console
	w         io.Writer
	status    *Status
	reasoning bool
	column    bool // the cursor is behind text
}

// Answer returns a printer of answers on w.
func (c *Console) Answer(w io.Writer) *Answer { return &Answer{c: c, w: w, status: c.Status(w)} }

// Event prints what an event says; of those that are not about an answer it says nothing.
//
// Errors: [ErrClosed] with the writer's.
func (a *Answer) Event(e event.Event) error {
	switch e := e.(type) {
	case event.Queued:
		return a.Status("waiting for the model, %d before you", e.Position)
	case event.Reading:
		if e.Total-e.Done > slowPrompt {
			return a.Status("reading %d of %d tokens", e.Done, e.Total)
		}
	case event.Reasoning:
		return a.say(e.Text, true)
	case event.Text:
		return a.say(e.Text, false)
	}
	return nil
}

// Status shows a line that the next one, or text, takes the place of.
func (a *Answer) Status(format string, args ...any) error {
	if !a.status.shown {
		if err := a.Fresh(); err != nil {
			return err
		}
	}
	a.status.Show(format, args...)
	return nil
}

// Fresh goes to the beginning of a line: what was shown of a status goes, and what was being written ends.
func (a *Answer) Fresh() error {
	a.status.Clear()
	text := ""
	if a.reasoning {
		a.reasoning, text = false, a.c.End(Dim)
	}
	if a.column {
		a.column, text = false, text+"\n"
	}
	return a.write(text)
}

// say prints more of the answer, or of what comes before it.
func (a *Answer) say(text string, thinks bool) error {
	if text == "" {
		return nil
	}
	a.status.Clear()
	if thinks != a.reasoning {
		if err := a.Fresh(); err != nil {
			return err
		}
		if a.reasoning = thinks; thinks {
			if err := a.write(a.c.Begin(Dim)); err != nil {
				return err
			}
		}
	}
	a.column = !strings.HasSuffix(text, "\n")
	return a.write(a.c.Shown(text))
}

func (a *Answer) write(s string) error {
	if s == "" {
		return nil
	}
	if _, err := io.WriteString(a.w, s); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}
