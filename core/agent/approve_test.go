package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/plugins/tools/files"
)

// runner is a set with one tool of class run and one of class edit.
type runner struct{ name string }

func (r runner) Info() tool.Info {
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	return tool.Info{Name: r.name, Contract: tool.ContractVersion, Tools: []tool.Spec{
		{Name: r.name + "_run", Class: tool.Run, Description: "Run.", Parameters: schema},
		{Name: r.name + "_edit", Class: tool.Edit, Description: "Edit.", Parameters: schema},
	}}
}
func (r runner) Open(context.Context, tool.Project) (tool.Session, error) { return r, nil }
func (r runner) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: "ran"}, nil
}
func (r runner) Close() error { return nil }

// TestAlways allows one class of calls of one set, and nothing else.
func TestAlways(t *testing.T) {
	var asked []string
	b := newBenchOf(t, func(tool.Set) []agent.Source {
		return []agent.Source{{Set: runner{"one"}}, {Set: runner{"two"}}, {Set: files.Set{}}}
	}, toolcall.QwenXML, 8192, func(o *agent.Options) {
		o.Mode = agent.Ask
		o.Approve = func(_ context.Context, a event.Approval) (agent.Decision, error) {
			asked = append(asked, a.Set+" "+string(a.Class)+" "+a.Call.Name)
			if a.Call.Name == "one_run" {
				return agent.Decision{Verdict: agent.Always}, nil
			}
			return agent.Decision{Verdict: agent.Allow}, nil
		}
	},
		call("one_run", "text", "1"), call("one_run", "text", "2"), call("one_edit"), call("two_run"), call("two_run", "text", "2"),
		call("write_file", "path", "a.txt", "content", "x"), "Done.",
		call("one_run", "text", "3"), "Done.")
	b.run("Go", transcript.ReasonStop)
	want := []string{"one run one_run", "one edit one_edit", "two run two_run", "two run two_run", "files edit write_file"}
	if !slices.Equal(asked, want) || b.agent.Mode() != agent.Ask {
		t.Errorf("asked %q in mode %s, want %q", asked, b.agent.Mode(), want)
	}
	b.agent.SetMode(agent.Ask)
	b.run("Go on", transcript.ReasonStop)
	if got := len(asked); got != len(want)+1 {
		t.Errorf("after the mode was set, %d questions, want one more than %d", got, len(want))
	}
}

// unsure is an editor that cannot hold itself to what was shown.
type unsure struct{ files.Set }

type unsureSession struct{ tool.Session }

func (s unsure) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	in, err := s.Set.Open(ctx, p)
	return unsureSession{in}, err
}

func (s unsureSession) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	c.Approved = ""
	r, err := s.Session.Call(ctx, c)
	r.Sum = ""
	return r, err
}

// TestApproved changes the file while a person looks at the question: what they have not seen is not done.
func TestApproved(t *testing.T) {
	for name, set := range map[string]tool.Set{"sum": files.Set{}, "looked at again": unsure{}} {
		for _, c := range []struct {
			name   string
			change func(root string) error
			after  string
		}{
			{"more places", func(root string) error {
				return os.WriteFile(filepath.Join(root, "a.txt"), []byte("x x x"), 0o600)
			}, "x x x"},
			{"another file behind a link", func(root string) error {
				a := filepath.Join(root, "a.txt")
				if err := os.Rename(a, filepath.Join(root, "b.txt")); err != nil {
					return err
				}
				return os.Symlink("b.txt", a)
			}, "x"},
			{"nothing", func(string) error { return nil }, "y"},
		} {
			var b *bench
			b = newBenchOf(t, func(tool.Set) []agent.Source { return []agent.Source{{Set: set}} }, toolcall.QwenXML, 8192, func(o *agent.Options) {
				o.Mode = agent.Ask
				o.Approve = func(context.Context, event.Approval) (agent.Decision, error) {
					return agent.Decision{Verdict: agent.Allow}, c.change(b.root)
				}
			}, call("edit_file", "path", "a.txt", "old", "x", "new", "y", "all", "true"), "Done.")
			if err := os.WriteFile(filepath.Join(b.root, "a.txt"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			b.run("Edit", transcript.ReasonStop)
			if got := b.file("a.txt"); got != c.after {
				t.Errorf("%s, %s: the file holds %q, want %q", name, c.name, got, c.after)
			}
			if done := of[event.CallDone](b); len(done) != 1 || done[0].IsError == (c.after == "y") || done[0].IsError && !strings.Contains(done[0].Result, "nothing was done") {
				t.Errorf("%s, %s: %+v", name, c.name, done)
			}
		}
	}
}

// TestTakeBackReach takes a try back while somebody else works on the same project: only what the try made goes.
func TestTakeBackReach(t *testing.T) {
	var b *bench
	b = newBench(t, toolcall.QwenXML, 8192, func(o *agent.Options) {
		emit := o.Emit
		o.Emit = func(e event.Event) {
			emit(e)
			if d, ok := e.(event.CallDone); ok && d.Call.Name == "serve" && len(of[event.Retried](b)) == 0 {
				w, err := workspace.Open(b.root, b.state)
				if err != nil {
					t.Error(err)
					return
				}
				defer w.Close()
				c, err := w.PrepareWrite("theirs.txt", []byte("x"))
				if err == nil {
					err = w.Apply(context.Background(), c)
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
	},
		call("write_file", "path", "before.txt", "content", "x"), "Done.",
		call("write_file", "path", "index.html", "content", "bad"), call("serve"), "It works.",
		call("write_file", "path", "index.html", "content", "good"), call("serve"), "It works.")
	b.toys.serve = []string{oneError, fine}
	b.run("Write", transcript.ReasonStop)
	b.run("Make a page", transcript.ReasonStop)
	if got := strings.Join(b.others(), " "); got != "before.txt theirs.txt" || b.file("index.html") != "good" {
		t.Errorf("there are %q and the page %q", got, b.file("index.html"))
	}
	if len(of[event.Retried](b)) != 1 {
		t.Error("there was no second try")
	}
	b.undoAll()
	if got := b.others(); len(got) > 0 {
		t.Errorf("after undoing everything there are %q", got)
	}
}
