package markdown_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/ui/markdown"
)

// show writes blocks as lines.
func show(blocks []*markdown.Block) string {
	var s strings.Builder
	for _, b := range blocks {
		kind := [...]string{"p", "h", "code", "table", "rule"}[b.Kind]
		fmt.Fprintf(&s, "%s%s", strings.Repeat(">", b.Quote), strings.Repeat("  ", b.Indent))
		if b.Marker != "" {
			s.WriteString(b.Marker + " ")
		}
		s.WriteString(kind)
		if b.Level > 0 {
			fmt.Fprint(&s, b.Level)
		}
		if b.Lang != "" {
			s.WriteString(" " + b.Lang)
		}
		if b.Open {
			s.WriteString(" open")
		}
		if b.Text != "" {
			fmt.Fprintf(&s, " %q", b.Text)
		}
		for _, sp := range b.Spans {
			style := ""
			for i, c := range "bims" {
				if sp.Style&(1<<i) != 0 {
					style += string(c)
				}
			}
			if sp.Style&markdown.Link != 0 {
				style += "l"
			}
			if sp.Style&markdown.Faint != 0 {
				style += "f"
			}
			fmt.Fprintf(&s, " %s%q", style, sp.Text)
		}
		s.WriteString("\n")
	}
	return s.String()
}

var documents = []struct{ name, source, want string }{
	{"empty", "", ""},
	{"blank", " \n\n", ""},
	{"paragraphs", "one\ntwo\n\nthree", "p \"one\\ntwo\"\np \"three\"\n"},
	{"heading", "## Go *on*\n", "h2 \"Go \" i\"on\"\n"},
	{"setext", "Go\n==\nx", "h1 \"Go\"\np \"x\"\n"},
	{"styles", "**b** *i* `c` ~~s~~ ***bi***", "p b\"b\" \" \" i\"i\" \" \" m\"c\" \" \" s\"s\" \" \" bi\"bi\"\n"},
	{"entities", `a \* b &amp; &#33; c`, "p \"a * b & ! c\"\n"},
	{"code keeps entities", "`&amp; \\*`", "p m\"&amp; \\\\*\"\n"},
	{"tabs", "a\tb", "p \"a    b\"\n"},
	{"link", "[here](https://a.example) and <https://b.example>", "p l\"here\" f\" (https://a.example)\" \" and \" l\"https://b.example\"\n"},
	{"link that says so", "[https://a.example](https://a.example)", "p l\"https://a.example\"\n"},
	{"image", "![a cat](cat.png)", "p f\"image: \" l\"a cat\" f\" (cat.png)\"\n"},
	{"fence", "```Go\nx := 1\n\ny\n```\n", "code go \"x := 1\\n\\ny\"\n"},
	{"tildes", "~~~\n```\n~~~", "code \"```\"\n"},
	{"indented code", "    a\n    b\n", "code \"a\\nb\"\n"},
	{"list", "- a\n- b\n  - c\n\n3. d\n4. e", "  • p \"a\"\n  • p \"b\"\n    • p \"c\"\n  3. p \"d\"\n  4. p \"e\"\n"},
	{"item with code", "1. a\n   ```\n   x\n   ```\n   b", "  1. p \"a\"\n  code \"x\"\n  p \"b\"\n"},
	{"empty item", "-\n- a", "  • p\n  • p \"a\"\n"},
	{"tasks", "- [x] a\n- [ ] b", "  • p m\"[x] \" \"a\"\n  • p m\"[ ] \" \"b\"\n"},
	{"quote", "> a\n> > b", "> p \"a\"\n>>p \"b\"\n"},
	{"rule", "a\n\n---\n\nb", "p \"a\"\nrule\np \"b\"\n"},
	{"table", "| a | bb |\n|--:|:--|\n| 10 | x |\n| 1 | y |", "table \" a │ bb\\n───┼───\\n10 │ x\\n 1 │ y\"\n"},
	{"html", "<b>x</b>\n\n<div>\ny\n</div>", "p \"<b>x</b>\"\np \"<div>\\ny\\n</div>\"\n"},
}

func TestDocument(t *testing.T) {
	for _, c := range documents {
		t.Run(c.name, func(t *testing.T) {
			var d markdown.Document
			d.Append(c.source)
			d.Close()
			got := show(d.Blocks())
			want := strings.ReplaceAll(c.want, "> p", ">p")
			if got != want {
				t.Errorf("blocks\n%swant\n%s", got, want)
			}
			if d.Source() != c.source || d.Len() != len(c.source) {
				t.Errorf("source %q", d.Source())
			}
		})
	}
}

// TestStreaming checks that text that comes byte by byte ends as the same blocks as text that comes at once.
func TestStreaming(t *testing.T) {
	var all strings.Builder
	for _, c := range documents {
		all.WriteString(c.source + "\n\n")
	}
	for _, c := range append(documents, struct{ name, source, want string }{"all", all.String(), ""}) {
		t.Run(c.name, func(t *testing.T) { stream(t, c.source, 1) })
	}
}

func stream(t *testing.T, source string, step int) {
	t.Helper()
	var once, slow markdown.Document
	once.Append(source)
	once.Close()
	for i := 0; i < len(source); i += step {
		slow.Append(source[i:min(i+step, len(source))])
		slow.Blocks()
	}
	slow.Close()
	if got, want := show(slow.Blocks()), show(once.Blocks()); got != want {
		t.Errorf("streamed\n%swant\n%s", got, want)
	}
}

func TestOpenFence(t *testing.T) {
	for _, c := range []struct {
		source string
		open   bool
	}{
		{"```", true},
		{"```go", true},
		{"```go\n", true},
		{"```\nx", true},
		{"```\nx\n``", true},
		{"```\nx\n```", false},
		{"```\n```", false},
		{"~~~\n```", true},
		{"- a\n  ```\n  x", true},
		{"- a\n  ```\n  x\n  ```", false},
		{"> ```\n> x\n> ```", false},
		{"    x", false},
	} {
		var d markdown.Document
		d.Append(c.source)
		b := d.Blocks()
		if got := b[len(b)-1].Open; got != c.open {
			t.Errorf("%q: open %v, want %v", c.source, got, c.open)
		}
		d.Close()
		b = d.Blocks()
		if b[len(b)-1].Open {
			t.Errorf("%q: open after the end", c.source)
		}
	}
}

// TestKeepsPointers checks that blocks that did not change are the same, so that what was laid out for them stays good.
func TestKeepsPointers(t *testing.T) {
	var d markdown.Document
	d.Append("# Title\n\nfirst\n\n- a\n- b\n\n```go\nx\n```\n\nlast")
	before := append([]*markdown.Block(nil), d.Blocks()...)
	d.Append(" grows")
	after := d.Blocks()
	for i := range before[:len(before)-1] {
		if before[i] != after[i] {
			t.Errorf("block %d changed: %s", i, show(after[i:i+1]))
		}
	}
	if last := len(after) - 1; before[last] == after[last] || after[last].Plain() != "last grows" {
		t.Errorf("the last block is %q, want a new one that grew", after[last].Plain())
	}
	d.Close()
	for i, b := range d.Blocks() {
		if b != after[i] {
			t.Errorf("block %d changed at the end", i)
		}
	}
}

// TestStreamingIsLinear checks that a long answer costs no more at its end than at its start.
func TestStreamingIsLinear(t *testing.T) {
	var d markdown.Document
	cost := func(n int) time.Duration {
		start := time.Now()
		for range n {
			d.Append("A paragraph of some words, with *emphasis* and `code`.\n\n")
			d.Blocks()
		}
		return time.Since(start)
	}
	cost(200)
	early := cost(500)
	cost(10_000)
	if late := cost(500); late > 20*early+10*time.Millisecond {
		t.Errorf("500 paragraphs take %v after 10,000 others, %v before", late, early)
	}
}

// TestHostile checks that what the parser is slow at is shown as it is, and soon, and that what only looks like it is not.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		unit  string
		plain bool
	}{
		{"[", true},
		{"![", true},
		{"[a](", true},
		{"[a][", true},
		{">", true},
		{"> ", true},
		{"- ", true},
		{"1. ", true},
		{"-", false},
		{"*", false},
		{"* * ", true},
		{"- [ ] a\n\n", false},
		{"> a\n", false},
		{"[a](b) c\n\n", false},
	} {
		t.Run(c.unit, func(t *testing.T) {
			var d markdown.Document
			source := strings.Repeat(c.unit, 20_000/len(c.unit))
			d.Append(source)
			d.Close()
			start := time.Now()
			b := d.Blocks()
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			if plain := len(b) == 1 && b[0].Plain() == source; plain != c.plain {
				t.Errorf("plain %v, want %v", plain, c.plain)
			}
		})
	}
	var d markdown.Document
	d.Append("```json\n" + strings.Repeat("[1, [2, 3]],\n", 2000) + "```\n")
	d.Close()
	if b := d.Blocks(); len(b) != 1 || b[0].Kind != markdown.Code {
		t.Errorf("brackets in code are taken for hostile: %d blocks", len(b))
	}
}

func FuzzStreaming(f *testing.F) {
	for i, c := range documents {
		f.Add(c.source, i%5+1)
	}
	f.Fuzz(func(t *testing.T, source string, step int) {
		if len(source) > 4096 {
			return
		}
		stream(t, source, max(1, min(step, 4096)))
	})
}
