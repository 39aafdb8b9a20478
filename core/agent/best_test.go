package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
)

// What serve reports in these tests.
const (
	fine      = "serving index.html, no console errors"
	oneError  = "!serving index.html, 1 error:\n- oops"
	twoErrors = "!serving index.html, 2 errors:\n- oops\n- ouch"
)

// TestBestTry ends every turn with the try that had the fewest problems.
func TestBestTry(t *testing.T) {
	write := func(text string) string { return call("write_file", "path", "index.html", "content", text) }
	add := func(name string) string { return call("write_file", "path", name, "content", name) }
	serve := call("serve")
	for _, c := range []struct {
		name    string
		answers []string
		serve   []string
		page    string
		others  string // the names of the other files
		report  string
		back    bool
	}{
		{
			name:    "nothing was written again",
			answers: []string{write("one"), serve, "It works.", "No."}, serve: []string{oneError},
			page: "one", report: oneError, back: true,
		},
		{
			name:    "every later try was worse",
			answers: append([]string{write("one"), serve, "It works."}, slices.Repeat([]string{write("two"), serve, "It works."}, 10)...),
			serve:   []string{oneError, twoErrors},
			page:    "one", report: oneError, back: true,
		},
		{
			name:    "the second try was the best",
			answers: []string{write("two"), serve, "It works.", write("one"), serve, "It works.", write("two"), serve, "It works.", "No."},
			serve:   []string{twoErrors, oneError, twoErrors},
			page:    "one", report: oneError, back: true,
		},
		{
			name:    "a try that was not looked at is looked at, and works",
			answers: []string{write("one"), serve, "It works.", write("good"), "It works."}, serve: []string{oneError, fine},
			page: "good",
		},
		{
			name:    "a try that was not looked at is looked at, and does not",
			answers: []string{write("one"), serve, "It works.", write("two"), "It works."}, serve: []string{oneError, twoErrors},
			page: "one", report: oneError, back: true,
		},
		{
			name:    "files that were there before the change are put back, too",
			answers: []string{add("a.txt"), write("one"), serve, "It works.", serve, "It works.", "No."},
			serve:   []string{oneError, twoErrors, twoErrors},
			page:    "one", others: "a.txt", report: oneError, back: true,
		},
		{
			name:    "an answer with several changes",
			answers: []string{write("one") + "\n" + add("a.txt") + "\n" + add("b.txt"), serve, "It works.", "No."},
			serve:   []string{oneError}, page: "one", others: "a.txt b.txt", report: oneError, back: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, toolcall.QwenXML, 1<<15, nil, c.answers...)
			b.toys.serve = c.serve
			d := b.run("Make a page", transcript.ReasonStop)
			if got := b.file("index.html"); got != c.page || d.Problems != c.report {
				t.Errorf("the page is %q, and %q is reported, want %q and %q\n%s", got, d.Problems, c.page, c.report, b.talk())
			}
			if got := strings.Join(b.others(), " "); got != c.others {
				t.Errorf("the other files are %q, want %q", got, c.others)
			}
			if e := of[event.Restored](b); (len(e) > 0) != c.back || len(e) > 1 {
				t.Errorf("put back: %+v, want %t", e, c.back)
			}
			if len(of[event.Retried](b)) == 0 {
				t.Error("there was no second try")
			}
			// The conversation says how the files came about.
			if got := b.talk(); !strings.Contains(got, `"content": "`+c.page+`"`) && !strings.Contains(got, `"content":"`+c.page+`"`) {
				t.Errorf("the conversation is another one:\n%s", got)
			}
			// A person can take all of it back.
			b.undoAll()
			if got := append(b.others(), b.file("index.html")); len(got) != 1 || !strings.HasPrefix(got[0], "error") {
				t.Errorf("after undoing everything there is %q", got)
			}
		})
	}
}

// others lists the files of the project but for its page.
func (b *bench) others() []string {
	b.t.Helper()
	list, err := os.ReadDir(b.root)
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		if e.Name() != "index.html" {
			names = append(names, e.Name())
		}
	}
	return names
}

// undoAll takes every change back that the journal has.
func (b *bench) undoAll() {
	b.t.Helper()
	w, err := workspace.Open(b.root, b.state)
	if err != nil {
		b.t.Fatal(err)
	}
	defer w.Close()
	for err == nil {
		_, err = w.Undo(b.t.Context(), false)
	}
	if !errors.Is(err, workspace.ErrNothing) {
		b.t.Fatal(err)
	}
}

// TestBestTryCancelled stops the second try in the middle.
func TestBestTryCancelled(t *testing.T) {
	b := newBench(t, toolcall.QwenXML, 8192, nil,
		call("write_file", "path", "index.html", "content", "one"), call("serve"), "It works.",
		call("write_file", "path", "index.html", "content", "two"), call("wait"))
	b.toys.serve = []string{oneError}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-b.toys.began
		cancel()
	}()
	d, err := b.agent.Run(ctx, "Make a page")
	if err != nil || d.Reason != transcript.ReasonCancelled || d.Problems != oneError {
		t.Errorf("got %+v, %v", d, err)
	}
	if got := b.file("index.html"); got != "one" {
		t.Errorf("the page is %q", got)
	}
	b.level()
}

// TestBestTryInTheWay tells the truth where somebody else changed the file meanwhile.
func TestBestTryInTheWay(t *testing.T) {
	var b *bench
	tries := 0
	b = newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) {
		emit := o.Emit
		o.Emit = func(e event.Event) {
			emit(e)
			if _, ok := e.(event.Retried); ok {
				if tries++; tries == 1 {
					if err := os.WriteFile(filepath.Join(b.root, "index.html"), []byte("mine"), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}, call("write_file", "path", "index.html", "content", "one"), call("serve"), "It works.", "No.")
	b.toys.serve = []string{oneError}
	d := b.run("Make a page", transcript.ReasonStop)
	if got := b.file("index.html"); got != "mine" || !strings.Contains(d.Problems, "cannot be put back") {
		t.Errorf("the page is %q, and %q is reported", got, d.Problems)
	}
}

const wholePage = "<!DOCTYPE html>\n<html>\n<body>\n<h1>Stopwatch</h1>\n<script>\n</script>\n</body>\n</html>"

// TestPrintedPage writes a page that was printed.
func TestPrintedPage(t *testing.T) {
	fenced := "Here it is:\n\n```html\n" + wholePage + "\n```\nEnjoy!"
	for _, c := range []struct {
		name, answer string
		change       func(*agent.Options)
		reason       transcript.Reason
		page         string
		asked        int
	}{
		{name: "in a fence", answer: fenced, reason: transcript.ReasonStop, page: wholePage + "\n"},
		{name: "behind another fence", answer: "```js\nlet n = 0;\n```\n" + fenced, reason: transcript.ReasonStop, page: wholePage + "\n"},
		{name: "in a fence without an end", answer: "```\n" + wholePage, reason: transcript.ReasonStop, page: wholePage + "\n"},
		{name: "a part of a page", answer: "```html\n<h1>Hi</h1>\n```", reason: transcript.ReasonStop},
		{
			name: "a person allows it", answer: fenced, reason: transcript.ReasonStop, page: wholePage + "\n", asked: 1,
			change: func(o *agent.Options) {
				o.Mode = agent.Ask
				o.Approve = func(context.Context, event.Approval) (agent.Decision, error) {
					return agent.Decision{Verdict: agent.Allow}, nil
				}
			},
		},
		{
			name: "nobody allows it", answer: fenced, reason: transcript.ReasonDenied, asked: 1,
			change: func(o *agent.Options) { o.Mode = agent.Ask },
		},
		{
			name: "without repairs", answer: fenced, reason: transcript.ReasonStop,
			change: func(o *agent.Options) { o.NoRepair = true },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, toolcall.QwenXML, 8192, c.change, c.answer, "Done.")
			b.run("Make a stopwatch", c.reason)
			got := b.file("index.html")
			if c.page == "" && !strings.HasPrefix(got, "error") || c.page != "" && got != c.page {
				t.Errorf("the page is %q, want %q", got, c.page)
			}
			if got := len(of[event.Approval](b)); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
		})
	}
	// What stands in the project already is not printed over, once the model has looked at it.
	b := newBench(t, toolcall.QwenXML, 8192, nil, call("list_dir"), fenced)
	b.run("What is there?", transcript.ReasonStop)
	if got := b.file("index.html"); !strings.HasPrefix(got, "error") {
		t.Errorf("the page is %q, want none", got)
	}
}

// TestStopwatch is what a small model once did: a page with an error, then, told to try again, the page in a fence.
func TestStopwatch(t *testing.T) {
	script := []string{
		call("write_file", "path", "index.html", "content", "one"), call("serve"), "It works.",
		"```html\n" + wholePage + "\n```", "The stopwatch is ready.",
	}
	for _, c := range []struct {
		name, second, page, problems string
	}{
		{"the printed page works", fine, wholePage + "\n", ""},
		{"the printed page is as bad", oneError, wholePage + "\n", oneError},
		{"the printed page is worse", twoErrors, "one", oneError},
	} {
		b := newBench(t, toolcall.QwenXML, 8192, nil, script...)
		b.toys.serve = []string{oneError, c.second}
		d := b.run("Make a stopwatch with a blue theme", transcript.ReasonStop)
		if got := b.file("index.html"); got != c.page || d.Problems != c.problems {
			t.Errorf("%s: the page is %q, and %q is reported, want %q and %q", c.name, got, d.Problems, c.page, c.problems)
		}
	}
}

// TestPrintedCode says so where code was printed to the end and nothing is there.
func TestPrintedCode(t *testing.T) {
	code := "```js\n1\n2\n3\n4\n5\n6\n7\n```"
	b := newBench(t, toolcall.QwenXML, 8192, nil, code, code, code, code, code, code, code, code, code, code)
	if d := b.run("Make a page", transcript.ReasonStop); !strings.Contains(d.Problems, "no file was changed") {
		t.Errorf("got %+v", d)
	}
}
