// Package hub wires the parts together and owns their life: it turns a model file into something that answers.
//
// It chooses the family by the file's architecture and the device by what there is, checks that the model fits before
// anything is loaded, and opens sessions. What to wire, it is told: it imports no backend, no plugin and no sandbox.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
)

// Families finds the family of an architecture.
type Families interface {
	// Family returns the family that plans the architecture. Its plans are checked: see [model.Checked].
	Family(ctx context.Context, architecture string) (model.Family, error)
}

// Options are the parts that a hub wires.
type Options struct {
	// Families plan models.
	Families Families
	// Devices lists what there is to compute on, at least what w allows; it is called when a model is loaded.
	Devices func(ctx context.Context, w Want) []Available
	// Renderer returns what runs chat templates, the same each time; it is called when a template is needed.
	Renderer func() chat.Renderer
	// Log gets what happens; nil discards it.
	Log *slog.Logger
}

// Hub loads models. Safe for concurrent use. Owns: backends and models, until Close.
type Hub struct {
	opt Options
	log *slog.Logger

	mu       sync.Mutex
	closed   bool
	backends map[string]*opening
	models   []*Model
}

// New returns a hub.
func New(o Options) *Hub {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Hub{opt: o, log: log, backends: map[string]*opening{}}
}

// Close closes every model and backend.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	models := slices.Clone(h.models)
	h.mu.Unlock()
	var errs []error
	for _, m := range models {
		errs = append(errs, m.Close())
	}
	h.mu.Lock()
	backends := h.backends
	h.backends = nil
	h.mu.Unlock()
	for _, o := range backends {
		if <-o.done; o.backend != nil {
			errs = append(errs, o.backend.Close())
		}
	}
	return errors.Join(errs...)
}

func (h *Hub) forget(m *Model) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.models = slices.DeleteFunc(h.models, func(x *Model) bool { return x == m })
}

// Plan asks the family of a file for its plan, which [Options.Families] has checked against the file.
func (h *Hub) Plan(ctx context.Context, f *gguf.File) (*model.Plan, error) {
	md := ggufmeta.Of(f)
	if md.Architecture == "" {
		return nil, &model.MetadataError{Name: "general.architecture", Reason: "is missing, so nothing says what model this is"}
	}
	fam, err := h.opt.Families.Family(ctx, md.Architecture)
	if err != nil {
		return nil, err
	}
	return fam.Plan(ctx, md)
}
