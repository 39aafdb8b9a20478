package jscmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/page"
	"github.com/spf13/cobra"
)

type pageFlags struct {
	entry   string
	do      []string
	allow   []string
	timeout wait
	memory  size
	settle  wait
	asJSON  bool
}

// NewPage returns the command "page", which runs a page in the sandbox. The compiled engine is kept in the folder cache.
//
// Errors: the command returns [*console.ExitError]; see its codes in the help text.
func NewPage(c *console.Console, cache string) *cobra.Command {
	s := sandbox{c, cache}
	d := page.DefaultLimits()
	f := pageFlags{timeout: wait(d.Time), memory: size(d.Memory), settle: wait(2 * time.Second)}
	cmd := &cobra.Command{
		Use:   "page DIR [ACTION…]",
		Short: "Run an untrusted web page in the sandbox",
		Long: `Load a page from a folder in a sandbox and say what it does: its text, console, errors
with file:line:col, and missing files. Scripts, modules, styles, forms, storage and
fetch work, from that folder only; there is no network. Nothing is painted: a 2D canvas
reports what it was asked to draw. Time is virtual, as in "pooled js".

Actions, in order, with --do or after DIR:
` + actionHelp() + `
Exit codes: 0 clean, 1 the page has errors or missing files or an action failed,
2 wrong usage, 3 a limit stopped it.`,
		Example: `  pooled page app
  pooled page app --entry about.html --json
  pooled page app --do click:#add --do click:#add
  pooled page app 'type:#name=Ada' key:Enter wait:500ms --json | jq .text`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usage("%s needs a folder", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.do = append(f.do, args[1:]...)
			return s.runPage(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.entry, "entry", "index.html", "the page to load, inside DIR")
	fl.StringArrayVar(&f.do, "do", nil, "an action, such as click:#id (repeatable)")
	fl.Var(&f.timeout, "timeout", "stop after this much wall time, for loading and for each action")
	fl.Var(&f.memory, "memory", "memory the page may use")
	fl.Var(&f.settle, "settle", "virtual time that passes after loading and after each action")
	fl.StringSliceVar(&f.allow, "allow", nil, "grant a capability; see pooled js --help")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object instead of lines")
	return cmd
}

func actionHelp() string {
	var b strings.Builder
	for _, v := range page.Verbs() {
		fmt.Fprintf(&b, "  %s:%s\n", v[0], v[1])
	}
	return b.String()
}

func (s sandbox) runPage(ctx context.Context, dir string, f pageFlags) error {
	caps, err := js.ParseCapabilities(f.allow)
	if err != nil {
		return console.Usage("--allow: %w", err)
	}
	var actions []page.Action
	for _, text := range f.do {
		a, err := page.ParseAction(text)
		if err != nil {
			return console.Usage("%w", err)
		}
		actions = append(actions, a)
	}
	files, err := workspace.Open(dir, "")
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { _ = files.Close() }()
	engine, err := js.NewRuntime(ctx, js.RuntimeOptions{CacheDir: s.cache})
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { _ = engine.Close(ctx) }()
	rt, err := page.NewRuntime(ctx, engine)
	if err != nil {
		return console.Usage("%w", err)
	}
	o := page.Options{
		Entry: f.entry, Limits: js.Limits{Time: time.Duration(f.timeout), Memory: int64(f.memory)},
		Capabilities: caps, Settle: time.Duration(f.settle),
	}
	p, err := rt.Open(ctx, files.FS(), o)
	if err != nil {
		return console.Usage("%w", err)
	}
	defer p.Close()
	var failed []string
	for _, a := range actions {
		if err := p.Do(ctx, a); errors.Is(err, page.ErrAction) {
			failed = append(failed, strings.TrimPrefix(err.Error(), page.ErrAction.Error()+": "))
		} else if err != nil && !errors.Is(err, page.ErrStopped) {
			return console.Usage("%w", err)
		}
	}
	r := p.Report()
	if f.asJSON {
		if err := s.JSON(newPageReport(r, failed)); err != nil {
			return console.Usage("%w", err)
		}
	} else {
		s.printPage(r, failed, f)
	}
	return console.Exit(code(r.OK && len(failed) == 0, r.Stopped))
}

// pageReport is the JSON form of a page.
type pageReport struct {
	OK          bool          `json:"ok"`
	Title       string        `json:"title"`
	URL         string        `json:"url"`
	Text        string        `json:"text"`
	Console     []js.Line     `json:"console"`
	Errors      []page.Error  `json:"errors"`
	Missing     []string      `json:"missing"`
	Failed      []string      `json:"failed"`
	Canvases    []page.Canvas `json:"canvases"`
	Navigations []string      `json:"navigations"`
	Stopped     *js.Stop      `json:"stopped"`
	WallMS      float64       `json:"wall_ms"`
	DOM         string        `json:"dom"`
}

func newPageReport(r *page.Report, failed []string) pageReport {
	return pageReport{
		OK: r.OK && len(failed) == 0, Title: r.Title, URL: r.URL, Text: r.Text, DOM: r.DOM,
		Console: list(r.Console), Errors: list(r.Errors), Missing: list(r.Missing), Failed: list(failed),
		Canvases: list(r.Canvases), Navigations: list(r.Navigations), Stopped: stopped(r.Stopped), WallMS: millis(r.Wall),
	}
}

// list keeps an empty list from becoming null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (s sandbox) printPage(r *page.Report, failed []string, f pageFlags) {
	if r.Title != "" {
		fmt.Fprintf(s.Out, "# %s\n", terminal.Exact(r.Title))
	}
	if r.Text != "" {
		fmt.Fprintln(s.Out, terminal.Exact(r.Text))
	}
	for _, c := range r.Canvases {
		fmt.Fprintf(s.Out, "canvas %s (%d×%d): %d calls\n", terminal.Exact(c.ID), c.Width, c.Height, c.Calls)
	}
	for _, l := range r.Console {
		fmt.Fprintf(s.Err, "console.%s: %s\n", terminal.Exact(l.Level), terminal.Exact(l.Text))
	}
	for _, e := range r.Errors {
		where := e.Where()
		if where != "" {
			where += ": "
		}
		fmt.Fprintf(s.Err, "%s: %s%s\n", e.Kind, terminal.Exact(where), terminal.Exact(e.Error.Error()))
	}
	if r.Repeats > 0 {
		fmt.Fprintf(s.Err, "and %d more of these errors\n", r.Repeats)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(s.Err, "missing: %s\n", terminal.Exact(m))
	}
	for _, m := range failed {
		fmt.Fprintf(s.Err, "action failed: %s\n", terminal.Exact(m))
	}
	if r.Stopped != js.None {
		fmt.Fprintln(s.Err, stopText(r.Stopped, f.timeout, f.memory))
	}
}
