// Package codecmd holds the command "pooled code": a model that works on a project, in the terminal.
package codecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/coder"
	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/starter"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
)

// Deps is what the command needs of the program.
type Deps struct {
	*console.Console
	// Load loads a model, in place of the one that it loaded before: the one that the command's flags name when ref is empty.
	// The caller closes it.
	Load func(ctx context.Context, ref string) (agent.Model, io.Closer, error)
	// Tools returns the sets of tools and which of them are sandboxed.
	Tools func(ctx context.Context) ([]agent.Source, error)
	// Grammars returns what holds calls to their form. It may be nil.
	Grammars func() *grammar.Cache
	// Home returns the folder for projects and sessions; Cache is the one for the compiled code of tools.
	Home  func() (string, error)
	Cache string
}

// flags are those of the command.
type flags struct {
	scratch, resume, json, yes, sessions bool
	session, prompt, mode, start         string
	sampling                             generate.Options
	steps                                int
	timeout                              time.Duration
	noGrammar, noRepair                  bool
}

// New returns the command "code".
func New(d Deps) *cobra.Command {
	f := flags{sampling: options.DefaultSampling()}
	f.sampling.Temperature = 0 // work is more exact than talk
	c := &cobra.Command{
		Use:   "code [DIR]",
		Short: "Let a model work on a project in a folder",
		Long: `Lets a model read, write and try out the files of a small web project: in DIR, in the current folder, or with --scratch in
a new one. What the model writes runs in a sandbox; it reaches no file outside of the project and no network. Every change
can be taken back with /undo.

In the terminal, you are asked before a file is changed. Ctrl-C stops the step, not the program; /help lists the commands.
With -p one request is worked on, for scripts: --json prints one event a line, and --yes allows every change.

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 done but the app reports errors, 4 ended before it was done.`,
		Example: `  pooled code --scratch                            a new project
  pooled code -m qwen2.5-coder-0.5b ~/sites/shop   with a real model
  pooled code -r                                   go on where you left off
  pooled code --scratch -p "Make a click counter" --yes --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.yes && cmd.Flags().Changed("mode") && f.mode != string(agent.All) {
				return console.Usage("--yes and --mode %s were given; want one of them", f.mode)
			}
			return d.run(cmd.Context(), &f, cmd.Flags().Changed("prompt"), args)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.scratch, "scratch", false, "work in a new folder of Pooled's own")
	fl.StringVar(&f.start, "start", "", "begin an empty project with a starter: "+console.Either(starters()...))
	fl.BoolVarP(&f.resume, "resume", "r", false, "go on with the project's last session")
	fl.StringVar(&f.session, "session", "", "go on with the session of this name")
	fl.BoolVar(&f.sessions, "sessions", false, "list projects and their sessions, and end")
	fl.StringVarP(&f.prompt, "prompt", "p", "", "work on this one request and end; - reads it from standard input")
	fl.BoolVar(&f.yes, "yes", false, "allow everything without asking (as --mode all)")
	fl.StringVar(&f.mode, "mode", "ask", "what runs without asking: ask (nothing that changes files), edits or all")
	fl.BoolVar(&f.json, "json", false, "with -p: print every event as a line of JSON")
	options.AddDraw(fl, &f.sampling)
	fl.IntVar(&f.steps, "max-steps", 0, "end a turn after so many steps; 0 for 40")
	fl.DurationVar(&f.timeout, "timeout", 0, "end a turn after this time; 0 for no limit")
	fl.BoolVar(&f.noGrammar, "no-grammar", false, "do not hold tool calls to their form")
	fl.BoolVar(&f.noRepair, "no-repair", false, "do not mend calls and do not take back work that fails")
	return c
}

// run runs the command; given says that it was given a request.
func (d Deps) run(ctx context.Context, f *flags, given bool, args []string) error {
	mode := agent.Mode(f.mode)
	if f.yes {
		mode = agent.All
	}
	switch {
	case !mode.Valid():
		return console.Usage("--mode is %q, want ask, edits or all", f.mode)
	case f.sessions && (len(args) > 0 || given):
		return console.Usage("--sessions lists all projects; it wants no folder and no request")
	case f.scratch && len(args) > 0:
		return console.Usage("--scratch and a folder were given; want one of them")
	case f.scratch && (f.resume || f.session != ""):
		return console.Usage("a new project has no session to go on with")
	case given && strings.TrimSpace(f.prompt) == "":
		return console.Usage("the request is empty")
	case f.json && !given:
		return console.Usage("--json needs a request: -p \"…\"")
	case f.start != "" && !slices.Contains(starters(), f.start):
		return console.Usage("--start is %q, want %s", f.start, console.Either(starters()...))
	}
	if f.steps < 0 || f.timeout < 0 {
		return console.Usage("--max-steps and --timeout want 0 or more")
	}
	if err := options.CheckSampling(&f.sampling); err != nil {
		return err
	}
	home, err := d.Home()
	if err != nil {
		return err
	}
	store := transcript.OpenStore(home)
	if f.sessions {
		return d.listAll(store)
	}
	// A reader that goes away must not end the program in the middle of a turn: a try that was taken back has to be put back
	// first. Writing to it is an error then, which ends the turn in order.
	signal.Ignore(syscall.SIGPIPE)
	if f.prompt != "" {
		// A script's Ctrl-C ends the turn in order.
		var stop context.CancelFunc
		ctx, stop = console.Interruptible(ctx, false)
		defer stop()
	}
	p, err := d.project(store, home, f, args)
	if err != nil {
		return err
	}
	w := &work{Deps: d, f: f, project: p, mode: mode}
	defer w.close()
	if err := w.open(ctx); err != nil {
		return err
	}
	if f.prompt != "" {
		return w.once(ctx)
	}
	return w.talk(ctx)
}

// starters names what an empty project can begin with.
func starters() []string {
	var names []string
	for _, s := range starter.All() {
		names = append(names, s.Name)
	}
	return names
}

// project finds the project to work on.
func (d Deps) project(store *transcript.Store, home string, f *flags, args []string) (*transcript.Project, error) {
	if f.scratch {
		return store.Scratch()
	}
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	if inside(home, dir) {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		return nil, console.Usage("%s holds Pooled's own files, in %s; work in another folder, or use --scratch", dir, home)
	}
	p, err := store.Project(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, console.Usage("there is no folder %s; make it first, or use --scratch", dir)
	}
	return p, err
}

// inside reports whether folder path lies in dir, or is it.
func inside(path, dir string) bool {
	real := func(p string) string {
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		if r, err := filepath.EvalSymlinks(p); err == nil {
			p = r
		}
		return p
	}
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && filepath.IsLocal(rel)
}

// listAll lists projects and sessions.
func (d Deps) listAll(store *transcript.Store) error {
	projects, err := store.Projects()
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		fmt.Fprintln(d.Out, "there are no projects yet")
	}
	for _, p := range projects {
		fmt.Fprintln(d.Out, terminal.Exact(p.Root))
		list, err := p.Sessions()
		if err != nil {
			return err
		}
		for _, s := range list {
			fmt.Fprintf(d.Out, "  %s\n", sessionLine(s))
		}
	}
	return nil
}

// work is an open project with an agent.
type work struct {
	Deps
	f       *flags
	project *transcript.Project
	mode    agent.Mode

	model   agent.Model
	loaded  io.Closer
	ws      *workspace.Workspace
	tools   *agent.Tools
	session *transcript.Session
	agent   *agent.Agent
	screen  *screen
	talking *console.Dialogue
	notes   []string // what the model must be told with the next request
}

// open loads the model and opens everything.
func (w *work) open(ctx context.Context) error {
	var err error
	if w.ws, err = workspace.Open(w.project.Root, w.project.State()); err != nil {
		return err
	}
	if w.f.start != "" {
		if err := starter.Write(ctx, w.ws, w.f.start); err != nil {
			return err
		}
	}
	w.screen = newScreen(w.Console, w.f.json)
	w.screen.stays = w.f.prompt == ""
	if w.model, w.loaded, err = w.Load(ctx, ""); err != nil {
		return err
	}
	if w.f.noGrammar {
		w.Grammars = nil
	}
	if w.Grammars != nil {
		w.Grammars().Warm(w.model.Tokenizer())
	}
	sources, err := w.Tools(ctx)
	if err != nil {
		return err
	}
	if w.tools, err = agent.OpenTools(ctx, tool.Project{Root: w.project.Root, State: w.project.State(), Cache: w.Cache}, sources...); err != nil {
		return err
	}
	for _, s := range w.tools.Sets() {
		if s.Err != nil {
			w.Tell(fmt.Sprintf("the tools of %s are left out: %v", terminal.Line(s.Name), s.Err))
		}
	}
	w.screen.brief = w.tools.Brief
	var history []transcript.Message
	if w.f.resume || w.f.session != "" {
		var note string
		if w.session, history, note, err = w.project.Resume(w.f.session); err != nil {
			return err
		}
		if note != "" {
			w.Tell(note)
		}
	} else if w.session, err = w.project.NewSession(w.model.Name()); err != nil {
		return err
	}
	return w.start(history)
}

// start makes the agent.
func (w *work) start(history []transcript.Message) error {
	o := agent.Options{
		Model: w.model, Tools: w.tools, Mode: w.mode, Session: w.session, History: history, NoRepair: w.f.noRepair,
		Sampling: w.f.sampling,
		Limits:   agent.Limits{Steps: w.f.steps, Time: w.f.timeout},
		Emit:     w.screen.event,
		TakeBack: coder.TakeBack(w.ws),
	}
	if w.Grammars != nil {
		o.Grammar = func(ctx context.Context) (grammar.Engine, error) {
			return w.Grammars().Engine(ctx, w.model.Tokenizer())
		}
	}
	if w.Terminal && w.f.prompt == "" {
		o.Approve, w.screen.asks = w.approve, true
	}
	a, err := agent.New(o)
	w.agent = a
	return err
}

// close ends everything in order.
func (w *work) close() {
	if w.tools != nil {
		_ = w.tools.Close()
	}
	if w.session != nil {
		_ = w.session.Close()
	}
	if w.ws != nil {
		_ = w.ws.Close()
	}
	if w.loaded != nil {
		_ = w.loaded.Close()
	}
}

// once works on one request.
func (w *work) once(ctx context.Context) error {
	text := w.f.prompt
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(w.In, console.MaxMessage+1))
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		if len(b) > console.MaxMessage {
			return console.Usage("the request has more than %d bytes", console.MaxMessage)
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		return console.Usage("the request is empty")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.screen.gone = stop
	w.screen.session(w)
	done, err := w.agent.Run(ctx, text)
	w.screen.end()
	if !w.f.json {
		w.screen.remark("the project is in " + w.project.Root)
	}
	if err != nil {
		if w.f.json {
			return console.Exit(console.ExitFailed) // the event said it
		}
		return err
	}
	if w.screen.broken != nil {
		return console.Exit(console.ExitFailed) // whoever read our output has gone
	}
	switch {
	case done.Reason == transcript.ReasonDenied:
		if !w.f.json {
			w.screen.remark("nobody can be asked here: --mode edits allows changes of files, --yes everything")
		}
		return console.Exit(console.ExitUnfinished)
	case done.Reason == transcript.ReasonCancelled:
		return console.Exit(console.ExitInterrupted)
	case done.Reason != transcript.ReasonStop:
		return console.Exit(console.ExitUnfinished)
	case done.Problems != "":
		return console.Exit(console.ExitProblems)
	}
	return nil
}
