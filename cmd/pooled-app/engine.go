package main

import (
	"context"
	"errors"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/ui/state"
)

// loadOptions are how every model is loaded and asked.
type loadOptions struct {
	options.Model
	system   string
	sampling generate.Options
}

// engine is the hub as the window wants it.
type engine struct {
	assembly *assembly.Assembly
	options  loadOptions
	model    *hub.Model
	chat     *hub.Conversation
}

// errNoModel is returned when a message is sent while no model is loaded.
var errNoModel = errors.New("no model is loaded; choose one")

// Models implements [state.Engine].
func (e *engine) Models(context.Context) ([]state.ModelInfo, error) {
	var all []state.ModelInfo
	if data := nano.Data(); data != nil {
		all = append(all, state.ModelInfo{Name: nano.Name, Size: int64(len(data)), Note: "built in; very small", Small: true})
	}
	s, err := e.assembly.Store()
	if err != nil {
		return all, err
	}
	pulled, err := s.List()
	for _, m := range pulled {
		all = append(all, state.ModelInfo{Name: m.Name, Size: m.Size, Problem: m.Problem})
	}
	return all, err
}

// Load implements [state.Engine].
func (e *engine) Load(ctx context.Context, name string, progress func(done, total int64)) (state.Loaded, error) {
	file, shown, err := e.assembly.Open(name)
	if err != nil {
		return state.Loaded{}, errors.Join(err, e.unload())
	}
	m, err := e.assembly.Hub().Load(ctx, file, shown, e.options.Load(e.model, progress))
	if err != nil {
		return state.Loaded{}, errors.Join(err, e.unload())
	}
	chat, err := m.NewConversation(e.options.system)
	if err != nil {
		return state.Loaded{}, errors.Join(err, m.Close())
	}
	e.model, e.chat = m, chat
	return state.Loaded{
		Name: m.Name, Family: m.Plan.Family, Device: m.Device.Name, Reason: m.Reason, Context: m.Context, Small: shown == nano.Name,
	}, nil
}

func (e *engine) unload() error {
	m := e.model
	e.model, e.chat = nil, nil
	if m == nil {
		return nil
	}
	return m.Close()
}

// Send implements [state.Engine].
func (e *engine) Send(ctx context.Context, text string, emit func(event.Event)) (state.Answer, error) {
	if e.chat == nil {
		return state.Answer{}, errNoModel
	}
	a, err := e.chat.Send(ctx, text, e.options.sampling, always(emit))
	return e.answer(a), err
}

// Regenerate implements [state.Engine].
func (e *engine) Regenerate(ctx context.Context, emit func(event.Event)) (state.Answer, error) {
	if e.chat == nil {
		return state.Answer{}, errNoModel
	}
	a, err := e.chat.Regenerate(ctx, e.options.sampling, always(emit))
	return e.answer(a), err
}

// NewChat implements [state.Engine].
func (e *engine) NewChat() {
	if e.model == nil {
		return
	}
	// A model that began one conversation can begin another.
	if c, err := e.model.NewConversation(e.options.system); err == nil {
		e.chat = c
	}
}

// always makes an emit that cannot fail one that a conversation takes.
func always(emit func(event.Event)) func(event.Event) error {
	return func(e event.Event) error {
		emit(e)
		return nil
	}
}

func (e *engine) answer(a hub.Answer) state.Answer {
	return state.Answer{
		Finish: a.Finish, Tokens: a.Timings.Tokens, TokensPerSecond: a.Timings.Rate(),
		ContextUsed: a.Used, ContextTotal: e.model.Context,
	}
}
