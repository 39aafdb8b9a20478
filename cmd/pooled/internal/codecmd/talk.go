package codecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/tool"
)

// maxMessage bounds a request. Units: bytes.
const maxMessage = 1 << 20

// lines reads the lines that a person types. They are read ahead by one, so that waiting for one can be given up.
type lines struct{ next chan line }

type line struct {
	text string
	err  error
}

// readLines begins to read. The goroutine ends with the input.
func readLines(r io.Reader) *lines {
	l := &lines{next: make(chan line)}
	in := bufio.NewReader(r)
	go func() {
		defer close(l.next)
		for {
			text, err := in.ReadString('\n')
			if text != "" {
				l.next <- line{text: strings.TrimRight(text, "\r\n")}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					l.next <- line{err: err}
				}
				return
			}
		}
	}()
	return l
}

// read waits for a line.
//
// Errors: io.EOF; the context's.
func (l *lines) read(ctx context.Context) (string, error) {
	select {
	case got, ok := <-l.next:
		if !ok {
			return "", io.EOF
		}
		return got.text, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// message reads a request: a line, and those that it goes on in.
func (w *work) message(ctx context.Context) (string, error) {
	w.ask("> ")
	var b strings.Builder
	for {
		text, err := w.lines.read(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) && b.Len() > 0 {
				return b.String(), nil
			}
			return "", err
		}
		more, on := strings.CutSuffix(text, `\`)
		b.WriteString(more)
		if b.Len() > maxMessage {
			return "", fmt.Errorf("a request has more than %d bytes", maxMessage)
		}
		if !on {
			return b.String(), nil
		}
		b.WriteByte('\n')
		w.ask(". ")
	}
}

func (w *work) ask(prompt string) {
	if w.Terminal {
		fmt.Fprint(w.Out, prompt)
	}
}

// say prints a remark for a person.
func (w *work) say(format string, args ...any) {
	fmt.Fprintln(w.Out, w.screen.paint(dim, fmt.Sprintf(format, args...)))
}

// talk works on one request after the other.
func (w *work) talk(ctx context.Context) error {
	w.lines = readLines(w.In)
	during := context.WithCancel
	if w.Terminal && w.Catch != nil {
		d, release := w.Catch(func() {
			fmt.Fprintln(w.Out)
			w.say("Ctrl-D or /bye ends")
			w.ask("> ")
		})
		defer release()
		during = d
	}
	if w.Terminal {
		w.greet()
	}
	for {
		text, err := w.message(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		turn, end := during(ctx)
		if command, ok := strings.CutPrefix(text, "/"); ok {
			bye, err := w.command(turn, command)
			if err != nil {
				fmt.Fprintln(w.Err, "pooled:", err)
			}
			if end(); bye {
				return nil
			}
			continue
		}
		err = w.turn(turn, text)
		end()
		if err != nil {
			return err
		}
	}
}

// turn works on a request. Only an error after which nothing can go on is returned.
func (w *work) turn(ctx context.Context, text string) error {
	if len(w.notes) > 0 {
		text = "(" + strings.Join(w.notes, " ") + ")\n" + text
		w.notes = nil
	}
	_, err := w.agent.Run(ctx, text)
	w.screen.end()
	if err != nil {
		fmt.Fprintln(w.Err, "pooled:", err)
	}
	return w.screen.broken
}

// greet says what is worked on.
func (w *work) greet() {
	w.say("%s works in %s. /help lists the commands.", w.model.Name(), terminal.Exact(w.project.Root))
	n := 0
	for _, m := range w.agent.History() {
		if m.Role == "user" && !m.Auto {
			n++
		}
	}
	if n > 0 {
		w.say("going on with session %s, %s so far", w.session.ID, count(n, "request"))
	}
}

// approve asks a person about a call; the screen has shown it.
func (w *work) approve(ctx context.Context, a event.Approval) (agent.Decision, error) {
	always := "always allow such calls"
	if a.Class == tool.Edit {
		always = "allow all edits from now on"
	}
	for {
		w.ask(w.screen.paint(yellow, "  allow?") + " y yes, n no, a " + always + ", or say what to do instead: ")
		text, err := w.lines.read(ctx)
		if errors.Is(err, io.EOF) {
			return agent.Decision{Verdict: agent.Deny}, nil
		}
		if err != nil {
			return agent.Decision{}, err
		}
		switch text = strings.TrimSpace(text); strings.ToLower(text) {
		case "":
		case "y", "yes":
			return agent.Decision{Verdict: agent.Allow}, nil
		case "a", "always":
			return agent.Decision{Verdict: agent.Always}, nil
		case "n", "no":
			return agent.Decision{Verdict: agent.Deny}, nil
		default:
			return agent.Decision{Verdict: agent.Deny, Feedback: text}, nil
		}
	}
}
