// Package cli is the command line of Pooled.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/cmd/internal/wire"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/weights"
)

// Exit codes.
const (
	exitError     = 1
	exitUsage     = 2
	exitCancelled = 130
)

// Streams are the program's input and outputs.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal says that a person reads Out and types In.
	Terminal bool
	// Screen says that Out is shown by a terminal, which obeys control characters.
	Screen bool
	// Color says that Out may be coloured.
	Color bool
}

// Standard returns the process's own streams. Colour is off with NO_COLOR, with TERM=dumb and when Out is no terminal.
func Standard() Streams {
	out := isTerminal(os.Stdout)
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: out && isTerminal(os.Stdin),
		Screen:   out,
		Color:    out && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// codeError carries an exit code; without an error everything has been said.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// ExitCode returns the code that the program ends with.
func (e *codeError) ExitCode() int { return e.code }

// usage marks an error as one of how the program was called.
func usage(format string, args ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, args...)}
}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, s Streams, args []string) int {
	out := &checkedWriter{w: s.Out}
	s.Out = out
	w := wire.New(wire.Options{})
	defer w.Close()
	root := newRoot(s, w)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	var code interface{ ExitCode() int }
	switch {
	case err == nil && out.err != nil:
		err = out.err
	case err == nil:
		return 0
	case errors.As(err, &code):
		if text := err.Error(); text != "" {
			fmt.Fprintln(s.Err, "pooled:", terminal.Text(text))
		}
		return code.ExitCode()
	case errors.Is(err, context.Canceled):
		return exitCancelled
	case errors.Is(err, os.ErrClosed), errors.Is(err, errPipe):
		return exitError // whoever read our output has gone; nobody is left to tell
	}
	fmt.Fprintln(s.Err, "pooled:", terminal.Text(err.Error()+advice(err)))
	return exitError
}

// advice says what to do about an error that comes from where the commands are not known.
func advice(err error) string {
	switch text := err.Error(); {
	case errors.Is(err, weights.ErrNotFound) && !strings.Contains(text, "pooled pull") && !strings.Contains(text, "did you mean"):
		return "; 'pooled list' shows those that are here, 'pooled pull' gets one"
	case errors.Is(err, chat.ErrNoTemplate):
		return ": pooled run --raw"
	}
	return ""
}

func newRoot(s Streams, w *wire.Wire) *cobra.Command {
	root := &cobra.Command{
		Use:   "pooled",
		Short: "Run one open-weight model across the machines you own",
		Long: `Pooled runs open-weight models on your own machines.

A model is the name of one that you pulled, a path to a GGUF file, or "nano", a very small model that is built in and works
offline. Without a model, commands use nano.`,
		Example: `  pooled demo                              talk to the built-in model
  pooled pull qwen2.5-coder-0.5b           download a real model
  pooled chat -m qwen2.5-coder-0.5b        talk to it
  echo "Say hi" | pooled run -m ./my.gguf  one prompt, for scripts`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w (see '%s --help')", err, c.CommandPath())
	})
	c := &commands{Streams: s, wire: w}
	root.AddGroup(&cobra.Group{ID: "talk", Title: "Talk to a model:"}, &cobra.Group{ID: "models", Title: "Models and machine:"},
		&cobra.Group{ID: "safe", Title: "Untrusted code:"}, &cobra.Group{ID: "scripts", Title: "For scripts:"})
	group := func(id string, cs ...*cobra.Command) {
		for _, cmd := range cs {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	root.SuggestionsMinimumDistance = 2
	group("talk", c.conversation(c.demo()), c.conversation(c.chat()), interruptible(c.run()), c.conversation(c.code()))
	group("models", interruptible(c.pull()), c.list(), c.show(), c.remove(), c.doctor(), interruptible(c.bench()), c.plugin())
	group("safe", c.js(), c.page())
	group("scripts", c.tokenize(), c.detokenize(), c.template())
	root.AddCommand(c.version())
	c.complete(root)
	return usageArgs(root)
}

// usageArgs marks complaints about the number of arguments, and about unknown commands, as errors of usage; so it does
// for the commands below c.
func usageArgs(c *cobra.Command) *cobra.Command {
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // else its arguments are not looked at
	}
	check := c.Args
	if check == nil {
		check = cobra.ArbitraryArgs
		if c.HasSubCommands() {
			check = func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return nil
				}
				like := ""
				if names := c.SuggestionsFor(args[0]); len(names) > 0 {
					like = "; did you mean " + strings.Join(names, " or ") + "?"
				}
				return fmt.Errorf("there is no command %q for '%s'%s", args[0], c.CommandPath(), like)
			}
		}
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil {
			return nil
		}
		_, own := errors.AsType[interface {
			error
			ExitCode() int
		}](err)
		if !own && !c.HasSubCommands() {
			// Cobra counts arguments; what they should be says more.
			err = fmt.Errorf("got %s, want: %s", count(len(args), "argument"), strings.TrimSuffix(c.UseLine(), " [flags]"))
		}
		return usage("%w (see '%s --help')", err, c.CommandPath())
	}
	return c
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// commands makes the subcommands.
type commands struct {
	Streams
	wire *wire.Wire
	// interrupts is set while a person talks.
	interrupts *interrupts
}
