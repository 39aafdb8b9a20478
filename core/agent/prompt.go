package agent

import (
	"context"

	"github.com/pooled/pooled/core/chat"
)

// prompt makes the prompt of the conversation as it is shown to the model.
//
// The calls of earlier answers go in as the template writes them. If that is not how the model wrote them, everything goes
// in as text from then on, for what was sampled must stand in the prompt exactly to be found in the cache.
func (a *Agent) prompt(ctx context.Context) (*chat.Prompt, error) {
	p, err := a.promptAs(ctx, a.raw)
	if err != nil || a.raw || p.Replayed == a.sampled() {
		return p, err
	}
	raw, rawErr := a.promptAs(ctx, true)
	if rawErr == nil && raw.Replayed > p.Replayed {
		a.raw = true
		return raw, nil
	}
	return p, nil
}

// sampled counts the messages whose ids the model could use again.
func (a *Agent) sampled() int {
	n := 0
	for _, m := range a.view {
		if m.Role == chat.RoleAssistant && len(m.IDs) > 0 && m.Model == a.model.Name() {
			n++
		}
	}
	return n
}

func (a *Agent) promptAs(ctx context.Context, raw bool) (*chat.Prompt, error) {
	ms := []chat.Message{{Role: chat.RoleSystem, Content: a.opt.System}}
	for _, m := range a.view {
		ms = append(ms, m.Chat(a.model.Name(), a.model.Format(), raw))
	}
	return a.model.Prompt(ctx, chat.Request{Messages: ms, Tools: a.tools})
}
