// Command pooled-app is the window of Pooled: a chat with a model on this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/spf13/pflag"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/wire"
	"github.com/pooled/pooled/ui/app"
)

// Exit codes, as those of the command line.
const (
	exitError = 1
	exitUsage = 2
)

func main() {
	args := os.Args[1:]
	// The program serves the built-in model families to itself: it starts itself once more with these arguments.
	if len(args) > 2 && args[0] == "plugin" && args[1] == "serve" {
		os.Exit(serve(args[2]))
	}
	o, code := parse(args)
	if code >= 0 {
		os.Exit(code)
	}
	if o.picture != "" {
		os.Exit(run(o)) // no window, and so no need of the main thread
	}
	app.Main(func() int { return run(o) })
}

// serve runs a built-in plugin until the host is done with it.
func serve(name string) int {
	w := wire.New(wire.Options{})
	if err := w.Catalog().Serve(name); err != nil {
		fmt.Fprintln(os.Stderr, "pooled-app:", err)
		return exitError
	}
	return 0
}

// options are the flags.
type options struct {
	app.Options
	loadOptions
	threads         int
	prompt, picture string
	verbose         bool
}

// parse reads the flags. The code is that to exit with, or -1 to go on.
func parse(args []string) (o options, code int) {
	o.sampling = sampling
	fs := pflag.NewFlagSet("pooled-app", pflag.ContinueOnError)
	fs.SetOutput(os.Stderr)
	fs.SortFlags = false
	fs.StringVarP(&o.Model, "model", "m", nano.Name, "model: a pulled name, a GGUF file, or nano (built in)")
	fs.StringVar(&o.want.Backend, "backend", "auto", "what computes: cpu, webgpu or auto")
	fs.StringVar(&o.want.Adapter, "adapter", "", "part of the name of the GPU to use")
	fs.IntVar(&o.threads, "threads", 0, "CPU threads; 0 for one a core")
	fs.IntVarP(&o.context, "context", "c", 0, "positions the model has room for; 0 for what it was made for and memory allows")
	fs.StringVar(&o.system, "system", "", "system prompt")
	fs.BoolVar(&o.Dark, "dark", false, "start with the dark theme")
	fs.StringVar(&o.picture, "screenshot", "", "open no window; write it to this PNG file, with --prompt answered")
	fs.StringVar(&o.prompt, "prompt", "", "what --screenshot asks the model")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "log what happens to standard error")
	fs.Usage = func() {
		fmt.Fprintf(os.Stderr, "Usage: pooled-app [flags]\n\nOpens a window to chat with a model on this machine.\n\n%s", fs.FlagUsages())
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return o, 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "pooled-app:", err)
		return o, exitUsage
	case fs.NArg() > 0:
		fmt.Fprintf(os.Stderr, "pooled-app: %q is no flag; see --help\n", fs.Arg(0))
		return o, exitUsage
	case o.threads < 0 || o.context < 0:
		fmt.Fprintln(os.Stderr, "pooled-app: --threads and --context want 0 or more")
		return o, exitUsage
	}
	return o, -1
}

// run opens the window, or draws its picture, and returns the exit code.
func run(o options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := slog.New(slog.DiscardHandler)
	if o.verbose {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	w := wire.New(wire.Options{Log: log})
	w.Threads = o.threads
	e := &engine{wire: w, options: o.loadOptions}
	var err error
	if o.picture != "" {
		err = app.Picture(ctx, e, o.Options, o.prompt, o.picture)
	} else {
		err = app.Run(ctx, e, o.Options)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		fmt.Fprintln(os.Stderr, "pooled-app:", err)
		return exitError
	}
	return 0
}
