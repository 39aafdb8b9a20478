// Command pooled-app is the window of Pooled: a chat with a model on this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/ui/app"
)

// program is what the program calls itself.
const program = "pooled-app"

func main() {
	con := console.Standard()
	if served, err := assembly.Serve(os.Args[1:]); served {
		os.Exit(con.Run(program, func(*console.Console) error { return err }))
	}
	var s *settings
	code := con.Run(program, func(c *console.Console) (err error) {
		s, err = parse(c, os.Args[1:])
		return err
	})
	if s == nil {
		os.Exit(code)
	}
	open := func() int { return con.Run(program, s.run) }
	if s.picture != "" {
		os.Exit(open()) // no window, and so no need of the main thread
	}
	app.Main(open)
}

// settings are the flags.
type settings struct {
	loadOptions
	dark            bool
	prompt, picture string
	verbose         bool
}

// parse reads the flags. It returns nothing when help was asked for and given.
func parse(con *console.Console, args []string) (*settings, error) {
	s := &settings{loadOptions: loadOptions{Model: options.DefaultModel(), sampling: options.DefaultSampling()}}
	var chosen *settings
	cmd := &cobra.Command{
		Use:   program,
		Short: "Chat with a model in a window",
		Long:  "Opens a window to chat with a model on this machine.",
		Example: `  pooled-app
  pooled-app -m qwen2.5-coder-0.5b --dark
  pooled-app --screenshot window.png --prompt "Who are you?"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.WithHelp(cmd, fmt.Errorf("%q is no flag", args[0]))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			chosen = s
			if err := s.Check(); err != nil {
				return err
			}
			return options.CheckSampling(&s.sampling)
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	s.Add(fl)
	options.AddSampling(fl, &s.sampling)
	fl.StringVar(&s.system, "system", "", "system prompt")
	fl.BoolVar(&s.dark, "dark", false, "start with the dark theme")
	fl.StringVar(&s.picture, "screenshot", "", "open no window; write it to this PNG file, with --prompt answered")
	fl.StringVar(&s.prompt, "prompt", "", "what --screenshot asks the model")
	fl.BoolVarP(&s.verbose, "verbose", "v", false, "log what happens to standard error")
	con.Adopt(cmd)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		return nil, err
	}
	return chosen, nil
}

// run opens the window, or draws its picture.
func (s *settings) run(con *console.Console) error {
	ctx, stop := console.Interruptible(context.Background(), false)
	defer stop()
	log := slog.New(slog.DiscardHandler)
	if s.verbose {
		log = slog.New(slog.NewTextHandler(con.Err, nil))
	}
	w := assembly.New(assembly.Options{Log: log, Tell: con.Tell})
	e := &engine{assembly: w, options: s.loadOptions}
	o := app.Options{Model: s.Ref, Dark: s.dark}
	var err error
	if s.picture != "" {
		err = app.Picture(ctx, e, o, s.prompt, s.picture)
	} else {
		err = app.Run(ctx, e, o)
	}
	return errors.Join(err, w.Close())
}
