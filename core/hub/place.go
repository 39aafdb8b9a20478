package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
)

// Part is a layer range of a model and the device that computes it.
type Part struct {
	Choice
	Range model.LayerRange
	// Embed and Head say whether the part turns token ids into hidden states and hidden states into logits.
	Embed, Head bool
}

// Place says which device computes which layers, in order. All of them go to the device that [Pick] chooses.
//
// Errors: [ErrNoDevice].
func Place(p *model.Plan, all []Available, w Want) ([]Part, error) {
	choice, err := Pick(all, w)
	if err != nil {
		return nil, err
	}
	return []Part{{Choice: choice, Range: model.LayerRange{End: len(p.Layers)}, Embed: true, Head: true}}, nil
}

// open opens the parts as one session, and says what the first of them runs on. What c says of a part is set for each.
func (h *Hub) open(ctx context.Context, parts []Part, c engine.Config) (engine.Session, engine.Device, error) {
	var first engine.Device
	var sessions []engine.Session
	c.Undo = len(parts) > 1
	for _, p := range parts {
		b, err := h.backend(ctx, p.Available)
		if err == nil {
			var s engine.Session
			if len(sessions) == 0 {
				first = b.Device()
			}
			c.Range, c.Embed, c.Head = p.Range, p.Embed, p.Head
			if s, err = b.Open(ctx, c); err == nil {
				sessions = append(sessions, s)
				continue
			}
		}
		for _, s := range sessions {
			err = errors.Join(err, s.Close())
		}
		return nil, engine.Device{}, err
	}
	return engine.Chain(sessions...), first, nil
}

// opening is a device that is open, or about to be.
type opening struct {
	done    chan struct{} // closed when the others are set
	backend engine.Backend
	err     error
}

// backend returns the running backend of a candidate and starts it if need be. A device that several loads want at the
// same time is opened once; when the load that opens it is cancelled, another tries again.
func (h *Hub) backend(ctx context.Context, c Available) (engine.Backend, error) {
	key := c.Device.ID
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil, ErrClosed
		}
		o, ok := h.backends[key]
		if !ok {
			o = &opening{done: make(chan struct{})}
			h.backends[key] = o
		}
		h.mu.Unlock()
		if !ok {
			return h.start(ctx, c, key, o)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-o.done:
		}
		if o.err == nil {
			return o.backend, nil
		}
		if !errors.Is(o.err, context.Canceled) && !errors.Is(o.err, context.DeadlineExceeded) {
			return nil, o.err
		}
	}
}

// start opens a device for all who wait for it.
func (h *Hub) start(ctx context.Context, c Available, key string, o *opening) (engine.Backend, error) {
	defer close(o.done)
	b, err := c.Open(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		o.err = fmt.Errorf("%s: %w", c.Device.Name, err)
		delete(h.backends, key)
		return nil, o.err
	}
	o.backend = b
	if h.closed { // the hub waits for it to close it
		return nil, ErrClosed
	}
	return b, nil
}
