// Package options defines the flags for models, devices and sampling once, for every command and for the window.
package options

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/hub"
)

// Model says which model to load, on what, and how.
type Model struct {
	// Ref is what a person called the model.
	Ref     string
	Want    hub.Want
	Context int // positions; 0 for what the model was made for and memory allows
	Exact   bool
}

// DefaultModel is the built-in model on the best device.
func DefaultModel() Model { return Model{Ref: nano.Name, Want: hub.Want{Backend: hub.Auto}} }

// ModelUsage explains the flag that names a model.
const ModelUsage = "model: a pulled name, a GGUF file, or nano (built in)"

// Add adds the flags; what m holds are their defaults.
func (m *Model) Add(fl *pflag.FlagSet) {
	fl.StringVarP(&m.Ref, "model", "m", m.Ref, ModelUsage)
	fl.StringVar(&m.Want.Backend, "backend", m.Want.Backend, "what computes: "+console.Either(hub.Backends()...))
	fl.StringVar(&m.Want.Adapter, "adapter", m.Want.Adapter, "part of the name of the GPU to use")
	fl.IntVar(&m.Want.Threads, "threads", m.Want.Threads, "CPU threads; 0 for one a core")
	fl.IntVarP(&m.Context, "context", "c", m.Context, "positions the model has room for; 0 for what it was made for and memory allows")
	fl.BoolVar(&m.Exact, "exact", m.Exact, "keep activations in float32 on the CPU (slower)")
}

// Check complains about values that no model could be loaded with.
//
// Errors: [*console.ExitError].
func (m *Model) Check() error {
	switch {
	case !slices.Contains(hub.Backends(), m.Want.Backend):
		return console.Usage("--backend is %q, want %s", m.Want.Backend, console.Either(hub.Backends()...))
	case m.Ref == "":
		return console.Usage("--model is empty; name a model, such as %s", nano.Name)
	case m.Want.Threads < 0:
		return console.Usage("--threads is %d, want 0 or more", m.Want.Threads)
	case m.Context < 0:
		return console.Usage("--context is %d, want 0 or more", m.Context)
	}
	return nil
}

// Load returns the options of the hub; instead is the model that this one takes the place of, or nil.
func (m *Model) Load(instead *hub.Model, progress func(done, total int64)) hub.LoadOptions {
	return hub.LoadOptions{Want: m.Want, Context: m.Context, Exact: m.Exact, Instead: instead, Progress: progress}
}
