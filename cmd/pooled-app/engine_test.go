//go:build !nonano

package main

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/cmd/internal/assembly"
	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/ui/state"
)

// TestMain lets the test program serve the built-in model families to itself, as the real one does.
func TestMain(m *testing.M) {
	if served, err := assembly.Serve(os.Args[1:]); served {
		os.Exit(console.Code(err))
	}
	os.Exit(m.Run())
}

// TestEngine talks to the embedded model through the view model, as the window does.
func TestEngine(t *testing.T) {
	t.Setenv("POOLED_HOME", t.TempDir())
	w := assembly.New(assembly.Options{})
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := &engine{assembly: w, options: loadOptions{
		Model: options.Model{Want: hub.Want{Backend: "cpu"}}, sampling: generate.Options{MaxTokens: 40}, // the likeliest token each time
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
	if !ok || m.Name != nano.Name || m.Family != "qwen35" || m.Device == "" || m.Reason == "" || m.Context <= 0 || !m.Small {
		t.Fatalf("loaded %+v %v, problem %+v", m, ok, a.Problem())
	}
	a.Send("Say hello.")
	until("the answer ends", idle)
	if p := a.Problem(); p != nil {
		t.Fatalf("problem %+v", p)
	}
	u := a.Usage()
	finish := last().Answer.Finish
	if last().Doc.Len() == 0 || finish != generate.FinishStop && finish != generate.FinishLength || u.Used <= 0 || u.Total != m.Context {
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
	if err != nil || len(list) != 1 || list[0].Name != nano.Name || !list[0].Small {
		t.Errorf("models %+v, %v; want nano alone", list, err)
	}
	a.Send("left in the middle")
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		// runs says that the window opens, says what is printed where it does not.
		runs bool
		says string
	}{
		{nil, console.ExitDone, true, ""},
		{[]string{"-m", "x", "--dark"}, console.ExitDone, true, ""},
		{[]string{"--help"}, console.ExitDone, false, "Usage:\n  pooled-app [flags]\n"},
		{[]string{"--no-such-flag"}, console.ExitUsage, false, "see 'pooled-app --help'"},
		{[]string{"stray"}, console.ExitUsage, false, "stray"},
		{[]string{"--threads", "-1"}, console.ExitUsage, false, "--threads is -1"},
		{[]string{"--backend", "cuda"}, console.ExitUsage, false, "cpu, webgpu or auto"},
	} {
		var out bytes.Buffer
		con := &console.Console{Out: &out, Err: &out}
		var s *settings
		code := con.Run(program, func(con *console.Console) (err error) {
			s, err = parse(con, c.args)
			return err
		})
		if code != c.code || (s != nil) != c.runs || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: code %d, settings %+v, %q", c.args, code, s, out.String())
		}
	}
	s, err := parse(&console.Console{}, []string{"-m", "x", "--dark", "-c", "512", "--backend", "cpu", "--temp", "0.2"})
	if err != nil {
		t.Fatal(err)
	}
	want := options.DefaultSampling()
	want.Temperature = 0.2
	if s.Ref != "x" || !s.dark || s.Context != 512 || s.Want.Backend != "cpu" || !reflect.DeepEqual(s.sampling, want) {
		t.Errorf("settings %+v", s)
	}
}
