package state

import (
	"context"
	"errors"
	"fmt"
)

// ListModels asks the engine again for what can be loaded.
func (a *App) ListModels() {
	if a.listing {
		return
	}
	a.listing = true
	a.work.beside(func(ctx context.Context) {
		list, err := a.engine.Models(ctx)
		a.work.report(func() { a.models, a.modelsErr, a.listing = list, err, false })
	})
}

// Models returns what can be loaded, as last listed.
func (a *App) Models() ([]ModelInfo, error) { return a.models, a.modelsErr }

// Load loads a model in place of the one before, which starts a new chat. A load that still runs is cancelled.
func (a *App) Load(name string) {
	a.clear()
	if a.cancelLoad != nil {
		a.cancelLoad()
	}
	a.load++
	load := a.load
	a.loading = Loading{Name: name}
	a.loaded, a.ready = Loaded{}, false
	report := func(f func()) {
		a.work.report(func() {
			if a.load == load {
				f()
			}
		})
	}
	a.cancelLoad = a.work.do(func(ctx context.Context) {
		if ctx.Err() != nil {
			return // another load took its place
		}
		percent := int64(-1)
		l, err := a.engine.Load(ctx, name, func(done, total int64) {
			if total <= 0 || done*100/total == percent {
				return
			}
			percent = done * 100 / total
			report(func() { a.loading.Done, a.loading.Total = done, total })
		})
		report(func() { a.loadEnded(name, l, err) })
	})
}

func (a *App) loadEnded(name string, l Loaded, err error) {
	a.loading, a.cancelLoad = Loading{}, nil
	if err == nil {
		a.loaded, a.ready = l, true
		return
	}
	if a.cancel != nil {
		a.cancel() // what was written while it loaded has nobody to answer it
	}
	if errors.Is(err, context.Canceled) {
		return
	}
	a.problem = &Problem{
		Title: fmt.Sprintf("%s could not be loaded", name), Text: err.Error(), Hint: "Choose another model.", Action: ActionModels,
	}
}

// Loaded returns the model that answers, if there is one.
func (a *App) Loaded() (Loaded, bool) { return a.loaded, a.ready }

// Loading returns how far a load is.
func (a *App) Loading() Loading { return a.loading }

// SmallNotice reports whether to tell that the model is a very small one, and DismissSmall that it was read.
func (a *App) SmallNotice() bool { return a.ready && a.loaded.Small && !a.smallRead }

// DismissSmall hides the notice for as long as the window is open.
func (a *App) DismissSmall() { a.smallRead = true }

// Usage is what the status line says of the chat.
type Usage struct {
	// Rate is in tokens per second; 0 when nothing was measured. Live says that it is that of an answer that streams,
	// counted by pieces of text.
	Rate float64
	Live bool
	// Used and Total count positions of the context.
	Used, Total int
}

// Usage returns the speed and the context in use.
func (a *App) Usage() Usage {
	u := Usage{Rate: a.last.TokensPerSecond, Used: a.last.ContextUsed, Total: a.last.ContextTotal}
	if a.ready {
		u.Total = a.loaded.Context
	}
	if m := a.answering; m != nil {
		u.Live = true
		u.Rate = 0
		if d := a.now().Sub(a.first).Seconds(); a.pieces > 1 && d > 0 {
			u.Rate = float64(a.pieces-1) / d
		}
		if m.ToRead > 0 {
			u.Used = m.Read + a.pieces
		}
	}
	return u
}
