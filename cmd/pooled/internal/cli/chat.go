package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
)

// chatFlags are those of chat.
type chatFlags struct {
	options.Model
	system   string
	sampling generate.Options
}

func newChatFlags() *chatFlags {
	return &chatFlags{Model: options.DefaultModel(), sampling: options.DefaultSampling()}
}

func (c *commands) chat() *cobra.Command {
	f := newChatFlags()
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
			if err := options.CheckSampling(&f.sampling); err != nil {
				return err
			}
			m, err := c.load(cmd.Context(), &f.Model)
			if err != nil {
				return err
			}
			defer m.Close()
			return c.talk(cmd.Context(), m, f)
		},
	}
	f.Add(cmd.Flags())
	options.AddSampling(cmd.Flags(), &f.sampling)
	cmd.Flags().StringVar(&f.system, "system", "", "system prompt")
	return cmd
}

// talk is the loop of a conversation.
func (c *commands) talk(ctx context.Context, m *hub.Model, f *chatFlags) error {
	conv, err := m.NewConversation(f.system)
	if err != nil {
		return err
	}
	c.Note("%s on %s, because %s. Context %d. /help for commands.", m.Name, m.Device.Name, m.Reason, m.Context)
	d := c.Dialogue(ctx, c.Err)
	defer d.Close()
	for {
		text, err := d.Message(ctx)
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
			c.Note("/again: another answer   /new: start over   /bye: end   \\ at the end of a line: go on in the next")
			continue
		case "/new":
			if conv, err = m.NewConversation(f.system); err != nil {
				return err
			}
			c.Note("a new conversation")
			continue
		case "/again":
			again = true
		default:
			if c.Terminal && isCommand(command) {
				c.Note("there is no command %s; /help lists them", command)
				continue
			}
		}
		turn, end := d.During(ctx)
		err = c.answer(turn, m, conv, text, again, f.sampling)
		end()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, console.ErrClosed) {
				return err
			}
			if err = options.FlagError(err); c.Terminal {
				c.Complain(err)
			} else {
				return err
			}
		}
	}
}

// answer prints one answer. The end of ctx stops the answer alone.
func (c *commands) answer(ctx context.Context, m *hub.Model, conv *hub.Conversation, text string, again bool, opt generate.Options) error {
	w := c.Answer(c.Out)
	var a hub.Answer
	var err error
	if again {
		a, err = conv.Regenerate(ctx, opt, w.Event)
	} else {
		a, err = conv.Send(ctx, text, opt, w.Event)
	}
	if fresh := w.Fresh(); err == nil {
		err = fresh
	}
	if err != nil && a.Finish != generate.FinishCancelled {
		return err
	}
	if c.Terminal {
		speed := ""
		if rate := a.Timings.Rate(); rate > 0 {
			speed = fmt.Sprintf(", %.0f tok/s", rate)
		}
		end := ""
		if a.Finish != generate.FinishStop {
			end = ", " + finishText(a.Result, m)
		}
		c.Note("%d tokens%s, %d of %d positions used%s", a.Timings.Tokens, speed, a.Used, m.Context, end)
	}
	return nil
}

// isCommand reports whether a message looks like a command: a slash and one word.
func isCommand(message string) bool {
	word, ok := strings.CutPrefix(message, "/")
	return ok && word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

// What demo asks when nobody can, and how long the answer may get. Units: tokens.
const (
	sampleQuestion = "Who are you?"
	sampleLength   = 400
)

func (c *commands) demo() *cobra.Command {
	f := newChatFlags()
	f.Ref = nano.Name
	return &cobra.Command{
		Use:   "demo",
		Short: "Talk to nano, the very small model that is built in; works offline",
		Long: `Opens a conversation with the model that is built in. Without a terminal it answers a sample question and ends.

` + nano.Notice,
		Example: "  pooled demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(c.Err, nano.Notice)
			m, err := c.load(cmd.Context(), &f.Model)
			if err != nil {
				return err
			}
			defer m.Close()
			if c.Terminal {
				return c.talk(cmd.Context(), m, f)
			}
			conv, err := m.NewConversation("")
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "> %s\n", sampleQuestion)
			return c.answer(cmd.Context(), m, conv, sampleQuestion, false, generate.Options{MaxTokens: sampleLength})
		},
	}
}
