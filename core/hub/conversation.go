package hub

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
)

// Kind says what a [Piece] is.
type Kind uint8

// The kinds.
const (
	// Text is part of the answer.
	Text Kind = iota
	// Reasoning is part of what the model thinks before it answers.
	Reasoning
	// Reading says how far the prompt is computed.
	Reading
)

// Piece is one event of an answer.
type Piece struct {
	Kind Kind
	// Text is what was added.
	Text string
	// Done and Total count the tokens of the prompt, when Kind is [Reading].
	Done, Total int
}

// Answer is a finished answer.
type Answer struct {
	// Message is the assistant's message as the conversation keeps it.
	Message chat.Message
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
	messages []chat.Message
}

// NewConversation starts a conversation, with a system prompt where one is given.
//
// Errors: [chat.ErrNoTemplate] for a base model.
func (m *Model) NewConversation(system string) (*Conversation, error) {
	if _, err := m.template(); err != nil {
		return nil, err
	}
	c := &Conversation{model: m, slot: m.NewSlot()}
	if system != "" {
		c.messages = append(c.messages, chat.Message{Role: chat.RoleSystem, Content: system})
	}
	return c, nil
}

// Messages returns a copy of the messages so far.
func (c *Conversation) Messages() []chat.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

// Send adds what the user says and answers it. When the answer is cancelled, what came of it is kept; after any other
// error the conversation is as it was before, so that the same text can be sent again.
//
// Errors: those of [generate.Sequence.Generate] and of the template; [ErrBusy].
func (c *Conversation) Send(ctx context.Context, text string, opt generate.Options, emit func(Piece) error) (Answer, error) {
	return c.turn(ctx, opt, emit, func(ms []chat.Message) []chat.Message {
		return append(ms, chat.Message{Role: chat.RoleUser, Content: text})
	})
}

// ErrNothing is returned when there is no answer to give again.
var ErrNothing = errors.New("there is no answer to give again")

// Regenerate drops the last answer and gives another. When that fails, the last answer stays.
func (c *Conversation) Regenerate(ctx context.Context, opt generate.Options, emit func(Piece) error) (Answer, error) {
	if ms := c.Messages(); len(ms) == 0 || ms[len(ms)-1].Role != chat.RoleAssistant {
		return Answer{}, ErrNothing
	}
	return c.turn(ctx, opt, emit, func(ms []chat.Message) []chat.Message { return ms[:len(ms)-1] })
}

// turn answers the messages that ask makes of those so far.
func (c *Conversation) turn(ctx context.Context, opt generate.Options, emit func(Piece) error, ask func([]chat.Message) []chat.Message) (Answer, error) {
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

	a, err := c.model.answer(ctx, c.slot, messages, opt, emit)
	if err != nil && a.Finish != generate.FinishCancelled {
		return a, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(messages, a.Message)
	return a, err
}

// answer generates the assistant's next message.
func (m *Model) answer(ctx context.Context, slot *Slot, messages []chat.Message, opt generate.Options, emit func(Piece) error) (Answer, error) {
	prompt, err := m.Prompt(ctx, chat.Request{Messages: messages})
	if err != nil {
		return Answer{}, err
	}
	if emit == nil {
		emit = func(Piece) error { return nil }
	}
	var emitErr error
	opt.Progress = func(done, total int) {
		emitErr = errors.Join(emitErr, emit(Piece{Kind: Reading, Done: done, Total: total}))
	}
	split := chat.NewSplitter(prompt.Tags, prompt.Reasoning)
	msg := chat.Message{Role: chat.RoleAssistant}
	send := func(reasoning, content string) error {
		msg.Reasoning += reasoning
		msg.Content += content
		if reasoning != "" {
			if err := emit(Piece{Kind: Reasoning, Text: reasoning}); err != nil {
				return err
			}
		}
		if content != "" {
			return emit(Piece{Kind: Text, Text: content})
		}
		return nil
	}
	r, err := slot.Generate(ctx, prompt.IDs, opt, nil, func(t generate.Token) error {
		return errors.Join(emitErr, send(split.Push(t.Text)))
	})
	err = errors.Join(err, send(split.Flush()))
	msg.IDs = r.IDs
	return Answer{Message: msg, Result: r, Used: min(len(prompt.IDs)+len(r.IDs), m.Context)}, err
}
