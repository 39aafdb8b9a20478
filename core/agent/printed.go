package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/answer"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// entryPage is the file that a page becomes that was printed instead of written.
const entryPage = "index.html"

// writePrinted makes an answer that prints a whole page, in a turn that has called nothing so far, one that writes it: into the file
// that an app starts with, by a call like any other, which a person is asked about like any other.
func (t *turn) writePrinted(ans *answer.Answer) {
	if t.agent.opt.NoRepair || len(ans.Calls) > 0 || ans.Finish != generate.FinishStop || t.called() {
		return
	}
	said, page, ok := fencedPage(ans.Message.Text)
	o := t.agent.opt.Tools.doing(tool.WritesFile)
	if !ok || o == nil {
		return
	}
	args := fmt.Sprintf("{%s:%s,%s:%s}", quoted(o.Roles.Path), quoted(entryPage), quoted(o.Roles.Content), quoted(page))
	m := ans.Message
	m.Text, m.Raw, m.IDs = said, "", nil // the conversation goes on as if it had been called
	m.Calls = []transcript.Call{{Name: o.Name, Arguments: json.RawMessage(args), Repaired: []string{"the page was printed instead of written"}}}
	ans.Calls = []answer.Call{{Index: 0, Name: o.Name}}
	t.emit(event.Note{Text: "a whole page was printed instead of written; it is offered as " + entryPage})
}

// quoted is a text as JSON has it, with the characters of HTML as they are: the model sees them.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// fencedPage finds a whole page in a code fence of a text, and what is said before it. The fence at its end may be missing.
func fencedPage(text string) (said, page string, ok bool) {
	said, rest, found := strings.Cut(text, "```")
	for found {
		_, block, _ := strings.Cut(rest, "\n") // behind the language
		block, rest, found = strings.Cut(block, "```")
		block = strings.TrimSpace(block)
		if lower := strings.ToLower(block); (strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html")) &&
			strings.HasSuffix(lower, "</html>") {
			return strings.TrimSpace(said), block + "\n", true
		}
		if found {
			_, rest, found = strings.Cut(rest, "```") // the next block
		}
	}
	return "", "", false
}
