package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
)

// chatFlags are those of chat.
type chatFlags struct {
	modelFlags
	samplingFlags
}

func (c *commands) chat() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk to a model; Ctrl-C stops an answer, Ctrl-D ends",
		Long: `Talks to a model line by line. Ctrl-C stops the answer, not the program; Ctrl-D or /bye ends.
A line that ends with \ goes on in the next one. /help lists the commands. Without a terminal, every line of the input
is one message and the answers are printed as plain text.`,
		Example: `  pooled chat -m qwen2.5-coder-0.5b
  pooled chat -m ./any-model.gguf --system "Answer in one sentence." --temp 0.2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := c.load(cmd.Context(), &f.modelFlags)
			if err != nil {
				return err
			}
			defer m.Close()
			if m.Name == nano.Name {
				f.forToy(cmd.Flags())
			}
			return c.talk(cmd.Context(), m, &f)
		},
	}
	f.modelFlags.add(cmd)
	f.samplingFlags.add(cmd)
	cmd.Flags().StringVar(&f.system, "system", "", "system prompt")
	return cmd
}

// talk is the loop of a conversation.
func (c *commands) talk(ctx context.Context, m *hub.Model, f *chatFlags) error {
	conv, err := m.NewConversation(f.system)
	if err != nil {
		return err
	}
	c.note("%s on %s, because %s. Context %d. /help for commands.", m.Name, m.Device.Name, m.Reason, m.Context)
	in := readLines(ctx, c.In)
	if c.Terminal {
		ints := catchInterrupts(func() {
			in.drop.Store(true)
			fmt.Fprint(c.Err, "\n")
			c.note("Ctrl-D or /bye ends")
			fmt.Fprint(c.Err, prompt)
		})
		defer ints.release()
		c.interrupts = ints
	}
	for {
		text, err := c.readMessage(ctx, in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		again := false
		switch command := strings.TrimSpace(text); command {
		case "":
			continue
		case "/bye", "/exit", "/quit":
			return nil
		case "/help":
			c.note("/again: another answer   /new: start over   /bye: end   \\ at the end of a line: go on in the next")
			continue
		case "/new":
			if conv, err = m.NewConversation(f.system); err != nil {
				return err
			}
			c.note("a new conversation")
			continue
		case "/again":
			again = true
		default:
			if c.Terminal && isCommand(command) {
				c.note("there is no command %s; /help lists them", command)
				continue
			}
		}
		if err := c.answer(ctx, m, conv, text, again, f.options()); err != nil {
			if ctx.Err() != nil || errors.Is(err, errPipe) {
				return err
			}
			if err = flagError(err); c.Terminal {
				fmt.Fprintln(c.Err, "pooled:", terminal.Text(err.Error()))
			} else {
				return err
			}
		}
	}
}

// answer prints one answer. An interrupt while it streams stops the answer alone.
func (c *commands) answer(ctx context.Context, m *hub.Model, conv *hub.Conversation, text string, again bool, opt generate.Options) error {
	if c.interrupts != nil {
		var end context.CancelFunc
		ctx, end = c.interrupts.answer(ctx)
		defer end()
	}
	w := &answerWriter{c: c}
	var a hub.Answer
	var err error
	if again {
		a, err = conv.Regenerate(ctx, opt, w.event)
	} else {
		a, err = conv.Send(ctx, text, opt, w.event)
	}
	w.end()
	if err != nil && a.Finish != generate.FinishCancelled {
		return err
	}
	if t := a.Timings; c.Terminal {
		speed := ""
		if t.Tokens > 1 && t.Decode > 0 {
			speed = fmt.Sprintf(", %.0f tok/s", float64(t.Tokens-1)/t.Decode.Seconds())
		}
		end := ""
		if a.Finish != generate.FinishStop {
			end = ", " + finishText(a.Result, m)
		}
		c.note("%d tokens%s, %d of %d positions used%s", t.Tokens, speed, a.Used, m.Context, end)
	}
	return nil
}

// answerWriter prints an answer as it comes; what the model thinks is dimmed.
type answerWriter struct {
	c         *commands
	reasoning bool
	status    bool // a line stands there that goes
	last      string
}

// slowPrompt is how many tokens a prompt must have for its progress to be worth a line.
const slowPrompt = 1024

func (w *answerWriter) event(e event.Event) error {
	switch e := e.(type) {
	case event.Queued:
		w.progress("waiting for the model, %d before you", e.Position)
	case event.Reading:
		if e.Total > slowPrompt {
			w.progress("reading %d of %d tokens", e.Done, e.Total)
		}
	case event.Reasoning:
		return w.say(e.Text, true)
	case event.Text:
		return w.say(e.Text, false)
	}
	return nil
}

// progress shows a line that the next one, or the answer, replaces.
func (w *answerWriter) progress(format string, args ...any) {
	if w.c.Terminal {
		w.status = true
		fmt.Fprintf(w.c.Err, "\r\033[K"+format, args...)
	}
}

// say prints more of the answer, or of what comes before it.
func (w *answerWriter) say(text string, think bool) error {
	if w.status {
		w.status = false
		fmt.Fprint(w.c.Err, "\r\033[K")
	}
	if think != w.reasoning {
		w.reasoning = think
		if think {
			w.write(w.c.dim())
		} else {
			w.write(w.c.plain())
			if !strings.HasSuffix(w.last, "\n") {
				w.write("\n")
			}
		}
	}
	return w.write(w.c.shown(text))
}

func (w *answerWriter) write(s string) error {
	if s == "" {
		return nil
	}
	w.last = s
	_, err := io.WriteString(w.c.Out, s)
	if err != nil {
		return fmt.Errorf("%w: %w", errPipe, err)
	}
	return nil
}

func (w *answerWriter) end() {
	if w.reasoning {
		w.write(w.c.plain())
	}
	if w.last != "" && !strings.HasSuffix(w.last, "\n") {
		fmt.Fprintln(w.c.Out)
	}
}

// errPipe is wrapped when the output cannot be written to any more.
var errPipe = errors.New("the output is closed")

// note writes a remark for a person; scripts do not see it.
func (c *commands) note(format string, args ...any) {
	if c.Terminal {
		fmt.Fprintf(c.Err, c.dim()+"["+format+"]"+c.plain()+"\n", args...)
	}
}

func (c *commands) dim() string {
	if c.Color {
		return "\033[2m"
	}
	return ""
}

func (c *commands) plain() string {
	if c.Color {
		return "\033[0m"
	}
	return ""
}

// prompt asks a person for a message.
const prompt = "> "

// sampleQuestion is what demo asks when nobody can.
const sampleQuestion = "Who are you?"

func (c *commands) demo() *cobra.Command {
	f := chatFlags{modelFlags: modelFlags{model: nano.Name, backend: "auto"}}
	return &cobra.Command{
		Use:   "demo",
		Short: "Talk to nano, the very small model that is built in; works offline",
		Long: `Opens a conversation with the model that is built in. Without a terminal it answers a sample question and ends.

` + nano.Notice,
		Example: "  pooled demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(c.Err, nano.Notice)
			m, err := c.load(cmd.Context(), &f.modelFlags)
			if err != nil {
				return err
			}
			defer m.Close()
			if c.Terminal {
				f.forToy(cmd.Flags())
				return c.talk(cmd.Context(), m, &f)
			}
			conv, err := m.NewConversation("")
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "> %s\n", sampleQuestion)
			return c.answer(cmd.Context(), m, conv, sampleQuestion, false, generate.Options{MaxTokens: 400})
		},
	}
}
