package js

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/pooled/pooled/sandbox/js/qjs"
)

// Kind says how to read a program.
type Kind int

// Auto reads a script, and a module when the text has import or export
// declarations; the others insist. With Auto, a program that only imports, at its
// top, still has the value of its last expression.
const (
	Auto Kind = iota
	Script
	Module
)

// Program is what Run runs. Top-level await works in scripts and modules.
type Program struct {
	// Code is the source text.
	Code string
	// Filename is shown in error positions and is the base of relative imports;
	// a path inside Files, or any name. Empty means "script.js".
	Filename string
	// Kind is Auto, Script or Module.
	Kind Kind
	// Files is what the program may import, read-only; nil means nothing.
	Files fs.FS
	// Console, if set, receives every line as it is written.
	Console func(Line)
}

// Run runs a program to its end: the script, its promise jobs, and its timers.
//
// Errors: ErrLimits; the context's error when it was cancelled. What the program
// does wrong is in the Result, never an error.
func (rt *Runtime) Run(ctx context.Context, p Program, l Limits, c Capabilities) (*Result, error) {
	began := time.Now()
	if p.Filename == "" {
		p.Filename = "script.js"
	}
	tree := &Tree{FS: p.Files}
	s, err := rt.NewSession(ctx, nil, SessionOptions{
		Limits: l, Capabilities: c, Console: p.Console,
		Normalize: tree.Normalize, Load: tree.Load,
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	res := &Result{}
	value, err := s.program(p)
	if err != nil {
		var own *Error
		if errors.As(err, &own) {
			res.Error = own
		} else if res.Stopped, res.Error, err = s.Failure(err); err != nil {
			return nil, err
		}
	}
	if s.stop != None {
		res.Stopped = s.stop
	}
	res.Value = value
	res.Console = s.console
	res.OK = res.Error == nil && res.Stopped == None
	res.Wall = time.Since(began)
	res.Virtual = s.Elapsed()
	return res, nil
}

// declaration finds what only a module may contain at the start of a line.
var declaration = regexp.MustCompile(`(?m)^\s*(import\s*["'{*\w$]|export\s*[{*\w])`)

// evaluate starts the program and returns the promise of its completion.
func (s *Session) evaluate(p Program) (promise qjs.Handle, op string, err error) {
	if p.Kind != Module {
		promise, err = s.VM.Eval(p.Code, p.Filename, qjs.EvalAsync)
		var x *qjs.Exception
		// An async script throws only if it cannot be parsed: nothing ran yet.
		if p.Kind == Script || !errors.As(err, &x) || !declaration.MatchString(p.Code) {
			return promise, "completion", err
		}
		s.VM.Free(x.Value)
		if code, ok := dynamicImports(p.Code); p.Kind == Auto && ok {
			promise, err = s.VM.Eval(code, p.Filename, qjs.EvalAsync|qjs.EvalStrict)
			if !errors.As(err, &x) {
				return promise, "completion", err
			}
			s.VM.Free(x.Value)
		}
	}
	promise, err = s.VM.Eval(WithImportMeta(p.Code, fileURL(p.Filename)), p.Filename, qjs.EvalModule)
	return promise, "exports", err
}

func (s *Session) program(p Program) (Value, error) {
	promise, op, err := s.evaluate(p)
	if err != nil {
		return Value{}, err
	}
	s.VM.MarkHandled(promise)
	calls := 0
	for {
		if err := s.VM.RunJobs(); err != nil {
			return Value{}, err
		}
		if err := s.settled(promise); err != nil {
			return Value{}, err
		}
		if s.stop != None {
			return Value{}, nil
		}
		if calls >= s.o.Limits.TimerCalls {
			break
		}
		fired, err := s.NextTimer(s.o.Limits.VirtualTime)
		if err != nil {
			return Value{}, err
		}
		if !fired {
			break
		}
		calls++
	}
	if s.stop != None {
		return Value{}, nil
	}
	if n := s.PendingTimers(); n > 0 {
		s.Log(Line{"warn", fmt.Sprintf("sandbox: stopped waiting after %d timer calls and %v of virtual time; timers still set: %d",
			calls, s.Elapsed().Round(time.Millisecond), n)})
	}
	if s.VM.State(promise) == qjs.Pending {
		return Value{}, &Error{Name: "Error", Message: "the program waits at top level for a promise that nothing will settle"}
	}
	result, err := s.VM.Result(promise)
	if err != nil {
		return Value{}, err
	}
	return s.value(op, result)
}

// settled reports the rejection of the program itself, or any unhandled one.
func (s *Session) settled(promise qjs.Handle) error {
	if s.VM.State(promise) == qjs.Rejected {
		reason, err := s.VM.Result(promise)
		if err != nil {
			return err
		}
		return &qjs.Exception{Value: reason}
	}
	if reason, ok := s.Rejection(); ok {
		return &qjs.Exception{Value: reason}
	}
	return s.VM.Err()
}

func (s *Session) value(op string, h qjs.Handle) (Value, error) {
	text, err := s.ControlValue(op, h)
	if err != nil {
		return Value{}, err
	}
	var v struct {
		Display   string
		JSON      *string
		Undefined bool
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return Value{}, nil
	}
	out := Value{Display: v.Display, Undefined: v.Undefined}
	if v.JSON != nil {
		out.JSON = json.RawMessage(*v.JSON)
	}
	return out, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
