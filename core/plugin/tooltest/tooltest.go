// Package tooltest is the conformance suite of tools: what every implementation of [tool.Set] must do, in process, behind a
// plugin or as a WebAssembly module.
//
//	for _, r := range tooltest.Run(ctx, set, cases) {
//		t.Run(r.Name, func(t *testing.T) { if r.Err != nil { t.Error(r.Err) } })
//	}
package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/core/tool"
)

// Result is the outcome of one requirement.
type Result struct {
	// Name says what is required.
	Name string
	// Err is nil when it holds.
	Err error
}

// Case is a project and what happens to it.
type Case struct {
	// Name says what the case is about.
	Name string
	// Files are in the project before, by their path.
	Files map[string]string
	// Steps are the calls, one after the other.
	Steps []Step
	// After are files that must be there afterwards with this content.
	After map[string]string
}

// Step is a call and its result.
type Step struct {
	// Tool and Arguments are the call; Arguments is JSON.
	Tool, Arguments string
	// DryRun makes it a dry run.
	DryRun bool
	// Text is the text of the result. With Part it is enough that the text holds it.
	Text string
	Part bool
	// IsError says that the result must be an error.
	IsError bool
}

// limit bounds a call of the suite.
const limit = 30 * time.Second

// Run holds s against every requirement, and against the cases.
func Run(ctx context.Context, s tool.Set, cases []Case) []Result {
	results := []Result{{"info is complete and constant", checkInfo(s)}}
	if results[0].Err != nil {
		return results
	}
	s = tool.Checked(s)
	for _, c := range []struct {
		name string
		run  func(context.Context, tool.Set) error
	}{
		{"a folder that does not exist is refused", missing},
		{"two projects are open at once", two},
		{"unknown tools and bad arguments are results that say so", refusals},
		{"every tool answers the least that its schema asks for, and readers and dry runs change nothing", least},
		{"what a tool says that it does with its arguments it does", roles},
		{"what was approved is done, and nothing else", approved},
		{"calls run at once", concurrent},
		{"a cancelled call ends", cancelled},
		{"a closed session refuses calls", closed},
	} {
		results = append(results, Result{c.name, c.run(ctx, s)})
	}
	for _, c := range cases {
		results = append(results, Result{c.Name, c.run(ctx, s)})
	}
	return results
}

// Failed returns the first error among results, or nil.
func Failed(results []Result) error {
	for _, r := range results {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Name, r.Err)
		}
	}
	return nil
}

func checkInfo(s tool.Set) error {
	info := s.Info()
	if err := info.Check(); err != nil {
		return err
	}
	if again := s.Info(); !reflect.DeepEqual(info, again) {
		return errors.New("it changed from one call to the next")
	}
	return nil
}

// project is a temporary project with an open session.
type project struct {
	tool.Session
	dir string
}

// with runs f on a session in a new project.
func with(ctx context.Context, s tool.Set, files map[string]string, f func(p project) error) (err error) {
	base, err := os.MkdirTemp("", "pooled-tooltest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	p := project{dir: filepath.Join(base, "project")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		name = filepath.Join(p.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
			return err
		}
	}
	if p.Session, err = s.Open(ctx, tool.Project{Root: p.dir, State: filepath.Join(base, "state")}); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return errors.Join(f(p), p.Close())
}

// call calls a tool within the suite's limit.
func (p project) call(ctx context.Context, c tool.Call) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := p.Session.Call(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.Name, c.Arguments, err)
	}
	return r, nil
}

// tree returns the files of the project and their content.
func (p project) tree() (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	return files, err
}

func missing(ctx context.Context, s tool.Set) error {
	dir, err := os.MkdirTemp("", "pooled-tooltest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opened, err := s.Open(ctx, tool.Project{Root: filepath.Join(dir, "nothing")})
	if errors.Is(err, tool.ErrFault) {
		return err
	}
	if err != nil {
		return nil
	}
	// A set that needs no files may open it, but must not make it.
	if _, statErr := os.Stat(filepath.Join(dir, "nothing")); statErr == nil {
		err = errors.New("it made the folder")
	}
	return errors.Join(err, opened.Close())
}

func two(ctx context.Context, s tool.Set) error {
	return with(ctx, s, nil, func(project) error {
		return with(ctx, s, nil, func(project) error { return nil })
	})
}

func refusals(ctx context.Context, s tool.Set) error {
	return with(ctx, s, nil, func(p project) error {
		bad := []tool.Call{{Name: "no_such_tool", Arguments: json.RawMessage("{}")}}
		for _, t := range s.Info().Tools {
			for _, args := range []string{"[]", "{", `"x"`, `{"no_such_argument":1}`, "{} {}", strings.Repeat("[", 100_000)} {
				bad = append(bad, tool.Call{Name: t.Name, Arguments: json.RawMessage(args)})
			}
		}
		for _, c := range bad {
			r, err := p.call(ctx, c)
			if err != nil {
				return err
			}
			if !r.IsError || r.Text == "" {
				return fmt.Errorf("%s with %.40s: got %q, want an error that says what is wrong", c.Name, c.Arguments, r.Text)
			}
		}
		return nil
	})
}

// minimal makes the least value that fits a schema.
func minimal(s *tool.Schema) any {
	switch s.Types {
	case tool.Object:
		o := map[string]any{}
		for _, p := range s.Properties {
			if p.Required {
				o[p.Name] = minimal(p.Schema)
			}
		}
		return o
	case tool.Array:
		a := []any{}
		for s.MinLength != nil && len(a) < *s.MinLength {
			if s.Items == nil {
				a = append(a, "x")
				continue
			}
			a = append(a, minimal(s.Items))
		}
		return a
	case tool.Boolean:
		return false
	case tool.Integer, tool.Number:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	n := 1
	if s.MinLength != nil {
		n = max(n, *s.MinLength)
	}
	return strings.Repeat("x", n)
}

// least calls every tool.
func least(ctx context.Context, s tool.Set) error {
	files := map[string]string{"x": "x\n", "index.html": "<!doctype html><title>x</title><p id=x>x</p>\n"}
	for _, t := range s.Info().Tools {
		err := with(ctx, s, files, func(p project) error {
			schema, err := tool.ParseSchema(t.Parameters)
			if err != nil {
				return err
			}
			args, err := json.Marshal(minimal(schema))
			if err != nil {
				return err
			}
			before, err := p.tree()
			if err != nil {
				return err
			}
			same := func(doing string) error {
				after, err := p.tree()
				if err == nil && !reflect.DeepEqual(before, after) {
					err = fmt.Errorf("%s %s has changed the project", doing, t.Name)
				}
				return err
			}
			if t.Previews {
				if _, err := p.call(ctx, tool.Call{Name: t.Name, Arguments: args, DryRun: true}); err != nil {
					return err
				}
				if err := same("a dry run of"); err != nil {
					return err
				}
			}
			if _, err := p.call(ctx, tool.Call{Name: t.Name, Arguments: args, Progress: func(string) {}}); err != nil {
				return err
			}
			if t.Class == tool.Read {
				return same("the reader")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func concurrent(ctx context.Context, s tool.Set) error {
	return with(ctx, s, map[string]string{"x": "x\n"}, func(p project) error {
		var calls []tool.Call
		for _, t := range s.Info().Tools {
			if t.Class != tool.Read {
				continue
			}
			schema, err := tool.ParseSchema(t.Parameters)
			if err != nil {
				return err
			}
			args, err := json.Marshal(minimal(schema))
			if err != nil {
				return err
			}
			for range 8 {
				calls = append(calls, tool.Call{Name: t.Name, Arguments: args})
			}
		}
		errs := make([]error, len(calls))
		var wg sync.WaitGroup
		for i, c := range calls {
			wg.Go(func() { _, errs[i] = p.call(ctx, c) })
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

func cancelled(ctx context.Context, s tool.Set) error {
	return with(ctx, s, nil, func(p project) error {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_, err := p.Session.Call(gone, tool.Call{Name: s.Info().Tools[0].Name, Arguments: json.RawMessage("{}")})
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("got %v, want %w", err, context.Canceled)
		}
		return nil
	})
}

func closed(ctx context.Context, s tool.Set) error {
	var after tool.Session
	if err := with(ctx, s, nil, func(p project) error { after = p.Session; return nil }); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		t := s.Info().Tools[0]
		schema, err := tool.ParseSchema(t.Parameters)
		if err != nil {
			done <- err
			return
		}
		args, _ := json.Marshal(minimal(schema))
		r, err := after.Call(ctx, tool.Call{Name: t.Name, Arguments: args})
		if err == nil && !r.IsError {
			err = fmt.Errorf("%s answered %q", t.Name, r.Text)
		} else {
			err = nil
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return errors.New("a call of a closed session hangs")
	}
}

func (c Case) run(ctx context.Context, s tool.Set) error {
	return with(ctx, s, c.Files, func(p project) error {
		for i, step := range c.Steps {
			r, err := p.call(ctx, tool.Call{Name: step.Tool, Arguments: json.RawMessage(step.Arguments), DryRun: step.DryRun})
			if err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
			fits := r.Text == step.Text || step.Part && strings.Contains(r.Text, step.Text)
			if !fits || r.IsError != step.IsError {
				return fmt.Errorf("step %d: %s %s\ngot  %q, error %v\nwant %q, error %v",
					i+1, step.Tool, step.Arguments, r.Text, r.IsError, step.Text, step.IsError)
			}
		}
		for name, want := range c.After {
			got, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			if string(got) != want {
				return fmt.Errorf("%s afterwards\ngot  %q\nwant %q", name, got, want)
			}
		}
		return nil
	})
}
