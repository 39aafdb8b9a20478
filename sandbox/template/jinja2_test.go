package template

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/pooled/pooled/core/chat"
)

// jinja2Cases is testdata/jinja2.json.gz, which testdata/make_jinja2.py writes: small templates, and what jinja2 makes of them
// when it is set up as transformers sets it up.
type jinja2Cases struct {
	Variables json.RawMessage
	Cases     []struct{ Area, Template, Text, Error string }
}

// knownDifferences are templates that are rendered otherwise than by jinja2, with the reason.
var knownDifferences = map[string]string{
	"{{ l|random is defined and false }}": "a rendering has no randomness, so there is no filter random",
	"{{ lipsum is defined }}":             "a rendering has no randomness, so there is no lipsum",
	"{{ s|wordwrap(5) }}":                 "wordwrap is left out: no published template uses it",
	"{{ s|urlize }}":                      "urlize is left out: it makes links for web pages",
	"{{ 2 ** 200 }}":                      "numbers are computed with up to 127 bits",
	"{{ (-8) ** 0.5 }}":                   "there are no complex numbers",
	`{{ '\N{BULLET}' }}`:                  "the names of characters would take half a megabyte",
	"{{ (ld + ld)|pprint }}":              "pprint does not break lines",
	"{% set ns = namespace() %}{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{% set ns.f = m %}{% endfor %}{{ ns.f() }}": "jinja2 prints its own mark of a variable that is gone",
}

// TestAsJinja2 wants the text that jinja2 gives, and an error wherever it gives one.
func TestAsJinja2(t *testing.T) {
	f, err := os.Open("testdata/jinja2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all jinja2Cases
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	r := newRenderer(t)
	var variables map[string]json.RawMessage
	if err := json.Unmarshal(all.Variables, &variables); err != nil {
		t.Fatal(err)
	}
	messages := variables["messages"]
	delete(variables, "messages")
	input, err := json.Marshal(map[string]any{"messages": messages, "kwargs": variables, "now": "2025-07-29T13:05:09"})
	if err != nil {
		t.Fatal(err)
	}
	equal := 0
	for _, c := range all.Cases {
		got, err := r.Render(context.Background(), chat.RenderRequest{Template: c.Template, Input: input})
		var failure *chat.TemplateError
		same := c.Error == "" && err == nil && got == c.Text || c.Error != "" && errors.As(err, &failure)
		reason, known := knownDifferences[c.Template]
		switch {
		case same && known:
			t.Errorf("%s: %q is rendered as jinja2 renders it, though it is said to differ: %s", c.Area, c.Template, reason)
		case same:
			equal++
		case !known:
			t.Errorf("%s: %q\ngot  %q, %v\nwant %q, %s", c.Area, c.Template, got, err, c.Text, c.Error)
		}
	}
	t.Logf("%d of %d templates are rendered as by jinja2", equal, len(all.Cases))
	if len(all.Cases) < 3000 {
		t.Errorf("%d templates, want 3,000 or more", len(all.Cases))
	}
}

// TestReportedFaults holds what public reports of similar programs led to.
func TestReportedFaults(t *testing.T) {
	r := newRenderer(t)
	for _, c := range []struct{ name, template, want string }{
		{"and gives its operand", "[{{ '' and 'z' }}] [{{ 0 and 1 }}] [{{ none and 'z' }}] [{{ messages and 'z' }}]", "[] [0] [None] [[]]"},
		{"line ends of Windows", "a\r\nb\r\n{% if true %}\r\nc\r\n{% endif %}\r\nd", "a\nb\nc\nd"},
		{"groups have names", "{% for g in [{'g':1},{'g':1},{'g':2}]|groupby('g') %}{{ g.grouper }}:{{ g.list|length }};{% endfor %}", "1:2;2:1;"},
		{"a default uses arguments before it", "{% macro m(x, y=x) %}{{ x }}{{ y }}{% endmacro %}{{ m(3) }}", "33"},
		{
			"the length of a text",
			"{% for c in 'abc' %}{{ c }}{% if not loop.last %},{% endif %}{% endfor %} [{% for c in 'ab' %}{{ loop.length }}{{ loop.revindex }}{% endfor %}] [{% for c in 'abc'[::-1] %}{{ loop.last }}{% endfor %}]",
			"a,b,c [2221] [FalseFalseTrue]",
		},
		// node-llama-cpp 366, llama-box 57, llama.cpp 11016, 11400, 11402, 11443 and 11866.
		{"rejectattr", "{{ [{'r':'a'},{'r':'b'}]|rejectattr('r','equalto','a')|map(attribute='r')|join }}", "b"},
		{"a filter of an item", "{% for m in [{'role':'user'}] %}{{m['role'] | capitalize}}{% endfor %}", "User"},
		{"break and continue", "{% for i in [1,2,3,4] %}{% if i == 2 %}{% continue %}{% elif i == 4 %}{%- break %}{% endif %}{{ i }}{% endfor %}", "13"},
		{"what the model writes is marked", "{% for m in [{'t':'a'}]|selectattr('t','equalto','a') %}{% generation %}{{ m.t }}{% endgeneration %}{% endfor %}", "a"},
		{"methods of texts", "{{ ' a '.strip() + 'b' }}{{ 'x,y'.split(',')[-1] }}{{ 'Ab'.upper().startswith('A') }}", "abyTrue"},
		{"a name that is not there", "{% if unk is defined %}x{% endif %}{{ (system or '') + 'y' }}", "y"},
		{"an empty text cut on the left", "a\n{{- '' }}\n{{- 'b' }}", "ab"},
		{"names that last", "{% set ns = namespace(a=0) %}{% for i in [1,2] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}", "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := r.Render(context.Background(), chat.RenderRequest{Template: c.template, Input: []byte(`{"messages":[]}`)})
			if got != c.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
