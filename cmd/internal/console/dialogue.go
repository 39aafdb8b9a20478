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
	restore    func() // gives the terminal back as it was
}

// Dialogue begins a conversation whose prompts go to out. Scripts see none.
func (c *Console) Dialogue(ctx context.Context, out io.Writer) *Dialogue {
	d := &Dialogue{c: c, out: out, lines: readLines(ctx, c.In)}
	if !c.Terminal {
		d.out = io.Discard
		return d
	}
	d.restore = markPastes(c)
	d.interrupts = catchInterrupts(func() {
		d.lines.drop.Store(true)
		fmt.Fprintf(d.out, "\n%s\n%s", c.Paint(Dim, "[Ctrl-D or /bye ends]"), prompt)
	})
	return d
}

// Message reads a message. One that ends a line with a backslash goes on in the next, and lines that are pasted together are
// one message.
//
// Errors: io.EOF, the context's, and those of the input.
func (d *Dialogue) Message(ctx context.Context) (string, error) {
	fmt.Fprint(d.out, prompt)
	text, _, err := d.more(ctx)
	return text, err
}

// Reply is a person's answer to a question.
type Reply struct {
	Text string
	// Pasted says that it was not typed: the question may never have been read.
	Pasted bool
}

// Ask asks a question. At a terminal only what comes after it counts: what was typed or pasted before is forgotten.
//
// Errors: as of Message.
func (d *Dialogue) Ask(ctx context.Context, question string) (Reply, error) {
	if d.c.Terminal {
		d.lines.discard(ctx)
		if !d.lines.within { // of a paste the end must not be lost
			flushInput(d.c.In)
		}
	}
	fmt.Fprint(d.out, question)
	text, pasted, err := d.more(ctx)
	return Reply{text, pasted}, err
}

func (d *Dialogue) more(ctx context.Context) (text string, pasted bool, err error) {
	return d.lines.message(ctx, func() { fmt.Fprint(d.out, promptMore) })
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
		d.restore()
	}
}

// Confirm asks a question on Out, of scripts, too; only an answer that begins with y is a yes. At a terminal, one that was
// typed before the question is none.
func (c *Console) Confirm(ctx context.Context, question string) bool {
	ctx, end := context.WithCancel(ctx)
	defer end()
	l := readLines(ctx, c.In)
	if c.Terminal {
		flushInput(c.In)
		l.discard(ctx)
	}
	fmt.Fprint(c.Out, question)
	answer, _ := l.read(ctx) // no answer is a no
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}
