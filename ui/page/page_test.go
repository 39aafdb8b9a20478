package page_test

import (
	"image"
	"testing"
	"time"

	"github.com/pooled/pooled/ui/internal/uitest"
	"github.com/pooled/pooled/ui/page"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
)

// window is a view on an engine without a model, drawn by a driver.
type window struct {
	*uitest.Driver
	view   *page.View
	engine *uitest.Engine
	wake   chan struct{}
}

var list = []state.ModelInfo{
	{Name: "toy", Size: 24_300_000, Note: "built in; very small", Small: true},
	{Name: "tiny", Size: 491_400_000},
	{Name: "qwen2.5-coder-0.5b", Size: 397_800_000},
	{Name: "smollm2-135m", Size: 91_700_000, Note: "a base for tests"},
	{Name: "broken", Size: 12_000_000},
	{Name: "gemma-3-270m", Size: 241_000_000, Problem: "no installed plugin knows the architecture gemma3"},
}

func open(t testing.TB, size image.Point, model string) *window {
	t.Helper()
	return openWith(t, size, model, &uitest.Engine{List: list})
}

func openWith(t testing.TB, size image.Point, model string, e *uitest.Engine) *window {
	t.Helper()
	w := &window{engine: e, wake: make(chan struct{}, 1)}
	app := state.New(t.Context(), e, state.Options{Model: model, Wake: func() {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}})
	t.Cleanup(app.Close)
	w.view = page.New(theme.New(false), app)
	w.Driver = uitest.New(size, w.view.Layout)
	if e.Step == nil {
		w.settle(t)
	}
	return w
}

// until draws UI frames, as the engine asks for them, until ok is true.
func (w *window) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		w.Do()
		if ok() {
			return
		}
		select {
		case <-w.wake:
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("waited in vain until %s:\n%s", what, w.Dump())
		}
	}
}

// settle draws until nothing runs.
func (w *window) settle(t testing.TB) {
	t.Helper()
	w.until(t, "nothing runs", func() bool {
		models, _ := w.view.App.Models()
		return !w.view.App.Answering() && w.view.App.Loading().Name == "" && len(models) > 0
	})
}

// talk fills the window with a chat that has some of everything.
func (w *window) talk(t *testing.T) {
	t.Helper()
	w.engine.Answer(uitest.Script{
		Reasoning: "The user wants a reversal that works for letters outside of ASCII. Runes, then.",
		Text: "## Reversing a string\n\nA Go string holds *bytes*, so reverse its **runes**, not its bytes. The package `slices` " +
			"does the rest, see [its documentation](https://pkg.go.dev/slices):\n\n" +
			"```go\n// Reverse returns s backwards.\nfunc Reverse(s string) string {\n\tr := []rune(s)\n\tslices.Reverse(r)\n\t" +
			"return string(r) // at most 4 bytes each\n}\n```\n\nTwo things to know:\n\n1. Combining marks end up on the *wrong* letter.\n" +
			"2. It takes time and memory in proportion to the length:\n   - one slice of runes,\n   - one string.\n\n" +
			"| input | output |\n|---|---|\n| `abc` | cba |\n| héllo | olléh |\n",
	})
	w.view.App.Send("Write a Go function that reverses a string, with a short explanation.")
	w.settle(t)
}
