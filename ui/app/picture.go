package app

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"time"

	"gioui.org/gpu/headless"
	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"github.com/pooled/pooled/ui/page"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
)

// Picture draws the window without one: it loads the model, sends the prompt unless that is empty, and writes the
// window as it then is to a PNG file, at twice the resolution.
func Picture(ctx context.Context, e state.Engine, o Options, prompt, path string) error {
	const scale = 2
	size := image.Pt(1000*scale, 760*scale)
	wake := make(chan struct{}, 1)
	st := state.New(ctx, e, state.Options{Model: o.Model, Wake: func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}})
	defer st.Close()
	th := theme.New(true)
	th.SetDark(o.Dark)
	v := page.New(th, st)

	busy := func() bool { return st.Answering() || st.Loading().Name != "" }
	settle := func() error {
		for st.Update(); busy(); st.Update() {
			select {
			case <-wake:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	if err := settle(); err != nil {
		return err
	}
	if prompt != "" {
		st.Send(prompt)
		if err := settle(); err != nil {
			return err
		}
	}

	var ops op.Ops
	var router input.Router
	for range 4 { // lists find their end, and the focus its place, in the frames after the first
		ops.Reset()
		v.Layout(layout.Context{
			Ops: &ops, Now: time.Now(), Source: router.Source(), Constraints: layout.Exact(size),
			Metric: unit.Metric{PxPerDp: scale, PxPerSp: scale},
		})
		router.Frame(&ops)
	}
	w, err := headless.NewWindow(size.X, size.Y)
	if err != nil {
		return fmt.Errorf("pictures need OpenGL or Vulkan, also in software (Debian: mesa-vulkan-drivers): %w", err)
	}
	defer w.Release()
	if err := w.Frame(&ops); err != nil {
		return err
	}
	img := image.NewRGBA(image.Rectangle{Max: size})
	if err := w.Screenshot(img); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, img), f.Close())
}
