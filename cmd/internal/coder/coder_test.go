package coder

import (
	"fmt"
	"os"
	"testing"

	"github.com/pooled/pooled/cmd/internal/wire"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
	"github.com/pooled/pooled/plugins/tools/files"
	"github.com/pooled/pooled/plugins/tools/preview"
	"github.com/pooled/pooled/plugins/tools/runjs"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "plugin" {
		if os.Args[3] == "models/dense" {
			plugin.ServeFamily(dense.Family{})
		}
		plugin.ServeFamily(qwen35.Family{})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestNano(t *testing.T) {
	w := wire.New(wire.Options{})
	defer w.Close()
	ref := os.Getenv("M")
	f, name, err := w.Open(ref)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := TemplateOf(f)
	m, err := w.Hub().Load(t.Context(), f, name, hub.LoadOptions{Want: hub.Want{Backend: "cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	cache, _ := os.UserCacheDir()
	for _, q := range []string{"Make a click counter", "What is 123 times 45?"} {
		dir := t.TempDir()
		tools, err := agent.OpenTools(t.Context(), tool.Project{Root: dir, State: t.TempDir(), Cache: cache + "/pooled/sandbox"},
			agent.Source{Set: files.Set{}, Sandboxed: true}, agent.Source{Set: runjs.Set{}, Sandboxed: true}, agent.Source{Set: preview.Set{}, Sandboxed: true})
		if err != nil {
			t.Fatal(err)
		}
		defer tools.Close()
		a, err := agent.New(agent.Options{Model: Model(m, tmpl), Tools: tools, Mode: agent.All, Emit: func(e agent.Event) {
			b, err := agent.MarshalEvent(e)
			if err != nil {
				t.Error(err)
			}
			switch e.(type) {
			case agent.CallDelta, agent.Reading:
			default:
				fmt.Println(string(b))
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Run(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(dir + "/index.html")
		fmt.Println(string(b))
	}
}
