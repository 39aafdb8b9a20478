package tool_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/tool"
)

// editor is a set with a tool of every act.
func editor() tool.Info {
	const texts = `{"type":"object","properties":{"file":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"},"n":{"type":"integer"}}}`
	spec := func(name string, class tool.Class, does tool.Act, r tool.Roles) tool.Spec {
		return tool.Spec{Name: name, Description: "For tests.", Class: class, Does: does, Roles: r, Parameters: json.RawMessage(texts)}
	}
	return tool.Info{Name: "editor", Contract: 2, Prompt: []string{"Write with put.", "Look with get."}, Tools: []tool.Spec{
		spec("get", tool.Read, tool.ReadsFile, tool.Roles{Path: "file", Brief: []string{"file", "a"}}),
		spec("put", tool.Edit, tool.WritesFile, tool.Roles{Path: "file", Content: "a"}),
		spec("alter", tool.Edit, tool.EditsFile, tool.Roles{Path: "file", Old: "a", New: "b"}),
		spec("calc", tool.Run, tool.RunsCode, tool.Roles{}),
		spec("show", tool.Serve, tool.ServesApp, tool.Roles{Path: "file"}),
		spec("other", tool.Run, "", tool.Roles{Path: "file", Brief: []string{"b"}}),
	}}
}

func TestRoles(t *testing.T) {
	if err := editor().Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*tool.Info)
		want   string
	}{
		{"an act that is none", func(i *tool.Info) { i.Tools[0].Does = "dances" }, `it does "dances"`},
		{"an act of another class", func(i *tool.Info) { i.Tools[1].Class = tool.Read }, `its class must be "edit"`},
		{"a reader without a path", func(i *tool.Info) { i.Tools[0].Roles.Path = "" }, "must name the arguments for path"},
		{"a writer without a content", func(i *tool.Info) { i.Tools[1].Roles.Content = "" }, "must name the arguments for path and content"},
		{"an editor without an old text", func(i *tool.Info) { i.Tools[2].Roles.Old = "" }, "must name the arguments for path, old and new"},
		{"a reader with a content", func(i *tool.Info) { i.Tools[0].Roles.Content = "a" }, "only a tool that does"},
		{"a writer with an old text", func(i *tool.Info) { i.Tools[1].Roles.Old = "b" }, "only a tool that does"},
		{"an argument that is not declared", func(i *tool.Info) { i.Tools[5].Roles.Path = "path" }, `the argument "path", which is not a declared string`},
		{"an argument that is no string", func(i *tool.Info) { i.Tools[5].Roles.Path = "n" }, `the argument "n", which is not a declared string`},
		{"one argument for two roles", func(i *tool.Info) { i.Tools[1].Roles.Content = "file" }, `the argument "file" has two roles`},
		{"a brief that is not declared", func(i *tool.Info) { i.Tools[5].Roles.Brief = []string{"x"} }, "not a declared string"},
		{"a brief that says the same twice", func(i *tool.Info) { i.Tools[5].Roles.Brief = []string{"b", "b"} }, "named twice"},
		{"a long brief", func(i *tool.Info) { i.Tools[5].Roles.Brief = make([]string, 5) }, "the limit is 4"},
		{"an empty line for the prompt", func(i *tool.Info) { i.Prompt = []string{""} }, "lines for the prompt are empty"},
		{"a prompt with a line break", func(i *tool.Info) { i.Prompt = []string{"a\n- b"} }, "not plain text"},
		{"a prompt that moves the cursor", func(i *tool.Info) { i.Prompt = []string{"\x1b[2J"} }, "not plain text"},
		{"a long prompt", func(i *tool.Info) { i.Prompt = []string{strings.Repeat("x", 600), strings.Repeat("y", 600)} }, "longer than 1024 bytes"},
		{"many lines", func(i *tool.Info) { i.Prompt = slices.Repeat([]string{"x"}, 9) }, "the limit is 8"},
		{"contract 1 with roles", func(i *tool.Info) { i.Contract, i.Prompt = 1, nil }, "contract 1 does not know"},
		{"contract 1 with a prompt", func(i *tool.Info) { i.Contract = 1 }, "contract 1 does not know"},
	} {
		info := editor()
		c.change(&info)
		if err := info.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestHealth(t *testing.T) {
	for _, c := range []struct {
		name    string
		reports bool
		health  *tool.Health
		fine    bool
	}{
		{"none", true, nil, true},
		{"a page that works", true, &tool.Health{Page: "index.html", URL: "http://127.0.0.1:8080/"}, true},
		{"problems", true, &tool.Health{Page: "index.html", Problems: []string{"TypeError: x is undefined"}}, true},
		{"of a tool that does not report", false, &tool.Health{Page: "index.html"}, false},
		{"no page", true, &tool.Health{}, false},
		{"a page of two lines", true, &tool.Health{Page: "a\nb"}, false},
		{"a problem that moves the cursor", true, &tool.Health{Page: "a", Problems: []string{"\x1b[2J"}}, false},
		{"an empty problem", true, &tool.Health{Page: "a", Problems: []string{""}}, false},
		{"a long problem", true, &tool.Health{Page: "a", Problems: []string{strings.Repeat("x", tool.MaxProblem+1)}}, false},
		{"many problems", true, &tool.Health{Page: "a", Problems: slices.Repeat([]string{"x"}, tool.MaxProblems+1)}, false},
		{"an address of a file", true, &tool.Health{Page: "a", URL: "file:///etc/passwd"}, false},
		{"an address that is a program", true, &tool.Health{Page: "a", URL: "javascript:alert(1)"}, false},
	} {
		s := one(func(tool.Call) (tool.Result, error) { return tool.Result{Text: "x", Health: c.health}, nil })
		s.info.Contract, s.info.Tools[0].Reports = 2, c.reports
		opened, err := tool.Checked(s).Open(t.Context(), tool.Project{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := opened.Call(t.Context(), tool.Call{Name: "do"})
		if c.fine != (err == nil) || err != nil && !errors.Is(err, tool.ErrFault) || c.fine && r.Health != c.health {
			t.Errorf("%s: got %+v, %v; want fine %v", c.name, r.Health, err, c.fine)
		}
		if c.fine && c.health != nil && c.health.OK() != (len(c.health.Problems) == 0) {
			t.Errorf("%s: OK says %v", c.name, c.health.OK())
		}
	}
}
