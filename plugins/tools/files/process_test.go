//go:build unix

package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/plugins/tools/files"
)

// TestMain lets the test binary stand for Pooled, which is started again to serve its tools.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "plugin" && os.Args[2] == "serve" {
		serve.Tools(files.Set{})
		return
	}
	os.Exit(m.Run())
}

// TestProcess runs the tools as Pooled does: in a process of their own, confined to the project where the system can. What
// they change the host can undo.
func TestProcess(t *testing.T) {
	c := plugin.NewCatalog("", nil, plugin.Options{Tools: []tool.Set{files.Set{}}})
	defer c.Close()
	sets, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tooltest.Run(t.Context(), sets[0], cases) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}

	base := t.TempDir()
	p := tool.Project{Root: filepath.Join(base, "project"), State: filepath.Join(base, "state")}
	if err := os.Mkdir(p.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := sets[0].Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, args := range []string{`{"path":"a.txt","content":"one"}`, `{"path":"sub/b.txt","content":"b"}`, `{"path":"a.txt","content":"two"}`} {
		r, err := s.Call(t.Context(), tool.Call{Name: "write_file", Arguments: json.RawMessage(args)})
		if err != nil || r.IsError || r.Diff == "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	w, err := workspace.Open(p.Root, p.State)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Undo(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got, err := w.ReadFile("a.txt"); err != nil || string(got) != "one" {
		t.Errorf("a.txt holds %q, %v; want one", got, err)
	}
	r, err := s.Call(t.Context(), tool.Call{Name: "write_file", Arguments: json.RawMessage(`{"path":"a.txt","content":"three"}`)})
	if err != nil || r.IsError {
		t.Fatalf("after an undo: %+v, %v", r, err)
	}
	for range 3 {
		if _, err := w.Undo(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := os.ReadDir(p.Root); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
