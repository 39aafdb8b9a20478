package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/answer"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// textDoubled is what a model is told that repeats a call.
const textDoubled = "You have made this call already; its result is above. Go on with another call, or, if all is done, say so in one sentence without a call."

// runCalls runs the calls of an answer in order and puts their results into the conversation.
func (t *turn) runCalls(ctx context.Context, ans *answer.Answer) error {
	broken, stop := 0, error(nil)
	for _, c := range ans.Calls {
		if c.Index < 0 {
			broken++
			if err := t.agent.add(t.unreadable(c, ans.Finish)); err != nil {
				return err
			}
			continue
		}
		call := &ans.Message.Calls[c.Index]
		if stop != nil {
			if err := t.answer(call, tool.Result{Text: "error: not run, because an earlier call ended the turn", IsError: true}); err != nil {
				return err
			}
			continue
		}
		var err error
		if stop, err = t.runCall(ctx, call); err != nil {
			return err
		}
	}
	if stop != nil {
		return stop
	}
	if t.doubled && len(ans.Calls) == 1 && !t.agent.opt.NoRepair {
		// What stands twice in a prompt, a small model writes a third time. The first time is enough.
		if err := t.agent.back(t.asked); err != nil {
			return err
		}
		t.emit(event.Note{Text: "the model repeats a call; it is told to go on"})
		return t.agent.add(&transcript.Message{Role: chat.RoleUser, Auto: true, Text: textDoubled})
	}
	if broken == 0 {
		return nil
	}
	t.done.Broken += broken
	if broken < len(ans.Calls) {
		return nil
	}
	t.guard.broken++
	t.guard.fresh = t.guard.step // counted on its own
	if t.guard.broken >= t.limits.Broken {
		return end{transcript.ReasonBroken}
	}
	t.circles++
	t.warm = true
	return nil
}

// unreadable is the answer to a call that could not be read.
func (t *turn) unreadable(c answer.Call, finish generate.FinishReason) *transcript.Message {
	reason := c.Reason
	if c.Unfinished {
		reason = "the call was cut off, because the answer was too long. Nothing was done. Write less at once: a short version first, then extend it" + t.agent.opt.Tools.with(tool.EditsFile, " with %s")
		if finish == generate.FinishStop {
			reason = "the call is not complete. Write it again, whole"
		}
	}
	t.emit(event.CallBroken{Name: c.Name, Reason: reason, Unfinished: c.Unfinished})
	return &transcript.Message{Role: chat.RoleTool, Name: c.Name, IsError: true, Text: "error: " + reason}
}

// answer puts a call's result into the conversation.
func (t *turn) answer(c *transcript.Call, r tool.Result) error {
	return t.agent.add(&transcript.Message{
		Role: chat.RoleTool, CallID: c.ID, Name: c.Name, IsError: r.IsError, Diff: r.Diff, Text: capped(r.Text, t.limits.Result),
	})
}

// runCall runs one call. Stop is the reason for which the turn ends after it; with an error the call has no answer.
func (t *turn) runCall(ctx context.Context, c *transcript.Call) (stop, err error) {
	o := t.agent.opt.Tools.byName[c.Name]
	if o == nil {
		// The parser lets only declared tools through.
		return nil, fmt.Errorf("%w: the tool %s", ErrUnknown, c.Name)
	}
	asked, err := t.approve(ctx, o, c)
	if err != nil {
		return nil, err
	}
	r := tool.Result{}
	switch {
	case asked.refused != nil:
		r = *asked.refused
	case asked.Verdict == Deny:
		r = tool.Result{Text: "error: the user did not allow this", IsError: true}
		if asked.Feedback != "" {
			r.Text += ": " + asked.Feedback
		} else {
			stop = end{transcript.ReasonDenied}
		}
		t.emit(event.CallDone{Call: *c, Result: r.Text, IsError: true, Denied: true})
		return stop, t.answer(c, r)
	default:
		t.emit(event.CallRunning{Call: *c})
		t.running = c.ID
		r, err = o.session.Call(ctx, tool.Call{
			Name: c.Name, Arguments: c.Arguments, Approved: asked.sum, Progress: func(line string) { t.emit(event.Progress{ID: c.ID, Line: line}) },
		})
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r = tool.Failed(err)
		}
	}
	t.done.Calls++
	if len(c.Repaired) > 0 {
		t.done.Repaired++
	}
	t.saw(o, c, r)
	times := t.guard.note(c, o.Class, r)
	shown := r
	t.doubled = times == 2
	if times > 1 {
		t.warm = true
		t.circles++
		shown.Text += "\n(You made this call before, with the same result. Do something else, or say that you are done.)"
	}
	t.emit(event.CallDone{Call: *c, Result: r.Text, IsError: r.IsError, Diff: r.Diff, Health: r.Health, Data: r.Data})
	if times >= t.limits.Repeats {
		stop = end{transcript.ReasonLoop}
	}
	return stop, t.answer(c, shown)
}

// approval is what came of asking about a call.
type approval struct {
	Decision
	// refused is what the call gives, which was not worth a question: it cannot do what it asks for.
	refused *tool.Result
	// sum is that of the change which was shown.
	sum string
}

// approve finds out whether a call may run. A call that cannot do what it asks for is refused before a person is asked.
func (t *turn) approve(ctx context.Context, o *offer, c *transcript.Call) (approval, error) {
	if t.agent.allows(o) {
		return approval{Decision: Decision{Verdict: Allow}}, nil
	}
	shown, err := t.preview(ctx, o, c)
	if err != nil {
		return approval{}, err
	}
	if shown.IsError {
		return approval{refused: &shown}, nil
	}
	a := event.Approval{Call: *c, Set: o.set, Class: o.Class, Diff: shown.Diff, Shown: o.Roles.Changes()}
	t.emit(a)
	if t.agent.opt.Approve == nil {
		return approval{}, nil
	}
	d, err := t.agent.opt.Approve(ctx, a)
	if err == nil {
		err = ctx.Err()
	}
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return approval{}, nil
	}
	if err != nil || d.Verdict == Deny {
		return approval{Decision: d}, err
	}
	if d.Verdict == Always {
		t.agent.allow(o)
	}
	if shown.Sum == "" && o.Previews {
		// The tool cannot hold itself to what was shown; look whether it still is what would happen.
		now, err := t.preview(ctx, o, c)
		if err != nil {
			return approval{}, err
		}
		if now.IsError || now.Diff != shown.Diff {
			r := tool.Failed(errors.New("the project changed while the user was asked; nothing was done. Look at it again"))
			return approval{refused: &r}, nil
		}
	}
	return approval{Decision: d, sum: shown.Sum}, nil
}

// preview asks a tool what a call would change; of a tool that cannot say, the result is empty.
func (t *turn) preview(ctx context.Context, o *offer, c *transcript.Call) (tool.Result, error) {
	if !o.Previews {
		return tool.Result{}, nil
	}
	r, err := o.session.Call(ctx, tool.Call{Name: c.Name, Arguments: c.Arguments, DryRun: true})
	if err != nil {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r = tool.Failed(err)
	}
	return r, nil
}

// capped keeps the beginning and the end of a long text, cut between lines where that costs little.
func capped(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, tail := text[:n*2/3], text[len(text)-n/3:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)*3/4 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/4 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes left out …\n", len(text)-len(head)-len(tail)) +
		strings.ToValidUTF8(tail, "")
}
