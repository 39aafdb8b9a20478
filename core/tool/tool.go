package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pooled/pooled/core/plain"
)

// ContractVersion is the version of this contract. Version 2 added [Spec.Does], [Spec.Roles], [Spec.Reports],
// [Result.Health], [Result.Sum], [Result.Changes], [Call.Approved] and [Info.Prompt]; a set that was written for version 1 has none of them.
const ContractVersion = 2

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
	// MaxChanges bounds the changes of a result, MaxID the length of the id of one and of a sum, in bytes.
	MaxChanges = 64
	MaxID      = 128
	// MaxPromptLines bounds the lines that a set adds to the system prompt, MaxPrompt all of them together, in bytes.
	MaxPromptLines = 8
	MaxPrompt      = 1 << 10
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
	// Does says what the tool does, where a host makes use of it, and Roles which arguments it does it with.
	Does  Act   `json:",omitempty"`
	Roles Roles `json:",omitzero"`
	// Reports says that results may have a [Health].
	Reports bool `json:",omitempty"`
}

// Info is what a set says about itself. It never changes.
type Info struct {
	// Name is the set's: lower-case letters, digits and dashes.
	Name string
	// Contract is the version of the contract that it was written for.
	Contract int
	Tools    []Spec
	// Prompt are lines for the system prompt: what a model must know to use the tools well, beyond their descriptions. Every
	// prompt carries them; the fewer the better.
	Prompt []string `json:",omitempty"`
}

var (
	validSet  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	validTool = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
)

// Check returns nil when the set can be used. Its errors name the tool and what is wrong with it.
//
// Errors: [*SchemaError] and others.
func (i Info) Check() error {
	_, err := i.check()
	return err
}

// check returns the schemas of the tools by their names.
func (i Info) check() (map[string]*Schema, error) {
	switch {
	case !validSet.MatchString(i.Name):
		return nil, fmt.Errorf("the name %.80q has other than lower-case letters, digits and dashes", i.Name)
	case i.Contract < 1 || i.Contract > ContractVersion:
		return nil, fmt.Errorf("it was written for contract %d; this Pooled has %d", i.Contract, ContractVersion)
	case len(i.Tools) == 0 || len(i.Tools) > MaxTools:
		return nil, fmt.Errorf("it has %d tools; from 1 to %d are allowed", len(i.Tools), MaxTools)
	}
	if err := i.checkPrompt(); err != nil {
		return nil, err
	}
	schemas := map[string]*Schema{}
	for _, t := range i.Tools {
		if !validTool.MatchString(t.Name) {
			return nil, fmt.Errorf("tool %.80q: its name has other than lower-case letters, digits and underscores", t.Name)
		}
		if schemas[t.Name] != nil {
			return nil, fmt.Errorf("tool %q: it is declared twice", t.Name)
		}
		s, err := t.check(i.Contract)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		schemas[t.Name] = s
	}
	return schemas, nil
}

// check returns the schema of a tool of a set for a version of the contract.
func (t *Spec) check(contract int) (*Schema, error) {
	switch {
	case strings.TrimSpace(t.Description) == "" || len(t.Description) > MaxDescription || !utf8.ValidString(t.Description):
		return nil, fmt.Errorf("its description is missing, not UTF-8 or longer than %d bytes", MaxDescription)
	case !t.Class.Valid():
		return nil, fmt.Errorf("its class is %.20q; it must be read, edit, run or serve", t.Class)
	case contract < 2 && (t.Does != "" || t.Roles.any() || t.Reports):
		return nil, errors.New("it says what it does, has roles or reports health, which contract 1 does not know")
	}
	s, err := ParseSchema(t.Parameters)
	if err != nil {
		return nil, err
	}
	return s, t.Roles.check(t.Does, t.Class, s)
}

// checkPrompt bounds what a set may tell every model.
func (i Info) checkPrompt() error {
	size := 0
	for _, line := range i.Prompt {
		size += len(line)
		if strings.TrimSpace(line) != line || line == "" || size > MaxPrompt || !plain.Is(line) {
			return fmt.Errorf("its lines for the prompt are empty, not plain text on one line each, or longer than %d bytes", MaxPrompt)
		}
	}
	switch {
	case len(i.Prompt) > MaxPromptLines:
		return fmt.Errorf("it has %d lines for the prompt; the limit is %d", len(i.Prompt), MaxPromptLines)
	case len(i.Prompt) > 0 && i.Contract < 2:
		return errors.New("it has lines for the prompt, which contract 1 does not know")
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
	// Arguments is a JSON object. Of a [Checked] session a set gets only what fits the schema; what a model wrote almost right
	// was mended before, by core/toolcall.
	Arguments json.RawMessage
	// DryRun asks what the call would change: the result has its Diff, and nothing is changed.
	DryRun bool
	// Approved is the [Result.Sum] of a dry run that a person has seen and allowed: the call does just that, or fails because
	// something has changed since. It is empty where nobody was asked.
	Approved string
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
	// Sum identifies what a dry run would change, for [Call.Approved]: what is changed, what it holds now and what it would hold.
	Sum string
	// Changes are the ids of the changes that the call made, as the journal in [Project.State] knows them, in order. What is not
	// among them cannot be taken back.
	Changes []string
	// Data is more for programs, a JSON value; it may be nil.
	Data json.RawMessage
	// Health is how the page is that the tool served or looked at; nil when it did not look, or when [Spec.Reports] is false.
	Health *Health
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
