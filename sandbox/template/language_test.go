package template

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/pooled/pooled/core/chat"
)

// TestLanguage compares single constructs with what jinja2 makes of them; testdata/language.json holds its answers.
func TestLanguage(t *testing.T) {
	b, err := os.ReadFile("testdata/language.json")
	if err != nil {
		t.Fatal(err)
	}
	var language struct {
		Variables json.RawMessage
		Cases     []struct{ Template, Text, Error, Message string }
	}
	if err := json.Unmarshal(b, &language); err != nil {
		t.Fatal(err)
	}
	r := newRenderer(t)
	input := []byte(`{"kwargs":` + string(language.Variables) + `,"now":"2025-07-29T13:05:09"}`)
	for _, c := range language.Cases {
		got, err := chat.RenderJSON(context.Background(), r, c.Template, input)
		var failure *chat.TemplateError
		switch {
		case c.Error == "" && err != nil:
			t.Errorf("%s\ngot the error %v\nwant %q", c.Template, err, c.Text)
		case c.Error == "" && got != c.Text:
			t.Errorf("%s\ngot  %q\nwant %q", c.Template, got, c.Text)
		case c.Error != "" && !errors.As(err, &failure):
			t.Errorf("%s\ngot %q, %v; want the error %s: %s", c.Template, got, err, c.Error, c.Message)
		case c.Error != "" && failure.Kind != c.Error:
			t.Errorf("%s\ngot the error %s: %s\nwant %s: %s", c.Template, failure.Kind, failure.Message, c.Error, c.Message)
		}
	}
}
