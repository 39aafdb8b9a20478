// Package runjs is the set with the tool run_js: JavaScript in the sandbox, for computing. A program may import the
// project's files and reaches nothing else.
package runjs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
)

// Limits of a run.
const (
	maxTime   = 5 * time.Second
	maxMemory = 128 << 20
	// maxOutput bounds what a program may print, maxText what a model reads of it. Units: bytes.
	maxOutput = 256 << 10
	maxText   = 8 << 10
)

// prompt is what every model is told of the tool.
var prompt = []string{"To compute something, call run_js with code that prints the result with console.log."}

// Set is the set; its zero value is ready.
type Set struct{}

// Info implements [tool.Set].
func (Set) Info() tool.Info {
	return tool.Info{Name: "runjs", Contract: tool.ContractVersion, Prompt: prompt, Tools: []tool.Spec{{
		Name: "run_js", Class: tool.Run, Does: tool.RunsCode, Roles: tool.Roles{Brief: []string{"code"}},
		Description: "Run JavaScript and get what it prints with console.log. No DOM, no network.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}`),
	}}}
}

// Open implements [tool.Set]. The engine starts with the first call.
func (Set) Open(_ context.Context, p tool.Project) (tool.Session, error) {
	w, err := workspace.Open(p.Root, "")
	if err != nil {
		return nil, err
	}
	return &session{w: w, cache: p.Cache}, nil
}

type session struct {
	w     *workspace.Workspace
	cache string

	mu     sync.Mutex
	engine *js.Runtime
	closed bool
}

// runtime returns the engine.
func (s *session) runtime(ctx context.Context) (*js.Runtime, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, tool.ErrClosed
	}
	if s.engine == nil {
		e, err := js.NewRuntime(context.WithoutCancel(ctx), js.RuntimeOptions{CacheDir: s.cache})
		if err != nil {
			return nil, fmt.Errorf("the JavaScript engine does not start: %w", err)
		}
		s.engine = e
	}
	return s.engine, nil
}

// Close implements [tool.Session].
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var err error
	if s.engine != nil {
		err = s.engine.Close(context.Background())
		s.engine = nil
	}
	return errors.Join(err, s.w.Close())
}

// Call implements [tool.Session].
func (s *session) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a struct{ Code string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, err
	}
	engine, err := s.runtime(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	p := js.Program{Code: a.Code, Filename: "run.js", Files: s.w.FS()}
	if c.Progress != nil {
		p.Console = func(l js.Line) { c.Progress(l.Text) }
	}
	r, err := engine.Run(ctx, p, js.Limits{Time: maxTime, Memory: maxMemory, Output: maxOutput}, js.Capabilities{})
	if err != nil {
		return tool.Result{}, err
	}
	return result(r)
}

// result says what came of a run.
func result(r *js.Result) (tool.Result, error) {
	var lines []string
	for _, l := range r.Console {
		if l.Level == "error" || l.Level == "warn" {
			l.Text = l.Level + ": " + l.Text
		}
		lines = append(lines, l.Text)
	}
	if r.OK && !r.Value.Undefined {
		if len(lines) > 0 {
			r.Value.Display = "=> " + r.Value.Display
		}
		lines = append(lines, r.Value.Display)
	}
	text := clip(strings.Join(lines, "\n"), maxText)
	switch {
	case r.Stopped != js.None:
		text = join(text, "error: the program was stopped: "+reason[r.Stopped])
	case r.Error != nil:
		text = join(text, "error: "+r.Error.Error())
		if at := r.Error.Where(); at != "" {
			text += " (" + at + ")"
		}
	case text == "":
		text = "nothing was printed; use console.log"
	}
	data, err := json.Marshal(struct {
		OK      bool      `json:"ok"`
		Console []js.Line `json:"console"`
		Error   *js.Error `json:"error"`
		Stopped js.Stop   `json:"stopped"`
		Wall    int64     `json:"wall_ms"`
	}{r.OK, r.Console, r.Error, r.Stopped, r.Wall.Milliseconds()})
	return tool.Result{Text: text, IsError: !r.OK, Data: data}, err
}

var reason = map[js.Stop]string{
	js.Timeout: fmt.Sprintf("it ran longer than %v", maxTime),
	js.Memory:  fmt.Sprintf("it used more than %d MB of memory", maxMemory>>20),
	js.Stack:   "it called itself too deeply",
	js.Output:  "it printed too much",
}

func join(text, line string) string {
	if text == "" {
		return line
	}
	return text + "\n" + line
}

// clip keeps the beginning and the end of a long text, and says how much is missing.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, tail := text[:n/2], text[len(text)-n/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes left out …\n", len(text)-n) + strings.ToValidUTF8(tail, "")
}
