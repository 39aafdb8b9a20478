package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pooled/pooled/core/plain"
)

// Checked returns s with calls and answers held against the contract: the tool must exist, the arguments must fit its
// schema, a dry run reaches only a tool that honours it, results are bounded and have what their tool may give, and a panic
// is an error. A set that is checked already is returned as it is, so that nothing is judged twice.
//
// Errors: of Open and Call, [*FaultError] and what s returns.
func Checked(s Set) Set {
	if c, ok := s.(checkedSet); ok {
		return c
	}
	return checkedSet{s}
}

type checkedSet struct{ Set }

// Open implements [Set].
func (c checkedSet) Open(ctx context.Context, p Project) (Session, error) {
	s, err := Open(ctx, c, p)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Opened is a checked session that knows the schemas of its tools, as they were read when it was opened.
//
// Owns: the session; the caller closes it. Safe for concurrent use.
type Opened struct {
	session Session // unchecked
	info    Info
	schemas map[string]*Schema
}

// Open opens a set for a project, checked as [Checked] says.
//
// Errors: [*FaultError] and what s returns.
func Open(ctx context.Context, s Set, p Project) (opened *Opened, err error) {
	if c, ok := s.(checkedSet); ok {
		s = c.Set
	}
	info := s.Info()
	defer func() {
		if v := recover(); v != nil {
			opened, err = nil, &FaultError{Set: info.Name, Err: fmt.Errorf("opening panicked: %v", v)}
		}
	}()
	schemas, err := info.check()
	if err != nil {
		return nil, &FaultError{Set: info.Name, Err: err}
	}
	inner, err := s.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Opened{session: inner, info: info, schemas: schemas}, nil
}

// Close ends what the tools started.
func (s *Opened) Close() error { return s.session.Close() }

// Schema returns the schema of a tool's arguments; nil for a tool that there is not.
func (s *Opened) Schema(name string) *Schema { return s.schemas[name] }

// Call implements [Session].
func (s *Opened) Call(ctx context.Context, c Call) (r Result, err error) {
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
	r, err = s.session.Call(ctx, c)
	switch {
	case err != nil && ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) && atDeadline(ctx):
		return Result{}, err
	case err != nil && (errors.Is(err, ErrFault) || errors.Is(err, ErrClosed)):
		return Result{}, err
	case err != nil:
		return Failed(err), nil
	}
	if r, err = bounded(r, spec, c.DryRun); err != nil {
		return Result{}, &FaultError{Set: s.info.Name, Err: err}
	}
	return r, nil
}

// checkChanges checks what a result says of changes.
func (r *Result) checkChanges(spec *Spec, dry bool) error {
	switch {
	case len(r.Changes) > 0 && (spec.Class != Edit || dry):
		return fmt.Errorf("%s says that it changed files, although it must not", spec.Name)
	case len(r.Changes) > MaxChanges:
		return fmt.Errorf("it made %d changes; the limit is %d", len(r.Changes), MaxChanges)
	case r.Sum != "" && !dry:
		return fmt.Errorf("%s has a sum, which only a dry run has", spec.Name)
	}
	for _, id := range append([]string{r.Sum}, r.Changes...) {
		if len(id) > MaxID || !plain.Is(id) {
			return fmt.Errorf("its sum, or the id of a change, is not plain text of at most %d bytes", MaxID)
		}
	}
	if slices.Contains(r.Changes, "") {
		return errors.New("a change has no id")
	}
	return nil
}

// atDeadline reports whether the deadline of ctx is now. Another process may notice it a moment before ctx does.
func atDeadline(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ok && time.Until(d) < 50*time.Millisecond
}

// bounded checks the size and form of a result of a tool.
func bounded(r Result, spec *Spec, dry bool) (Result, error) {
	switch {
	case len(r.Text) > MaxText || len(r.Diff) > MaxText || len(r.Data) > MaxData:
		return r, fmt.Errorf("its result takes %d, %d and %d bytes of text, diff and data; the limits are %d, %d and %d",
			len(r.Text), len(r.Diff), len(r.Data), MaxText, MaxText, MaxData)
	case len(r.Data) > 0 && !json.Valid(r.Data):
		return r, errors.New("the data of its result is not JSON")
	case len(r.Data) == 0:
		r.Data = nil
	}
	if err := r.checkChanges(spec, dry); err != nil {
		return r, err
	}
	if r.Health != nil {
		if !spec.Reports {
			return r, fmt.Errorf("%s says how a page is, although it is not declared to", spec.Name)
		}
		if err := r.Health.check(); err != nil {
			return r, err
		}
	}
	r.Text, r.Diff = strings.ToValidUTF8(r.Text, "\uFFFD"), strings.ToValidUTF8(r.Diff, "\uFFFD")
	return r, nil
}
