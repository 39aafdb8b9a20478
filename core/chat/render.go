package chat

import (
	"context"
	"encoding/json"
)

// Renderer runs chat templates. sandbox/template implements it.
//
// Errors: *TemplateError for everything that the template or its input is to blame for; the context's error when it
// is cancelled.
// Owns: safe for concurrent use.
type Renderer interface {
	Render(ctx context.Context, req RenderRequest) (string, error)
}

// RenderRequest is one rendering.
type RenderRequest struct {
	// Template is the template's text (jinja2 as transformers runs it).
	Template string
	// Input is a JSON object {messages, tools, documents, add_generation_prompt, kwargs, special_tokens, now}, all
	// optional. kwargs and special_tokens become variables of the template; now is the local time as
	// "2006-01-02T15:04:05". Keys keep their order and numbers their form.
	Input json.RawMessage
}

// RenderJSON renders a template with an input as it stands and returns exactly the rendered prompt.
//
// Nothing is escaped: the result is for reading and comparing. Prompts for a model come from Template.
func RenderJSON(ctx context.Context, r Renderer, template string, input []byte) (string, error) {
	return r.Render(ctx, RenderRequest{Template: template, Input: input})
}
