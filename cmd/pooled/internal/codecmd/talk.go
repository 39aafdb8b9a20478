package codecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
)

// say prints a remark for a person.
func (w *work) say(format string, args ...any) {
	fmt.Fprintln(w.Out, w.Paint(console.Dim, terminal.Exact(fmt.Sprintf(format, args...))))
}

// talk works on one request after the other.
func (w *work) talk(ctx context.Context) error {
	w.talking = w.Dialogue(ctx, w.Out)
	defer w.talking.Close()
	if w.Terminal {
		w.greet()
	}
	for {
		text, err := w.talking.Message(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		turn, end := w.talking.During(ctx)
		if command, ok := strings.CutPrefix(text, "/"); ok {
			bye, err := w.command(turn, command)
			if err != nil {
				w.Complain(err)
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
		w.Complain(err)
	}
	return w.screen.broken
}

// greet says what is worked on.
func (w *work) greet() {
	w.say("%s works in %s. /help lists the commands.", w.model.Name(), w.project.Root)
	n := 0
	for _, m := range w.agent.History() {
		if m.Role == "user" && !m.Auto {
			n++
		}
	}
	if n > 0 {
		w.say("going on with session %s, %s so far", w.session.ID, console.Count(n, "request"))
	}
}
