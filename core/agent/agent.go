package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// Mode says which calls run without asking.
type Mode string

// The modes. Reading never needs an approval, and what a sandboxed set runs does not either.
const (
	// Ask asks before every edit.
	Ask Mode = "ask"
	// Edits allows edits, which can be undone, and asks before anything is run outside of the sandbox.
	Edits Mode = "edits"
	// All allows everything.
	All Mode = "all"
)

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return slices.Contains([]Mode{Ask, Edits, All}, m) }

// Verdict is a person's answer to a call.
type Verdict uint8

// The verdicts.
const (
	// Deny does not let the call run.
	Deny Verdict = iota
	// Allow lets it run.
	Allow
	// Always lets it run, and from now on every call of its class that goes to the same set of tools.
	Always
)

// Decision is a person's answer to a call, with what they have to say.
type Decision struct {
	Verdict Verdict
	// Feedback of a denial goes to the model, which then tries something else. A denial without it ends the turn.
	Feedback string
}

// Limits bound a turn. Zero values stand for the defaults.
type Limits struct {
	// Steps bounds the answers of a turn; 40.
	Steps int
	// Tokens bounds what a turn samples; 0 for no bound.
	Tokens int
	// AnswerTokens bounds one answer; 8,192, and never more than half of the context.
	AnswerTokens int
	// Time bounds a turn; 0 for no bound.
	Time time.Duration
	// Result bounds what the model reads of one result, in bytes; 16 KiB, and never more than a quarter of the context.
	Result int
	// Repeats is how often the same call may have the same result before the turn ends; 3.
	Repeats int
	// Broken is how many answers in a row may hold calls that cannot be read; 3.
	Broken int
}

func (l Limits) withDefaults(context int) Limits {
	def := func(v *int, to int) {
		if *v <= 0 {
			*v = to
		}
	}
	def(&l.Steps, 40)
	def(&l.AnswerTokens, min(8192, context/2))
	def(&l.Result, 16<<10)
	def(&l.Repeats, 3)
	def(&l.Broken, 3)
	// About three bytes a token, so that one result takes at most a quarter of the context.
	l.Result = min(l.Result, max(context*3/4, 256))
	return l
}

// Options say what an agent works with.
type Options struct {
	Model Model
	Tools *Tools
	// Grammar returns the engine for the model's tokenizer; nil leaves calls unconstrained. It is called once a turn.
	Grammar func(ctx context.Context) (grammar.Engine, error)
	// NoRepair reads calls as they are written: near misses are no calls.
	NoRepair bool
	// Sampling says how to sample; its bounds, stops and mask are the agent's own.
	Sampling generate.Options
	// System replaces the system prompt.
	System string
	// Mode says which calls run without asking; empty means Ask.
	Mode Mode
	// Approve asks a person. Without it, what needs an approval is denied.
	Approve func(ctx context.Context, a event.Approval) (Decision, error)
	// TakeBack takes a change back, by its id in the journal: see [tool.Result.Changes]. With it, a last change that left an app
	// with errors is taken back and tried again, and the best try is put back at the end; nil leaves it.
	TakeBack func(ctx context.Context, id string) (Taken, error)
	Limits   Limits
	// Session keeps the conversation; nil keeps it in memory alone.
	Session *transcript.Session
	// History is what was said before, such as of a session that goes on.
	History []transcript.Message
	// Emit gets what happens, one event after the other, while a turn runs. It must not call the agent.
	Emit func(event.Event)
}

// Taken is a change that was taken back, but not for good.
type Taken interface {
	// Again makes it again.
	Again(ctx context.Context) error
	// Settle leaves it taken back for good; after Again it does nothing.
	Settle() error
}

// grant is a class of calls of a set that a person always allows.
type grant struct {
	set   string
	class tool.Class
}

// Agent is a conversation with a model that works on a project.
//
// Owns: nothing; model, tools and session stay the caller's. Run runs one turn at a time; the rest is safe for concurrent
// use.
type Agent struct {
	opt Options // without what changes: that stands below

	mu      sync.Mutex
	busy    bool
	mode    Mode
	always  map[grant]bool
	model   Model
	session *transcript.Session
	history []*transcript.Message
	view    []*transcript.Message // of the history, what the model is shown
	calls   int                   // numbered so far
	raw     bool                  // answers go into the prompt as the text that was written
	tools   []byte
}

// New returns an agent.
//
// Errors: [ErrNoCalls].
func New(o Options) (*Agent, error) {
	if o.Mode == "" {
		o.Mode = Ask
	}
	if o.System == "" {
		o.System = o.Tools.system()
	}
	if o.Emit == nil {
		o.Emit = func(event.Event) {}
	}
	a := &Agent{opt: o, mode: o.Mode, session: o.Session, tools: o.Tools.definitions()}
	a.opt.Model, a.opt.Mode, a.opt.Session, a.opt.History = nil, "", nil, nil
	for _, m := range o.History {
		a.history = append(a.history, &m)
		a.calls += len(m.Calls)
	}
	a.view = slices.Clone(a.history)
	return a, a.SetModel(o.Model)
}

// SetModel goes on with another model.
//
// Errors: [ErrNoCalls], [ErrBusy].
func (a *Agent) SetModel(m Model) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.busy:
		return ErrBusy
	case !m.Format().Known():
		return fmt.Errorf("%s: %w", m.Name(), ErrNoCalls)
	}
	a.model, a.raw = m, false
	a.view = slices.Clone(a.history) // the new one may have more room
	return nil
}

// Mode returns which calls run without asking.
func (a *Agent) Mode() Mode {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode
}

// Asks reports whether a call of a tool would have to be approved now.
func (a *Agent) Asks(tool string) bool {
	o := a.opt.Tools.byName[tool]
	return o != nil && !a.allows(o)
}

// SetMode changes which calls run without asking. It holds from the next call on; what a person always allowed counts no more.
func (a *Agent) SetMode(m Mode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode, a.always = m, nil
}

// allows reports whether a tool's calls run without asking.
func (a *Agent) allows(o *offer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.mode == All || o.Class == tool.Read || a.always[grant{o.set, o.Class}]:
		return true
	case o.Class == tool.Edit:
		return a.mode == Edits
	}
	return o.sandboxed
}

// allow allows the calls of a class that go to the same set from now on.
func (a *Agent) allow(o *offer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.always == nil {
		a.always = map[grant]bool{}
	}
	a.always[grant{o.set, o.Class}] = true
}

// History returns a copy of the conversation.
func (a *Agent) History() []transcript.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]transcript.Message, len(a.history))
	for i, m := range a.history {
		list[i] = *m
	}
	return list
}

// Clear forgets the conversation and goes on in another session; it may be nil.
//
// Errors: [ErrBusy].
func (a *Agent) Clear(s *transcript.Session) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy {
		return ErrBusy
	}
	a.history, a.view, a.session, a.raw = nil, nil, s, false
	return nil
}

// number gives the calls of an answer their ids.
func (a *Agent) number(m *transcript.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range m.Calls {
		a.calls++
		m.Calls[i].ID = fmt.Sprintf("call%05d", a.calls) // nine letters and digits: some templates insist
	}
}

// add puts messages into the conversation and the session.
func (a *Agent) add(ms ...*transcript.Message) error {
	a.mu.Lock()
	a.history = append(a.history, ms...)
	a.view = append(a.view, ms...)
	a.mu.Unlock()
	return a.session.Append(ms...)
}

// back cuts the conversation to its first n messages. What was compacted is compacted anew where it must be.
func (a *Agent) back(n int) error {
	a.mu.Lock()
	a.history = a.history[:n:n]
	a.view = slices.Clone(a.history)
	a.mu.Unlock()
	return a.session.Back(n)
}
