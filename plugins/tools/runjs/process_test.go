//go:build unix

package runjs_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/plugins/tools/runjs"
)

// TestMain lets the test binary stand for Pooled, which is started again to serve its tools.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "plugin" && os.Args[2] == "serve" {
		serve.Tools(runjs.Set{})
		return
	}
	os.Exit(m.Run())
}

// TestProcess runs a program as Pooled does: the sandbox works in a process that may do next to nothing.
func TestProcess(t *testing.T) {
	c := plugin.NewCatalog("", nil, plugin.Options{Tools: []tool.Set{runjs.Set{}}})
	defer c.Close()
	sets, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := sets[0].Open(t.Context(), tool.Project{Root: t.TempDir(), Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Call(t.Context(), tool.Call{Name: "run_js", Arguments: json.RawMessage(code("console.log(123 * 45)"))})
	if err != nil || r.Text != "5535" {
		t.Errorf("got %q, %v; want 5535", r.Text, err)
	}
}
