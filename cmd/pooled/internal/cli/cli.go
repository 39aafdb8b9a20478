// Package cli is the command line of Pooled.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/pooled/internal/jscmd"
	"github.com/pooled/pooled/cmd/pooled/internal/plugincmd"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/store"
)

// program is what the program calls itself.
const program = "pooled"

// Main runs the program and returns its exit code.
func Main(ctx context.Context, c *console.Console, args []string) int {
	return c.Run(program, func(c *console.Console) error {
		w := assembly.New(assembly.Options{Tell: func(news string) {
			if c.Terminal {
				c.Tell(news)
			}
		}})
		defer w.Close()
		root := newRoot(c, w)
		root.SetArgs(args)
		return advised(root.ExecuteContext(ctx))
	})
}

// advised adds what to do to an error that comes from where the commands are not known.
func advised(err error) error {
	if _, said := errors.AsType[*console.ExitError](err); err == nil || said {
		return err
	}
	missing, ok := errors.AsType[*store.NotFoundError](err)
	switch {
	case ok && missing.Source != "":
		return fmt.Errorf("%w; get it with: pooled pull %s", err, missing.Source)
	case ok && len(missing.Similar) == 0:
		return fmt.Errorf("%w; 'pooled list' shows those that are here, 'pooled pull' gets one", err)
	case errors.Is(err, chat.ErrNoTemplate):
		return fmt.Errorf("%w: pooled run --raw", err)
	}
	return err
}

func newRoot(con *console.Console, w *assembly.Assembly) *cobra.Command {
	root := &cobra.Command{
		Use:   "pooled",
		Short: "Run open-weight models on your own machine",
		Long: `Pooled runs open-weight models on your own machine.

A model is the name of one that you pulled, a path to a GGUF file, or "nano", a very small model that is built in and works
offline. Without a model, commands use nano.`,
		Example: `  pooled demo                              talk to the built-in model
  pooled pull qwen2.5-coder-0.5b           download a real model
  pooled chat -m qwen2.5-coder-0.5b        talk to it
  echo "Say hi" | pooled run -m ./my.gguf  one prompt, for scripts`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	con.Adopt(root)
	c := &commands{Console: con, assembly: w}
	root.AddGroup(&cobra.Group{ID: "talk", Title: "Talk to a model:"}, &cobra.Group{ID: "models", Title: "Models and machine:"},
		&cobra.Group{ID: "safe", Title: "Untrusted code:"}, &cobra.Group{ID: "scripts", Title: "For scripts:"})
	group := func(id string, cs ...*cobra.Command) {
		for _, cmd := range cs {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	root.SuggestionsMinimumDistance = 2
	group("talk", c.conversation(c.demo()), c.conversation(c.chat()), c.interruptible(c.run()), c.conversation(c.code()))
	group("models", c.interruptible(c.pull()), c.list(), c.show(), c.remove(), c.doctor(), c.interruptible(c.bench()),
		plugincmd.New(plugincmd.Deps{Console: con, Catalog: w.Catalog, Wasm: assembly.LoadWasm}))
	group("safe", jscmd.NewJS(con, folders.Sandbox()), jscmd.NewPage(con, folders.Sandbox()))
	group("scripts", c.tokenize(), c.detokenize(), c.template())
	root.AddCommand(c.version())
	c.complete(root)
	root.SetHelpCommand(help())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return usageArgs(root)
}

// help makes the command that explains others.
func help() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: "  pooled help run",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return console.WithHelp(cmd.Root(), fmt.Errorf("there is no command %q", strings.Join(args, " ")))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
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
		if _, own := errors.AsType[*console.ExitError](err); !own && !c.HasSubCommands() {
			// Cobra counts arguments; what they should be says more.
			err = fmt.Errorf("got %s, want: %s", console.Count(len(args), "argument"), strings.TrimSuffix(c.UseLine(), " [flags]"))
		}
		return console.WithHelp(c, err)
	}
	return c
}

// interruptible lets signals end a command in order.
func (c *commands) interruptible(cmd *cobra.Command) *cobra.Command { return ending(cmd, false) }

// conversation is interruptible, but for Ctrl-C of a person, which ends answers.
func (c *commands) conversation(cmd *cobra.Command) *cobra.Command { return ending(cmd, c.Terminal) }

func ending(c *cobra.Command, person bool) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, stop := console.Interruptible(c.Context(), person)
		defer stop()
		c.SetContext(ctx)
		return run(c, args)
	}
	return c
}

// commands makes the subcommands.
type commands struct {
	*console.Console
	assembly *assembly.Assembly
}
