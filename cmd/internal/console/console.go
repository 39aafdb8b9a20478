// Package console is how every command speaks with whoever called it: a person at a terminal, or a script. It reads lines
// that waiting for can be given up, turns Ctrl-C into the end of an answer, prints tables, progress and colours where a
// person sees them, and knows the exit codes.
//
// Whatever a model, a file, a plugin or a page wrote reaches a terminal through one door, which spells out what a terminal
// would obey; colours are added behind it. What must stay on its line, or be cut, goes through cmd/internal/terminal before.
package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"github.com/pooled/pooled/cmd/internal/terminal"
)

// Console is a program's input and outputs.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal says that a person reads Out and types In.
	Terminal bool
	// Screen says that Out is shown by a terminal, which obeys control characters.
	Screen bool
	// Color says that Out may be coloured.
	Color bool

	program string // what it calls itself when it tells something; set by Run
	key     string // of the marks that pass the doors; empty where Out is no door
}

// Standard returns the process's own console. Colour is off with NO_COLOR, with TERM=dumb and when Out is no terminal.
// What is written to a terminal is spelled out where it could be obeyed; see [door].
func Standard() *Console {
	out := isTerminal(os.Stdout)
	stdout, stderr, key := doors(os.Stdout, os.Stderr)
	return &Console{
		In: os.Stdin, Out: stdout, Err: stderr, key: key,
		Terminal: out && isTerminal(os.Stdin),
		Screen:   out,
		Color:    out && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// isTerminal reports whether f is a terminal; other devices, such as the null device, are not.
func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// Shown returns text of a model as it is written to Out: as it is where a program reads it.
func (c *Console) Shown(s string) string {
	if c.Screen || c.Terminal {
		return terminal.Text(s)
	}
	return s
}

// Note writes a remark for a person to Err; scripts do not see it.
func (c *Console) Note(format string, args ...any) {
	if c.Terminal {
		fmt.Fprintln(c.Err, c.Paint(Dim, "["+terminal.Text(fmt.Sprintf(format, args...))+"]"))
	}
}

// Tell says something on Err, in the name of the program.
func (c *Console) Tell(text string) {
	if c.program != "" {
		text = c.program + ": " + text
	}
	fmt.Fprintln(c.Err, terminal.Text(text))
}

// Complain tells an error after which the program goes on.
func (c *Console) Complain(err error) { c.Tell(err.Error()) }

// JSON writes a value to Out, as one line.
func (c *Console) JSON(v any) error {
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false) // nothing here ends up in a page
	return enc.Encode(v)
}

// ErrClosed is wrapped by errors of an output that cannot be written to any more.
var ErrClosed = errors.New("the output is closed")

// watched remembers that something could not be written, for commands that do not look.
type watched struct {
	w   io.Writer
	err error
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}
