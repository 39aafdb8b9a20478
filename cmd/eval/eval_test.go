package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/agent/agenttest"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/plugins/tools/files"
	"github.com/pooled/pooled/plugins/tools/preview"
	"github.com/pooled/pooled/plugins/tools/runjs"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "plugin" && os.Args[2] == "serve" {
		main()
		return
	}
	home, err := os.MkdirTemp("", "pooled-eval-test")
	if err != nil {
		panic(err)
	}
	os.Setenv("POOLED_HOME", home)
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// inProcess are the built-in tools in this process.
func inProcess() []agent.Source {
	return []agent.Source{{Set: files.Set{}, Sandboxed: true}, {Set: runjs.Set{}, Sandboxed: true}, {Set: preview.Set{}, Sandboxed: true}}
}

// solve are the answers of a model that passes a task.
func solve(t task, format toolcall.Format) []string {
	var answers []string
	for _, name := range slices.Sorted(maps.Keys(t.solution)) {
		answers = append(answers, agenttest.Call(format, "write_file", "path", name, "content", t.solution[name]))
	}
	if t.code != "" {
		answers = append(answers, agenttest.Call(format, "run_js", "code", t.code))
	}
	if _, ok := t.solution["index.html"]; ok {
		answers = append(answers, agenttest.Call(format, "serve"))
	}
	last := "Done."
	switch t.name {
	case "files-search":
		last = "It is lib/money.js."
	case "files-list":
		last = "There are 3."
	}
	return append(answers, last)
}

// TestTasks passes every task with a scripted model through the loop, the tools and the sandbox, and fails it by doing
// nothing.
func TestTasks(t *testing.T) {
	all := append(tasks(), nanoTasks()...)
	if n := len(tasks()); n != 30 {
		t.Errorf("there are %d tasks, want 30", n)
	}
	if n := len(nanoTasks()); n != 10 {
		t.Errorf("there are %d tasks for the embedded model, want 10", n)
	}
	seen := map[string]bool{}
	m, err := agenttest.New(toolcall.HermesJSON, 32768)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench(t.Context(), m, inProcess())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	b.settings.tokens = 0 // a token of the script is a byte
	var results []result
	want := 2 * len(all)
	for i, task := range all {
		if testing.Short() && i%5 != 0 {
			want -= 2
			continue // under the race detector, every fifth is enough
		}
		if seen[task.name] {
			t.Errorf("two tasks are called %s", task.name)
		}
		seen[task.name] = true
		m.Say(solve(task, toolcall.HermesJSON)...)
		r, err := b.task(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if r.failure != "" {
			t.Errorf("%s, solved: %s: %s", task.name, r.failure, r.detail)
		}
		results = append(results, r)
		m.Say("I cannot do that.")
		if r, err = b.task(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if r.failure != "no call" {
			t.Errorf("%s, not solved: the failure is %q, want \"no call\"", task.name, r.failure)
		}
		results = append(results, r)
	}
	got := table(results)
	for _, text := range []string{fmt.Sprintf("| all | %d of %d |", want/2, want), fmt.Sprintf("Failures: %d no call", want/2)} {
		if !strings.Contains(got, text) {
			t.Errorf("%q is missing in\n%s", text, got)
		}
	}
}

// TestFailures sorts failures by kind.
func TestFailures(t *testing.T) {
	same := agenttest.Call(toolcall.QwenXML, "list_dir")
	broken := "<tool_call>\n<function=none>\n</function>\n</tool_call>"
	for kind, answers := range map[string][]string{
		"no call": {"No."}, "wrong": {same, "Done."}, "loop": {same, same, same, same}, "broken calls": {broken, broken, broken},
		"steps": {same, agenttest.Call(toolcall.QwenXML, "run_js", "code", "1"), "x"},
	} {
		m, err := agenttest.New(toolcall.QwenXML, 32768, answers...)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBench(t.Context(), m, inProcess())
		if err != nil {
			t.Fatal(err)
		}
		b.settings.tokens = 0
		if kind == "steps" {
			b.settings.steps = 2
		}
		var log strings.Builder
		b.log = &log
		r, err := b.task(t.Context(), tasks()[0])
		if err != nil || r.failure != kind {
			t.Errorf("got %q (%s), %v, want %q", r.failure, r.detail, err, kind)
		}
		for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
			if !json.Valid([]byte(line)) {
				t.Errorf("logged %q", line)
			}
		}
		b.close()
	}
}

// TestNano runs the embedded model through the ten tasks of its kind.
func TestNano(t *testing.T) {
	if testing.Short() {
		t.Skip("the embedded model takes minutes under the race detector; run without -short")
	}
	w := assembly.New(assembly.Options{})
	defer w.Close()
	m, err := load(t.Context(), w, &settings{model: nano.Name, backend: "cpu", context: 2048})
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench(context.WithoutCancel(t.Context()), m, inProcess())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	passed, lines := 0, ""
	for _, task := range nanoTasks() {
		r, err := b.task(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if r.failure == "" {
			passed++
		}
		lines += fmt.Sprintln(r.line())
	}
	t.Logf("%d of 10\n%s", passed, lines)
	const want = 8
	if passed < want {
		t.Errorf("it passed %d of 10, want at least %d", passed, want)
	}
}
