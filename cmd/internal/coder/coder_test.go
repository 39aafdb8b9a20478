package coder_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/coder"
	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
)

// TestMain lets the test binary serve the built-in plugins, as the real program does.
func TestMain(m *testing.M) {
	if served, err := assembly.Serve(os.Args[1:]); served {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	home, err := os.MkdirTemp("", "pooled-coder")
	if err != nil {
		panic(err)
	}
	os.Setenv("POOLED_HOME", home)
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// vocabulary returns that of SmolLM2: 49,152 tokens, which is few for a model that calls tools.
func vocabulary(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	f, err := os.Open("../../../core/tokenizer/testdata/smollm.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		Model, Pre string
		Tokens     []string
		Types      []int32
		Merges     []string
		Named      [6]int32
	}
	if err := json.NewDecoder(z).Decode(&b); err != nil {
		t.Fatal(err)
	}
	n := b.Named
	tok, err := tokenizer.New(&tokenizer.Vocab{
		Model: b.Model, Pre: b.Pre, Tokens: b.Tokens, Types: b.Types, Merges: b.Merges,
		BOS: n[0], EOS: n[1], EOT: n[2], EOM: n[3], UNK: n[4], PAD: n[5],
	})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestPromptSize holds the system prompt with all tools to its bound, in the template of Qwen2.5. That model's own, larger
// vocabulary takes 1,041 tokens.
func TestPromptSize(t *testing.T) {
	w := assembly.New(assembly.Options{})
	defer w.Close()
	m := loadNano(t, w)
	text, err := os.ReadFile("testdata/qwen2.5.jinja")
	if err != nil {
		t.Fatal(err)
	}
	template, err := chat.New(w.Renderer(), string(text), vocabulary(t))
	if err != nil {
		t.Fatal(err)
	}
	sets, err := w.Catalog().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	sized := &sizer{Model: m, template: template, size: &n}
	a := newAgent(t, sized, sets, t.TempDir(), nil)
	if _, err := a.Run(t.Context(), "Hi"); err == nil {
		t.Fatal("the sizer answered")
	}
	const limit, asked = 1300, 12 // what the user's message takes
	t.Logf("%d tokens", n)
	if n == 0 || n-asked >= limit {
		t.Errorf("the system prompt has %d tokens, want fewer than %d", n-asked, limit)
	}
}

// sizer measures the first prompt.
type sizer struct {
	agent.Model
	template *chat.Template
	size     *int
}

func (s *sizer) Format() toolcall.Format { return toolcall.HermesJSON }

func (s *sizer) Prompt(ctx context.Context, req chat.Request) (*chat.Prompt, error) {
	p, err := s.template.Prompt(ctx, req)
	if err == nil {
		*s.size = len(p.IDs)
		err = fmt.Errorf("measured")
	}
	return p, err
}

func loadNano(t *testing.T, w *assembly.Assembly) agent.Model {
	t.Helper()
	f, name, err := w.Open(nano.Name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Hub().Load(t.Context(), f, name, hub.LoadOptions{Want: hub.Want{Backend: "cpu"}, Context: 2048})
	if err != nil {
		t.Fatal(err)
	}
	return coder.Model(m)
}

func newAgent(t *testing.T, m agent.Model, sets []plugin.Offer, root string, emit func(event.Event)) *agent.Agent {
	t.Helper()
	state := t.TempDir()
	tools, err := agent.OpenTools(t.Context(), tool.Project{Root: root, State: state, Cache: folders.Tools()}, coder.Sources(sets)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tools.Close() })
	ws, err := workspace.Open(root, state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	a, err := agent.New(agent.Options{
		Model: m, Tools: tools, Mode: agent.Edits, Emit: emit,
		TakeBack: coder.TakeBack(ws),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestNano lets the embedded model work, with its tools in processes of their own.
func TestNano(t *testing.T) {
	if testing.Short() {
		t.Skip("the embedded model takes minutes under the race detector; run without -short")
	}
	w := assembly.New(assembly.Options{})
	defer w.Close()
	m := loadNano(t, w)
	sets, err := w.Catalog().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var last map[string]string // results by tool, of the last call
	ask := func(root, text string) (*agent.Agent, transcript.Outcome) {
		last = map[string]string{}
		a := newAgent(t, m, sets, root, func(e event.Event) {
			if d, ok := e.(event.CallDone); ok {
				last[d.Call.Name] = d.Result
			}
		})
		d, err := a.Run(t.Context(), text)
		if err != nil || d.Reason != transcript.ReasonStop {
			t.Fatalf("%s: %v, %v", text, d.Reason, err)
		}
		return a, d
	}
	root := t.TempDir()
	_, d := ask(root, "Make a click counter")
	if got, want := last["serve"], "serving index.html, no console errors"; got != want || d.Problems != "" {
		t.Errorf("serve said %q, want %q (%s)", got, want, d.Problems)
	}
	if page, err := os.ReadFile(filepath.Join(root, "index.html")); err != nil || !strings.Contains(string(page), "<script>") {
		t.Errorf("index.html: %v, %.100q", err, page)
	}
	a, _ := ask(t.TempDir(), "What is 123 times 45?")
	if got := last["run_js"]; got != "5535" {
		t.Errorf("run_js said %q, want 5535", got)
	}
	history := a.History()
	if answer := history[len(history)-1]; !strings.Contains(answer.Text, "5535") {
		t.Errorf("the answer is %q", answer.Text)
	}
}

func TestGrammars(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling the guest takes a minute under the race detector; run without -short")
	}
	w := assembly.New(assembly.Options{})
	defer w.Close()
	m := loadNano(t, w)
	g := w.Grammars()
	g.Warm(m.Tokenizer())
	e, err := g.Engine(t.Context(), m.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	schema, err := grammar.JSONSchema([]byte(`{"type":"boolean"}`), grammar.LayoutLine)
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := e.Matcher(t.Context(), schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := matcher.Close(); err != nil {
		t.Error(err)
	}
}
