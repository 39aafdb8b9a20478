package template

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/chat"
)

// reference is testdata/reference.json.gz: published templates, conversations, and what transformers renders.
type reference struct {
	Conversations map[string]map[string]json.RawMessage
	Templates     map[string]struct {
		Template string
		Special  json.RawMessage `json:"special_tokens"`
		Now      string
		Cases    map[string]struct{ Text, Error, Message string }
	}
}

func loadReference(t testing.TB) *reference {
	t.Helper()
	f, err := os.Open("testdata/reference.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var ref reference
	if err := json.NewDecoder(z).Decode(&ref); err != nil {
		t.Fatal(err)
	}
	return &ref
}

// input returns the rendering's input for a template and a conversation.
func (ref *reference) input(t testing.TB, template, conversation string) []byte {
	t.Helper()
	in := maps.Clone(ref.Conversations[conversation])
	in["special_tokens"] = ref.Templates[template].Special
	in["now"] = json.RawMessage(`"` + ref.Templates[template].Now + `"`)
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRendersAsTheReference(t *testing.T) {
	ref := loadReference(t)
	r := newRenderer(t)
	total, equal := 0, 0
	for _, name := range slices.Sorted(maps.Keys(ref.Templates)) {
		template := ref.Templates[name]
		for _, conversation := range slices.Sorted(maps.Keys(template.Cases)) {
			want := template.Cases[conversation]
			total++
			got, err := chat.RenderJSON(context.Background(), r, template.Template, ref.input(t, name, conversation))
			var failure *chat.TemplateError
			switch {
			case want.Error == "" && err != nil:
				t.Errorf("%s, %s: %v", name, conversation, err)
			case want.Error == "" && got != want.Text:
				t.Errorf("%s, %s:\ngot  %q\nwant %q", name, conversation, got, want.Text)
			case want.Error != "" && !errors.As(err, &failure):
				t.Errorf("%s, %s: got %q, %v; want the error %s: %s", name, conversation, got, err, want.Error, want.Message)
			case want.Error != "" && failure.Kind != want.Error:
				t.Errorf("%s, %s: got the error %s: %s, want %s: %s", name, conversation, failure.Kind, failure.Message, want.Error, want.Message)
			case want.Error == chat.KindRaised && failure.Message != want.Message:
				t.Errorf("%s, %s: got the message %q, want %q", name, conversation, failure.Message, want.Message)
			default:
				equal++
			}
		}
	}
	t.Logf("%d of %d renderings equal", equal, total)
	if total != 780 {
		t.Errorf("%d renderings compared, want 780", total)
	}
}
