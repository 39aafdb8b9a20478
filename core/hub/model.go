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

const (
	// defaultContext is the context of a model that was made for more, when nobody asks for another.
	defaultContext = 32768
	// reserve is the share of a device's memory that stays free, as one part in so many.
	reserve = 10
	// stateShare is the share of a device's memory that the caches of a context that nobody asked for may take.
	stateShare = 4
	// parkShare is the share of what a device has left that conversations may take while others use the engine, as one part
	// in so many; unknownPark is that of a device whose memory is not known. Units: bytes.
	parkShare   = 4
	unknownPark = 256 << 20
)

// LoadOptions says how to load a model.
type LoadOptions struct {
	// Want is the device.
	Want Want
	// Context is the number of positions; 0 takes what the model was made for, at most 32,768 and what memory allows.
	Context int
	// Exact keeps activations in float32.
	Exact bool
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

	hub      *Hub
	file     *gguf.File
	template func() (*chat.Template, error)
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
	plan, err := h.Plan(ctx, f)
	if err != nil {
		return nil, err
	}
	vocab, err := tokenizer.FromMetadata(f.Get)
	if err != nil {
		return nil, err
	}
	tok, err := tokenizer.New(vocab)
	if err != nil {
		return nil, err
	}
	parts, err := Place(plan, h.opt.Devices(ctx, o.Want), o.Want)
	if err != nil {
		return nil, err
	}
	choice := parts[0].Choice
	positions, spare, err := fit(plan, f, choice.Device, o.Context)
	if err != nil {
		return nil, err
	}
	session, device, err := h.open(ctx, parts, engine.Config{
		Plan: plan, Weights: engine.FileWeights(f), Context: positions, CheckpointBytes: spare, Exact: o.Exact, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	m := &Model{
		Name: name, Plan: plan, Device: device, Reason: choice.Reason, Context: positions,
		Tokenizer: tok, hub: h, file: f, template: h.newTemplate(f, tok), session: session, queue: newQueue(),
	}
	m.Weights, m.State = session.Memory()
	m.life, m.end = context.WithCancel(context.Background())
	m.sequence, err = generate.New(session, generate.Tokens(tok), generate.Config{
		Context: positions, Recurrent: plan.Recurrent(model.LayerRange{End: len(plan.Layers)}),
	})
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	m.desk = desk{sequence: m.sequence}
	h.log.Info("model loaded", "model", name, "family", plan.Family, "layers", len(plan.Layers), "device", m.Device.Name,
		"context", positions, "bytes", m.Weights+m.State)
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
	t, err := m.template()
	if err != nil {
		return nil, err
	}
	if req.Now.IsZero() {
		req.Now = time.Now()
	}
	return t.Prompt(ctx, req)
}

// newTemplate makes the template at its first use: raw prompts need no sandbox.
func (h *Hub) newTemplate(f *gguf.File, t *tokenizer.Tokenizer) func() (*chat.Template, error) {
	text := ""
	if v, ok := f.Get("tokenizer.chat_template"); ok {
		text, _ = v.Str()
	}
	return sync.OnceValues(func() (*chat.Template, error) {
		if text == "" {
			return nil, chat.ErrNoTemplate
		}
		r, err := h.render()
		if err != nil {
			return nil, err
		}
		return chat.New(r, text, t)
	})
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

// fit returns the context to load a model with, and the bytes that conversations may take while others use the engine. It
// refuses a model that does not fit.
func fit(p *model.Plan, f *gguf.File, d engine.Device, want int) (positions int, spare int64, err error) {
	all := model.LayerRange{End: len(p.Layers)}
	weights := int64(0)
	for _, t := range p.Tensors {
		if ft, ok := f.Tensor(t.Name); ok {
			weights += ft.Bytes()
		}
	}
	positions = want
	if positions <= 0 {
		positions = min(p.Context, defaultContext)
		for positions > 512 && d.Memory > 0 {
			if kv, _ := p.StateBytes(all, positions); kv <= d.Memory/stateShare {
				break
			}
			positions /= 2
		}
	}
	if positions > p.Context {
		return 0, 0, fmt.Errorf("a context of %d was asked for, but the model was made for %d", positions, p.Context)
	}
	kv, rec := p.StateBytes(all, positions)
	if d.Memory <= 0 {
		return positions, unknownPark, nil
	}
	left := d.Memory - d.Memory/reserve - weights - kv - rec
	if left < 0 {
		return 0, 0, &MemoryError{Weights: weights, State: kv + rec, Reserve: d.Memory / reserve, Memory: d.Memory, Context: positions}
	}
	return positions, left / parkShare, nil
}
