//go:build !nonano

package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/wire"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/ui/state"
)

// TestMain lets the test program serve the built-in model families to itself, as the real one does.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "plugin" && os.Args[2] == "serve" {
		os.Exit(serve(os.Args[3]))
	}
	os.Exit(m.Run())
}

// TestEngine talks to the embedded model through the view model, as the window does.
func TestEngine(t *testing.T) {
	t.Setenv("POOLED_HOME", t.TempDir())
	w := wire.New(wire.Options{})
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := &engine{wire: w, options: loadOptions{
		want: hub.Want{Backend: "cpu"}, sampling: generate.Options{MaxTokens: 40}, // the likeliest token each time
	}}
	wake := make(chan struct{}, 1)
	a := state.New(t.Context(), e, state.Options{Model: nano.Name, Wake: func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}})
	defer a.Close()
	until := func(what string, ok func() bool) {
		t.Helper()
		deadline := time.After(time.Minute)
		for a.Update(); !ok(); a.Update() {
			select {
			case <-wake:
			case <-deadline:
				t.Fatalf("waited in vain until %s; problem %+v", what, a.Problem())
			}
		}
	}
	idle := func() bool { return !a.Answering() && a.Loading().Name == "" }
	last := func() *state.Message { return a.Messages()[len(a.Messages())-1] }

	until("the model is loaded", idle)
	m, ok := a.Loaded()
	if !ok || m.Name != nano.Name || m.Family != "qwen35" || m.Device == "" || m.Reason == "" || m.Context <= 0 || !m.Toy {
		t.Fatalf("loaded %+v %v, problem %+v", m, ok, a.Problem())
	}
	a.Send("Say hello.")
	until("the answer ends", idle)
	if p := a.Problem(); p != nil {
		t.Fatalf("problem %+v", p)
	}
	u := a.Usage()
	finish := last().Answer.Finish
	if last().Doc.Len() == 0 || finish != state.FinishStop && finish != state.FinishLength || u.Used <= 0 || u.Total != m.Context {
		t.Errorf("answer %q, finish %q, usage %+v", last().Doc.Source(), finish, u)
	}
	if !a.Regenerate() {
		t.Fatal("cannot regenerate")
	}
	until("the other answer ends", idle)
	if p := a.Problem(); p != nil || len(a.Messages()) != 2 {
		t.Errorf("%d messages, problem %+v", len(a.Messages()), p)
	}
	a.Send("Write a long story.")
	until("the answer begins", func() bool { return last().Doc.Len() > 0 })
	a.Stop()
	until("the answer stops", idle)
	if p := a.Problem(); p != nil {
		t.Errorf("problem %+v", p)
	}
	a.NewChat()
	a.Send("Say hello.")
	until("the new chat answers", idle)
	if got := a.Usage().Used; got <= 0 || a.Problem() != nil {
		t.Errorf("usage %d, problem %+v", got, a.Problem())
	}
	a.Load("no such model")
	until("the load fails", idle)
	if p := a.Problem(); p == nil || p.Action != state.ActionModels {
		t.Errorf("problem %+v, want one that leads to the models", p)
	}
	list, err := e.Models(context.Background())
	if err != nil || len(list) != 1 || list[0].Name != nano.Name || !list[0].Toy {
		t.Errorf("models %+v, %v; want nano alone", list, err)
	}
	a.Send("left in the middle")
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
	}{
		{nil, -1},
		{[]string{"-m", "x", "--dark"}, -1},
		{[]string{"--help"}, 0},
		{[]string{"--no-such-flag"}, exitUsage},
		{[]string{"stray"}, exitUsage},
		{[]string{"--threads", "-1"}, exitUsage},
	} {
		if _, code := parse(c.args); code != c.code {
			t.Errorf("%q: code %d, want %d", c.args, code, c.code)
		}
	}
	o, _ := parse([]string{"-m", "x", "--dark", "-c", "512", "--backend", "cpu"})
	if o.Model != "x" || !o.Dark || o.context != 512 || o.want.Backend != "cpu" {
		t.Errorf("options %+v", o)
	}
}
