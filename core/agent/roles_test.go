package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/plugins/tools/files"
)

// renamed is a set whose tools and arguments have other names: an editor that somebody else wrote.
type renamed struct {
	tool.Set
	tools map[string]string            // its name → the name inside
	args  map[string]map[string]string // of each of its tools, its argument → the one inside
}

func (r renamed) Info() tool.Info {
	info := r.Set.Info()
	info.Name, info.Prompt = "foreign-"+info.Name, []string{"Use these tools of " + info.Name + " well."}
	var specs []tool.Spec
	for name, inside := range r.tools {
		s := *info.Tool(inside)
		s.Name = name
		for outer, inner := range r.args[name] {
			s.Parameters = json.RawMessage(strings.ReplaceAll(string(s.Parameters), fmt.Sprintf("%q", inner), fmt.Sprintf("%q", outer)))
			for _, role := range []*string{&s.Roles.Path, &s.Roles.Content, &s.Roles.Old, &s.Roles.New} {
				if *role == inner {
					*role = outer
				}
			}
			brief := make([]string, len(s.Roles.Brief))
			for i, b := range s.Roles.Brief {
				if brief[i] = b; b == inner {
					brief[i] = outer
				}
			}
			s.Roles.Brief = brief
		}
		specs = append(specs, s)
	}
	info.Tools = specs
	return info
}

func (r renamed) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	s, err := r.Set.Open(ctx, p)
	return renamedSession{s, r}, err
}

type renamedSession struct {
	tool.Session
	set renamed
}

func (s renamedSession) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tool.Result{}, err
	}
	for outer, inner := range s.set.args[c.Name] {
		if v, ok := args[outer]; ok {
			delete(args, outer)
			args[inner] = v
		}
	}
	var err error
	c.Name = s.set.tools[c.Name]
	if c.Arguments, err = json.Marshal(args); err != nil {
		return tool.Result{}, err
	}
	return s.Session.Call(ctx, c)
}

// foreign are an editor and a server whose names nobody here knows.
func foreign(toys tool.Set) []agent.Source {
	return []agent.Source{
		{Set: renamed{files.Set{}, map[string]string{"put": "write_file", "change": "edit_file", "look": "read_file"}, map[string]map[string]string{
			"put":    {"where": "path", "what": "content"},
			"change": {"where": "path", "from": "old", "to": "new"},
			"look":   {"where": "path"},
		}}},
		{Set: renamed{toys, map[string]string{"show": "serve"}, nil}},
	}
}

// TestForeignEditor gives a dropped-in editor what the built-in one gets: diffs, questions, and the line of a call.
func TestForeignEditor(t *testing.T) {
	var asked []event.Approval
	b := newBenchOf(t, foreign, toolcall.QwenXML, 8192, func(o *agent.Options) {
		o.Mode, o.System = agent.Ask, ""
		o.Approve = func(_ context.Context, a event.Approval) (agent.Decision, error) {
			asked = append(asked, a)
			return agent.Decision{Verdict: agent.Allow}, nil
		}
	},
		call("put", "where", "index.html", "what", "<p>one</p>\n"),
		call("change", "where", "index.html", "from", "one", "to", "two"),
		"Done.")
	b.run("Make a page", transcript.ReasonStop)
	if got := b.file("index.html"); got != "<p>two</p>\n" {
		t.Errorf("the page is %q", got)
	}
	if len(asked) != 2 || !strings.Contains(asked[0].Diff, "+<p>one</p>") || !strings.Contains(asked[1].Diff, "-<p>one</p>") {
		t.Errorf("asked %+v", asked)
	}
	system, _, _ := strings.Cut(b.model.Prompts()[0], "<|im_end|>")
	for _, want := range []string{"write it into a file with put.", "Use these tools of files well.", "Use these tools of toys well."} {
		if !strings.Contains(system, want) {
			t.Errorf("the system prompt does not say %q:\n%s", want, system)
		}
	}
	for _, name := range []string{"write_file", "edit_file", "read_file", "serve", "run_js"} {
		if strings.Contains(system, name) {
			t.Errorf("the system prompt speaks of %s, which is not there", name)
		}
	}
	c := transcript.Call{Name: "change", Arguments: json.RawMessage(`{"where":"a.html","from":"x","to":"y"}`)}
	if got := b.opt.Tools.Brief(&c); len(got) != 1 || got[0] != "a.html" {
		t.Errorf("a call is about %q, want a.html", got)
	}
}

// TestForeignTries takes what a dropped-in editor made back, keeps the best, and offers a printed page through it.
func TestForeignTries(t *testing.T) {
	put := func(text string) string { return call("put", "where", "index.html", "what", text) }
	b := newBenchOf(t, foreign, toolcall.QwenXML, 8192, nil, put("one"), call("show"), "It works.", "No.")
	b.toys.serve = []string{oneError}
	d := b.run("Make a page", transcript.ReasonStop)
	if got := b.file("index.html"); got != "one" || d.Problems != oneError || len(of[event.Retried](b)) == 0 || len(of[event.Restored](b)) != 1 {
		t.Errorf("the page is %q, %q is reported\n%s", got, d.Problems, b.talk())
	}
	const page = "<!DOCTYPE html>\n<html>\n<body>\n<h1>Hi</h1>\n</body>\n</html>"
	b = newBenchOf(t, foreign, toolcall.QwenXML, 8192, nil, "Here it is:\n```html\n"+page+"\n```", call("show"), "Done.")
	b.run("Make a page", transcript.ReasonStop)
	if got := b.file("index.html"); got != page+"\n" {
		t.Errorf("the printed page is %q\n%s", got, b.talk())
	}
	// A model that prints code to the end is told of the tools that there are.
	b = newBenchOf(t, foreign, toolcall.QwenXML, 8192, nil, append(slices.Repeat([]string{"```js\n" + strings.Repeat("go()\n", 9) + "```"}, 9), "Sorry.")...)
	b.run("Make a page", transcript.ReasonStop)
	if !strings.Contains(b.talk(), "with the tool put, then call show.") {
		t.Errorf("the model was not told of put and show\n%s", b.talk())
	}
}

// TestForeignCompaction leaves out what a dropped-in editor wrote into files that were written again.
func TestForeignCompaction(t *testing.T) {
	long := strings.Repeat("a line of text that is long enough\n", 12)
	var answers []string
	for i := range 12 {
		name := fmt.Sprintf("f%d.txt", i%3)
		answers = append(answers, call("put", "where", name, "what", fmt.Sprint(i)+long), call("look", "where", name))
	}
	b := newBenchOf(t, foreign, toolcall.QwenXML, 4096, nil, append(answers, "All files are written.")...)
	b.run("Write the files", transcript.ReasonStop)
	left := false
	for _, p := range b.model.Prompts() {
		left = left || strings.Contains(p, "bytes, changed since)")
	}
	if !left {
		t.Error("no old content was left out")
	}
}

// boaster claims a health without having declared that it reports one.
type boaster struct{ toys }

func (b *boaster) Info() tool.Info {
	info := b.toys.Info()
	info.Tools[0].Reports = false
	return info
}

func (b *boaster) Open(context.Context, tool.Project) (tool.Session, error) { return b, nil }

func TestHealthMustBeDeclared(t *testing.T) {
	b := newBenchOf(t, func(tool.Set) []agent.Source { return []agent.Source{{Set: &boaster{}}} }, toolcall.QwenXML, 4096, nil, call("serve"), "Done.")
	b.run("Serve it", transcript.ReasonStop)
	done := of[event.CallDone](b)
	if len(done) != 1 || !done[0].IsError || done[0].Health != nil {
		t.Errorf("got %+v", done)
	}
}
