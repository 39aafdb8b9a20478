package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/agent/agenttest"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/plugins/tools/files"
)

// toys are tools whose results a test chooses.
type toys struct {
	mu    sync.Mutex
	calls []string
	serve []string // results of serve, the last one again and again; one that begins with "!" is of a broken app
	hold  chan struct{}
	began chan struct{}
}

func (t *toys) Info() tool.Info {
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	return tool.Info{Name: "toys", Contract: tool.ContractVersion, Tools: []tool.Spec{
		{Name: "serve", Class: tool.Serve, Does: tool.ServesApp, Reports: true, Description: "Serve.", Parameters: schema},
		{Name: "echo", Class: tool.Read, Description: "Echo.", Parameters: schema},
		{Name: "count", Class: tool.Read, Description: "Count.", Parameters: schema},
		{Name: "wait", Class: tool.Run, Description: "Wait.", Parameters: schema},
		{Name: "fault", Class: tool.Read, Description: "Break.", Parameters: schema},
	}}
}

func (t *toys) Open(context.Context, tool.Project) (tool.Session, error) { return t, nil }

func (t *toys) Close() error { return nil }

func (t *toys) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c.Name)
	var a struct{ Text string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, err
	}
	switch c.Name {
	case "serve":
		text := "serving index.html, no console errors"
		if len(t.serve) > 0 {
			text = t.serve[0]
			if len(t.serve) > 1 {
				t.serve = t.serve[1:]
			}
		}
		health := &tool.Health{Page: "index.html"}
		if strings.HasPrefix(text, "!") {
			for _, line := range strings.Split(text, "\n")[1:] {
				health.Problems = append(health.Problems, strings.TrimPrefix(line, "- "))
			}
			if len(health.Problems) == 0 {
				health.Problems = []string{"it is broken"}
			}
		}
		return tool.Result{Text: text, Health: health}, nil
	case "count":
		return tool.Result{Text: fmt.Sprint(len(t.calls))}, nil
	case "wait":
		close(t.began)
		select {
		case <-t.hold:
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	case "fault":
		return tool.Result{}, &tool.FaultError{Set: "toys", Err: errors.New("it fell over")}
	}
	return tool.Result{Text: a.Text}, nil
}

// bench is an agent with a scripted model, real tools for files and toys.
type bench struct {
	t       *testing.T
	model   *agenttest.Model
	toys    *toys
	root    string
	state   string
	project *transcript.Project
	agent   *agent.Agent
	opt     agent.Options

	mu     sync.Mutex
	events []event.Event
}

func newBench(t *testing.T, format toolcall.Format, room int, change func(*agent.Options), answers ...string) *bench {
	t.Helper()
	return newBenchOf(t, func(toys tool.Set) []agent.Source {
		return []agent.Source{{Set: files.Set{}, Sandboxed: true}, {Set: toys}}
	},
		format, room, change, answers...)
}

// newBenchOf is newBench with other sets of tools.
func newBenchOf(t *testing.T, sets func(toys tool.Set) []agent.Source, format toolcall.Format, room int, change func(*agent.Options), answers ...string) *bench {
	t.Helper()
	m, err := agenttest.New(format, room, answers...)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, model: m, toys: &toys{hold: make(chan struct{}), began: make(chan struct{})}, root: t.TempDir()}
	store := transcript.OpenStore(t.TempDir())
	if b.project, err = store.Project(b.root); err != nil {
		t.Fatal(err)
	}
	b.state = b.project.State()
	tools, err := agent.OpenTools(t.Context(), tool.Project{Root: b.root, State: b.state}, sets(b.toys)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tools.Close() })
	s, err := b.project.NewSession(m.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	ws, err := workspace.Open(b.root, b.state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	b.opt = agent.Options{
		Model: m, Tools: tools, Mode: agent.All, Session: s, System: "You work.",
		Emit: func(e event.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
		},
		TakeBack: func(ctx context.Context, id string) (agent.Taken, error) { return ws.TakeBack(ctx, id) },
	}
	if change != nil {
		change(&b.opt)
	}
	if b.agent, err = agent.New(b.opt); err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs a turn and wants it to end for a reason.
func (b *bench) run(text string, want transcript.Reason) transcript.Outcome {
	b.t.Helper()
	d, err := b.agent.Run(b.t.Context(), text)
	if d.Reason != want || (err != nil) != (want == transcript.ReasonError || want == transcript.ReasonContext) {
		b.t.Fatalf("the turn ended with %q and %v, want %q\n%s", d.Reason, err, want, b.talk())
	}
	b.level()
	return d
}

// level checks that memory and disk say the same and that every call has an answer.
func (b *bench) level() {
	b.t.Helper()
	history := b.agent.History()
	saved, err := b.project.Read("")
	if err != nil {
		b.t.Fatalf("the session cannot be read: %v", err)
	}
	got, _ := json.Marshal(saved)
	want, _ := json.Marshal(history)
	if string(got) != string(want) {
		b.t.Errorf("the session says\n%s\nwant\n%s", got, want)
	}
	open := map[string]bool{}
	for _, m := range history {
		for _, c := range m.Calls {
			open[c.ID] = true
		}
		delete(open, m.CallID)
	}
	if len(open) > 0 {
		b.t.Errorf("calls without an answer: %v", open)
	}
}

// talk shows the conversation.
func (b *bench) talk() string {
	var s strings.Builder
	for _, m := range b.agent.History() {
		fmt.Fprintf(&s, "%s: %q", m.Role, m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(&s, " [%s %s]", c.Name, c.Arguments)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func (b *bench) file(name string) string {
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(data)
}

// of returns the events of a type.
func of[E event.Event](b *bench) []E {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []E
	for _, e := range b.events {
		if x, ok := e.(E); ok {
			list = append(list, x)
		}
	}
	return list
}

func call(name string, arguments ...string) string {
	return agenttest.Call(toolcall.QwenXML, name, arguments...)
}

func TestTurn(t *testing.T) {
	for _, format := range []toolcall.Format{toolcall.QwenXML, toolcall.HermesJSON} {
		t.Run(format.String(), func(t *testing.T) {
			b := newBench(t, format, 8192, nil,
				"I write it.\n"+agenttest.Call(format, "write_file", "path", "index.html", "content", "<h1>Hi</h1>"),
				agenttest.Call(format, "serve"),
				"All is done.")
			d := b.run("Make a page", transcript.ReasonStop)
			if got := b.file("index.html"); got != "<h1>Hi</h1>" {
				t.Errorf("index.html holds %q", got)
			}
			if d.Steps != 3 || d.Calls != 2 || d.Problems != "" {
				t.Errorf("got %+v", d)
			}
			var said strings.Builder
			for _, e := range of[event.Text](b) {
				said.WriteString(e.Text)
			}
			if got := said.String(); strings.ContainsAny(got, "<>{}") || !strings.Contains(got, "I write it.") || !strings.HasSuffix(got, "All is done.") {
				t.Errorf("said %q", got)
			}
			done := of[event.CallDone](b)
			if len(done) != 2 || done[0].Result != "wrote index.html (11 bytes)" || !strings.Contains(done[0].Diff, "+<h1>Hi</h1>") {
				t.Errorf("got %+v", done)
			}
			// What was sampled stands in the next prompt as it was, so that only what is new is computed.
			prompts, computed := b.model.Prompts(), b.model.Computed()
			for i := 1; i < len(prompts); i++ {
				added := len([]rune(prompts[i])) - len([]rune(prompts[i-1]))
				if computed[i] > added {
					t.Errorf("prompt %d: %d tokens were computed, though only %d characters are new", i+1, computed[i], added)
				}
			}
		})
	}
}

func TestEventsAsJSON(t *testing.T) {
	b := newBench(t, toolcall.QwenXML, 8192, nil, call("echo", "text", "x"), "Done.")
	b.run("Go", transcript.ReasonStop)
	seen := map[string]bool{}
	for _, e := range b.events {
		line, err := event.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back struct{ Type string }
		if err := json.Unmarshal(line, &back); err != nil || back.Type != e.Type() || strings.ContainsRune(string(line), '\n') {
			t.Errorf("%s: %v", line, err)
		}
		seen[back.Type] = true
	}
	for _, want := range []string{"step", "text", "call_started", "answered", "call_running", "call_done", "done"} {
		if !seen[want] {
			t.Errorf("there was no event %s", want)
		}
	}
}

// TestRawReplay lets a model write its calls otherwise than the template does: the cache must fit all the same.
func TestRawReplay(t *testing.T) {
	odd := "<tool_call>\n<function=echo>\n<parameter=text>\n\nhi\n\n</parameter>\n</function>\n</tool_call>"
	b := newBench(t, toolcall.QwenXML, 8192, nil, odd, odd+"\n", "Fine.")
	b.run("Go", transcript.ReasonStop)
	prompts, computed := b.model.Prompts(), b.model.Computed()
	if !strings.Contains(prompts[1], odd) {
		t.Errorf("the prompt does not hold what the model wrote:\n%s", prompts[1])
	}
	if limit := len(prompts[1]) - len(prompts[0]) - len(odd); computed[1] > limit+2 {
		t.Errorf("%d tokens were computed, want at most %d", computed[1], limit)
	}
}

func TestApprovals(t *testing.T) {
	write := call("write_file", "path", "a.txt", "content", "text")
	edit := call("edit_file", "path", "none.txt", "old", "a", "new", "b")
	for _, c := range []struct {
		name    string
		mode    agent.Mode
		verdict agent.Decision
		answers []string
		reason  transcript.Reason
		asked   int
		file    bool
	}{
		{"allowed once", agent.Ask, agent.Decision{Verdict: agent.Allow}, []string{write, "Done."}, transcript.ReasonStop, 1, true},
		{"denied", agent.Ask, agent.Decision{}, []string{write, "Done."}, transcript.ReasonDenied, 1, false},
		{"denied with a word", agent.Ask, agent.Decision{Feedback: "use b.txt"}, []string{write, "I see."}, transcript.ReasonStop, 1, false},
		{"always", agent.Ask, agent.Decision{Verdict: agent.Always}, []string{write, call("write_file", "path", "b.txt", "content", "x"), "Done."}, transcript.ReasonStop, 1, true},
		{"edits need none", agent.Edits, agent.Decision{}, []string{write, "Done."}, transcript.ReasonStop, 0, true},
		{"what is run outside of the sandbox is asked about", agent.Edits, agent.Decision{Verdict: agent.Allow}, []string{call("serve"), "Done."}, transcript.ReasonStop, 1, false},
		{"reading needs none", agent.Ask, agent.Decision{}, []string{call("list_dir"), "Done."}, transcript.ReasonStop, 0, false},
		{"what cannot be done is not asked about", agent.Ask, agent.Decision{}, []string{edit, "Done."}, transcript.ReasonStop, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			b := newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) {
				o.Mode = c.mode
				o.Approve = func(_ context.Context, a event.Approval) (agent.Decision, error) {
					asked++
					if a.Class == tool.Edit && !strings.Contains(a.Diff, "+text") {
						t.Errorf("the difference shown is %q", a.Diff)
					}
					return c.verdict, nil
				}
			}, c.answers...)
			b.run("Go", c.reason)
			if asked != c.asked {
				t.Errorf("asked %d times, want %d", asked, c.asked)
			}
			if got := !strings.HasPrefix(b.file("a.txt"), "error"); got != c.file {
				t.Errorf("the file is there: %t, want %t", got, c.file)
			}
			if c.verdict.Feedback != "" && !strings.Contains(b.talk(), "did not allow this: use b.txt") {
				t.Errorf("the model was not told:\n%s", b.talk())
			}
		})
	}
	b := newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) { o.Mode = agent.Ask }, write)
	b.run("Go", transcript.ReasonDenied)
	if got := b.file("a.txt"); !strings.HasPrefix(got, "error") {
		t.Errorf("nobody allowed it, but the file holds %q", got)
	}
}

func TestBrokenCalls(t *testing.T) {
	bad := "<tool_call>\n<function=nothing_like_it>\n</function>\n</tool_call>"
	b := newBench(t, toolcall.QwenXML, 8192, nil, bad, call("echo", "text", "x"), "Done.")
	d := b.run("Go", transcript.ReasonStop)
	if d.Broken != 1 || !strings.Contains(b.talk(), `there is no tool \"nothing_like_it\"`) {
		t.Errorf("got %+v\n%s", d, b.talk())
	}
	b = newBench(t, toolcall.QwenXML, 8192, nil, bad, bad, bad, bad)
	b.run("Go", transcript.ReasonBroken)

	b = newBench(t, toolcall.HermesJSON, 8192, nil, "```json\n{\"name\": \"make_page\", \"arguments\": {}}\n```", "Done.")
	d = b.run("Go", transcript.ReasonStop)
	if d.Broken != 1 || !strings.Contains(b.talk(), "the tools are: list_dir") {
		t.Errorf("got %+v\n%s", d, b.talk())
	}
	b = newBench(t, toolcall.HermesJSON, 8192, nil, `{"name": "echo", "arguments": {"text": "a", "required": ["text"]}}`, "Done.")
	if d = b.run("Go", transcript.ReasonStop); d.Repaired != 1 || d.Calls != 1 {
		t.Errorf("got %+v\n%s", d, b.talk())
	}
	b = newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) { o.Limits.AnswerTokens = 60 },
		call("write_file", "path", "a.txt", "content", strings.Repeat("words ", 40)), "Done.")
	b.run("Go", transcript.ReasonStop)
	if e := of[event.CallBroken](b); len(e) != 1 || !e[0].Unfinished || !strings.Contains(b.talk(), "cut off") {
		t.Errorf("got %+v", e)
	}
}

func TestGuards(t *testing.T) {
	same := call("echo", "text", "again")
	numbered := func(n int) []string {
		var list []string
		for i := range n {
			list = append(list, call("echo", "text", fmt.Sprint(i)))
		}
		return list
	}
	for _, c := range []struct {
		name    string
		limits  agent.Limits
		answers []string
		reason  transcript.Reason
		steps   int
	}{
		{"the same call again and again", agent.Limits{}, []string{same, same, same, same, same}, transcript.ReasonLoop, 3},
		{"calls that take turns", agent.Limits{Repeats: 100}, slices.Repeat([]string{same, call("echo", "text", "b")}, 10), transcript.ReasonStuck, 6},
		{"the same call with other results", agent.Limits{}, append(slices.Repeat([]string{call("count")}, 6), "Done."), transcript.ReasonStop, 7},
		{"serving again after a change", agent.Limits{}, []string{
			call("write_file", "path", "a", "content", "1"), call("serve"), call("write_file", "path", "a", "content", "2"), call("serve"),
			call("write_file", "path", "a", "content", "3"), call("serve"), "Done.",
		}, transcript.ReasonStop, 7},
		{"steps", agent.Limits{Steps: 5}, numbered(9), transcript.ReasonSteps, 5},
		{"tokens", agent.Limits{Tokens: 150}, numbered(9), transcript.ReasonTokens, 2},
		{"an answer without end", agent.Limits{AnswerTokens: 50}, []string{strings.Repeat("no end ", 20)}, transcript.ReasonLength, 1},
		{"a fault of a tool", agent.Limits{}, []string{call("fault"), "It is broken."}, transcript.ReasonStop, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, toolcall.QwenXML, 1<<15, func(o *agent.Options) { o.Limits = c.limits }, c.answers...)
			if d := b.run("Go", c.reason); d.Steps != c.steps {
				t.Errorf("it took %d steps, want %d\n%s", d.Steps, c.steps, b.talk())
			}
		})
	}
}

func TestRepeatingText(t *testing.T) {
	b := newBench(t, toolcall.QwenXML, 1<<15, nil, strings.Repeat("over and over. ", 600), "Sorry. Done.")
	b.run("Go", transcript.ReasonStop)
	if e := of[event.Retried](b); len(e) != 1 {
		t.Errorf("got %+v, want one retry", e)
	}
	if got := b.talk(); strings.Contains(got, "over and over") {
		t.Errorf("what was taken back is still there:\n%s", got)
	}
	// A board of equal cells is no endless text.
	board := strings.Repeat("<div class=\"cell\"></div>\n", 64)
	b = newBench(t, toolcall.QwenXML, 1<<15, nil, call("write_file", "path", "a.html", "content", board), "Done.")
	b.run("Go", transcript.ReasonStop)
	if got := b.file("a.html"); got != strings.TrimSuffix(board, "\n") && got != board {
		t.Errorf("the board has %d bytes, want %d", len(got), len(board))
	}
}

// TestSecondTries takes a change back that left the app with errors.
func TestSecondTries(t *testing.T) {
	write := func(text string) string { return call("write_file", "path", "index.html", "content", text) }
	script := []string{write("bad"), call("serve"), "It works.", write("good"), call("serve"), "It works."}
	b := newBench(t, toolcall.QwenXML, 8192, nil, script...)
	b.toys.serve = []string{"!serving index.html, 1 error:\n- oops", "serving index.html, no console errors"}
	d := b.run("Make a page", transcript.ReasonStop)
	if got := b.file("index.html"); got != "good" || d.Problems != "" {
		t.Errorf("the page is %q, and %q is reported", got, d.Problems)
	}
	if e := of[event.Retried](b); len(e) != 1 || !strings.Contains(e[0].Reason, "oops") {
		t.Errorf("got %+v, want one retry", e)
	}
	if strings.Contains(b.talk(), `"content": "bad"`) {
		t.Errorf("what was taken back is still there:\n%s", b.talk())
	}

	// Without a way to undo, the model is told once.
	b = newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) { o.TakeBack = nil }, script...)
	b.toys.serve = []string{"!serving index.html, 1 error:\n- oops", "serving index.html, no console errors"}
	b.run("Make a page", transcript.ReasonStop)
	if got := b.talk(); b.file("index.html") != "good" || !strings.Contains(got, "You are not done") {
		t.Errorf("got %q\n%s", b.file("index.html"), got)
	}

	// Tries end.
	b = newBench(t, toolcall.QwenXML, 8192, nil, slices.Repeat([]string{write("bad"), call("serve"), "It works."}, 20)...)
	b.toys.serve = []string{"!broken"}
	if d := b.run("Make a page", transcript.ReasonStop); d.Problems != "!broken" || len(of[event.Retried](b)) != 6 {
		t.Errorf("after %d tries: %+v", len(of[event.Retried](b)), d)
	}

	// So does printing code instead of writing it.
	b = newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) { o.NoRepair = true }, "```html\n1\n2\n3\n4\n5\n6\n7\n```", "no")
	if d := b.run("Make a page", transcript.ReasonStop); d.Steps != 1 {
		t.Errorf("without repairs it took %d steps, want 1", d.Steps)
	}
}

func TestCancel(t *testing.T) {
	t.Run("while a tool runs", func(t *testing.T) {
		b := newBench(t, toolcall.QwenXML, 8192, nil, call("wait")+"\n"+call("echo", "text", "b"), "Done.")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-b.toys.began
			cancel()
		}()
		d, err := b.agent.Run(ctx, "Go")
		if d.Reason != transcript.ReasonCancelled || err != nil {
			t.Fatalf("got %v, %v", d.Reason, err)
		}
		b.level()
		if got := b.talk(); !strings.Contains(got, "it is not known whether") || !strings.Contains(got, "not run, because the turn was stopped") {
			t.Errorf("got\n%s", got)
		}
		b.model.Say("Here I am.")
		b.run("Go on", transcript.ReasonStop)
	})
	t.Run("after every pass of the model", func(t *testing.T) {
		answers := []string{"Look:\n" + call("write_file", "path", "a.txt", "content", "x"), "Done."}
		total := 0
		// How many passes there are must not hang on how fast they are.
		plain := func(o *agent.Options) { o.Sampling.Spec = generate.SpecOff }
		b := newBench(t, toolcall.QwenXML, 8192, plain, answers...)
		b.model.Lag(func() { total++ })
		b.run("Go", transcript.ReasonStop)
		every := 7
		if testing.Short() {
			every = 31
		}
		for at := 1; at <= total; at += every {
			b := newBench(t, toolcall.QwenXML, 8192, plain, answers...)
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			b.model.Lag(func() {
				if n++; n == at {
					cancel()
				}
			})
			d, err := b.agent.Run(ctx, "Go")
			if d.Reason != transcript.ReasonCancelled || err != nil {
				t.Fatalf("cancelled at pass %d: got %q, %v", at, d.Reason, err)
			}
			b.level()
			b.model.Say("Yes.")
			b.run("And now?", transcript.ReasonStop)
			cancel()
		}
	})
	t.Run("by the time limit", func(t *testing.T) {
		b := newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) { o.Limits.Time = 30 * time.Millisecond }, call("wait"))
		b.run("Go", transcript.ReasonTime)
	})
	t.Run("while it is asked", func(t *testing.T) {
		b := newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) {
			o.Mode = agent.Ask
			o.Approve = func(ctx context.Context, _ event.Approval) (agent.Decision, error) {
				<-ctx.Done()
				return agent.Decision{}, ctx.Err()
			}
		}, call("write_file", "path", "a", "content", "b"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		if d, err := b.agent.Run(ctx, "Go"); d.Reason != transcript.ReasonCancelled || err != nil {
			t.Fatalf("got %v, %v", d.Reason, err)
		}
		b.level()
	})
	t.Run("two turns at once", func(t *testing.T) {
		b := newBench(t, toolcall.QwenXML, 8192, nil, call("wait"), "Done.")
		end := make(chan struct{})
		go func() {
			defer close(end)
			_, _ = b.agent.Run(t.Context(), "Go")
		}()
		<-b.toys.began
		if _, err := b.agent.Run(t.Context(), "Me too"); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("got %v, want %v", err, agent.ErrBusy)
		}
		close(b.toys.hold)
		<-end
	})
}

func TestRefusals(t *testing.T) {
	m, err := agenttest.New(toolcall.None, 100)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := agent.OpenTools(t.Context(), tool.Project{Root: t.TempDir()}, agent.Source{Set: &toys{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.New(agent.Options{Model: m, Tools: tools}); !errors.Is(err, agent.ErrNoCalls) {
		t.Errorf("got %v, want %v", err, agent.ErrNoCalls)
	}
	if _, err := agent.OpenTools(t.Context(), tool.Project{Root: t.TempDir()}, agent.Source{Set: &toys{}}, agent.Source{Set: &toys{}}); err == nil {
		t.Error("two sets with the same tools were taken")
	}
	if err := tools.Close(); err != nil {
		t.Error(err)
	}
}

// unable is a set that cannot be opened.
type unable struct{}

func (unable) Info() tool.Info {
	i := (&toys{}).Info()
	i.Name = "unable"
	for n := range i.Tools {
		i.Tools[n].Name += "_2"
	}
	return i
}

func (unable) Open(context.Context, tool.Project) (tool.Session, error) {
	return nil, errors.New("out of order")
}

// TestLeftOut offers none of the tools of a dropped-in set that does not work, and says why.
func TestLeftOut(t *testing.T) {
	p := tool.Project{Root: t.TempDir()}
	tools, err := agent.OpenTools(t.Context(), p, agent.Source{Set: &toys{}}, agent.Source{Set: unable{}, Name: "mine", DroppedIn: true},
		agent.Source{Set: &toys{}, Name: "twin", DroppedIn: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	for i, want := range []string{"", "out of order", "there is already a tool"} {
		s := tools.Sets()[i]
		if want == "" && s.Err != nil || want != "" && (s.Err == nil || !strings.HasPrefix(s.Err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", s.Name, s.Err, want)
		}
	}
	if _, err := agent.OpenTools(t.Context(), p, agent.Source{Set: unable{}}); err == nil {
		t.Error("a built-in set that does not work was left out")
	}
}
