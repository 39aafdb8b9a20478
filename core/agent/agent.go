package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/grammar"
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
	// Always lets it run, and from now on every call of its class.
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
	// Exact switches the repairs of near misses off.
	Exact bool
	// Sampling says how to sample; its bounds, stops and mask are the agent's own.
	Sampling generate.Options
	// System replaces the system prompt.
	System string
	// Mode says which calls run without asking; empty means Ask.
	Mode Mode
	// Approve asks a person. Without it, what needs an approval is denied.
	Approve func(ctx context.Context, a Approval) (Decision, error)
	// Undo takes the newest change of a file back. With it, a last change that left an app with errors is taken back and
	// tried again; nil leaves it.
	Undo   func(ctx context.Context) error
	Limits Limits
	// Session keeps the conversation; nil keeps it in memory alone.
	Session *transcript.Session
	// History is what was said before, such as of a session that goes on.
	History []transcript.Message
	// Emit gets what happens, one event after the other, while a turn runs. It must not call the agent.
	Emit func(Event)
}

// Agent is a conversation with a model that works on a project.
//
// Owns: nothing; model, tools and session stay the caller's. Run runs one turn at a time; the rest is safe for concurrent
// use.
type Agent struct {
	opt Options

	mu      sync.Mutex
	busy    bool
	mode    Mode
	model   Model
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
		o.System = SystemPrompt
	}
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	a := &Agent{opt: o, mode: o.Mode, tools: o.Tools.definitions()}
	for i := range o.History {
		m := o.History[i]
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

// SetMode changes which calls run without asking. It holds from the next call on.
func (a *Agent) SetMode(m Mode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = m
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
	a.history, a.view, a.opt.Session, a.raw = nil, nil, s, false
	return nil
}

// add puts messages into the conversation and the session.
func (a *Agent) add(ms ...*transcript.Message) error {
	a.mu.Lock()
	a.history = append(a.history, ms...)
	a.view = append(a.view, ms...)
	a.mu.Unlock()
	return a.opt.Session.Append(ms...)
}

// turn is what one call of Run knows.
type turn struct {
	*Agent
	limits Limits
	guard  *guard
	engine grammar.Engine
	done   transcript.Outcome
	warm   bool // the last step led nowhere: sample the next one
	// doubled says that the last call was made before, with the same result.
	doubled bool
	// circles counts the steps that led nowhere; the more, the bolder is the sampling.
	circles int
	// running is the id of the call that runs, or ran last.
	running string
	// asked is where the answer of this step is in the history, before the tokens of the turn when it was begun.
	asked, before int
	// repeated says that it was cut, because its text repeated itself.
	repeated bool
	app      app
}

// end is an error that carries the reason for which a turn ends.
type end struct{ reason transcript.Reason }

func (e end) Error() string { return string(e.reason) }

// Run answers what a person asks for and does what it takes. It returns when the turn is over, always with the reason,
// and with an error where that is [transcript.ReasonError].
//
// When ctx ends, generation and tools stop, what was said so far is kept, and every call has an answer.
//
// Errors: [ErrBusy]; those of the model, of the grammar engine and of the session.
func (a *Agent) Run(ctx context.Context, text string) (transcript.Outcome, error) {
	a.mu.Lock()
	if a.busy {
		a.mu.Unlock()
		return transcript.Outcome{Reason: transcript.ReasonError}, ErrBusy
	}
	a.busy = true
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.busy = false
		a.mu.Unlock()
	}()

	began := time.Now()
	t := &turn{Agent: a, limits: a.opt.Limits.withDefaults(a.model.Context()), guard: newGuard()}
	work := ctx
	if t.limits.Time > 0 {
		var cancel context.CancelFunc
		work, cancel = context.WithTimeout(ctx, t.limits.Time)
		defer cancel()
	}
	err := t.run(work, text)
	err = errors.Join(err, a.add(transcript.Level(a.history, func(id string) bool { return id == t.running })...))
	reason, failure := t.reason(ctx, err)
	t.done.Reason, t.done.Time, t.done.Problems = reason, transcript.Duration(time.Since(began)), t.app.problems
	if serr := a.opt.Session.End(t.done); serr != nil {
		failure = errors.Join(failure, serr)
		t.done.Reason = transcript.ReasonError
	}
	if failure != nil {
		a.opt.Emit(Error{Message: failure.Error()})
	}
	a.opt.Emit(Done(t.done))
	return t.done, failure
}

// reason sorts out why a turn ended.
func (t *turn) reason(ctx context.Context, err error) (transcript.Reason, error) {
	var e end
	switch {
	case err == nil:
		return transcript.ReasonStop, nil
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return transcript.ReasonCancelled, nil
	case errors.Is(err, context.DeadlineExceeded) && t.limits.Time > 0:
		return transcript.ReasonTime, nil
	case errors.As(err, &e):
		return e.reason, nil
	case errors.Is(err, ErrContext):
		return transcript.ReasonContext, err
	}
	return transcript.ReasonError, err
}

// run is the loop of a turn.
func (t *turn) run(ctx context.Context, text string) error {
	// Whoever was killed in the middle may have begun any call.
	if err := t.add(transcript.Level(t.history, func(string) bool { return true })...); err != nil {
		return err
	}
	if err := t.add(&transcript.Message{Role: chat.RoleUser, Text: text}); err != nil {
		return err
	}
	if t.opt.Grammar != nil {
		e, err := t.opt.Grammar(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.opt.Emit(Note{Text: "calls are not held to their form: " + err.Error()})
		default:
			t.engine = e
		}
	}
	for {
		switch {
		case t.done.Steps == t.limits.Steps:
			return end{transcript.ReasonSteps}
		case t.limits.Tokens > 0 && t.done.Tokens >= t.limits.Tokens:
			return end{transcript.ReasonTokens}
		}
		t.done.Steps++
		t.guard.step++
		more, err := t.oneStep(ctx)
		if err == nil && more && t.guard.idle() {
			err = end{transcript.ReasonStuck}
		}
		if !more || err != nil {
			more, err = t.again(ctx, err)
		}
		if err != nil || !more {
			return err
		}
	}
}
