package page_test

import (
	"image"
	"strings"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/input"
	"gioui.org/io/key"

	"github.com/pooled/pooled/ui/internal/uitest"
	"github.com/pooled/pooled/ui/state"
)

var size = image.Pt(900, 640)

func (w *window) last() *state.Message {
	all := w.view.App.Messages()
	return all[len(all)-1]
}

func TestTypeAndSend(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(t *testing.T, w *window)
	}{
		{"Enter", func(_ *testing.T, w *window) { w.Key(key.NameReturn, 0) }},
		{"the enter of the number pad", func(_ *testing.T, w *window) { w.Key(key.NameEnter, 0) }},
		{"the button", func(t *testing.T, w *window) { w.Click(t, "Send") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t, size, "tiny")
			w.Type("héllo") // the editor has the focus from the start
			c.send(t, w)
			w.settle(t)
			if got, want := w.engine.Calls(), "load:tiny send:héllo"; got != want {
				t.Fatalf("calls %q, want %q", got, want)
			}
			for _, text := range []string{"héllo", "You said: héllo", "42 tok/s", "103 of 4,096 context", "no GPU was found"} {
				if !w.Shows(text) {
					t.Errorf("%q is not on the screen:\n%s", text, w.Dump())
				}
			}
			if d := w.view.Chat.Draft(); d != "" {
				t.Errorf("the editor still has %q", d)
			}
		})
	}
}

func TestShiftEnterBreaksTheLine(t *testing.T) {
	w := open(t, size, "tiny")
	w.Type("a")
	w.Key(key.NameReturn, key.ModShift)
	w.Type("b")
	if got, want := w.view.Chat.Draft(), "a\nb"; got != want {
		t.Fatalf("the editor has %q, want %q", got, want)
	}
	w.Key(key.NameReturn, 0)
	w.settle(t)
	if got, want := w.engine.Calls(), "load:tiny send:a\nb"; got != want {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestStopMidAnswer(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, w *window){
		"Esc":        func(_ *testing.T, w *window) { w.Key(key.NameEscape, 0) },
		"the button": func(t *testing.T, w *window) { w.Click(t, "Stop") },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, size, "tiny")
			w.engine.Step = make(chan struct{})
			w.engine.Answer(uitest.Script{Text: "one two three"})
			w.Type("count")
			w.Key(key.NameReturn, 0)
			w.engine.Step <- struct{}{}
			w.until(t, "the first word is on the screen", func() bool { return w.Shows("one") })
			stop(t, w)
			w.settle(t)
			if got, want := w.last().Doc.Source(), "one "; got != want {
				t.Errorf("the answer is %q, want %q", got, want)
			}
			if !w.Shows("Stopped") || !w.Shows("Regenerate") {
				t.Errorf("nothing says that it was stopped:\n%s", w.Dump())
			}
			w.Type("x") // the focus is back in the editor
			if got := w.view.Chat.Draft(); got != "x" {
				t.Errorf("the editor has %q, want what was typed", got)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	w := open(t, size, "tiny")
	w.talkTo(t, "hello")

	w.Key("C", key.ModShortcut|key.ModShift)
	if s, ok := w.Clipboard(); !ok || s != "You said: hello" {
		t.Errorf("Ctrl+Shift+C copied %q", s)
	}
	w.engine.Answer(uitest.Script{Text: "something else"})
	w.Key("R", key.ModShortcut)
	w.settle(t)
	if !w.Shows("something else") || w.Shows("You said: hello") {
		t.Errorf("Ctrl+R did not replace the answer:\n%s", w.Dump())
	}
	w.Key("T", key.ModShortcut)
	if !w.view.Theme.IsDark {
		t.Error("Ctrl+T did not change the theme")
	}
	w.Key("N", key.ModShortcut)
	if len(w.view.App.Messages()) != 0 || !w.Shows("What is on your mind?") {
		t.Error("Ctrl+N did not start a new chat")
	}
	if got, want := w.engine.Calls(), "load:tiny send:hello regenerate"; !strings.HasPrefix(got, want) {
		t.Errorf("calls %q, want %q first", got, want)
	}
}

// talkTo sends a message and waits for its answer.
func (w *window) talkTo(t *testing.T, s string) {
	t.Helper()
	if !w.view.App.Send(s) {
		t.Fatalf("%q was not sent", s)
	}
	w.settle(t)
}

func TestClicks(t *testing.T) {
	w := open(t, size, "toy")
	for _, text := range []string{"What is on your mind?", "toy is a very small model inside the program", "pooled pull"} {
		if !w.Shows(text) {
			t.Errorf("%q is not on the screen:\n%s", text, w.Dump())
		}
	}
	w.Click(t, "Copy command")
	if s, ok := w.Clipboard(); !ok || !strings.HasPrefix(s, "pooled pull ") {
		t.Errorf("copied %q, want the command", s)
	}
	w.Click(t, "Dismiss")
	if w.Shows("ships inside the program") {
		t.Error("the notice stays")
	}
	w.engine.Answer(uitest.Script{Reasoning: "secret thoughts", Text: "Look:\n\n```go\nx := 1\n```\n"})
	w.Click(t, "Plan a day Plan a quiet Sunday in five steps.")
	w.settle(t)
	if w.Shows("secret thoughts") {
		t.Error("reasoning is not folded")
	}
	w.Click(t, "Show reasoning")
	if !w.Shows("secret thoughts") {
		t.Error("reasoning does not unfold")
	}
	w.Click(t, "Hide reasoning")
	if w.Shows("secret thoughts") {
		t.Error("reasoning does not fold again")
	}
	w.Click(t, "Copy go")
	if s, _ := w.Clipboard(); s != "x := 1" {
		t.Errorf("copied %q, want the code", s)
	}
	if !w.Shows("Copied") {
		t.Error("nothing says that it was copied")
	}
	w.Click(t, "Copy answer")
	if s, _ := w.Clipboard(); s != "Look:\n\n```go\nx := 1\n```\n" {
		t.Errorf("copied %q, want the answer", s)
	}
	w.Click(t, "Regenerate")
	w.settle(t)
	if !w.Shows("You said: again") {
		t.Error("the answer was not given again")
	}
	w.Click(t, "Use the dark theme")
	if !w.view.Theme.IsDark {
		t.Error("the theme did not change")
	}
	w.Click(t, "New chat")
	if !w.Shows("What is on your mind?") {
		t.Error("no new chat")
	}
}

func TestModels(t *testing.T) {
	w := open(t, size, "tiny")
	w.Key("M", key.ModShortcut)
	if !w.view.Choosing() || !w.Shows("qwen2.5-coder-0.5b") || !w.Shows("no installed plugin knows") {
		t.Fatalf("Ctrl+M does not show the models:\n%s", w.Dump())
	}
	w.Key(key.NameEscape, 0)
	if w.view.Choosing() {
		t.Fatal("Esc does not close them")
	}
	w.Click(t, "tiny")
	w.Type("QWEN")
	w.Key(key.NameReturn, 0)
	w.settle(t)
	if m, _ := w.view.App.Loaded(); m.Name != "qwen2.5-coder-0.5b" || w.view.Choosing() {
		t.Fatalf("loaded %q, want what was written and chosen with Enter", m.Name)
	}
	w.Type("x")
	if got := w.view.Chat.Draft(); got != "x" {
		t.Errorf("the editor has %q: it did not get the focus back", got)
	}
	w.Key("M", key.ModShortcut)
	w.Key(key.NameDownArrow, 0)
	w.Key(key.NameReturn, 0)
	w.settle(t)
	if m, _ := w.view.App.Loaded(); m.Name != "smollm2-135m" {
		t.Errorf("loaded %q, want the one below the one in use", m.Name)
	}
	w.Key("M", key.ModShortcut)
	w.Click(t, "toy")
	w.settle(t)
	if m, _ := w.view.App.Loaded(); m.Name != "toy" {
		t.Errorf("loaded %q, want the one that was clicked", m.Name)
	}
	w.Key("M", key.ModShortcut)
	w.ClickAt(f32.Pt(20, 600))
	if w.view.Choosing() {
		t.Error("a click outside does not close the models")
	}
	calls := w.engine.Calls()
	w.Key("M", key.ModShortcut)
	w.Type("gemma")
	w.Key(key.NameReturn, 0)
	if w.engine.Calls() != calls || !w.view.Choosing() {
		t.Error("a model with a problem was loaded")
	}
	w.Key("N", key.ModShortcut)
	if w.engine.Calls() != calls {
		t.Error("keys of the chat work while the models are open")
	}
}

func TestProblemsSayWhatToDo(t *testing.T) {
	w := open(t, size, "broken")
	for _, text := range []string{"broken could not be loaded", "download it again", "No model is loaded"} {
		if !w.Shows(text) {
			t.Errorf("%q is not on the screen:\n%s", text, w.Dump())
		}
	}
	n, ok := w.Find(func(n input.SemanticNode) bool { return n.Desc.Label == "Send" })
	if !ok || !n.Desc.Disabled {
		t.Error("a message can be sent without a model")
	}
	w.ClickBelow(t, "Choose a model", 44) // the top bar has one of the same name
	if !w.view.Choosing() {
		t.Error("the banner does not lead to the models")
	}
}

// ClickBelow clicks the first widget that is called label and lies below y.
func (w *window) ClickBelow(t *testing.T, label string, y int) {
	t.Helper()
	n, ok := w.Find(func(n input.SemanticNode) bool {
		return n.Desc.Gestures&input.ClickGesture != 0 && uitest.Label(n) == label && n.Desc.Bounds.Min.Y >= y
	})
	if !ok {
		t.Fatalf("nothing to click below %d is called %q in\n%s", y, label, w.Dump())
	}
	b := n.Desc.Bounds
	w.ClickAt(f32.Pt(float32(b.Min.X+b.Max.X)/2, float32(b.Min.Y+b.Max.Y)/2))
}

// TestScroll checks that a chat stays at its end while it grows, until the person scrolls up.
func TestScroll(t *testing.T) {
	w := open(t, size, "tiny")
	w.engine.Answer(uitest.Script{Text: "short"})
	w.talkTo(t, "hello")
	if !w.view.Chat.AtEnd() || w.Shows("Jump to the latest") {
		t.Fatal("a short chat is not at its end")
	}
	w.engine.Step = make(chan struct{})
	w.engine.Answer(uitest.Script{Text: strings.Repeat("line\n\n ", 60) + "end"})
	w.view.App.Send("more")
	step := func(n int) {
		for range n {
			w.engine.Step <- struct{}{}
		}
		w.Do()
	}
	step(30)
	if !w.view.Chat.AtEnd() {
		t.Fatal("the chat does not follow its end")
	}
	w.Scroll(f32.Pt(400, 300), -300)
	if w.view.Chat.AtEnd() || !w.Shows("Jump to the latest") {
		t.Fatal("the wheel does not scroll up")
	}
	step(20)
	if w.view.Chat.AtEnd() {
		t.Fatal("the chat ran away from who reads it")
	}
	w.Click(t, "Jump to the latest")
	if !w.view.Chat.AtEnd() {
		t.Fatal("the button does not lead to the end")
	}
	w.Key(key.NamePageUp, 0)
	if w.view.Chat.AtEnd() {
		t.Fatal("PgUp does not scroll up")
	}
	w.Key(key.NamePageDown, 0)
	w.Key(key.NamePageDown, 0)
	if !w.view.Chat.AtEnd() {
		t.Fatal("PgDn does not scroll down")
	}
	w.Key(key.NamePageUp, 0)
	w.Key(key.NameEnd, key.ModShortcut)
	if !w.view.Chat.AtEnd() {
		t.Fatal("Ctrl+End does not lead to the end")
	}
	step(11)
	w.settle(t)
	if !w.view.Chat.AtEnd() || !w.Shows("end") {
		t.Error("the end of the answer is not in sight")
	}
}

// TestTab checks that Tab reaches everything that can be pressed, and Space presses it.
func TestTab(t *testing.T) {
	for dir, mods := range map[string]key.Modifiers{"forward": 0, "backward": key.ModShift} {
		t.Run(dir, func(t *testing.T) {
			reached := map[string]bool{}
			for n := range 12 {
				w := open(t, size, "toy")
				for range n + 1 {
					w.Key(key.NameTab, mods)
				}
				w.Key(key.NameSpace, 0)
				w.settle(t)
				w.talkTo(t, "last") // what the engine was asked before is done when it answers this
				reached["models"] = reached["models"] || w.view.Choosing()
				reached["theme"] = reached["theme"] || w.view.Theme.IsDark
				reached["new chat"] = reached["new chat"] || strings.Contains(w.engine.Calls(), " new ")
				reached["example"] = reached["example"] || strings.Contains(w.engine.Calls(), "send:Plan")
				reached["notice"] = reached["notice"] || !w.Shows("is a very small model")
			}
			for _, what := range []string{"models", "theme", "new chat", "example", "notice"} {
				if !reached[what] {
					t.Errorf("Tab does not reach: %s", what)
				}
			}
		})
	}
}

// TestSizes checks that the window can have any size.
func TestSizes(t *testing.T) {
	w := open(t, size, "toy")
	w.talk(t)
	for _, s := range []image.Point{{320, 360}, {1, 1}, {4000, 300}, {200, 2000}, {0, 0}, size} {
		w.Size = s
		w.Do()
		w.Key("M", key.ModShortcut)
		w.Key(key.NameEscape, 0)
	}
	if !w.Shows("Regenerate") {
		t.Errorf("the end of the chat is not in sight after all that:\n%s", w.Dump())
	}
}

func TestTabsBecomeSpaces(t *testing.T) {
	w := open(t, size, "tiny")
	w.Type("a\tb")
	if got, want := w.view.Chat.Draft(), "a    b"; got != want {
		t.Errorf("the editor has %q, want %q", got, want)
	}
}
