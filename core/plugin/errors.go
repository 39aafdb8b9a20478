package plugin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/model"
)

// Causes of an [Error].
var (
	// ErrCrashed says that the program ended by itself.
	ErrCrashed = errors.New("it crashed")
	// ErrHung says that it did not answer in time.
	ErrHung = errors.New("it did not answer in time")
	// ErrException says that an exception of the program ended a call. It goes on to serve others.
	ErrException = errors.New("an exception ended the call")
	// ErrProtocol says that it does not talk like a plugin.
	ErrProtocol = errors.New("it does not talk like a Pooled plugin")
	// ErrVersion says that it was made for another version of the contract.
	ErrVersion = errors.New("it was made for another version of Pooled's plugin contract")
	// ErrBudget says that it failed too often to be started again now.
	ErrBudget = errors.New("it failed too often")
)

// Errors of the catalog.
var (
	// ErrNotApproved says that the user has not approved the program.
	ErrNotApproved = errors.New("not approved")
	// ErrChanged says that the plugin is not the one that was approved.
	ErrChanged = errors.New("changed since it was approved")
	// errShown says that a plugin is not the one that was shown; it is an [ErrChanged].
	errShown = fmt.Errorf("%w, or shown", ErrChanged)
	// ErrUnknown says that there is no plugin of a name.
	ErrUnknown = errors.New("no such plugin")
	// ErrBroken says that a plugin's files are not as they must be.
	ErrBroken = errors.New("the plugin's files are not in order")
	// ErrClosed is returned by a closed [Catalog].
	ErrClosed = errors.New("the plugin catalog is closed")
)

// Error is a failure of a running plugin. It wraps its cause and what a fault of each kind wraps: [model.ErrFault] and
// [tool.ErrFault].
type Error struct {
	// Plugin is its name.
	Plugin string
	// Doing says what it was asked to do, such as "start".
	Doing string
	// Err is the cause; it wraps one of the sentinels.
	Err error
	// Output is the end of what the program wrote to standard error, if anything: a line, or the lines of an exception.
	Output string
}

func (e *Error) Error() string {
	s := fmt.Sprintf("plugin %s, asked to %s: %v", e.Plugin, e.Doing, e.Err)
	switch {
	case strings.Contains(e.Output, "\n"):
		s += ":\n" + e.Output
	case e.Output != "":
		s += ": " + e.Output
	}
	return s
}

func (e *Error) Unwrap() []error {
	all := []error{e.Err}
	for _, k := range kinds {
		all = append(all, k.fault)
	}
	return all
}

// ArchitectureError says that no family plans an architecture. It wraps [model.ErrNoFamily].
type ArchitectureError struct {
	// Architecture is the one asked for.
	Architecture string
	// Known are those that can be planned.
	Known []string
	// Waiting are plugins that are not approved and may know it.
	Waiting []string
}

func (e *ArchitectureError) Error() string {
	s := fmt.Sprintf("no model family knows the architecture %q; those installed know %s", e.Architecture, strings.Join(e.Known, ", "))
	if len(e.Waiting) > 0 {
		s += fmt.Sprintf("; not approved yet: %s (pooled plugin approve NAME)", strings.Join(e.Waiting, ", "))
	}
	return s
}

func (e *ArchitectureError) Unwrap() error { return model.ErrNoFamily }
