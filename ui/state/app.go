// Package state is what the window shows, apart from how it is drawn: the chat, the models, what runs and what failed.
//
// It knows no widgets. An [App] is used by the goroutine that draws; the engine works in goroutines that the App owns,
// and what they report is applied by [App.Update], which the drawing goroutine calls before each UI frame.
package state

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
)

// Options configure an [App].
type Options struct {
	// Model is the name of the model to load at the start; empty loads none.
	Model string
	// Wake asks for a UI frame. It is called from any goroutine, at most once between two calls of [App.Update].
	Wake func()
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// App is the state of a window. Owns: its goroutines, until Close; the engine belongs to the caller.
type App struct {
	engine Engine
	work   *worker
	now    func() time.Time

	messages []*Message
	nextID   int
	rows     []Row
	// settled is the number of rows that belong to messages before the last.
	settled int
	stale   bool

	models     []ModelInfo
	modelsErr  error
	listing    bool
	loaded     Loaded
	ready      bool
	loading    Loading
	cancelLoad context.CancelFunc

	// answering is the message that grows, if any. chat and load count chats and loads, so that what an earlier one
	// still reports is dropped.
	answering  *Message
	stopping   bool
	cancel     context.CancelFunc
	chat, load int
	last       Answer
	pieces     int
	first      time.Time
	// unsent says that the engine does not know the last user's message.
	unsent bool

	problem   *Problem
	smallRead bool
}

// Loading is how far a load is; its Name is empty when nothing loads.
type Loading struct {
	Name        string
	Done, Total int64
}

// Action is what a person can do about a [Problem].
type Action uint8

// The actions.
const (
	ActionNone Action = iota
	ActionRetry
	ActionModels
	ActionNewChat
)

// Problem is an error as a person reads it.
type Problem struct {
	// Title says what happened, Text why, Hint what to do.
	Title, Text, Hint string
	Action            Action
}

// New returns an App and starts to load the model of the options. It ends with ctx, or by Close.
func New(ctx context.Context, e Engine, o Options) *App {
	a := &App{engine: e, now: o.Now, work: newWorker(ctx, o.Wake)}
	if a.now == nil {
		a.now = time.Now
	}
	a.ListModels()
	if o.Model != "" {
		a.Load(o.Model)
	}
	return a
}

// Close cancels what runs and returns when the App's goroutines have ended.
func (a *App) Close() { a.work.close() }

// Update applies what the engine reported since the last call, and says whether anything changed.
func (a *App) Update() bool {
	reports := a.work.take()
	for _, f := range reports {
		f()
	}
	return len(reports) > 0
}

// Messages returns the chat. It is valid until the App changes.
func (a *App) Messages() []*Message { return a.messages }

// Rows returns the chat as rows to draw. The slice is valid until the App changes.
func (a *App) Rows() []Row {
	if a.stale && len(a.messages) > 0 {
		a.rows = a.messages[len(a.messages)-1].rows(a.rows[:a.settled])
		a.stale = false
	}
	return a.rows
}

// push appends a message.
func (a *App) push(m *Message) {
	a.settled = len(a.Rows())
	m.ID = a.nextID
	a.nextID++
	a.messages = append(a.messages, m)
	a.stale = true
}

// clear drops the chat and whatever still works on it.
func (a *App) clear() {
	a.chat++
	if a.cancel != nil {
		a.cancel()
	}
	a.messages, a.rows, a.settled, a.stale = nil, nil, 0, false
	a.answering, a.stopping, a.cancel, a.unsent = nil, false, nil, false
	a.last = Answer{}
	a.pieces = 0
	a.problem = nil
}

// NewChat starts a new chat; an answer that streams is stopped.
func (a *App) NewChat() {
	a.clear()
	a.work.do(func(context.Context) { a.engine.NewChat() })
}

// CanSend reports whether a message can be sent now.
func (a *App) CanSend() bool { return a.answering == nil && (a.ready || a.loading.Name != "") }

// Send sends a message and reports whether it did: not while an answer streams, not without a model and not an empty
// one. While a model loads, the message waits for it.
func (a *App) Send(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || a.answering != nil {
		return false
	}
	if !a.CanSend() {
		a.problem = &Problem{Title: "No model is loaded", Hint: "Choose one to send your message.", Action: ActionModels}
		return false
	}
	a.push(&Message{User: true, Text: text})
	a.push(&Message{})
	a.send(text)
	return true
}

func (a *App) send(text string) {
	a.unsent = true
	a.answer(nil, func(ctx context.Context, emit func(event.Event)) (Answer, error) {
		return a.engine.Send(ctx, text, emit)
	})
}

// CanRegenerate reports whether the last answer can be given again.
func (a *App) CanRegenerate() bool {
	return a.answering == nil && a.ready && len(a.messages) > 1
}

// Regenerate replaces the last answer by another, or sends the last message again when that failed.
func (a *App) Regenerate() bool {
	if !a.CanRegenerate() {
		return false
	}
	k := len(a.messages) - 1
	old := a.messages[k]
	fresh := &Message{ID: a.nextID, Unfolded: old.Unfolded}
	a.nextID++
	a.messages[k] = fresh
	a.stale = true
	if a.unsent {
		a.send(a.messages[k-1].Text)
		return true
	}
	a.answer(old, a.engine.Regenerate)
	return true
}

// answer runs an answer into the last message. When it fails, old takes its place again, if there is one.
func (a *App) answer(old *Message, run func(context.Context, func(event.Event)) (Answer, error)) {
	m := a.messages[len(a.messages)-1]
	a.answering, a.stopping, a.pieces, a.problem = m, false, 0, nil
	chat := a.chat
	report := func(f func()) {
		a.work.report(func() {
			if a.chat == chat {
				f()
			}
		})
	}
	a.cancel = a.work.do(func(ctx context.Context) {
		if ctx.Err() != nil {
			report(func() { a.finish(m, old, Answer{Finish: generate.FinishCancelled}, nil, false) })
			return
		}
		ans, err := run(ctx, func(e event.Event) { report(func() { a.event(m, e) }) })
		if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())) {
			err = nil
			ans.Finish = generate.FinishCancelled
		}
		report(func() { a.finish(m, old, ans, err, err == nil && !ans.none()) })
	})
}

func (a *App) event(m *Message, e event.Event) {
	a.stale = true
	switch e := e.(type) {
	case event.Queued:
		m.Ahead = e.Position
		return
	case event.Reading:
		m.Ahead, m.Read, m.ToRead = 0, e.Done, e.Total
		return
	case event.Reasoning:
		m.Reasoning += e.Text
	case event.Text:
		m.Doc.Append(e.Text)
	default:
		return
	}
	m.Status = Streaming
	if a.pieces == 0 {
		a.first = a.now()
	}
	a.pieces++
}

func (a *App) finish(m, old *Message, ans Answer, err error, sent bool) {
	a.answering, a.stopping, a.cancel, a.stale = nil, false, nil, true
	m.Doc.Close()
	m.Answer = ans
	m.Status = Done
	if sent {
		a.unsent = false
	}
	if ans.ContextTotal > 0 {
		a.last = ans
	}
	if err == nil && old != nil && ans.none() {
		a.messages[len(a.messages)-1] = old
		return
	}
	if err == nil {
		if ans.Finish == generate.FinishContext {
			a.problem = &Problem{
				Title: "The context is full", Text: "The model cannot read any further in this chat.",
				Hint: "Start a new chat, or load the model with a larger context.", Action: ActionNewChat,
			}
		}
		return
	}
	m.Status = Failed
	a.problem = &Problem{Title: "The answer failed", Text: err.Error(), Hint: "Nothing that you wrote is lost.", Action: ActionRetry}
	if old != nil {
		a.messages[len(a.messages)-1] = old
		a.problem.Hint = "The answer before it is back."
	}
}

// Stop stops the answer that streams and reports whether there was one.
func (a *App) Stop() bool {
	if a.answering == nil || a.stopping {
		return false
	}
	a.stopping = true
	a.cancel()
	return true
}

// Answering reports whether an answer streams or waits to, and Stopping whether it was told to stop.
func (a *App) Answering() bool { return a.answering != nil }

// Stopping reports whether an answer was told to stop and has not yet.
func (a *App) Stopping() bool { return a.stopping }

// Fold shows or hides the reasoning of a message.
func (a *App) Fold(m *Message) { m.Unfolded = !m.Unfolded }

// LastAnswer returns the text of the last answer that is there.
func (a *App) LastAnswer() (string, bool) {
	for i := len(a.messages) - 1; i >= 0; i-- {
		if m := a.messages[i]; !m.User && m.Doc.Len() > 0 {
			return m.Doc.Source(), true
		}
	}
	return "", false
}

// Problem returns what went wrong, or nil.
func (a *App) Problem() *Problem { return a.problem }

// Dismiss forgets the problem.
func (a *App) Dismiss() { a.problem = nil }
