package console

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Exit codes of all programs and commands. README.md lists them.
const (
	ExitDone        = 0
	ExitFailed      = 1   // an error; of js and page also that the script or page had one
	ExitUsage       = 2   // the command line was wrong
	ExitLimit       = 3   // js and page: a limit ended the program
	ExitProblems    = 3   // code: the work is done, but the app reports errors
	ExitUnfinished  = 4   // code: the turn ended before the work was done
	ExitInterrupted = 130 // by Ctrl-C
)

// ExitError asks the program to end with a code. Without an error in it, all has been said.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exit asks the program to end with a code and no further word; for [ExitDone] it is nil.
func Exit(code int) error {
	if code == ExitDone {
		return nil
	}
	return &ExitError{Code: code}
}

// Usage is an error of how the program was called. It should say what to do.
func Usage(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// Run runs a program, says what went wrong, and returns the exit code.
func (c *Console) Run(program string, f func(*Console) error) int {
	out := &watched{w: c.Out}
	own := *c
	own.Out, own.program = out, program
	err := f(&own)
	if err == nil {
		err = out.err
	}
	code := Code(err)
	// Whoever interrupted, or has gone and reads nothing more, needs no word.
	if err != nil && err.Error() != "" && code != ExitInterrupted && !errors.Is(err, os.ErrClosed) && !errors.Is(err, ErrClosed) {
		own.Complain(err)
	}
	return code
}

// Code returns the exit code that an error asks for.
func Code(err error) int {
	if err == nil {
		return ExitDone
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return exit.Code
	}
	if errors.Is(err, context.Canceled) {
		return ExitInterrupted
	}
	return ExitFailed
}
