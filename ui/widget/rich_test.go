package widget

import (
	"image"
	"strings"
	"testing"

	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"github.com/pooled/pooled/ui/markdown"
	"github.com/pooled/pooled/ui/theme"
)

var shared = theme.New(false)

func context(width int) layout.Context {
	return layout.Context{
		Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Constraints{Max: image.Pt(width, 10_000)},
	}
}

// text returns the lines as they were broken.
func (r *Rich) text() []string {
	var all []string
	for _, l := range r.lines {
		s := ""
		for _, run := range l.runs {
			s += run.text
		}
		all = append(all, s)
	}
	return all
}

func TestRichBreaksLines(t *testing.T) {
	const b, m = markdown.Bold, markdown.Mono
	for _, c := range []struct {
		name  string
		width int
		spans []markdown.Span
		want  []string
	}{
		{"nothing", 100, nil, []string{""}},
		{"one line", 1000, []markdown.Span{{Text: "one "}, {Text: "two", Style: b}}, []string{"one two"}},
		{"words", 60, []markdown.Span{{Text: "seven wizards box"}}, []string{"seven ", "wizards ", "box"}},
		{"no break inside of a word of two styles", 60, []markdown.Span{{Text: "seven wiz"}, {Text: "ards", Style: b}}, []string{"seven ", "wizards"}},
		{"line feeds", 1000, []markdown.Span{{Text: "a\n\nb\n"}, {Text: "c", Style: m}}, []string{"a", "", "b", "c"}},
		{"a long word", 40, []markdown.Span{{Text: "iiiiiiiiiiiiiiiiiiiiii"}}, nil},
		{"no width", 0, []markdown.Span{{Text: "ab c"}}, nil},
		{"letters without blanks between", 50, []markdown.Span{{Text: "日本語の文章です"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Rich
			dims := r.Layout(context(c.width), shared, c.spans, RichStyle{})
			got := r.text()
			// Blanks at the end of a line are not drawn.
			trim := func(ls []string) string {
				var out []string
				for _, l := range ls {
					out = append(out, strings.TrimRight(l, " "))
				}
				return strings.Join(out, "|")
			}
			if c.want != nil && trim(got) != trim(c.want) {
				t.Errorf("lines %q, want %q", got, c.want)
			}
			whole := ""
			for _, s := range c.spans {
				whole += s.Text
			}
			bare := strings.NewReplacer(" ", "", "\n", "")
			if bare.Replace(strings.Join(got, "")) != bare.Replace(whole) {
				t.Errorf("lines %q lost text of %q", got, whole)
			}
			if c.want == nil && len(got) < 2 {
				t.Errorf("%d lines, want several", len(got))
			}
			for i, l := range r.lines {
				if k := len(l.runs); c.width > 0 && k > 0 && l.runs[k-1].end.Ceil() > c.width+1 {
					t.Errorf("line %d is %d wide, want at most %d", i, l.runs[k-1].end.Ceil(), c.width)
				}
			}
			if dims.Size.Y < len(got)*15 {
				t.Errorf("height %d for %d lines", dims.Size.Y, len(got))
			}
		})
	}
}

// TestRichGrows checks that text which grows breaks like text that was whole, and that its first lines are kept.
func TestRichGrows(t *testing.T) {
	text := strings.Repeat("seven wizards box with jugs of ink and paper ", 10)
	var grown, whole Rich
	for i := range text {
		if i%7 == 0 {
			grown.Layout(context(300), shared, []markdown.Span{{Text: text[:i]}}, RichStyle{})
		}
	}
	first := &grown.lines[0].runs[0].glyphs[0]
	grown.Layout(context(300), shared, []markdown.Span{{Text: text}}, RichStyle{})
	whole.Layout(context(300), shared, []markdown.Span{{Text: text}}, RichStyle{})
	if got, want := strings.Join(grown.text(), "|"), strings.Join(whole.text(), "|"); got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
	if &grown.lines[0].runs[0].glyphs[0] != first {
		t.Error("the first line was shaped again")
	}
	grown.Layout(context(300), shared, []markdown.Span{{Text: text}}, RichStyle{Size: 20})
	if &grown.lines[0].runs[0].glyphs[0] == first {
		t.Error("another size kept the glyphs")
	}
}

// TestCodeKeepsLines checks that only lines that changed are shaped again while code streams.
func TestCodeKeepsLines(t *testing.T) {
	var c Code
	open := &markdown.Block{Kind: markdown.Code, Lang: "go", Text: "func f() {\n\tx", Open: true}
	c.Layout(context(300), shared, open)
	first := &c.lines[0].runs[0].glyphs[0]
	more := &markdown.Block{Kind: markdown.Code, Lang: "go", Text: "func f() {\n\txy\n}", Open: true}
	c.Layout(context(300), shared, more)
	if len(c.lines) != 3 || &c.lines[0].runs[0].glyphs[0] != first {
		t.Errorf("%d lines, want 3 with the first kept", len(c.lines))
	}
	if len(c.lines[0].runs) != 1 {
		t.Errorf("an open fence is coloured: %d runs", len(c.lines[0].runs))
	}
	done := *more
	done.Open = false
	c.Layout(context(300), shared, &done)
	if len(c.lines[0].runs) < 2 {
		t.Errorf("a fence that ended is not coloured: %d runs", len(c.lines[0].runs))
	}
}
