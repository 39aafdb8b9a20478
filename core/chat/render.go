package chat

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/pooled/pooled/core/tokenizer"
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

// Complete adds to a JSON input what every prompt of a model has: the time, and the special tokens of its vocabulary, which
// may be nil. What the input gives stays, null too. What is no JSON object is returned as it is, for the renderer to refuse.
func Complete(input []byte, t *tokenizer.Tokenizer, now time.Time) []byte {
	var given map[string]json.RawMessage
	if json.Unmarshal(input, &given) != nil || given == nil {
		return input
	}
	var fields []string
	if _, ok := given["now"]; !ok {
		fields = append(fields, `"now":`+now.Format(timeLayout))
	}
	if _, ok := given["special_tokens"]; !ok && t != nil {
		fields = append(fields, `"special_tokens":`+string(specialTokens(t)))
	}
	_, rest, _ := strings.Cut(string(input), "{")
	if len(given) > 0 {
		fields = append(fields, rest)
		rest = ""
	}
	return []byte("{" + strings.Join(fields, ",") + rest)
}

// timeLayout is the local time as renderers take it, a JSON string.
const timeLayout = `"2006-01-02T15:04:05"`

// RenderJSON renders a template with an input as it stands and returns exactly the rendered prompt.
//
// Nothing is escaped: the result is for reading and comparing. Prompts for a model come from Template.
func RenderJSON(ctx context.Context, r Renderer, template string, input []byte) (string, error) {
	return r.Render(ctx, RenderRequest{Template: template, Input: input})
}
