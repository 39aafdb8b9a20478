package preview

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/plain"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/page"
)

// Limits of what a model reads of a page.
const (
	maxPageText = 1500 // bytes
	maxLogLines = 60
	maxProblems = 10
	maxLogLine  = 400 // bytes
)

// seen counts what of a page was told already.
type seen struct {
	console, errors, missing int
	text                     string
}

func told(r *page.Report) seen {
	return seen{len(r.Console), len(r.Errors), len(r.Missing), r.Text}
}

// problems lists what is wrong with a page beyond what was told.
func problems(r *page.Report, since seen) []string {
	var list []string
	for _, e := range r.Errors[min(since.errors, len(r.Errors)):] {
		line := e.Message
		if e.Name != "" {
			line = e.Name + ": " + line
		}
		if at := e.Where(); at != "" {
			line += " (" + at + ")"
		}
		list = append(list, line)
	}
	for _, m := range r.Missing[min(since.missing, len(r.Missing)):] {
		if strings.Contains(m, "://") {
			list = append(list, "no network: "+m+" (put the file into the project)")
			continue
		}
		list = append(list, "missing file: "+m)
	}
	for _, l := range r.Console[min(since.console, len(r.Console)):] {
		if l.Level == "error" {
			list = append(list, "console.error: "+l.Text)
		}
	}
	if r.Stopped != js.None {
		list = append(list, "the page was stopped: "+reason[r.Stopped])
	}
	for i, l := range list {
		list[i] = clip(strings.ReplaceAll(l, "\n", " "), maxLogLine)
	}
	return list
}

var reason = map[js.Stop]string{
	js.Timeout: "it ran too long without a pause",
	js.Memory:  "it used too much memory",
	js.Stack:   "it called itself too deeply",
	js.Output:  "it printed too much",
}

// count is "1 error" or "2 errors".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bullets appends problems to a text.
func bullets(text string, list []string) string {
	for i, p := range list {
		if i == maxProblems {
			return text + fmt.Sprintf("\n… %d more", len(list)-i)
		}
		text += "\n- " + p
	}
	return text
}

// served is the text of serve.
func served(entry string, r *page.Report) string {
	list := problems(r, seen{})
	if len(list) == 0 {
		return "serving " + entry + ", no console errors"
	}
	return bullets(fmt.Sprintf("serving %s, %s:", entry, count(len(list), "error")), list)
}

// logs is the text of preview_logs.
func logs(r *page.Report) (string, *page.Report) {
	var lines []string
	for _, l := range r.Console {
		if l.Level != "error" {
			lines = append(lines, clip(l.Level+": "+l.Text, maxLogLine))
		}
	}
	text := ""
	if n := len(lines) - maxLogLines; n > 0 {
		text = fmt.Sprintf("… %d earlier lines\n", n)
		lines = lines[n:]
	}
	text += strings.Join(lines, "\n")
	if list := problems(r, seen{}); len(list) > 0 {
		text = bullets(strings.TrimPrefix(text+"\n"+count(len(list), "error")+":", "\n"), list)
	}
	if text == "" {
		text = "no console output, no errors"
	}
	return text, r
}

// acted is the text of a click or of typing.
func acted(did string, r *page.Report, since seen) string {
	text := did
	switch {
	case r.Text == since.text:
		text += "; the text of the page is unchanged"
	default:
		text += ". The page shows: " + clip(r.Text, maxPageText)
	}
	for _, l := range r.Console[min(since.console, len(r.Console)):] {
		if l.Level != "error" {
			text += "\n" + clip(l.Level+": "+l.Text, maxLogLine)
		}
	}
	text = clip(text, 4*maxPageText)
	if list := problems(r, since); len(list) > 0 {
		text = bullets(text+"\n"+count(len(list), "error")+":", list)
	}
	return text
}

// data is the report for programs, beside what [tool.Health] says.
type data struct {
	Title   string       `json:"title"`
	Text    string       `json:"text"`
	Console []js.Line    `json:"console"`
	Errors  []page.Error `json:"errors"`
	Missing []string     `json:"missing"`
	Stopped js.Stop      `json:"stopped"`
}

func (s *session) result(text string, r *page.Report) (tool.Result, error) {
	d := data{
		Title: clip(r.Title, 1000), Text: clip(r.Text, 64<<10), Errors: r.Errors,
		Missing: r.Missing, Stopped: r.Stopped, Console: r.Console[max(0, len(r.Console)-1000):],
	}
	j, err := json.Marshal(d)
	if len(j) > tool.MaxData {
		d.Console, d.Errors, d.Missing = nil, nil, nil
		j, err = json.Marshal(d)
	}
	return tool.Result{Text: text, Data: j, Health: health(r, s.entry, s.server.url())}, err
}

// health is how the page is, in the words of the text. A page that is not as it should be has a problem at least.
func health(r *page.Report, entry, url string) *tool.Health {
	h := &tool.Health{Page: plain.Line(workspace.Escape(entry), maxLogLine), URL: url}
	for _, p := range problems(r, seen{}) {
		if len(h.Problems) == tool.MaxProblems {
			break
		}
		h.Problems = append(h.Problems, plain.Line(p, maxLogLine))
	}
	if !r.OK && len(h.Problems) == 0 {
		h.Problems = []string{"the page does not work"}
	}
	return h
}

// clip keeps the beginning of a long text.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
