package uitest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/ui/state"
)

// Engine is an engine without a model. It streams what it is told to.
type Engine struct {
	// List is what Models returns.
	List []state.ModelInfo
	// Step is received from before each event of an answer and each load, where it is not nil.
	Step chan struct{}

	mu      sync.Mutex
	answers []Script
	calls   []string
}

// Script is an answer.
type Script struct {
	// Ahead counts the answers that come before this one; it then waits for a step.
	Ahead           int
	Reasoning, Text string
	// Err ends the answer.
	Err    error
	Finish generate.FinishReason
}

// ErrLoad is why the model "broken" does not load.
var ErrLoad = errors.New("broken.gguf: the file ends before its tensors do; download it again")

// Answer queues answers; without one the engine repeats what it is told.
func (e *Engine) Answer(s ...Script) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers = append(e.answers, s...)
}

// Calls returns what was called so far.
func (e *Engine) Calls() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.calls, " ")
}

func (e *Engine) called(s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, s)
}

func (e *Engine) wait(ctx context.Context) error {
	if e.Step == nil {
		return ctx.Err()
	}
	select {
	case <-e.Step:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Models implements [state.Engine].
func (e *Engine) Models(context.Context) ([]state.ModelInfo, error) { return e.List, nil }

// Load implements [state.Engine].
func (e *Engine) Load(ctx context.Context, name string, progress func(done, total int64)) (state.Loaded, error) {
	e.called("load:" + name)
	progress(1, 2)
	if err := e.wait(ctx); err != nil {
		return state.Loaded{}, err
	}
	if name == "broken" {
		return state.Loaded{}, ErrLoad
	}
	return state.Loaded{Name: name, Family: "test", Device: "CPU (2 threads)", Reason: "no GPU was found", Context: 4096, Small: name == "toy"}, nil
}

// Send implements [state.Engine].
func (e *Engine) Send(ctx context.Context, text string, emit func(event.Event)) (state.Answer, error) {
	e.called("send:" + text)
	return e.stream(ctx, text, emit)
}

// Regenerate implements [state.Engine].
func (e *Engine) Regenerate(ctx context.Context, emit func(event.Event)) (state.Answer, error) {
	e.called("regenerate")
	return e.stream(ctx, "again", emit)
}

// NewChat implements [state.Engine].
func (e *Engine) NewChat() { e.called("new") }

func (e *Engine) stream(ctx context.Context, text string, emit func(event.Event)) (state.Answer, error) {
	e.mu.Lock()
	s := Script{Text: "You said: " + text}
	if len(e.answers) > 0 {
		s, e.answers = e.answers[0], e.answers[1:]
	}
	e.mu.Unlock()
	a := state.Answer{Finish: generate.FinishStop, TokensPerSecond: 42, ContextTotal: 4096, ContextUsed: 100}
	if s.Finish != "" {
		a.Finish = s.Finish
	}
	if s.Ahead > 0 {
		emit(event.Queued{Position: s.Ahead})
		if err := e.wait(ctx); err != nil {
			a.Finish = generate.FinishCancelled
			return a, err
		}
	}
	emit(event.Reading{Done: 10, Total: 10})
	for _, part := range []struct {
		text string
		of   func(text string) event.Event
	}{
		{s.Reasoning, func(text string) event.Event { return event.Reasoning{Text: text} }},
		{s.Text, func(text string) event.Event { return event.Text{Text: text} }},
	} {
		for _, word := range strings.SplitAfter(part.text, " ") {
			if word == "" {
				continue
			}
			if err := e.wait(ctx); err != nil {
				a.Finish = generate.FinishCancelled
				return a, err
			}
			emit(part.of(word))
			a.Tokens++
			a.ContextUsed++
		}
	}
	return a, s.Err
}
