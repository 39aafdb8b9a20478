package console

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// What asks a person for a message, and for more of it.
const (
	prompt     = "> "
	promptMore = ". "
)

// Dialogue is a conversation: one message after the other is read and worked on. At a terminal, Ctrl-C ends the work on a
// message and not the program; while a message is typed, it forgets that.
//
// Owns: the caller closes it.
type Dialogue struct {
	c          *Console
	out        io.Writer // prompts go here
	lines      *lines
	interrupts *interrupts
}

// Dialogue begins a conversation whose prompts go to out. Scripts see none.
func (c *Console) Dialogue(ctx context.Context, out io.Writer) *Dialogue {
	d := &Dialogue{c: c, out: out, lines: readLines(ctx, c.In)}
	if !c.Terminal {
		d.out = io.Discard
		return d
	}
	d.interrupts = catchInterrupts(func() {
		d.lines.drop.Store(true)
		fmt.Fprintf(d.out, "\n%s\n%s", c.Paint(Dim, "[Ctrl-D or /bye ends]"), prompt)
	})
	return d
}

// Message reads a message. One that ends a line with a backslash goes on in the next.
//
// Errors: io.EOF, the context's, and those of the input.
func (d *Dialogue) Message(ctx context.Context) (string, error) {
	fmt.Fprint(d.out, prompt)
	return d.lines.message(ctx, func() { fmt.Fprint(d.out, promptMore) })
}

// Ask asks a question that one line answers.
//
// Errors: as of Message.
func (d *Dialogue) Ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(d.out, question)
	return d.lines.read(ctx)
}

// During returns a context for the work on a message, which the next Ctrl-C ends, and a function that ends it.
func (d *Dialogue) During(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.interrupts == nil {
		return context.WithCancel(ctx)
	}
	return d.interrupts.during(ctx)
}

// Close gives Ctrl-C back to the system.
func (d *Dialogue) Close() {
	if d.interrupts != nil {
		d.interrupts.release()
	}
}

// Confirm asks a question on Out, of scripts, too; only an answer that begins with y is a yes.
func (c *Console) Confirm(ctx context.Context, question string) bool {
	ctx, end := context.WithCancel(ctx)
	defer end()
	fmt.Fprint(c.Out, question)
	answer, _ := readLines(ctx, c.In).read(ctx) // no answer is a no
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}
