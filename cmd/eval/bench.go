package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pooled/pooled/cmd/internal/coder"
	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/page"
)

// task is something to ask for, with a check of the result.
type task struct {
	name, ask string
	// files are there before.
	files map[string]string
	// solution are files that pass, and code is what run_js must run, for testing the task itself.
	solution map[string]string
	code     string
	check    func(w *world) error
}

// kind is the part of a task's name before the dash.
func (t *task) kind() string {
	kind, _, _ := strings.Cut(t.name, "-")
	return kind
}

// world is what a check looks at.
type world struct {
	ctx   context.Context
	files fs.FS
	pages *page.Runtime
	// answer is what the model said last; ran is what the tools answered to run_js.
	answer string
	ran    []string
	// called counts the calls of each tool.
	called map[string]int
}

// result is what came of a task.
type result struct {
	task    *task
	done    transcript.Outcome
	failure string // the kind; empty for a pass
	detail  string
	retries int
}

func (r *result) line() string {
	state := "pass"
	if r.failure != "" {
		state = "FAIL " + r.failure + ": " + short(r.detail)
	}
	return fmt.Sprintf("%-24s %3d steps %5d tokens %6.1f s  %s", r.task.name, r.done.Steps, r.done.Tokens, time.Duration(r.done.Time).Seconds(), state)
}

// short is text as a row of the table has room for.
func short(text string) string { return terminal.Short(text, 120) }

// bench runs tasks.
//
// Owns: the sandbox; the caller closes it.
type bench struct {
	settings *settings
	model    agent.Model
	sources  []agent.Source
	grammar  func(ctx context.Context) (grammar.Engine, error)
	engine   *js.Runtime
	pages    *page.Runtime
	log      io.Writer
}

func newBench(ctx context.Context, m agent.Model, sources []agent.Source) (*bench, error) {
	engine, err := js.NewRuntime(ctx, js.RuntimeOptions{CacheDir: folders.Tools()})
	if err != nil {
		return nil, err
	}
	pages, err := page.NewRuntime(ctx, engine)
	if err != nil {
		return nil, errors.Join(err, engine.Close(ctx))
	}
	return &bench{settings: &settings{steps: 12, tokens: 3000}, model: m, sources: sources, engine: engine, pages: pages}, nil
}

func (b *bench) close() error { return b.engine.Close(context.Background()) }

// task runs one task in a folder of its own.
func (b *bench) task(ctx context.Context, t task) (r result, err error) {
	dir, err := os.MkdirTemp("", "pooled-eval-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, state := filepath.Join(dir, "project"), filepath.Join(dir, "state")
	for name, text := range t.files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			return r, err
		}
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return r, err
	}
	ws, err := workspace.Open(root, state)
	if err != nil {
		return r, err
	}
	defer ws.Close()
	tools, err := agent.OpenTools(ctx, tool.Project{Root: root, State: state, Cache: folders.Tools()}, b.sources...)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	r.task = &t
	w := &world{ctx: ctx, files: ws.FS(), pages: b.pages, called: map[string]int{}}
	a, err := agent.New(agent.Options{
		Model: b.model, Tools: tools, Grammar: b.grammar, NoRepair: b.settings.noRepair, Mode: agent.All,
		Sampling: generate.Options{Temperature: b.settings.temp, Seed: b.settings.seed},
		Limits:   agent.Limits{Steps: b.settings.steps, Tokens: b.settings.tokens, Time: b.settings.timeout},
		TakeBack: coder.TakeBack(ws),
		Emit:     func(e event.Event) { b.event(w, &r, e) },
	})
	if err != nil {
		return r, err
	}
	r.done, err = a.Run(ctx, t.ask)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	for _, m := range a.History() {
		if m.Role == "assistant" && strings.TrimSpace(m.Text) != "" {
			w.answer = m.Text
		}
	}
	r.judge(w, err)
	return r, nil
}

// judge says whether a task was passed. What counts is the result, not how the turn ended.
func (r *result) judge(w *world, err error) {
	wrong := r.task.check(w)
	if wrong == nil {
		return
	}
	r.detail = wrong.Error()
	switch {
	case err != nil && r.done.Reason == transcript.ReasonError:
		r.failure, r.detail = "error", err.Error()
	case r.done.Reason != transcript.ReasonStop:
		r.failure = string(r.done.Reason)
	case r.done.Calls == 0 && r.done.Broken > 0:
		r.failure = "broken calls"
	case r.done.Calls == 0:
		r.failure = "no call"
	default:
		r.failure = "wrong"
	}
}

// event notes what a check needs.
func (b *bench) event(w *world, r *result, e event.Event) {
	if b.log != nil {
		if line, err := event.Marshal(e); err == nil {
			fmt.Fprintf(b.log, "%s\n", line)
		}
	}
	switch e := e.(type) {
	case event.CallDone:
		w.called[e.Call.Name]++
		if e.Call.Name == "run_js" && !e.IsError {
			w.ran = append(w.ran, e.Result)
		}
		if b.settings.verbose {
			fmt.Printf("    %s %s → %s\n", e.Call.Name, short(string(e.Call.Arguments)), short(e.Result))
		}
	case event.CallBroken:
		if b.settings.verbose {
			fmt.Printf("    broken call: %s\n", short(e.Reason))
		}
	case event.Retried:
		r.retries++
	}
}

// table sums results up, by kind of task and in all.
func table(all []result) string {
	type row struct {
		name                                                           string
		tasks, passes, steps, tokens, calls, broken, repaired, retries int
		seconds                                                        float64
	}
	var rows []*row
	find := func(name string) *row {
		for _, r := range rows {
			if r.name == name {
				return r
			}
		}
		rows = append(rows, &row{name: name})
		return rows[len(rows)-1]
	}
	failures := map[string]int{}
	var order []string
	for i := range all {
		r := &all[i]
		for _, to := range []*row{find(r.task.kind()), find("all")} {
			to.tasks++
			to.steps += r.done.Steps
			to.tokens += r.done.Tokens
			to.calls += r.done.Calls
			to.broken += r.done.Broken
			to.repaired += r.done.Repaired
			to.retries += r.retries
			to.seconds += time.Duration(r.done.Time).Seconds()
			if r.failure == "" {
				to.passes++
			}
		}
		if r.failure != "" {
			if failures[r.failure]++; failures[r.failure] == 1 {
				order = append(order, r.failure)
			}
		}
	}
	var s strings.Builder
	s.WriteString("| tasks | passed | steps | tokens | calls | repaired | unreadable | taken back | seconds |\n|---|---|---|---|---|---|---|---|---|\n")
	write := func(r *row) {
		fmt.Fprintf(&s, "| %s | %d of %d | %d | %d | %d | %d | %d | %d | %.0f |\n",
			r.name, r.passes, r.tasks, r.steps, r.tokens, r.calls, r.repaired, r.broken, r.retries, r.seconds)
	}
	for _, r := range rows {
		if r.name != "all" {
			write(r)
		}
	}
	write(find("all"))
	if len(order) > 0 {
		s.WriteString("\nFailures:")
		for i, f := range order {
			if i > 0 {
				s.WriteString(",")
			}
			fmt.Fprintf(&s, " %d %s", failures[f], f)
		}
		s.WriteString("\n")
	}
	return s.String()
}
