package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/generate"
)

// Slot is one conversation's place at a model. Slots take turns at the engine, fairly; what was computed for one is set
// aside while others use it, as long as there is room.
//
// Safe for concurrent use: calls of one slot wait for one another like those of several.
type Slot struct{ model *Model }

// NewSlot returns a place at the model for one conversation.
func (m *Model) NewSlot() *Slot { return &Slot{model: m} }

// Generate answers a prompt when its turn comes. While it waits, place gets the number of answers that come before, at first
// and whenever it changes; it may be nil. It and emit are called by the calling goroutine.
//
// Errors: those of [generate.Sequence.Generate]; [ErrClosed]; the context's, also while it waits.
func (s *Slot) Generate(ctx context.Context, prompt []int32, opt generate.Options, place func(ahead int), emit func(generate.Token) error) (generate.Result, error) {
	r := generate.Result{Finish: generate.FinishError, Prompt: len(prompt)}
	err := s.model.turn(ctx, s, place, func(ctx context.Context) (err error) {
		if err := s.model.desk.seat(ctx, s, prompt); err != nil {
			return err
		}
		r, err = s.model.sequence.Generate(ctx, prompt, opt, emit)
		return err
	})
	if r.IDs == nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		r.Finish = generate.FinishCancelled
	}
	return r, err
}

// Use lets f have the engine for itself, such as to measure it, when its turn comes. What was computed for conversations is
// dropped afterwards.
//
// Errors: those of f; [ErrClosed]; the context's.
func (m *Model) Use(ctx context.Context, f func(context.Context, engine.Session) error) error {
	return m.turn(ctx, m.NewSlot(), nil, func(ctx context.Context) error {
		defer m.desk.leave()
		return errors.Join(f(ctx, m.session), m.sequence.Reset())
	})
}

// turn runs f when its turn comes. The context that f gets ends when the model is closed.
func (m *Model) turn(ctx context.Context, s *Slot, place func(ahead int), f func(context.Context) error) error {
	leave, err := m.queue.enter(ctx, s, place)
	if err != nil {
		return err
	}
	defer leave()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.life, cancel)()
	err = f(running)
	if err != nil && m.life.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w while it answered: %w", ErrClosed, err)
	}
	return err
}
