package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/tokenizer"
)

// LoadOptions says how to load a model.
type LoadOptions struct {
	// Want is the device.
	Want Want
	// Context is the number of positions; 0 takes what the model was made for, at most 32,768 and what memory allows.
	Context int
	// Exact keeps activations in float32.
	Exact bool
	// Instead is a model that this one takes the place of, or nil. It is closed as soon as the file, the vocabulary and the
	// memory are known to be right, before the weights are read: both at once may not fit.
	Instead *Model
	// Progress is called with the bytes loaded and in total; it may be nil.
	Progress func(done, total int64)
}

// Model is a loaded model. Its answers are given one at a time: see [Slot].
//
// Owns: its file and session. Safe for concurrent use.
type Model struct {
	// Name is what the model was loaded as.
	Name string
	// Plan is how it is computed.
	Plan *model.Plan
	// Device is what it runs on, and Reason why.
	Device engine.Device
	Reason string
	// Context is the number of positions it has room for.
	Context int
	// Weights and State are the bytes it takes.
	Weights, State int64
	// Tokenizer turns text into ids.
	Tokenizer *tokenizer.Tokenizer
	// Template is the text of the chat template, empty for a base model.
	Template string

	hub  *Hub
	file *gguf.File
	chat func() (*chat.Template, error) // made at the first use: raw prompts need no sandbox
	// session, sequence and desk belong to whoever the queue has let in.
	session  engine.Session
	sequence *generate.Sequence
	desk     desk
	queue    *queue
	life     context.Context // ends when the model is closed
	end      context.CancelFunc
	close    sync.Once
}

// Load loads a model and takes the file over, also when it fails.
//
// Errors: [*MemoryError], [ErrNoDevice], those of the family, the plan, the tokenizer and the backend.
func (h *Hub) Load(ctx context.Context, f *gguf.File, name string, o LoadOptions) (*Model, error) {
	m, err := h.load(ctx, f, name, o)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func (h *Hub) load(ctx context.Context, f *gguf.File, name string, o LoadOptions) (*Model, error) {
	fit, err := h.Fit(ctx, f, o)
	if err != nil {
		return nil, err
	}
	if o.Instead != nil {
		if err := o.Instead.Close(); err != nil {
			h.log.Warn("the model before", "model", o.Instead.Name, "err", err)
		}
	}
	session, device, err := h.open(ctx, fit.Parts, engine.Config{
		Plan: fit.Plan, Weights: engine.FileWeights(f), Context: fit.Context, CheckpointBytes: fit.spare,
		Exact: o.Exact, Draft: true, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	plan, tok := fit.Plan, fit.tokenizer
	m := &Model{
		Name: name, Plan: plan, Device: device, Reason: fit.Parts[0].Reason, Context: fit.Context,
		Tokenizer: tok, Template: tokenizer.ChatTemplate(f.Get), hub: h, file: f, session: session, queue: newQueue(),
	}
	m.chat = sync.OnceValues(func() (*chat.Template, error) {
		if m.Template == "" {
			return nil, chat.ErrNoTemplate
		}
		return chat.New(h.opt.Renderer(), m.Template, tok)
	})
	m.Weights, m.State = session.Memory()
	m.life, m.end = context.WithCancel(context.Background())
	m.sequence, err = generate.New(session, generate.Tokens(tok), generate.Config{
		Drafts:  plan.Draft != nil,
		Context: fit.Context, Recurrent: plan.Recurrent(model.LayerRange{End: len(plan.Layers)}),
	})
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	m.desk = desk{sequence: m.sequence}
	h.log.Info("model loaded", "model", name, "family", plan.Family, "layers", len(plan.Layers), "device", m.Device.Name,
		"context", fit.Context, "bytes", m.Weights+m.State)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.Join(ErrClosed, session.Close())
	}
	h.models = append(h.models, m)
	return m, nil
}

// Prompt turns a conversation into ids through the model's own template. Now is the present where req leaves it out.
//
// Errors: [chat.ErrNoTemplate] for a base model; those of [chat.Template.Prompt].
func (m *Model) Prompt(ctx context.Context, req chat.Request) (*chat.Prompt, error) {
	t, err := m.chat()
	if err != nil {
		return nil, err
	}
	if req.Now.IsZero() {
		req.Now = time.Now()
	}
	return t.Prompt(ctx, req)
}

// Close ends the answer that is given, sends away those who wait, and releases the model.
func (m *Model) Close() error {
	var err error
	m.close.Do(func() {
		m.end()
		m.queue.close()
		err = errors.Join(m.sequence.Close(), m.file.Close())
		m.hub.forget(m)
	})
	return err
}
