package state_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/ui/internal/uitest"
	"github.com/pooled/pooled/ui/state"
)

// settled runs the engine until it waits for something, and applies what it reported.
func settled(a *state.App) {
	synctest.Wait()
	a.Update()
}

// kinds writes the rows as one letter each.
func kinds(a *state.App) string {
	var s strings.Builder
	for _, r := range a.Rows() {
		s.WriteByte("urwbe"[r.Kind])
	}
	return s.String()
}

func last(a *state.App) *state.Message { return a.Messages()[len(a.Messages())-1] }

func test(t *testing.T, model string, e *uitest.Engine, f func(t *testing.T, a *state.App)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := state.New(t.Context(), e, state.Options{Model: model})
		defer a.Close()
		settled(a)
		f(t, a)
	})
}

func TestSendStreamsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &uitest.Engine{Step: make(chan struct{})}
		a := state.New(t.Context(), e, state.Options{Model: "tiny"})
		defer a.Close()
		settled(a)
		if l := a.Loading(); l.Name != "tiny" || l.Done != 1 || l.Total != 2 {
			t.Errorf("loading %+v, want half of tiny", l)
		}
		e.Answer(uitest.Script{Reasoning: "Hm. ", Text: "One\n\ntwo three."})
		if !a.Send("  hello there ") {
			t.Fatal("a message was refused while a model loads, want it to wait")
		}
		if got, want := kinds(a), "uw"; got != want {
			t.Errorf("rows %q, want %q", got, want)
		}
		e.Step <- struct{}{}
		settled(a)
		if m, ok := a.Loaded(); !ok || m.Name != "tiny" {
			t.Errorf("loaded %+v %v, want tiny", m, ok)
		}
		for i, want := range []string{"uw", "urw", "urbb", "urbbe"} {
			if i > 0 {
				e.Step <- struct{}{}
			}
			settled(a)
			if got := kinds(a); got != want {
				t.Errorf("after %d events: rows %q, want %q", i, got, want)
			}
		}
		if a.Answering() {
			t.Error("still answering")
		}
		if u := a.Usage(); u.Rate != 42 || u.Used != 103 || u.Total != 4096 || u.Live {
			t.Errorf("usage %+v, want 42 tok/s and 103 of 4096", u)
		}
		if got, want := e.Calls(), "load:tiny send:hello there"; got != want {
			t.Errorf("calls %q, want %q", got, want)
		}
	})
}

// TestQueued shows how many answers come first, until the model reads this chat.
func TestQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &uitest.Engine{Step: make(chan struct{})}
		a := state.New(t.Context(), e, state.Options{Model: "tiny"})
		defer a.Close()
		e.Step <- struct{}{}
		e.Answer(uitest.Script{Ahead: 2, Text: "Hi."})
		settled(a)
		a.Send("hello")
		for _, want := range []int{2, 0} {
			settled(a)
			if m := a.Messages()[1]; m.Ahead != want || m.Status != state.Waiting {
				t.Errorf("%d come first, and it is %d, want %d and waiting", m.Ahead, m.Status, want)
			}
			e.Step <- struct{}{}
		}
		settled(a)
		if got := a.Messages()[1].Doc.Source(); got != "Hi." {
			t.Errorf("got %q", got)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &uitest.Engine{}
		a := state.New(t.Context(), e, state.Options{Model: "tiny"})
		defer a.Close()
		settled(a)
		e.Step = make(chan struct{})
		e.Answer(uitest.Script{Text: "one two three"})
		if a.Stop() {
			t.Error("stopped when nothing ran")
		}
		a.Send("count")
		e.Step <- struct{}{}
		settled(a)
		if !a.Stop() || !a.Stopping() {
			t.Fatal("the answer was not stopped")
		}
		if a.Stop() {
			t.Error("stopped twice")
		}
		settled(a)
		m := last(a)
		if a.Answering() || m.Answer.Finish != generate.FinishCancelled || m.Doc.Source() != "one " {
			t.Errorf("finish %q with %q, want cancelled with what had come", m.Answer.Finish, m.Doc.Source())
		}
		if a.Problem() != nil {
			t.Errorf("stopping is a problem: %+v", a.Problem())
		}
	})
}

func TestRefusals(t *testing.T) {
	e := &uitest.Engine{}
	test(t, "", e, func(t *testing.T, a *state.App) {
		if a.Send("hello") {
			t.Error("sent without a model")
		}
		if p := a.Problem(); p == nil || p.Action != state.ActionModels {
			t.Errorf("problem %+v, want one that leads to the models", p)
		}
		a.Load("tiny")
		settled(a)
		if a.Send(" \n ") {
			t.Error("sent an empty message")
		}
		if a.Regenerate() {
			t.Error("regenerated an empty chat")
		}
	})
}

func TestRegenerate(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  uitest.Script
		second uitest.Script
		// calls are what the engine was asked after the load.
		calls, text string
		problem     bool
	}{
		{"gives another answer", uitest.Script{Text: "a"}, uitest.Script{Text: "b"}, "send:q regenerate", "b", false},
		{"sends again what failed", uitest.Script{Err: errors.New("out of memory")}, uitest.Script{Text: "b"}, "send:q send:q", "b", false},
		{"keeps the answer when it fails", uitest.Script{Text: "a"}, uitest.Script{Text: "b", Err: errors.New("no")}, "send:q regenerate", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &uitest.Engine{}
			e.Answer(c.first, c.second)
			test(t, "tiny", e, func(t *testing.T, a *state.App) {
				a.Send("q")
				settled(a)
				if failed := last(a).Status == state.Failed; failed != (c.first.Err != nil) {
					t.Errorf("failed %v, want %v", failed, c.first.Err != nil)
				}
				if !a.Regenerate() {
					t.Fatal("cannot regenerate")
				}
				settled(a)
				if got := strings.TrimPrefix(e.Calls(), "load:tiny "); got != c.calls {
					t.Errorf("calls %q, want %q", got, c.calls)
				}
				if got := last(a).Doc.Source(); got != c.text {
					t.Errorf("answer %q, want %q", got, c.text)
				}
				if got := a.Problem() != nil; got != c.problem {
					t.Errorf("problem %v, want %v", got, c.problem)
				}
			})
		})
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name   string
		model  string
		script uitest.Script
		action state.Action
		text   string
	}{
		{"load", "broken", uitest.Script{}, state.ActionModels, uitest.ErrLoad.Error()},
		{"answer", "tiny", uitest.Script{Err: errors.New("the device is gone")}, state.ActionRetry, "the device is gone"},
		{"context", "tiny", uitest.Script{Text: "a", Finish: generate.FinishContext}, state.ActionNewChat, "cannot read any further"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &uitest.Engine{}
			e.Answer(c.script)
			test(t, c.model, e, func(t *testing.T, a *state.App) {
				if c.model != "broken" {
					a.Send("q")
					settled(a)
				}
				p := a.Problem()
				if p == nil || p.Action != c.action || !strings.Contains(p.Text, c.text) || p.Hint == "" || p.Title == "" {
					t.Fatalf("problem %+v, want action %d and %q", p, c.action, c.text)
				}
				a.Dismiss()
				if a.Problem() != nil {
					t.Error("a problem stays after it was dismissed")
				}
			})
		})
	}
}

// TestLateReports checks that what an answer says after its chat was left changes nothing.
func TestLateReports(t *testing.T) {
	for name, leave := range map[string]func(*state.App){
		"new chat": (*state.App).NewChat,
		"load":     func(a *state.App) { a.Load("toy") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &uitest.Engine{}
				a := state.New(t.Context(), e, state.Options{Model: "tiny"})
				defer a.Close()
				settled(a)
				e.Answer(uitest.Script{Text: "one two three", Err: errors.New("late")})
				a.Send("first")
				synctest.Wait() // reports wait to be applied
				leave(a)
				settled(a)
				if len(a.Messages()) != 0 || a.Problem() != nil || a.Answering() {
					t.Fatalf("%d messages, problem %v, want a new chat", len(a.Messages()), a.Problem())
				}
				if !a.Send("second") {
					t.Fatal("the new chat takes no message")
				}
				settled(a)
				if got, want := last(a).Doc.Source(), "You said: second"; got != want {
					t.Errorf("answer %q, want %q", got, want)
				}
			})
		})
	}
}

// TestLoadTakesOver checks that the last of several loads wins, also when the first still runs.
func TestLoadTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &uitest.Engine{Step: make(chan struct{})}
		a := state.New(t.Context(), e, state.Options{Model: "broken"})
		defer a.Close()
		settled(a)
		a.Load("toy")
		a.Load("tiny")
		settled(a)
		e.Step <- struct{}{}
		settled(a)
		if m, _ := a.Loaded(); m.Name != "tiny" || a.Problem() != nil {
			t.Errorf("loaded %q, problem %v, want tiny and none", m.Name, a.Problem())
		}
		if got, want := e.Calls(), "load:broken load:tiny"; got != want {
			t.Errorf("calls %q, want %q", got, want)
		}
	})
}

func TestSmallNotice(t *testing.T) {
	test(t, "toy", &uitest.Engine{}, func(t *testing.T, a *state.App) {
		if !a.SmallNotice() {
			t.Error("no notice for a toy")
		}
		a.DismissSmall()
		if a.SmallNotice() {
			t.Error("a notice that was read comes back")
		}
	})
	test(t, "tiny", &uitest.Engine{}, func(t *testing.T, a *state.App) {
		if a.SmallNotice() {
			t.Error("a notice for a real model")
		}
	})
}

func TestLiveRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &uitest.Engine{}
		a := state.New(t.Context(), e, state.Options{Model: "tiny"})
		defer a.Close()
		settled(a)
		e.Step = make(chan struct{})
		e.Answer(uitest.Script{Text: strings.Repeat("word ", 12)})
		a.Send("q")
		for range 11 {
			e.Step <- struct{}{}
			settled(a)
			time.Sleep(100 * time.Millisecond)
		}
		if u := a.Usage(); !u.Live || u.Rate < 9 || u.Rate > 11 || u.Used != 21 {
			t.Errorf("usage %+v, want a live rate of about 10 tok/s and 21 positions", u)
		}
	})
}

// TestWakeOnce checks that a UI frame is asked for once, however much the engine reports before it is drawn.
func TestWakeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &uitest.Engine{}
		var mu sync.Mutex
		woken := 0
		a := state.New(t.Context(), e, state.Options{Model: "tiny", Wake: func() {
			mu.Lock()
			defer mu.Unlock()
			woken++
		}})
		defer a.Close()
		settled(a)
		before := woken
		e.Answer(uitest.Script{Text: strings.Repeat("many words ", 100)})
		a.Send("q")
		synctest.Wait()
		if got := woken - before; got != 1 {
			t.Errorf("asked for %d frames, want 1", got)
		}
		if !a.Update() || a.Update() {
			t.Error("want changes once")
		}
	})
}

// TestClose checks that closing while an answer streams ends every goroutine.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	e := &uitest.Engine{Step: make(chan struct{})}
	a := state.New(context.Background(), e, state.Options{})
	a.Load("tiny")
	e.Step <- struct{}{}
	a.Send("q")
	a.Send("ignored: an answer streams")
	e.Step <- struct{}{}
	a.Close()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, want %d", n, before)
	}
	if got, want := e.Calls(), "load:tiny send:q"; got != want {
		t.Errorf("calls %q, want %q", got, want)
	}
}
