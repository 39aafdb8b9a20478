package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
)

// Source is a set of tools to offer.
type Source struct {
	Set tool.Set
	// Sandboxed says that what the set runs and serves reaches nothing but the project, so that only its edits need to be
	// approved.
	Sandboxed bool
	// Name is what a person knows the set by, where that is not the set's own.
	Name string
	// DroppedIn says that the set does not come with the program: one that cannot be used is left out.
	DroppedIn bool
}

// OpenedSet is a set of tools as it was opened.
type OpenedSet struct {
	Source
	// Err is why none of its tools is offered; nil where they are.
	Err error
}

// Tools are sets of tools, opened for a project.
//
// Owns: the sessions; the caller closes it. Safe for concurrent use.
type Tools struct {
	order    []*offer
	byName   map[string]*offer
	sessions []tool.Session
	prompt   []string // what the sets say of their tools, for the system prompt
	sets     []OpenedSet
}

// offer is one tool.
type offer struct {
	tool.Spec
	set       string
	schema    *tool.Schema
	session   tool.Session
	sandboxed bool
}

// OpenTools opens sets of tools for a project. A dropped-in set that cannot be used is left out; [Tools.Sets] says why.
//
// Errors: [*tool.FaultError], those of the sets, two tools of one name; the context's.
func OpenTools(ctx context.Context, p tool.Project, sources ...Source) (*Tools, error) {
	t := &Tools{byName: map[string]*offer{}}
	for _, s := range sources {
		if s.Name == "" {
			s.Name = s.Set.Info().Name
		}
		err := t.open(ctx, p, s)
		if err != nil && (!s.DroppedIn || ctx.Err() != nil) {
			return nil, errors.Join(fmt.Errorf("tools %s: %w", s.Name, err), t.Close())
		}
		t.sets = append(t.sets, OpenedSet{s, err})
	}
	return t, nil
}

// open adds the tools of one set.
func (t *Tools) open(ctx context.Context, p tool.Project, s Source) error {
	info := s.Set.Info()
	for _, spec := range info.Tools {
		if t.byName[spec.Name] != nil {
			return fmt.Errorf("there is already a tool %s", spec.Name)
		}
	}
	session, err := tool.Open(ctx, s.Set, p)
	if err != nil {
		return err
	}
	t.sessions = append(t.sessions, session)
	t.prompt = append(t.prompt, info.Prompt...)
	for _, spec := range info.Tools {
		o := &offer{Spec: spec, set: info.Name, schema: session.Schema(spec.Name), session: session, sandboxed: s.Sandboxed}
		t.byName[spec.Name] = o
		t.order = append(t.order, o)
	}
	return nil
}

// Sets are the sets that were opened, those that were left out too.
func (t *Tools) Sets() []OpenedSet { return t.sets }

// Close ends what the tools started.
func (t *Tools) Close() error {
	var errs []error
	for _, s := range t.sessions {
		errs = append(errs, s.Close())
	}
	t.sessions = nil
	return errors.Join(errs...)
}

// definitions are the tools as templates expect them.
func (t *Tools) definitions() json.RawMessage {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type definition struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	list := []definition{}
	for _, o := range t.order {
		list = append(list, definition{"function", function{o.Name, o.Description, o.Parameters}})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(list) // schemas were parsed before
	return bytes.TrimSpace(b.Bytes())
}

// declared are the tools as the parser and the grammar know them.
func (t *Tools) declared() []toolcall.Tool {
	var list []toolcall.Tool
	for _, o := range t.order {
		list = append(list, toolcall.Tool{Name: o.Name, Schema: o.schema})
	}
	return list
}
