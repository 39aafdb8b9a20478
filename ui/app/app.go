// Package app shows the interface in a window of the desktop. It is the only package that needs one.
package app

import (
	"context"
	"os"
	"time"

	"gioui.org/app"
	"gioui.org/io/system"
	"gioui.org/op"
	"gioui.org/unit"

	"github.com/pooled/pooled/ui/page"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
)

// Options configure a window.
type Options struct {
	// Model is loaded at the start; empty loads none.
	Model string
	// Dark starts with the dark theme.
	Dark bool
}

// frame is the least time between two UI frames that the engine asks for. A model on the CPU needs the time more than
// a reader needs more frames.
const frame = 33 * time.Millisecond

// Main gives the main thread to the desktop and ends the program with what run returns.
func Main(run func() int) {
	go func() { os.Exit(run()) }()
	app.Main()
}

// Run opens a window and returns when it is closed, by the person or because ctx ended. An answer that streams is
// stopped. It must run beside [Main]. Owns: its goroutines; the engine belongs to the caller.
func Run(ctx context.Context, e state.Engine, o Options) error {
	w := new(app.Window)
	w.Option(app.Title("Pooled"), app.Size(1000, 760), app.MinSize(unit.Dp(320), unit.Dp(360)))
	defer context.AfterFunc(ctx, func() {
		w.Perform(system.ActionClose)
		w.Invalidate() // X11 sends what was asked for when it draws
	})()

	p := newPacer(frame, w.Invalidate)
	defer p.close()
	st := state.New(ctx, e, state.Options{Model: o.Model, Wake: p.wake})
	defer st.Close()
	th := theme.New(true)
	th.SetDark(o.Dark)
	v := page.New(th, st)

	var ops op.Ops
	for {
		switch e := w.Event().(type) {
		case app.DestroyEvent:
			return e.Err
		case app.FrameEvent:
			p.drew(time.Now())
			gtx := app.NewContext(&ops, e)
			v.Layout(gtx)
			e.Frame(gtx.Ops)
		}
	}
}
