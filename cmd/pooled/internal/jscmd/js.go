package jscmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
	"github.com/spf13/cobra"
)

// maxSource bounds a program read from a file or standard input. Units: bytes.
const maxSource = 8 << 20

// sandbox is what both commands need.
type sandbox struct {
	*console.Console
	cache string
}

type jsFlags struct {
	timeout wait
	memory  size
	allow   []string
	tree    string
	asJSON  bool
	module  bool
}

// NewJS returns the command "js", which runs a program in the sandbox. The compiled engine is kept in the folder cache.
//
// Errors: the command returns [*console.ExitError]; see its codes in the help text.
func NewJS(c *console.Console, cache string) *cobra.Command {
	s := sandbox{c, cache}
	d := js.DefaultLimits()
	f := jsFlags{timeout: wait(d.Time), memory: size(d.Memory)}
	cmd := &cobra.Command{
		Use:   "js FILE|-",
		Short: "Run untrusted JavaScript in the sandbox",
		Long: `Run a JavaScript program in a sandbox: no files, no network, no environment.

Time is virtual: timers fire in order without waiting, the date is always
2025-01-01 at the start, and random numbers repeat from run to run. --allow grants the
real thing. The value of the last expression (of a module: its default export) is printed
as the result; top-level await works.

Capabilities for --allow:
` + capabilityHelp() + `
Exit codes: 0 it ran, 1 it threw an error, 2 wrong usage, 3 a limit stopped it.`,
		Example: `  echo '6 * 7' | pooled js -
  pooled js script.js --timeout 2s --memory 32MiB
  pooled js app/main.js --tree app          # import "./other.js" from app/ only
  pooled js script.js --allow clock,random
  pooled js script.js --json | jq .result`,
		Args: oneArg("a file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.runJS(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.Var(&f.timeout, "timeout", "stop after this much wall time")
	fl.Var(&f.memory, "memory", "memory the program may use")
	fl.StringSliceVar(&f.allow, "allow", nil, "grant a capability (repeatable, or separated by commas)")
	fl.StringVar(&f.tree, "tree", "", "folder that import may read from, nothing else of it")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object instead of lines")
	fl.BoolVar(&f.module, "module", false, "read the program as an ES module (default for .mjs, or when it has import or export)")
	return cmd
}

func capabilityHelp() string {
	var b strings.Builder
	for _, c := range js.CapabilityNames() {
		fmt.Fprintf(&b, "  %-8s %s\n", c[0], c[1])
	}
	return b.String()
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return console.Usage("%s needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

func (s sandbox) runJS(ctx context.Context, name string, f jsFlags) error {
	caps, err := js.ParseCapabilities(f.allow)
	if err != nil {
		return console.Usage("--allow: %w", err)
	}
	source, err := s.Named(ctx, name, maxSource)
	if err != nil {
		return console.Usage("%w", err)
	}
	p := js.Program{Code: string(source), Filename: filepath.Base(name)}
	if name == "-" {
		p.Filename = "stdin.js"
	}
	if f.module || strings.HasSuffix(name, ".mjs") {
		p.Kind = js.Module
	}
	if f.tree != "" {
		files, err := workspace.Open(f.tree, "")
		if err != nil {
			return console.Usage("--tree: %w", err)
		}
		defer func() { _ = files.Close() }()
		p.Files = files.FS()
		p.Filename = insideTree(f.tree, name, p.Filename)
	}
	if !f.asJSON {
		p.Console = func(l js.Line) { s.printLine(l) }
	}
	rt, err := js.NewRuntime(ctx, js.RuntimeOptions{CacheDir: s.cache})
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { _ = rt.Close(ctx) }()
	res, err := rt.Run(ctx, p, js.Limits{Time: time.Duration(f.timeout), Memory: int64(f.memory)}, caps)
	if err != nil {
		return console.Usage("%w", err)
	}
	if f.asJSON {
		if err := s.JSON(jsReport(res)); err != nil {
			return console.Usage("%w", err)
		}
	} else {
		s.printResult(res, f)
	}
	return console.Exit(code(res.OK, res.Stopped))
}

func code(ok bool, stopped js.Stop) int {
	switch {
	case stopped != js.None:
		return console.ExitLimit
	case !ok:
		return console.ExitFailed
	}
	return console.ExitDone
}

// insideTree names a program by its path inside the tree, so that its relative
// imports resolve; a program from elsewhere sits at the root of the tree.
func insideTree(tree, name, fallback string) string {
	if name == "-" {
		return fallback
	}
	dir, err := filepath.Abs(tree)
	if err != nil {
		return fallback
	}
	file, err := filepath.Abs(name)
	if err != nil {
		return fallback
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return fallback
	}
	return filepath.ToSlash(rel)
}

func (s sandbox) printLine(l js.Line) {
	w := s.Out
	if l.Level == "warn" || l.Level == "error" {
		w = s.Err
	}
	fmt.Fprintln(w, terminal.Exact(l.Text))
}

func (s sandbox) printResult(res *js.Result, f jsFlags) {
	if res.OK {
		if !res.Value.Undefined {
			fmt.Fprintln(s.Out, terminal.Exact(res.Value.Display))
		}
		return
	}
	if res.Error != nil {
		fmt.Fprintln(s.Err, terminal.Exact(errorText(res.Error)))
		if f.tree == "" && strings.Contains(res.Error.Message, "no file tree was given") {
			fmt.Fprintln(s.Err, "--tree DIR lets the program import from a folder")
		}
	}
	if res.Stopped != js.None {
		fmt.Fprintln(s.Err, stopText(res.Stopped, f.timeout, f.memory))
	}
}

func errorText(e *js.Error) string {
	text := e.Error()
	if e.Stack != "" {
		text += "\n" + strings.TrimRight(e.Stack, "\n")
	}
	return text
}

func stopText(s js.Stop, timeout wait, memory size) string {
	switch s {
	case js.Timeout:
		return fmt.Sprintf("stopped: it ran longer than %v; --timeout gives it more", time.Duration(timeout))
	case js.Memory:
		return fmt.Sprintf("stopped: it used more than %s of memory; --memory gives it more", memory.String())
	case js.Stack:
		return "stopped: it recursed too deeply"
	default:
		return "stopped: it printed more than the sandbox carries"
	}
}

// report is the JSON form of a result.
type report struct {
	OK      bool      `json:"ok"`
	Result  any       `json:"result"`
	Console []js.Line `json:"console"`
	Error   *js.Error `json:"error"`
	Stopped *js.Stop  `json:"stopped"`
	WallMS  float64   `json:"wall_ms"`
}

func jsReport(res *js.Result) report {
	r := report{OK: res.OK, Console: res.Console, Error: res.Error, Stopped: stopped(res.Stopped), WallMS: millis(res.Wall)}
	if r.Console == nil {
		r.Console = []js.Line{}
	}
	switch {
	case res.Value.JSON != nil:
		r.Result = res.Value.JSON
	case !res.Value.Undefined && res.OK:
		r.Result = res.Value.Display
	}
	return r
}

func stopped(s js.Stop) *js.Stop {
	if s == js.None {
		return nil
	}
	return &s
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
