package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ContractVersion is the version of this contract.
const ContractVersion = 1

// Limits of the contract.
const (
	// MaxTools bounds the tools of a set.
	MaxTools = 64
	// MaxDescription and MaxParameters bound the declaration of a tool, in bytes. Every prompt carries them.
	MaxDescription = 1 << 10
	MaxParameters  = 16 << 10
	// MaxArguments bounds the arguments of a call, in bytes.
	MaxArguments = 17 << 20
	// MaxText bounds each of a result's text and diff, MaxData its data, in bytes.
	MaxText = 1 << 20
	MaxData = 4 << 20
	// MaxProgress bounds a progress line, in bytes.
	MaxProgress = 4 << 10
)

// Class says what a tool does to the user's things, and so how calls are approved.
type Class string

// The classes, from harmless to not.
const (
	// Read looks at the project.
	Read Class = "read"
	// Edit changes files of the project. It can be undone.
	Edit Class = "edit"
	// Run runs code, in the sandbox or wherever the tool's author chose.
	Run Class = "run"
	// Serve makes something reachable from outside of the tool.
	Serve Class = "serve"
)

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool { return slices.Contains([]Class{Read, Edit, Run, Serve}, c) }

// Spec declares a tool.
type Spec struct {
	// Name is what a model calls it: lower-case letters, digits and underscores.
	Name string
	// Description tells a model what it does, in few words.
	Description string
	// Parameters is the JSON schema of the arguments, an object; see [ParseSchema] for what it may hold.
	Parameters json.RawMessage
	Class      Class
	// Previews says that the tool honours [Call.DryRun].
	Previews bool
}

// Info is what a set says about itself. It never changes.
type Info struct {
	// Name is the set's: lower-case letters, digits and dashes.
	Name string
	// Contract is the version of the contract that it was written for.
	Contract int
	Tools    []Spec
}

var (
	validSet  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	validTool = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
)

// Check returns nil when the set can be used. It errors name the tool and what is wrong with it.
//
// Errors: [*SchemaError] and others.
func (i Info) Check() error {
	switch {
	case !validSet.MatchString(i.Name):
		return fmt.Errorf("the name %.80q has other than lower-case letters, digits and dashes", i.Name)
	case i.Contract < 1 || i.Contract > ContractVersion:
		return fmt.Errorf("it was written for contract %d; this Pooled has %d", i.Contract, ContractVersion)
	case len(i.Tools) == 0 || len(i.Tools) > MaxTools:
		return fmt.Errorf("it has %d tools; from 1 to %d are allowed", len(i.Tools), MaxTools)
	}
	seen := map[string]bool{}
	for _, t := range i.Tools {
		fail := func(reason string, args ...any) error {
			return fmt.Errorf("tool %.80q: %s", t.Name, fmt.Sprintf(reason, args...))
		}
		switch {
		case !validTool.MatchString(t.Name):
			return fail("its name has other than lower-case letters, digits and underscores")
		case seen[t.Name]:
			return fail("it is declared twice")
		case strings.TrimSpace(t.Description) == "" || len(t.Description) > MaxDescription || !utf8.ValidString(t.Description):
			return fail("its description is missing, not UTF-8 or longer than %d bytes", MaxDescription)
		case !t.Class.Valid():
			return fail("its class is %.20q; it must be read, edit, run or serve", t.Class)
		}
		seen[t.Name] = true
		if _, err := ParseSchema(t.Parameters); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	return nil
}

// Tool returns the declaration of a tool, or nil.
func (i Info) Tool(name string) *Spec {
	n := slices.IndexFunc(i.Tools, func(s Spec) bool { return s.Name == name })
	if n < 0 {
		return nil
	}
	return &i.Tools[n]
}

// names lists the tools.
func (i Info) names() string {
	var names []string
	for _, t := range i.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// Project says what a set works on.
type Project struct {
	// Root is the absolute path of the project folder.
	Root string
	// State is a folder outside of the project where changes are recorded, to be undone; empty for none.
	State string
	// Cache is a private folder for compiled code; empty for none.
	Cache string
}

// Call asks for a tool.
type Call struct {
	// Name is the tool.
	Name string
	// Arguments is a JSON object. Of a [Checked] session a set gets only what fits the schema.
	Arguments json.RawMessage
	// DryRun asks what the call would change: the result has its Diff, and nothing is changed.
	DryRun bool
	// Progress, if set, gets lines that tell a person how it goes. It must not block.
	Progress func(line string)
}

// Result is what came of a call.
type Result struct {
	// Text is what the model reads.
	Text string
	// IsError says that the tool could not do what it was asked to; Text says why.
	IsError bool
	// Diff is what changed in the project, as a unified diff, for people.
	Diff string
	// Data is more for programs, a JSON value; it may be nil.
	Data json.RawMessage
}

// Set is a set of tools.
//
// Owns: nothing before Open. Safe for concurrent use.
type Set interface {
	// Info says what the tools are. It is cheap and always the same.
	Info() Info
	// Open makes the tools ready for a project.
	Open(ctx context.Context, p Project) (Session, error)
}

// Session is a set at work on a project.
//
// Owns: whatever the tools started. Safe for concurrent use.
type Session interface {
	// Call runs a tool and returns when it is done or when ctx ends.
	Call(ctx context.Context, c Call) (Result, error)
	// Close ends what the tools started.
	Close() error
}

// Checked returns s with calls and answers held against the contract: the tool must exist, the arguments must fit its
// schema (small slips such as "10" for 10 are mended), a dry run reaches only a tool that honours it, results are
// bounded, and a panic is an error.
//
// Errors: of Open and Call, [*FaultError] and what s returns.
func Checked(s Set) Set { return checkedSet{s} }

type checkedSet struct{ Set }

// Open implements [Set].
func (c checkedSet) Open(ctx context.Context, p Project) (s Session, err error) {
	info := c.Info()
	defer func() {
		if v := recover(); v != nil {
			s, err = nil, &FaultError{Set: info.Name, Err: fmt.Errorf("opening panicked: %v", v)}
		}
	}()
	if err := info.Check(); err != nil {
		return nil, &FaultError{Set: info.Name, Err: err}
	}
	schemas := map[string]*Schema{}
	for _, t := range info.Tools {
		schema, err := ParseSchema(t.Parameters)
		if err != nil {
			return nil, &FaultError{Set: info.Name, Err: err}
		}
		schemas[t.Name] = schema
	}
	inner, err := c.Set.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	return &checkedSession{Session: inner, info: info, schemas: schemas}, nil
}

type checkedSession struct {
	Session
	info    Info
	schemas map[string]*Schema
}

// Call implements [Session].
func (s *checkedSession) Call(ctx context.Context, c Call) (r Result, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	spec := s.info.Tool(c.Name)
	if spec == nil {
		return Failed(fmt.Errorf("there is no tool %.80q; there are %s", c.Name, s.info.names())), nil
	}
	args, err := s.schemas[c.Name].Arguments(c.Name, c.Arguments)
	if err != nil {
		return Failed(err), nil
	}
	if c.DryRun && !spec.Previews {
		return Result{}, nil
	}
	c.Arguments = args
	defer func() {
		if v := recover(); v != nil {
			r, err = Result{}, &FaultError{Set: s.info.Name, Err: fmt.Errorf("%s panicked: %v", c.Name, v)}
		}
	}()
	r, err = s.Session.Call(ctx, c)
	switch {
	case err != nil && ctx.Err() != nil:
		return Result{}, ctx.Err()
	case err == context.DeadlineExceeded && atDeadline(ctx):
		return Result{}, err
	case err != nil && (errors.Is(err, ErrFault) || errors.Is(err, ErrClosed)):
		return Result{}, err
	case err != nil:
		return Failed(err), nil
	}
	if r, err = bounded(r); err != nil {
		return Result{}, &FaultError{Set: s.info.Name, Err: err}
	}
	return r, nil
}

// atDeadline reports whether the deadline of ctx is now. Another process may notice it a moment before ctx does.
func atDeadline(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ok && time.Until(d) < 50*time.Millisecond
}

// bounded checks the size and form of a result.
func bounded(r Result) (Result, error) {
	switch {
	case len(r.Text) > MaxText || len(r.Diff) > MaxText || len(r.Data) > MaxData:
		return r, fmt.Errorf("its result takes %d, %d and %d bytes of text, diff and data; the limits are %d, %d and %d",
			len(r.Text), len(r.Diff), len(r.Data), MaxText, MaxText, MaxData)
	case len(r.Data) > 0 && !json.Valid(r.Data):
		return r, errors.New("the data of its result is not JSON")
	case len(r.Data) == 0:
		r.Data = nil
	}
	r.Text, r.Diff = strings.ToValidUTF8(r.Text, "\uFFFD"), strings.ToValidUTF8(r.Diff, "\uFFFD")
	return r, nil
}
