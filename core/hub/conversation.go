package hub

import (
	"context"
	"slices"
	"sync"

	"github.com/pooled/pooled/core/answer"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
)

// Answer is a finished answer.
type Answer struct {
	// Message is the assistant's message as the conversation keeps it.
	Message transcript.Message
	// Result says how it was generated.
	generate.Result
	// Used is the number of positions that the conversation now takes.
	Used int
}

// Conversation is a chat with one model. What was sampled is kept as exact ids, so that the next turn computes only what
// is new. Its messages may be read at any time; it gives one answer at a time.
type Conversation struct {
	model *Model
	slot  *Slot

	mu       sync.Mutex
	busy     bool
	messages []transcript.Message
}

// NewConversation starts a conversation, with a system prompt where one is given.
//
// Errors: [chat.ErrNoTemplate] for a base model.
func (m *Model) NewConversation(system string) (*Conversation, error) {
	if _, err := m.chat(); err != nil {
		return nil, err
	}
	c := &Conversation{model: m, slot: m.NewSlot()}
	if system != "" {
		c.messages = append(c.messages, transcript.Message{Role: chat.RoleSystem, Text: system})
	}
	return c, nil
}

// Messages returns a copy of the messages so far.
func (c *Conversation) Messages() []transcript.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

// Send adds what the user says and answers it. When the answer is cancelled, what came of it is kept; where
// nothing came, and after any other error, the conversation is as it was, so that the same text can be sent again.
//
// Errors: those of [generate.Sequence.Generate] and of the template; [ErrBusy].
func (c *Conversation) Send(ctx context.Context, text string, opt generate.Options, emit func(event.Event) error) (Answer, error) {
	return c.turn(ctx, opt, emit, func(ms []transcript.Message) []transcript.Message {
		return append(ms, transcript.Message{Role: chat.RoleUser, Text: text})
	})
}

// Regenerate drops the last answer and gives another. When that fails, the last answer stays.
func (c *Conversation) Regenerate(ctx context.Context, opt generate.Options, emit func(event.Event) error) (Answer, error) {
	if ms := c.Messages(); len(ms) == 0 || ms[len(ms)-1].Role != chat.RoleAssistant {
		return Answer{}, ErrNothing
	}
	return c.turn(ctx, opt, emit, func(ms []transcript.Message) []transcript.Message { return ms[:len(ms)-1] })
}

// turn answers the messages that ask makes of those so far.
func (c *Conversation) turn(ctx context.Context, opt generate.Options, emit func(event.Event) error, ask func([]transcript.Message) []transcript.Message) (Answer, error) {
	c.mu.Lock()
	if c.busy {
		c.mu.Unlock()
		return Answer{}, ErrBusy
	}
	c.busy = true
	messages := ask(slices.Clone(c.messages))
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.busy = false
		c.mu.Unlock()
	}()

	a, err := c.slot.Answer(ctx, messages, opt, emit)
	if err != nil && (a.Finish != generate.FinishCancelled || len(a.IDs) == 0) {
		return a, err // nothing came of it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(messages, a.Message)
	return a, err
}

// Answer generates the assistant's next message, for whoever keeps the messages. Emit gets what happens, in place of
// opt.Progress, and may be nil; its error ends the answer. The answer is filled in as far as it came, also beside an error.
//
// Errors: those of [Model.Prompt], of [Slot.Generate] and of emit.
func (s *Slot) Answer(ctx context.Context, messages []transcript.Message, opt generate.Options, emit func(event.Event) error) (Answer, error) {
	m := s.model
	var req chat.Request
	for i := range messages {
		req.Messages = append(req.Messages, messages[i].Chat(m.Name, toolcall.None, false))
	}
	prompt, err := m.Prompt(ctx, req)
	if err != nil {
		return Answer{}, err
	}
	if emit == nil {
		emit = func(event.Event) error { return nil }
	}
	r, err := answer.NewReader(answer.Options{Model: m.Name, Tokenizer: m.Tokenizer, Prompt: prompt, Emit: emit})
	if err != nil {
		return Answer{}, err
	}
	opt.Progress = r.Progress
	res, err := s.Generate(ctx, prompt.IDs, opt, r.Queued, r.Token)
	a, emitErr := r.Finish(res)
	if err == nil {
		err = emitErr
	}
	return Answer{Message: *a.Message, Result: res, Used: min(len(prompt.IDs)+len(res.IDs), m.Context)}, err
}
