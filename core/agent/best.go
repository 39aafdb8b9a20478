package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// change is an answer that changed files.
type change struct {
	at     int      // its message in the history
	ids    []string // what it changed, in the journal
	lost   bool     // it changed more, which no journal knows
	tokens int      // sampled in the turn before it
	taken  []Taken  // ids, once they were taken back
}

// attempt is how far a turn had come when it was taken back: what it had changed, what was said, and what was wrong with it.
type attempt struct {
	changes  []*change
	history  []*transcript.Message
	report   string
	problems int
	look     *transcript.Call
}

// remember keeps what is about to be taken back, if it has files, was looked at, and is better than what was kept before.
func (t *turn) remember() {
	a := &t.app
	if len(a.changes) == 0 || !a.looked || a.best != nil && a.best.problems <= a.problems {
		return
	}
	a.best = &attempt{
		changes: slices.Clone(a.changes), history: slices.Clone(t.agent.history), report: a.report, problems: a.problems, look: a.look,
	}
}

// settle leaves the best try behind at the end of a turn: the last one, or the one that was kept where the last one has more
// problems, or no files at all. A last try that nobody looked at is looked at now, unless ctx has ended: it then counts as
// the worse one, because nobody knows.
func (t *turn) settle(ctx context.Context) error {
	best := t.app.best
	if best == nil {
		return t.letGo()
	}
	if len(t.app.changes) > 0 && !t.app.looked {
		t.lookAgain(ctx)
	}
	if t.app.looked && t.app.problems <= best.problems {
		return t.letGo()
	}
	// It must be put back also when the turn was cancelled.
	if err := t.restore(context.WithoutCancel(ctx), best); err != nil {
		t.app.report = fmt.Sprintf("an earlier try was better, but cannot be put back: %v", err)
		t.emit(event.Note{Text: t.app.report})
		return nil // the journal still has it
	}
	n := common(t.agent.history, best.history)
	err := errors.Join(t.letGo(), t.agent.back(n), t.agent.add(best.history[n:]...))
	t.emit(event.Restored{Problems: best.report})
	return err
}

// lookAgain looks at the app as the model did for the try that was kept.
func (t *turn) lookAgain(ctx context.Context) {
	c := t.app.best.look
	if c == nil || ctx.Err() != nil {
		return
	}
	o := t.agent.opt.Tools.byName[c.Name]
	if o == nil || !t.agent.allows(o) {
		return
	}
	r, err := o.session.Call(ctx, tool.Call{Name: c.Name, Arguments: c.Arguments})
	if err != nil {
		return // nobody knows, then
	}
	t.saw(o, c, r)
}

// restore puts the files of an attempt back.
func (t *turn) restore(ctx context.Context, to *attempt) error {
	a := &t.app
	n := common(a.changes, to.changes)
	for i := len(a.changes) - 1; i >= n; i-- {
		if err := t.undo(ctx, a.changes[i]); err != nil {
			return err
		}
		a.changes = a.changes[:i]
	}
	for _, c := range to.changes[n:] {
		for _, taken := range c.taken {
			if err := taken.Again(ctx); err != nil {
				return err
			}
		}
		a.changes = append(a.changes, c)
	}
	a.report, a.problems, a.looked, a.look = to.report, to.problems, true, to.look
	return nil
}

// undo takes a change back, whole or not at all.
func (t *turn) undo(ctx context.Context, c *change) error {
	taken := make([]Taken, len(c.ids))
	for i := len(taken) - 1; i >= 0; i-- {
		one, err := t.agent.opt.TakeBack(ctx, c.ids[i])
		if err != nil {
			for _, one := range taken[i+1:] {
				err = errors.Join(err, one.Again(context.WithoutCancel(ctx)))
			}
			return err
		}
		taken[i] = one
	}
	c.taken = taken
	t.app.taken = append(t.app.taken, taken...)
	return nil
}

// letGo leaves everything taken back for good that was not made again.
func (t *turn) letGo() error {
	var errs []error
	for _, one := range t.app.taken {
		errs = append(errs, one.Settle())
	}
	return errors.Join(errs...)
}

// common counts the first elements that two lists share.
func common[E comparable](a, b []E) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
