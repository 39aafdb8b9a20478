package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
)

func TestCompaction(t *testing.T) {
	long := strings.Repeat("a line of text that is long enough\n", 12)
	var answers []string
	for i := range 12 {
		answers = append(answers, call("write_file", "path", fmt.Sprintf("f%d.txt", i%3), "content", fmt.Sprint(i)+long), call("read_file", "path", fmt.Sprintf("f%d.txt", i%3)))
	}
	b := newBench(t, toolcall.QwenXML, 4096, nil, append(answers, "All files are written.")...)
	b.run("Write the files", transcript.ReasonStop)
	compacted := of[event.Compacted](b)
	if len(compacted) == 0 {
		t.Fatal("nothing was compacted")
	}
	for _, e := range compacted {
		if e.After > e.Before {
			t.Errorf("%s: %d tokens became %d", e.Rule, e.Before, e.After)
		}
	}
	prompts := b.model.Prompts()
	head, _, _ := strings.Cut(prompts[0], "<|im_end|>")
	for i, p := range prompts {
		if !strings.HasPrefix(p, head) {
			t.Fatalf("prompt %d does not begin with the system prompt and the tools", i+1)
		}
		if !strings.Contains(p, "Write the files") {
			t.Errorf("prompt %d has lost what is asked", i+1)
		}
	}
	// The same conversation is compacted in the same way.
	c := newBench(t, toolcall.QwenXML, 4096, nil, append(answers, "All files are written.")...)
	c.run("Write the files", transcript.ReasonStop)
	if !slices.Equal(prompts, c.model.Prompts()) {
		t.Error("a second run made other prompts")
	}
	// Later turns see what was done in a summary.
	b.model.Say("Twelve.")
	b.run("How many files? "+strings.Repeat("Think well. ", 40), transcript.ReasonStop)
	if last := b.model.Prompts()[len(b.model.Prompts())-1]; !strings.Contains(last, "You answered: All files are written.") {
		t.Errorf("the last prompt has no summary:\n%s", last)
	}
	b.run(strings.Repeat("far too much ", 400), transcript.ReasonContext)
}
