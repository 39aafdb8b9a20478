package codecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/transcript"
)

// What a question shows.
const (
	pageLines = 60  // lines at a time
	lineWidth = 400 // characters of a line, before it goes on in the next
)

// painted is a line with its colour, so many steps further in.
type painted struct {
	steps int
	text  string
	color console.Color
}

// consequences says all that a call would do: what it would change, and every argument that this does not show.
func consequences(a event.Approval) []painted {
	diff := strings.TrimRight(a.Diff, "\n")
	var shown []string
	if strings.Contains(diff, "\n@@ ") {
		shown = a.Shown
	}
	return append(diffLines(diff), arguments(&a.Call, shown)...)
}

// arguments lists the arguments of a call, in the order in which they were written, but for those that are shown elsewhere.
func arguments(c *transcript.Call, shown []string) []painted {
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return []painted{{1, terminal.Plainly(string(c.Arguments)), console.Plain}}
	}
	var lines []painted
	for d.More() {
		name, err := d.Token()
		var v json.RawMessage
		if err == nil {
			err = d.Decode(&v)
		}
		if err != nil {
			return append(lines, painted{1, err.Error(), console.Red})
		}
		if slices.Contains(shown, fmt.Sprint(name)) {
			continue
		}
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		lines = append(lines, painted{1, terminal.Plainly(fmt.Sprint(name)) + ":", console.Dim})
		for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			lines = append(lines, painted{2, terminal.Plainly(l), console.Plain})
		}
	}
	return lines
}

// diffLines colours a unified difference by what its lines are, not by how they begin: what is changed is further in than the
// names of files, so that no changed line can pass for one.
func diffLines(diff string) []painted {
	if diff == "" {
		return nil
	}
	var lines []painted
	gone, come := 0, 0 // lines of the hunk that are still to come
	for l := range strings.SplitSeq(diff, "\n") {
		text := terminal.Plainly(l)
		if gone <= 0 && come <= 0 && !strings.HasPrefix(l, `\`) {
			color := console.Dim
			if n, _ := fmt.Sscanf(l, "@@ -%d,%d +%d,%d @@", new(int), &gone, new(int), &come); n == 4 {
				color = console.Cyan
			}
			lines = append(lines, painted{1, text, color})
			continue
		}
		color := console.Plain
		switch {
		case strings.HasPrefix(l, "+"):
			come--
			color = console.Green
		case strings.HasPrefix(l, "-"):
			gone--
			color = console.Red
		case !strings.HasPrefix(l, `\`):
			gone, come = gone-1, come-1
		}
		lines = append(lines, painted{2, text, color})
	}
	return lines
}

// folded cuts long lines into several, so that a line that fills the screen hides nothing.
func folded(lines []painted) []painted {
	var out []painted
	for _, l := range lines {
		runes := []rune(l.text)
		for len(runes) > lineWidth {
			out = append(out, painted{l.steps, string(runes[:lineWidth]), l.color})
			runes = append([]rune("… "), runes[lineWidth:]...)
		}
		out = append(out, painted{l.steps, string(runes), l.color})
	}
	return out
}

// approve asks a person about a call. All that it would do is shown, or can be.
func (w *work) approve(ctx context.Context, a event.Approval) (agent.Decision, error) {
	left := w.screen.page(folded(consequences(a)))
	for {
		more := ""
		if len(left) > 0 {
			more = fmt.Sprintf(", m %d more lines", len(left))
		}
		reply, err := w.talking.Ask(ctx, w.Paint(console.Yellow, "  allow?")+fmt.Sprintf(" y yes, n no, a always (%s, %s)%s, or say what to do instead: ", a.Class, a.Set, more))
		if errors.Is(err, io.EOF) {
			return agent.Decision{Verdict: agent.Deny}, nil
		}
		if err != nil {
			return agent.Decision{}, err
		}
		text := strings.TrimSpace(reply.Text)
		word := strings.ToLower(text)
		switch yes := word == "y" || word == "yes"; {
		case text == "":
		case word == "m" || word == "more":
			left = w.screen.page(left)
		case word == "n" || word == "no":
			return agent.Decision{Verdict: agent.Deny}, nil
		case (yes || word == "a" || word == "always") && reply.Pasted:
			w.say("what is pasted allows nothing; type it")
		case yes:
			return agent.Decision{Verdict: agent.Allow}, nil
		case word == "a" || word == "always":
			return agent.Decision{Verdict: agent.Always}, nil
		default:
			return agent.Decision{Verdict: agent.Deny, Feedback: text}, nil
		}
	}
}

// page shows the first lines and returns the others.
func (s *screen) page(lines []painted) (left []painted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(lines), pageLines)
	for _, l := range lines[:n] {
		s.painted(l)
	}
	return lines[n:]
}

func (s *screen) painted(l painted) {
	s.line(strings.Repeat("  ", l.steps) + s.Paint(l.color, l.text))
}
