package console

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pooled/pooled/core/event"
)

func TestAnswer(t *testing.T) {
	events := []event.Event{
		event.Queued{Position: 2},
		event.Reading{Done: 1, Total: 5000},
		event.Reading{Done: 4900, Total: 5000},
		event.Reasoning{Text: "hm"},
		event.Reasoning{Text: " so"},
		event.Text{Text: "Yes\x1b[1m"},
		event.Step{N: 1},
	}
	for _, c := range []struct {
		name    string
		console Console
		want    string
	}{
		{"a script", Console{}, "hm so\nYes\x1b[1m\n"},
		{"a terminal", Console{Terminal: true, Screen: true}, "\r\x1b[Kwaiting for the model, 2 before you\r\x1b[Kreading 1 of 5000 tokens\r\x1b[Khm so\nYes\\x1b[1m\n"},
		{"colours", Console{Screen: true, Color: true}, "\x1b[2mhm so\x1b[0m\nYes\\x1b[1m\n"},
	} {
		var b strings.Builder
		a := c.console.Answer(&b)
		for _, e := range events {
			if err := a.Event(e); err != nil {
				t.Error(err)
			}
		}
		if err := a.Fresh(); err != nil || b.String() != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, b.String(), err, c.want)
		}
		if err := a.Fresh(); err != nil || b.String() != c.want {
			t.Errorf("%s: on a fresh line, more is written: %q", c.name, b.String())
		}
	}
	broken := (&Console{}).Answer(failing{})
	if err := broken.Event(event.Text{Text: "x"}); !errors.Is(err, ErrClosed) || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

// failing cannot be written to.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, iotest.ErrTimeout }
