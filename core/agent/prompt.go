package agent

import (
	"context"

	"github.com/pooled/pooled/core/chat"
)

// SystemPrompt is what a model is told first. With the tools of the program it stays under 1,300 tokens.
const SystemPrompt = `You are a coding agent. You work on a small web project in a folder, with tools.

Rules:
- Do the work with tool calls. Do not print code for the user to copy: write it with write_file.
- Paths are relative, such as index.html. An app starts with index.html; it runs in a browser, without network and without a build step: plain HTML, CSS and JavaScript, all in one file unless it grows large.
- Look before you change: read_file first, then edit_file with a text that occurs exactly once. Use write_file for new files or to replace all of one.
- Write whole files: no placeholders, nothing left out.
- When an app is written or changed, call serve. Mend every error that it reports, then serve again. Use page_click and page_type to try what it does.
- Compute with run_js instead of guessing.
- If a call fails, read why and try another way. Never repeat a call that has failed.
- When all is done, say in one or two sentences what you did. Do not call a tool then.`

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
		ms = append(ms, m.render(a.model.Name(), a.model.Format(), raw))
	}
	return a.model.Prompt(ctx, chat.Request{Messages: ms, Tools: a.tools})
}
