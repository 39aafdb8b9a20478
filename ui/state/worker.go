package state

import (
	"context"
	"sync"
)

// worker runs jobs one after the other in its own goroutine and carries what they report back to the goroutine that
// draws. Owns: its goroutines, until close.
type worker struct {
	// wake is called when the first report waits: at most once until the reports are taken.
	wake func()
	// child makes the context of a job; stop ends all of them.
	child func() (context.Context, context.CancelFunc)
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu      sync.Mutex
	more    sync.Cond
	jobs    []func()
	closed  bool
	reports []func()
}

func newWorker(ctx context.Context, wake func()) *worker {
	ctx, stop := context.WithCancel(ctx)
	w := &worker{wake: wake, stop: stop}
	w.child = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	w.more.L = &w.mu
	w.wg.Go(w.run)
	return w
}

func (w *worker) run() {
	for {
		w.mu.Lock()
		for len(w.jobs) == 0 && !w.closed {
			w.more.Wait()
		}
		if w.closed {
			w.mu.Unlock()
			return
		}
		job := w.jobs[0]
		w.jobs = w.jobs[1:]
		w.mu.Unlock()
		job()
	}
}

// do queues a job and returns what cancels it, also before it runs.
func (w *worker) do(job func(context.Context)) context.CancelFunc {
	ctx, cancel := w.child()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, func() {
		defer cancel()
		job(ctx)
	})
	w.more.Signal()
	return cancel
}

// beside runs a job in a goroutine of its own, next to those that are queued.
func (w *worker) beside(job func(context.Context)) {
	ctx, cancel := w.child()
	w.wg.Go(func() {
		defer cancel()
		job(ctx)
	})
}

// report queues f for the goroutine that draws. Safe for concurrent use.
func (w *worker) report(f func()) {
	w.mu.Lock()
	first := len(w.reports) == 0 && !w.closed
	w.reports = append(w.reports, f)
	w.mu.Unlock()
	if first && w.wake != nil {
		w.wake()
	}
}

// take returns the reports since the last call.
func (w *worker) take() []func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.reports
	w.reports = nil
	return r
}

// close cancels what runs, drops what waits and returns when every goroutine has ended.
func (w *worker) close() {
	w.mu.Lock()
	w.closed = true
	w.jobs = nil
	w.more.Broadcast()
	w.mu.Unlock()
	w.stop()
	w.wg.Wait()
}
