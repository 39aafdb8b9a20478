package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// What compaction leaves of things.
const (
	oldResult   = 200 // bytes of a result
	worthwhile  = 100 // bytes by which a result must be longer than that to be shortened
	maxSummary  = 40  // lines of a summary
	minSummary  = 320 // bytes of a summary, also in a small context
	summaryPart = 4   // a summary has at most a byte for so many tokens of the context
)

// What is left free for an answer, in tokens: a part of the context, and no more than so many of a large one.
const (
	answerPart, answerMost = 4, 4096 // else the conversation is compacted
	leastPart, leastMost   = 16, 256 // else there is no answer
)

// rules shorten a conversation, gentle ones first. Each returns a new view, or nil when it finds nothing to do. None
// touches what stands before the messages: the system prompt and the tools.
var rules = []struct {
	name string
	do   func(tools *Tools, view []*transcript.Message, keep, room int) []*transcript.Message
	keep int // messages at the end that are left alone
}{
	{"old results were shortened", shortenResults, 4},
	{"old content of files was left out", dropContent, 2},
	{"earlier work was summarised", summariseTurns, 0},
	{"earlier steps were summarised", summariseSteps, 4},
	{"all but the last step was summarised", summariseSteps, 2},
	{"the last results were shortened", shortenResults, 0},
}

// fit returns the prompt of the next answer, after compacting the conversation if need be.
//
// Errors: [ErrContext].
func (t *turn) fit(ctx context.Context) (*chat.Prompt, error) {
	p, err := t.agent.prompt(ctx)
	room := t.agent.model.Context()
	limit := room - min(room/answerPart, answerMost)
	if err != nil || len(p.IDs) <= limit {
		return p, err
	}
	for _, r := range rules {
		view := r.do(t.agent.opt.Tools, t.agent.view, r.keep, room)
		if view == nil {
			continue
		}
		before := len(p.IDs)
		t.agent.mu.Lock()
		t.agent.view = view
		t.agent.mu.Unlock()
		if p, err = t.agent.prompt(ctx); err != nil {
			return nil, err
		}
		t.emit(event.Compacted{Rule: r.name, Before: before, After: len(p.IDs)})
		// Well below the limit, so that the next steps need no compaction of their own.
		if len(p.IDs) <= limit*3/4 {
			return p, nil
		}
	}
	if len(p.IDs) > room-min(room/leastPart, leastMost) {
		return nil, fmt.Errorf("%w: %w", ErrContext, &generate.PromptTooLongError{Tokens: len(p.IDs), Context: room})
	}
	return p, nil
}

// edit returns a copy of the view in which f has replaced messages before the last keep; nil when it replaced none.
func edit(view []*transcript.Message, keep int, f func(i int, m *transcript.Message) *transcript.Message) []*transcript.Message {
	out, changed := slices.Clone(view), false
	for i := range max(len(view)-keep, 0) {
		if m := f(i, view[i]); m != nil {
			out[i], changed = m, true
		}
	}
	if !changed {
		return nil
	}
	return out
}

// shortenResults keeps the beginning of old results.
func shortenResults(_ *Tools, view []*transcript.Message, keep, _ int) []*transcript.Message {
	return edit(view, keep, func(_ int, m *transcript.Message) *transcript.Message {
		if m.Role != chat.RoleTool || len(m.Text) <= oldResult+worthwhile {
			return nil
		}
		short := *m
		short.Text = fmt.Sprintf("%s… (%d bytes left out)", strings.ToValidUTF8(m.Text[:oldResult], ""), len(m.Text)-oldResult)
		return &short
	})
}

// dropContent leaves out what was written into files that were written or read again later, and old texts of edits.
func dropContent(tools *Tools, view []*transcript.Message, keep, _ int) []*transcript.Message {
	later := map[string]int{} // path → last message that writes all of it or reads it
	for i, m := range view {
		for j := range m.Calls {
			c := &m.Calls[j]
			if o := tools.byName[c.Name]; o != nil && (o.Does == tool.WritesFile || o.Does == tool.ReadsFile) {
				later[c.Argument(o.Roles.Path)] = i
			}
		}
	}
	return edit(view, keep, func(i int, m *transcript.Message) *transcript.Message {
		var calls []transcript.Call
		for j := range m.Calls {
			c := m.Calls[j]
			for _, name := range stale(tools.byName[c.Name], &c, i, later) {
				text := c.Argument(name)
				if len(text) <= oldResult {
					continue
				}
				if calls == nil {
					calls = slices.Clone(m.Calls)
				}
				c = c.WithArgument(name, fmt.Sprintf("(%d bytes, changed since)", len(text)))
				calls[j] = c
			}
		}
		if calls == nil {
			return nil
		}
		short := *m
		short.Calls, short.Raw, short.IDs = calls, "", nil
		return &short
	})
}

// stale returns the arguments of a call in message i whose texts no longer say what is in a file.
func stale(o *offer, c *transcript.Call, i int, later map[string]int) []string {
	switch {
	case o == nil:
	case o.Does == tool.WritesFile && later[c.Argument(o.Roles.Path)] > i:
		return []string{o.Roles.Content}
	case o.Does == tool.EditsFile:
		return []string{o.Roles.Old, o.Roles.New}
	}
	return nil
}

// Marks around a summary in a message of the user.
const (
	summaryOpen  = "[What was done before]\n"
	summaryClose = "[What is asked now]\n"
)

// summariseTurns replaces all turns but the last by a few lines in front of what is asked now.
func summariseTurns(tools *Tools, view []*transcript.Message, _, room int) []*transcript.Message {
	last := lastTurn(view)
	if last <= 0 {
		return nil
	}
	return append([]*transcript.Message{summed(view[last], summary(tools, view[:last]), room)}, view[last+1:]...)
}

// summariseSteps replaces the steps of the running turn, but for the last messages, by a few lines.
func summariseSteps(tools *Tools, view []*transcript.Message, keep, room int) []*transcript.Message {
	first := lastTurn(view)
	if first < 0 {
		return nil
	}
	to := len(view) - keep
	for to > first+1 && to < len(view) && view[to].Role != chat.RoleAssistant {
		to--
	}
	if to <= first+1 || to >= len(view) {
		return nil
	}
	out := slices.Clone(view[:first])
	out = append(out, summed(view[first], summary(tools, view[first+1:to]), room))
	return append(out, view[to:]...)
}

// lastTurn returns where the running turn begins, or -1.
func lastTurn(view []*transcript.Message) int {
	for i := len(view) - 1; i >= 0; i-- {
		if view[i].Role == chat.RoleUser && !view[i].Auto {
			return i
		}
	}
	return -1
}

// summed returns what a user asked with a summary before it, behind one that is there already. The newest lines are kept,
// as many as a context of so many tokens has room for.
func summed(m *transcript.Message, lines []string, room int) *transcript.Message {
	asked := m.Text
	if rest, ok := strings.CutPrefix(asked, summaryOpen); ok {
		if old, now, ok := strings.Cut(rest, summaryClose); ok {
			lines = append(strings.Split(strings.TrimSuffix(old, "\n"), "\n"), lines...)
			asked = now
		}
	}
	from, size := len(lines), 0
	for from > 0 && len(lines)-from < maxSummary && size+len(lines[from-1]) < max(room/summaryPart, minSummary) {
		from--
		size += len(lines[from]) + 1
	}
	if lines = lines[from:]; from > 0 {
		lines = append([]string{"…"}, lines...)
	}
	short := *m
	short.Text = summaryOpen + strings.Join(lines, "\n") + "\n" + summaryClose + asked
	return &short
}

// summary says in a line each what was asked, called and answered.
func summary(tools *Tools, ms []*transcript.Message) []string {
	var lines []string
	calls := map[string]*transcript.Call{}
	for _, m := range ms {
		switch m.Role {
		case chat.RoleUser:
			if m.Auto {
				continue
			}
			text := m.Text
			if rest, ok := strings.CutPrefix(text, summaryOpen); ok {
				old, now, _ := strings.Cut(rest, summaryClose)
				lines = append(lines, strings.Split(strings.TrimSuffix(old, "\n"), "\n")...)
				text = now
			}
			lines = append(lines, "The user asked: "+transcript.Brief(text))
		case chat.RoleAssistant:
			for i := range m.Calls {
				calls[m.Calls[i].ID] = &m.Calls[i]
			}
			if len(m.Calls) == 0 && !m.Broken && strings.TrimSpace(m.Text) != "" {
				lines = append(lines, "You answered: "+transcript.Brief(m.Text))
			}
		case chat.RoleTool:
			c := calls[m.CallID]
			if c == nil {
				continue
			}
			what := c.Name
			if told := tools.Brief(c); len(told) > 0 {
				what += " " + transcript.Brief(told[0])
			}
			lines = append(lines, "You called "+what+": "+transcript.Brief(m.Text))
		}
	}
	return lines
}
