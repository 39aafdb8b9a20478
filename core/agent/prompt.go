package agent

import (
	"context"

	"github.com/pooled/pooled/core/chat"
)

// SystemPrompt is what a model is told first. With the tools of the program it stays under 1,300 tokens.
const SystemPrompt = `You are a coding agent. You work on a small web project in a folder by calling tools.

- Do everything with tool calls. Never print code for the user: write it into a file with write_file.
- write_file creates a file or replaces all of it. Give it the whole content: nothing left out, no placeholders.
- To change a part of a file, call read_file first, then edit_file with an old text that occurs exactly once.
- Paths are relative, such as index.html. An app starts with index.html. It runs in a browser, without network and without a build step: plain HTML, CSS and JavaScript.
- When an app is written or changed, call serve. If it reports errors, mend them and serve again. page_click and page_type try what the app does.
- To compute something, call run_js with code that prints the result with console.log.
- If a call fails, read why and try another way. Do not repeat it.
- When all is done, answer in one or two sentences, without a tool call.`

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
