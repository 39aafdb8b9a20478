package js

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Stop says why a run was cut short.
type Stop string

// The reasons; None is a run that ended by itself, well or with an error.
const (
	None    Stop = ""
	Timeout Stop = "timeout"
	Memory  Stop = "memory"
	Stack   Stop = "stack"
	// Output is too many console bytes or host calls, or more at once than the host takes.
	Output Stop = "output"
)

// Line is one console line. Level is log, info, warn, error or debug.
type Line struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

// Value is what a program evaluated to.
type Value struct {
	// Display is the value as a console would show it; strings are bare.
	Display string
	// JSON is the value when JSON can carry it, else nil.
	JSON json.RawMessage
	// Undefined is true when there is no value to show.
	Undefined bool
}

// Error is an uncaught exception or an unhandled rejection.
type Error struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	// File, Line and Col are where it was thrown, from the stack; Line 0 is unknown.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// Error joins the name and the message as JavaScript does.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Limits of an Error's texts, as the prelude cuts them. Units: bytes.
const (
	maxErrorName    = 1 << 10
	maxErrorMessage = 32 << 10
	maxErrorStack   = 64 << 10
)

// Bound cuts what is longer than an Error of the prelude ever is.
func (e *Error) Bound() {
	e.Name, e.Message, e.Stack = cut(e.Name, maxErrorName), cut(e.Message, maxErrorMessage), cut(e.Stack, maxErrorStack)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Where is the position as file:line:col, or "" when it is unknown.
func (e *Error) Where() string {
	if e.Line == 0 {
		return ""
	}
	return e.File + ":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Col)
}

// Stop says which cap the engine reports with this error, if any.
func (e *Error) Stop() Stop {
	switch {
	case e.Name == "InternalError" && e.Message == "out of memory":
		return Memory
	case e.Message == "Maximum call stack size exceeded" && e.Name == "RangeError",
		e.Message == "stack overflow" && e.Name == "InternalError":
		return Stack
	}
	return None
}

var frame = regexp.MustCompile(`^\s*at (?:.*\()?([^()]+):(\d+):(\d+)\)?$`)

// nameless is the file of text that has none: what JSON.parse or eval was given.
const nameless = "<input>"

// Locate fills the position from the first frame of the stack that has one, in a
// file if there is such a frame.
func (e *Error) Locate() {
	for line := range strings.Lines(e.Stack) {
		m := frame.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || (e.File != "" && m[1] == nameless) {
			continue
		}
		e.File = m[1]
		e.Line, _ = strconv.Atoi(m[2])
		e.Col, _ = strconv.Atoi(m[3])
		if e.File != nameless {
			return
		}
	}
}

// Result is what came of a run.
type Result struct {
	// OK is true when the program ended by itself without an error.
	OK bool
	// Value is the completion value of a script, or what a module exports.
	Value Value
	// Console holds every line, in order.
	Console []Line
	// Error is the uncaught error, if any; a stopped run may carry one too.
	Error *Error
	// Stopped says which cap ended the run.
	Stopped Stop
	// Wall is how long it took, Virtual how far its clock went.
	Wall, Virtual time.Duration
}
