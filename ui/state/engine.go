package state

import (
	"context"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
)

// Engine is what the window talks to. Models may be called while another call runs; the other methods are called one
// after the other.
type Engine interface {
	// Models lists what can be loaded.
	Models(ctx context.Context) ([]ModelInfo, error)
	// Load loads a model, in place of the one before, and starts a new chat. The progress is called with bytes.
	Load(ctx context.Context, name string, progress func(done, total int64)) (Loaded, error)
	// Send adds what the user says to the chat and answers it. What came of a cancelled answer stays in the chat; where
	// nothing came, and after any other error, the chat is as it was before.
	Send(ctx context.Context, text string, emit func(event.Event)) (Answer, error)
	// Regenerate drops the last answer of the chat and gives another. When that fails, the last answer stays.
	Regenerate(ctx context.Context, emit func(event.Event)) (Answer, error)
	// NewChat forgets the chat.
	NewChat()
}

// ModelInfo is a model that can be loaded.
type ModelInfo struct {
	// Name is what Load wants.
	Name string
	// Size is the size of its file in bytes.
	Size int64
	// Note is a short remark for people, such as "built in; very small".
	Note string
	// Small marks a model that nobody should judge the program by.
	Small bool
	// Problem says why it cannot be loaded; empty when it can.
	Problem string
}

// Loaded is the model that answers.
type Loaded struct {
	Name, Family string
	// Device is what it runs on, and Reason why that was chosen.
	Device, Reason string
	// Context is the number of positions it has room for.
	Context int
	Small   bool
}

// Answer is how an answer ended.
type Answer struct {
	Finish generate.FinishReason
	// Tokens is the length of the answer.
	Tokens          int
	TokensPerSecond float64
	// ContextUsed and ContextTotal count positions.
	ContextUsed, ContextTotal int
}

// none reports whether the answer was stopped before anything came of it: the chat is then as it was.
func (a Answer) none() bool { return a.Finish == generate.FinishCancelled && a.Tokens == 0 }
