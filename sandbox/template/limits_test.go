package template

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pooled/pooled/core/chat"
)

// TestHostileTemplates checks that each is stopped with an error of its kind, soon, and that the next rendering is clean.
func TestHostileTemplates(t *testing.T) {
	r := newRenderer(t)
	deep := strings.Repeat("[", 100_000)
	for _, c := range []struct {
		name, template, input, kind, message string
	}{
		{"endless", `{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}`, `{}`, chat.KindLimit, ""},
		{"endless macro", `{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}`, `{}`, chat.KindRuntime, ""},
		{"doubling text", `{% set n = namespace(s='x') %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}`, `{}`, chat.KindLimit, ""},
		{"repeated text", `{{ 'x' * 99999999999 }}`, `{}`, chat.KindLimit, "copies too much"},
		{"much output", `{% for a in range(99999) %}{% for b in range(999) %}` + strings.Repeat("x", 999) + `{% endfor %}{% endfor %}`, `{}`, chat.KindLimit, "memory"},
		{"padding", `{{ '%99999999999d' % 1 }}`, `{}`, chat.KindLimit, ""},
		{"format padding", `{{ '{:>99999999999}'.format(1) }}`, `{}`, chat.KindLimit, ""},
		{"many lists", `{% set n = namespace(l=[]) %}{% for a in range(99999) %}{% set n.l = n.l + [n.l] %}{% endfor %}`, `{}`, chat.KindLimit, ""},
		{"deep list", `{% set n = namespace(l=[]) %}{% for a in range(99999) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}`, `{}`, chat.KindLimit, ""},
		{"deep expression", `{{ ` + strings.Repeat("1+", 100_000) + `1 }}`, `{}`, chat.KindLimit, "nested too deeply"},
		{"deep parentheses", `{{ ` + strings.Repeat("(", 100_000), `{}`, chat.KindTemplate, ""},
		{"deep input", `x`, `{"messages":` + deep, chat.KindRequest, "recursion"},
		{"wide slice", `{% set l = range(99999) | list %}{% for a in range(9999) %}{{ l[::2] | length }}{% endfor %}`, `{}`, chat.KindLimit, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			got, err := r.Render(context.Background(), chat.RenderRequest{Template: c.template, Input: []byte(c.input)})
			var failure *chat.TemplateError
			if !errors.As(err, &failure) {
				t.Fatalf("got %d bytes, %v; want an error about the template", len(got), err)
			}
			if failure.Kind != c.kind || !strings.Contains(failure.Message, c.message) {
				t.Errorf("got the error %s: %s; want %s: …%s…", failure.Kind, failure.Message, c.kind, c.message)
			}
			if took := time.Since(start); took > defaultTimeout+time.Second {
				t.Errorf("stopped after %v", took)
			}
			if got, err := r.Render(context.Background(), chat.RenderRequest{Template: "a{{ 1 + 1 }}", Input: []byte(`{}`)}); got != "a2" || err != nil {
				t.Errorf("the next rendering gives %q, %v", got, err)
			}
		})
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	r := newRenderer(t)
	for _, c := range []struct {
		template, kind, message string
		line                    int
	}{
		{"a\n{% if %}", chat.KindTemplate, "", 2},
		{"a\n\n{% nope %}", chat.KindTemplate, "nope", 3},
		{"a\n{% for x in messages %}\n", chat.KindTemplate, "", 0},
		{"a\n\n{{ messages[0].role.x }}", chat.KindUndefined, "'messages[0]' is undefined", 3},
		{"{% macro f(x) %}\n{{ x.y.z }}\n{% endmacro %}\n\n{{ f({}) }}", chat.KindUndefined, "'x.y' is undefined", 2},
		{"\n{{ 'a' + 1 }}", chat.KindRuntime, `can only concatenate str (not "int") to str`, 2},
		{"\n\n{{ raise_exception('not like this') }}", chat.KindRaised, "not like this", 3},
		{"\n{{ 1 | nope }}", chat.KindTemplate, "nope", 2},
		{"\n{% include 'other' %}", chat.KindTemplate, "include", 2},
		{"\n{{ strftime_now('%Y') }}", chat.KindRuntime, "now", 2},
	} {
		_, err := r.Render(context.Background(), chat.RenderRequest{Template: c.template, Input: []byte(`{}`)})
		var failure *chat.TemplateError
		if !errors.As(err, &failure) {
			t.Errorf("%q: got %v", c.template, err)
			continue
		}
		if failure.Kind != c.kind || !strings.Contains(failure.Message, c.message) || c.line != 0 && failure.Line != c.line {
			t.Errorf("%q: got %s, line %d: %s; want %s, line %d: %s", c.template, failure.Kind, failure.Line, failure.Message, c.kind, c.line, c.message)
		}
	}
}

// TestLongReason has a template refuse in more words than anybody reads.
func TestLongReason(t *testing.T) {
	r := newRenderer(t)
	_, err := r.Render(context.Background(), chat.RenderRequest{Template: "{{ raise_exception('x' * 4000000) }}", Input: []byte(`{}`)})
	var failure *chat.TemplateError
	if !errors.As(err, &failure) || failure.Kind != chat.KindRaised || len(failure.Message) > maxMessage+3 {
		t.Errorf("got %.200v, want a reason of %d bytes", err, maxMessage)
	}
}

func TestInputs(t *testing.T) {
	r := newRenderer(t)
	for _, c := range []struct{ template, input, want, err string }{
		{"{{ messages }}{{ tools }}{{ documents }}{{ add_generation_prompt }}", `{}`, "[]NoneNoneTrue", ""},
		{"{{ a }}{{ b }}", `{"kwargs":{"a":1.50},"special_tokens":{"b":"<s>"}}`, "1.5<s>", ""},
		{"{{ messages | tojson }}", `{"messages":[{"z":1,"a":1e5,"m":-0,"n":123456789012345678901234567890}]}`, `[{"z": 1, "a": 100000.0, "m": 0, "n": 123456789012345678901234567890}]`, ""},
		{"x", `{"kwargs":{"messages":1}}`, "", "kwargs may not set 'messages'"},
		{"x", `{"nope":1}`, "", "unknown field 'nope'"},
		{"x", `[]`, "", "must be a JSON object"},
		{"x", `{`, "", "not JSON"},
		{"x", `{"now":"yesterday"}`, "", "not a date"},
		{"\xff", `{}`, "", "UTF-8"},
	} {
		got, err := r.Render(context.Background(), chat.RenderRequest{Template: c.template, Input: []byte(c.input)})
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q with %s: got %q, %v; want %q, %s", c.template, c.input, got, err, c.want, c.err)
		}
	}
}

func TestCancelled(t *testing.T) {
	r := newRenderer(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := r.Render(ctx, chat.RenderRequest{Template: `{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}`, Input: []byte(`{}`)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v to stop", took)
	}
}

func TestConcurrentRenderings(t *testing.T) {
	ref := loadReference(t)
	r := newRenderer(t)
	var wg sync.WaitGroup
	for name, template := range ref.Templates {
		wg.Go(func() {
			for _, conversation := range []string{"user", "tools", "multi-turn", "no-messages"} {
				want := template.Cases[conversation]
				got, err := r.Render(context.Background(), chat.RenderRequest{Template: template.Template, Input: ref.input(t, name, conversation)})
				if (err != nil) != (want.Error != "") || got != want.Text {
					t.Errorf("%s, %s: got %q, %v", name, conversation, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestInterpreted renders while there is no native code yet.
func TestInterpreted(t *testing.T) {
	r := &Renderer{options: Options{Timeout: 10 * time.Second, Instances: 1}, done: make(chan struct{})}
	got, err := r.Render(context.Background(), chat.RenderRequest{Template: "{{ messages | length }}", Input: []byte(`{"messages":[1,2]}`)})
	if got != "2" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	close(r.done)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
