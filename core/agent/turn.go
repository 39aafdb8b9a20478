package agent

import (
	"context"
	"errors"
	"time"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/transcript"
)

// turn is what one call of Run knows.
type turn struct {
	agent  *Agent
	limits Limits
	guard  *guard
	engine grammar.Engine
	done   transcript.Outcome
	// began is where the turn's first message is in the history.
	began int
	warm  bool // the last step led nowhere: sample the next one
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
	t := &turn{agent: a, limits: a.opt.Limits.withDefaults(a.model.Context()), guard: newGuard()}
	work := ctx
	if t.limits.Time > 0 {
		var cancel context.CancelFunc
		work, cancel = context.WithTimeout(ctx, t.limits.Time)
		defer cancel()
	}
	err := t.run(work, text)
	err = errors.Join(err, a.add(transcript.Level(a.history, func(id string) bool { return id == t.running })...))
	err = errors.Join(err, t.settle(work))
	reason, failure := t.reason(ctx, err)
	t.done.Reason, t.done.Time, t.done.Problems = reason, transcript.Duration(time.Since(began)), t.app.report
	if serr := a.session.End(t.done); serr != nil {
		failure = errors.Join(failure, serr)
		t.done.Reason = transcript.ReasonError
	}
	if failure != nil {
		a.opt.Emit(event.Error{Message: failure.Error()})
	}
	a.opt.Emit(event.Done(t.done))
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

// emit tells what happens.
func (t *turn) emit(e event.Event) { t.agent.opt.Emit(e) }

// run is the loop of a turn.
func (t *turn) run(ctx context.Context, text string) error {
	// Whoever was killed in the middle may have begun any call.
	if err := t.agent.add(transcript.Level(t.agent.history, func(string) bool { return true })...); err != nil {
		return err
	}
	t.began = len(t.agent.history)
	if err := t.agent.add(&transcript.Message{Role: chat.RoleUser, Text: text}); err != nil {
		return err
	}
	if t.agent.opt.Grammar != nil {
		e, err := t.agent.opt.Grammar(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.emit(event.Note{Text: "calls are not held to their form: " + err.Error()})
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
