package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/chat"
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
	problems string // what the last look at it reported; empty when it was fine or nobody looked
	told     bool   // the model was told once that it is not done
	tries    int
	retried  int // tokens thrown away
	changes  []change
}

// change is an answer that changed files.
type change struct {
	at     int // its message in the history
	edits  int // changes of files that it made
	tokens int // sampled in the turn before it
}

// saw takes note of a result. A result with a member ok in its data says whether the app works.
func (t *turn) saw(class tool.Class, r tool.Result) {
	if class == tool.Edit {
		if r.IsError || r.Diff == "" {
			return
		}
		t.app.problems = "" // nobody has looked since
		if n := len(t.app.changes); n > 0 && t.app.changes[n-1].at == t.asked {
			t.app.changes[n-1].edits++
			return
		}
		t.app.changes = append(t.app.changes, change{at: t.asked, edits: 1, tokens: t.before})
		return
	}
	var state struct {
		OK   *bool   `json:"ok"`
		Page *string `json:"entry"`
	}
	if r.Data == nil || json.Unmarshal(r.Data, &state) != nil || state.OK == nil || state.Page == nil {
		return
	}
	t.app.problems = ""
	if !*state.OK {
		t.app.problems = r.Text
	}
}

// again decides what to do when a model would end its turn, or runs in circles, although it is not done: its app reports
// errors, or it printed code that it should have written. What it did is taken back and tried again as long as that is
// cheap, which helps a small model more than being told; else it is told once. It reports whether the turn goes on.
//
// why is the error that ends the turn, or nil.
func (t *turn) again(ctx context.Context, why error) (bool, error) {
	var e end
	if errors.As(why, &e); t.opt.Exact || why != nil && e.reason != transcript.ReasonLoop && e.reason != transcript.ReasonStuck && e.reason != transcript.ReasonLength {
		return false, why
	}
	var from *change
	reason := firstLines(t.app.problems, 3)
	switch n := len(t.app.changes) - 1; {
	case t.app.problems != "" && n >= 0:
		from = &t.app.changes[n]
	case why == nil && t.printed():
		from, reason = &change{at: t.asked, tokens: t.before}, "code was printed instead of written"
	case t.repeated:
		from, reason = &change{at: t.asked, tokens: t.before}, "the text repeats itself"
	}
	if from != nil {
		if ok, err := t.takeBack(ctx, *from, reason); ok || err != nil {
			return ok, err
		}
	}
	text := ""
	switch {
	case why != nil || t.app.told:
		return false, why
	case t.app.problems != "":
		text = "You are not done: " + t.app.problems + "\nMend this in the files, then call serve again."
	case t.printed():
		text = "You printed code, but nothing was written. Write it into a file with the tool write_file, then call serve."
	default:
		return false, nil
	}
	t.app.told = true
	t.opt.Emit(Note{Text: "the model is told that it is not done"})
	return true, t.add(&transcript.Message{Role: chat.RoleUser, Auto: true, Text: text})
}

// takeBack undoes a change with all that was said since, so that the model answers anew. It reports whether it did.
func (t *turn) takeBack(ctx context.Context, c change, reason string) (bool, error) {
	thrown := t.done.Tokens - c.tokens
	if t.app.tries == maxTries || t.app.retried+thrown > maxRetried || c.edits > 0 && t.opt.Undo == nil {
		return false, nil
	}
	for range c.edits {
		if err := t.opt.Undo(ctx); err != nil {
			t.opt.Emit(Note{Text: "the last change cannot be taken back: " + err.Error()})
			return false, ctx.Err()
		}
	}
	t.app.changes = slices.DeleteFunc(t.app.changes, func(o change) bool { return o.at >= c.at })
	t.app.problems = ""
	t.app.tries++
	t.app.retried += thrown
	t.warm = true
	t.circles++
	fresh := newGuard()
	fresh.step, fresh.fresh = t.guard.step, t.guard.step
	t.guard = fresh
	t.opt.Emit(Retried{Try: t.app.tries, Reason: reason})
	return true, t.back(c.at)
}

// printed reports whether a turn that called nothing ends with a block of code that is worth a file.
func (t *turn) printed() bool {
	m := t.history[len(t.history)-1]
	if t.done.Calls > 0 || m.Role != chat.RoleAssistant {
		return false
	}
	_, rest, ok := strings.Cut(m.Text, "```")
	block, _, closed := strings.Cut(rest, "```")
	return ok && closed && strings.Count(block, "\n") > 5
}

// back cuts the conversation to its first n messages.
func (a *Agent) back(n int) error {
	a.mu.Lock()
	gone := map[*transcript.Message]bool{}
	for _, m := range a.history[n:] {
		gone[m] = true
	}
	a.history = a.history[:n:n]
	view := a.view[:0:0]
	for _, m := range a.view {
		if !gone[m] {
			view = append(view, m)
		}
	}
	a.view = view
	a.mu.Unlock()
	return a.opt.Session.Back(n)
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
