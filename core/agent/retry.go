package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// Bounds of second tries: how many there are in a turn, and how many tokens they may throw away. A model that writes little
// may try more often than one that writes much.
const (
	maxTries   = 6
	maxRetried = 6144 // tokens
)

// app is what a turn knows of the app that the project is: whether it was seen to work.
type app struct {
	report   string // what the last look at it said, if that was bad
	problems int    // that it counts
	looked   bool   // somebody looked since the last change
	look     *transcript.Call
	told     bool // the model was told once that it is not done
	tries    int
	retried  int // tokens thrown away
	changes  []*change
	taken    []Taken // all that was taken back
	best     *attempt
}

// saw takes note of a result.
func (t *turn) saw(o *offer, c *transcript.Call, r tool.Result) {
	a := &t.app
	if o.Class == tool.Edit {
		if r.IsError || r.Diff == "" {
			return
		}
		a.report, a.problems, a.looked = "", 0, false
		n := len(a.changes)
		if n == 0 || a.changes[n-1].at != t.asked {
			a.changes = append(a.changes, &change{at: t.asked, tokens: t.before})
			n++
		}
		made := a.changes[n-1]
		made.ids, made.lost = append(made.ids, r.Changes...), made.lost || len(r.Changes) == 0
		return
	}
	if r.Health == nil {
		return
	}
	a.report, a.problems, a.looked = "", len(r.Health.Problems), true
	if !r.Health.OK() {
		a.report = r.Text
	}
	if o.Does == tool.ServesApp {
		a.look = c
	}
}

// What is said of a turn that printed what it should have written.
const (
	reasonPrinted = "code was printed instead of written"
	textPrinted   = "code was printed instead of written; no file was changed"
)

// again decides what to do when a model would end its turn, or runs in circles, although it is not done: its app reports
// errors, or it printed code that it should have written. What it did is taken back and tried again as long as that is
// cheap, which helps a small model more than being told; else it is told once. It reports whether the turn goes on.
//
// why is the error that ends the turn, or nil.
func (t *turn) again(ctx context.Context, why error) (bool, error) {
	var e end
	if errors.As(why, &e); t.agent.opt.NoRepair ||
		why != nil && e.reason != transcript.ReasonLoop && e.reason != transcript.ReasonStuck && e.reason != transcript.ReasonLength {
		return false, why
	}
	var from *change
	reason := firstLines(t.app.report, 3)
	printed := why == nil && t.printed()
	switch n := len(t.app.changes) - 1; {
	case t.app.report != "" && n >= 0:
		from = t.app.changes[n]
	case printed:
		from, reason = &change{at: t.asked, tokens: t.before}, reasonPrinted
	case t.repeated:
		from, reason = &change{at: t.asked, tokens: t.before}, errRepeats.Error()
	}
	if from != nil {
		if ok, err := t.takeBack(ctx, from, reason); ok || err != nil {
			return ok, err
		}
	}
	text, tools := "", t.agent.opt.Tools
	switch {
	case why != nil:
		return false, why
	case t.app.told && printed:
		t.app.report = textPrinted
		return false, nil
	case t.app.told:
		return false, nil
	case t.app.report != "":
		text = "You are not done: " + t.app.report + "\nMend this in the files" + tools.with(tool.ServesApp, ", then call %s again") + "."
	case printed:
		text = "You printed code, but nothing was written. Write it into a file" + tools.with(tool.WritesFile, " with the tool %s") +
			tools.with(tool.ServesApp, ", then call %s") + "."
	default:
		return false, nil
	}
	t.app.told = true
	t.emit(event.Note{Text: "the model is told that it is not done"})
	return true, t.agent.add(&transcript.Message{Role: chat.RoleUser, Auto: true, Text: text})
}

// takeBack undoes a change with all that was said since, so that the model answers anew. It reports whether it did.
func (t *turn) takeBack(ctx context.Context, c *change, reason string) (bool, error) {
	thrown := t.done.Tokens - c.tokens
	if t.app.tries == maxTries || t.app.retried+thrown > maxRetried || c.lost || len(c.ids) > 0 && t.agent.opt.TakeBack == nil {
		return false, nil
	}
	t.remember()
	if err := t.undo(ctx, c); err != nil {
		t.emit(event.Note{Text: "the last change cannot be taken back: " + err.Error()})
		return false, ctx.Err()
	}
	t.app.changes = slices.DeleteFunc(t.app.changes, func(o *change) bool { return o.at >= c.at })
	t.app.report, t.app.problems, t.app.looked = "", 0, false
	t.app.tries++
	t.app.retried += thrown
	t.warm = true
	t.circles++
	fresh := newGuard()
	fresh.step, fresh.fresh = t.guard.step, t.guard.step
	t.guard = fresh
	t.emit(event.Retried{Try: t.app.tries, Reason: reason})
	return true, t.agent.back(c.at)
}

// called reports whether the model called anything in this turn, as far as that was not taken back.
func (t *turn) called() bool {
	return slices.ContainsFunc(t.agent.history[t.began:], func(m *transcript.Message) bool { return len(m.Calls) > 0 })
}

// printed reports whether a turn that called nothing ends with a block of code that is worth a file.
func (t *turn) printed() bool {
	m := t.agent.history[len(t.agent.history)-1]
	if t.called() || m.Role != chat.RoleAssistant {
		return false
	}
	_, rest, ok := strings.Cut(m.Text, "```")
	block, _, closed := strings.Cut(rest, "```")
	return ok && closed && strings.Count(block, "\n") > 5
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
