// Command eval measures how well a model works on small projects: it runs tasks with checkable results through the agent,
// the tools and the sandbox, and prints a table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/coder"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/model/ggufmeta"
)

// settings are the program's flags.
type settings struct {
	model, backend, adapter, only, json string
	nano, noGrammar, noRepair, verbose  bool
	threads, context, steps, tokens     int
	temp                                float64
	seed                                uint64
	timeout                             time.Duration
}

func main() {
	if served, err := assembly.Serve(os.Args[1:]); served {
		if err != nil {
			fmt.Fprintln(os.Stderr, "eval:", err)
			os.Exit(1)
		}
		return
	}
	var s settings
	fl := flag.NewFlagSet("eval", flag.ExitOnError)
	fl.StringVar(&s.model, "m", nano.Name, options.ModelUsage)
	fl.StringVar(&s.backend, "backend", "auto", "what computes: cpu, webgpu or auto")
	fl.StringVar(&s.adapter, "adapter", "", "part of the name of the GPU to use")
	fl.IntVar(&s.threads, "threads", 0, "CPU threads; 0 for one a core")
	fl.IntVar(&s.context, "c", 8192, "positions the model has room for, if it was made for as many")
	fl.StringVar(&s.only, "only", "", "run only the tasks whose names match this regular expression")
	fl.BoolVar(&s.nano, "nano", false, "run the ten tasks of the kind that the embedded model knows")
	fl.BoolVar(&s.noGrammar, "no-grammar", false, "do not hold tool calls to their form")
	fl.BoolVar(&s.noRepair, "no-repair", false, "do not mend calls and do not take back work that fails")
	fl.IntVar(&s.steps, "max-steps", 12, "steps a task may take")
	fl.IntVar(&s.tokens, "max-tokens", 3000, "tokens that a task may sample")
	fl.DurationVar(&s.timeout, "timeout", 10*time.Minute, "time a task may take")
	fl.Float64Var(&s.temp, "temp", 0, "temperature; 0 always takes the likeliest token")
	fl.Uint64Var(&s.seed, "seed", 1, "seed, for a temperature above 0")
	fl.StringVar(&s.json, "json", "", "write every event to this file, one a line")
	fl.BoolVar(&s.verbose, "v", false, "show what the model does")
	_ = fl.Parse(os.Args[1:]) // it exits on an error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

// run runs the tasks that the settings choose.
func run(ctx context.Context, s *settings) (err error) {
	tasks := tasks()
	if s.nano {
		tasks = nanoTasks()
	}
	if s.only != "" {
		match, err := regexp.Compile(s.only)
		if err != nil {
			return err
		}
		tasks = filter(tasks, match)
	}
	w := assembly.New(assembly.Options{})
	defer func() { err = errors.Join(err, w.Close()) }()
	m, err := load(ctx, w, s)
	if err != nil {
		return err
	}
	sets, err := w.Catalog().Tools(ctx)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, m, coder.Sources(sets))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.settings = s
	if !s.noGrammar {
		b.grammar = func(ctx context.Context) (grammar.Engine, error) { return w.Grammars().Engine(ctx, m.Tokenizer()) }
	}
	if s.json != "" {
		f, err := os.Create(s.json)
		if err != nil {
			return err
		}
		defer f.Close()
		b.log = f
	}
	fmt.Printf("%s, %d tasks, %s\n\n", m.Name(), len(tasks), s.variant())
	var all []result
	for _, t := range tasks {
		r, err := b.task(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Println(r.line())
		all = append(all, r)
	}
	fmt.Print("\n" + table(all))
	return nil
}

func (s *settings) variant() string {
	on := func(off bool) string {
		if off {
			return "off"
		}
		return "on"
	}
	return "grammar " + on(s.noGrammar) + ", repairs " + on(s.noRepair)
}

func filter(all []task, match *regexp.Regexp) []task {
	var list []task
	for _, t := range all {
		if match.MatchString(t.name) {
			list = append(list, t)
		}
	}
	return list
}

// load loads the model.
func load(ctx context.Context, w *assembly.Assembly, s *settings) (agent.Model, error) {
	f, name, err := w.Open(s.model)
	if err != nil {
		return nil, err
	}
	positions := s.context
	if v, ok := f.Get(ggufmeta.Of(f).Architecture + ".context_length"); ok {
		if n, ok := v.Int(); ok && n > 0 && int(n) < positions {
			positions = int(n)
		}
	}
	m, err := w.Hub().Load(ctx, f, name, hub.LoadOptions{
		Want: hub.Want{Backend: s.backend, Adapter: s.adapter, Threads: s.threads}, Context: positions,
	})
	if err != nil {
		return nil, err
	}
	fmt.Printf("on %s, context %d\n", strings.TrimSpace(m.Device.Name), m.Context)
	return coder.Model(m), nil
}
