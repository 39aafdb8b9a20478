package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// The agent knows no tool by name: what a tool does, and which of its arguments mean what, its declaration says. So a
// dropped-in editor gets what the built-in one gets.

// doing returns the first tool that does something, or nil.
func (t *Tools) doing(what tool.Act) *offer {
	for _, o := range t.order {
		if o.Does == what {
			return o
		}
	}
	return nil
}

// ServeApp opens the app of the project, or a page of it, for a person, without the model knowing of it.
//
// Errors: [ErrUnknown] where no tool serves; those of [tool.Session.Call].
func (t *Tools) ServeApp(ctx context.Context, page string) (tool.Result, error) {
	o := t.doing(tool.ServesApp)
	if o == nil || page != "" && o.Roles.Path == "" {
		return tool.Result{}, fmt.Errorf("%w: a tool that serves the app, or this page of it", ErrUnknown)
	}
	args := map[string]string{}
	if page != "" {
		args[o.Roles.Path] = page
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return tool.Result{}, err
	}
	return o.session.Call(ctx, tool.Call{Name: o.Name, Arguments: raw})
}

// Brief returns the arguments that say what a call is about, the most telling first.
func (t *Tools) Brief(c *transcript.Call) []string {
	o := t.byName[c.Name]
	if o == nil {
		return nil
	}
	var told []string
	for _, name := range o.Roles.Brief {
		if v := c.Argument(name); v != "" {
			told = append(told, v)
		}
	}
	return told
}

// with is a part of a sentence about the tool that does something, such as ", then call serve again"; empty where there is
// none.
func (t *Tools) with(what tool.Act, format string) string {
	if o := t.doing(what); o != nil {
		return fmt.Sprintf(format, o.Name)
	}
	return ""
}

// system is what a model is told first: what holds for every project, and what the sets say of their tools.
func (t *Tools) system() string {
	lines := []string{
		"Do everything with tool calls. Never print code for the user: write it into a file" + t.with(tool.WritesFile, " with %s") + ".",
		"Paths are relative, such as index.html. An app starts with index.html. It runs in a browser, without network and without a build step: plain HTML, CSS and JavaScript.",
	}
	lines = append(lines, t.prompt...)
	lines = append(lines,
		"If a call fails, read why and try another way. Do not repeat it.",
		"When all is done, answer in one or two sentences, without a tool call.",
	)
	return "You are a coding agent. You work on a small web project in a folder by calling tools.\n\n- " + strings.Join(lines, "\n- ")
}
