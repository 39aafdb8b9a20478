package template

import (
	"context"
	"errors"
	"testing"

	"github.com/pooled/pooled/core/chat"
)

// FuzzRender feeds templates and inputs to the guest: it must answer with text or an error about the template.
func FuzzRender(f *testing.F) {
	ref := loadReference(f)
	r := newRenderer(f)
	for name, template := range ref.Templates {
		f.Add(template.Template, string(ref.input(f, name, "tool-call")))
	}
	f.Add(`{% for m in messages %}{{ m.content[1:].split(x)|join('-')|tojson(indent=2) }}{% endfor %}`, `{"messages":[{"content":"abc"}],"kwargs":{"x":"b"},"marks":{"b":"c"}}`)
	f.Add(`{{ '%5.3s|%x' % (messages, 3) }}{{ '{:>9}'.format(1.5) }}{{ strftime_now('%-d %U') }}`, `{"now":"2024-02-29T23:59:60.5"}`)
	f.Add(`{% generation %}{% raw %}{{`, `{}`)
	f.Fuzz(func(t *testing.T, template, input string) {
		_, err := r.Render(context.Background(), chat.RenderRequest{Template: template, Input: []byte(input)})
		var failure *chat.TemplateError
		if err != nil && !errors.As(err, &failure) {
			t.Fatalf("%q with %q: %v", template, input, err)
		}
	})
}
