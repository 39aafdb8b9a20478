package codecmd

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/transcript"
)

// What is shown of long things.
const (
	shownDiff     = 60  // lines
	shownResult   = 8   // lines
	shownArgument = 70  // characters
	everyWritten  = 200 // bytes of a call that is being written, for each time that its progress is shown
)

// screen shows what happens: to a person, or as lines of JSON.
type screen struct {
	*console.Console
	json   bool
	answer *console.Answer // what the model says; its writer is the screen
	asks   bool            // somebody is asked about calls
	stays  bool            // the program, and so what it serves, outlives the turn
	// brief says on what a call works, the most telling first; it is set before anything is called.
	brief func(*transcript.Call) []string

	mu      sync.Mutex
	broken  error  // of an output that cannot be written to any more
	gone    func() // if set, it is called then
	written int    // bytes of the call that is being written
	asked   string // the call that was asked about
	ran     string // the call that ran last
	// final is what the model said last; where no person watches, only that is printed.
	final strings.Builder
}

func newScreen(c *console.Console, asJSON bool) *screen {
	s := &screen{Console: c, json: asJSON}
	s.answer = c.Answer(s)
	return s
}

// Write writes to Out and remembers that it cannot be written to.
func (s *screen) Write(b []byte) (int, error) {
	s.write(s.Out, string(b))
	if s.broken != nil {
		return 0, s.broken
	}
	return len(b), nil
}

func (s *screen) write(w io.Writer, text string) {
	if s.broken == nil {
		if _, s.broken = io.WriteString(w, text); s.broken != nil && s.gone != nil {
			s.gone()
		}
	}
}

// line prints a line of its own, on the side: what is not the answer goes to Err where Out is for a script.
func (s *screen) line(text string) {
	_ = s.answer.Fresh()
	w := s.Err
	if s.Terminal {
		w = s.Out
	}
	s.write(w, text+"\n")
}

// status shows a line that the next one replaces.
func (s *screen) status(format string, args ...any) {
	if s.Terminal {
		_ = s.answer.Status(format, args...)
	}
}

// session says first what is worked on, in JSON.
func (s *screen) session(w *work) {
	if !s.json {
		return
	}
	line, err := event.Marshal(event.Session{ID: w.session.ID, Project: w.project.Root, Model: w.model.Name()})
	if err == nil {
		s.write(s.Out, string(line)+"\n")
	}
}

// end leaves a clean line behind.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.answer.Fresh()
}

// event shows an event.
func (s *screen) event(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		line, err := event.Marshal(e)
		if err == nil {
			s.write(s.Out, string(line)+"\n")
		}
		return
	}
	if s.Terminal {
		_ = s.answer.Event(e)
	}
	switch e := e.(type) {
	case event.Step:
		s.final.Reset()
	case event.Text:
		if !s.Terminal {
			s.final.WriteString(e.Text)
		}
	case event.CallStarted:
		s.written = 0
		s.status("● %s …", e.Name)
	case event.CallDelta:
		before := s.written / everyWritten
		if s.written += len(e.Text); s.written/everyWritten != before {
			s.status("● %s … %d bytes", e.Name, s.written)
		}
	case event.CallBroken:
		s.line(s.Paint(console.Yellow, "● a call that cannot be read: ") + s.Paint(console.Dim, terminal.First(e.Reason)))
	case event.Approval:
		s.line(s.Paint(console.Cyan, "● ") + s.call(e.Call))
		if !s.asks { // else what it would do is shown with the question
			s.diff(e.Diff)
		}
		s.asked = e.Call.ID
	case event.CallRunning:
		s.ran = e.Call.ID
		if s.asked != e.Call.ID {
			s.line(s.Paint(console.Cyan, "● ") + s.call(e.Call))
		}
	case event.CallDone:
		s.done(e)
	case event.Compacted:
		s.remark(fmt.Sprintf("to make room, %s: %d → %d tokens", e.Rule, e.Before, e.After))
	case event.Retried:
		s.remark(fmt.Sprintf("that did not work, so it is taken back and tried again (%d): %s", e.Try, e.Reason))
	case event.Restored:
		s.final.Reset() // it was said of another try
		s.remark("no later try was better, so the best one is put back: " + e.Problems)
	case event.Note:
		s.remark(e.Text)
	case event.Done:
		s.turn(e)
	}
}

func (s *screen) remark(text string) {
	s.line(s.Paint(console.Dim, "["+terminal.First(text)+"]"))
}

// done shows what came of a call.
func (s *screen) done(e event.CallDone) {
	switch {
	case e.Denied:
		s.line("  " + s.Paint(console.Yellow, "not allowed"))
		return
	case s.asked != e.Call.ID && s.ran != e.Call.ID:
		s.line(s.Paint(console.Cyan, "● ") + s.call(e.Call)) // it was refused before it ran
	case e.Diff != "" && s.asked != e.Call.ID:
		s.diff(e.Diff)
	}
	color := console.Dim
	if e.IsError {
		color = console.Red
	}
	lines := strings.Split(strings.TrimRight(terminal.Exact(e.Result), "\n"), "\n")
	for i, l := range lines {
		if i == shownResult && len(lines) > shownResult+1 {
			s.line("  " + s.Paint(console.Dim, fmt.Sprintf("… %d more lines", len(lines)-i)))
			break
		}
		s.line("  " + s.Paint(color, l))
	}
	if e.Health != nil && e.Health.URL != "" && s.stays {
		s.line("  " + s.Paint(console.Cyan, terminal.Exact(e.Health.URL)))
	}
}

// diff shows a unified difference, as far as it is not too long.
func (s *screen) diff(diff string) {
	lines := diffLines(strings.TrimRight(diff, "\n"))
	for i, l := range lines {
		if i == shownDiff && len(lines) > shownDiff+3 {
			s.line("  " + s.Paint(console.Dim, fmt.Sprintf("… %d more lines", len(lines)-i)))
			return
		}
		s.painted(l)
	}
}

// turn shows how a turn ended.
func (s *screen) turn(e event.Done) {
	if text := strings.TrimSpace(s.final.String()); text != "" {
		s.write(s.Out, terminal.Exact(text)+"\n")
	}
	s.final.Reset()
	text := fmt.Sprintf("%s: %s, %d tokens, %.1f s", e.Reason, console.Count(e.Steps, "step"), e.Tokens, time.Duration(e.Time).Seconds())
	if e.Problems != "" {
		text += "; " + terminal.First(e.Problems)
	}
	if s.Terminal || e.Reason != transcript.ReasonStop || e.Problems != "" {
		s.line(s.Paint(console.Dim, "["+text+"]"))
	}
}

// call is a call on one line, such as "write_file index.html".
func (s *screen) call(c transcript.Call) string {
	text := c.Name
	for _, v := range s.brief(&c) {
		text += " " + terminal.Short(terminal.Plainly(v), shownArgument)
	}
	return text
}
