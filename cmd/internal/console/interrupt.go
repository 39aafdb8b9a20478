package console

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Interruptible returns a context that ends with a request to terminate, with the end of the terminal and, unless a person
// talks and Ctrl-C ends answers, with Ctrl-C. So a command ends in order: what was generated is printed, a download can be
// resumed, plugin processes and their files are gone.
func Interruptible(ctx context.Context, person bool) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
	if !person {
		signals = append(signals, os.Interrupt)
	}
	return signal.NotifyContext(ctx, signals...)
}

// interrupts turns Ctrl-C into the end of an answer instead of the end of the program.
type interrupts struct {
	signals chan os.Signal
	done    chan struct{}

	mu     sync.Mutex
	cancel context.CancelFunc // of what runs, if something does
}

// catchInterrupts begins to catch; idle is called when nothing runs. Owns: the caller calls release.
func catchInterrupts(idle func()) *interrupts {
	i := &interrupts{signals: make(chan os.Signal, 1), done: make(chan struct{})}
	signal.Notify(i.signals, os.Interrupt)
	go func() {
		defer close(i.done)
		for range i.signals {
			i.mu.Lock()
			cancel := i.cancel
			i.mu.Unlock()
			if cancel != nil {
				cancel()
			} else {
				idle()
			}
		}
	}()
	return i
}

// during returns a context that the next interrupt ends, and a function that ends it.
func (i *interrupts) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	i.mu.Lock()
	i.cancel = cancel
	i.mu.Unlock()
	return ctx, func() {
		i.mu.Lock()
		i.cancel = nil
		i.mu.Unlock()
		cancel()
	}
}

// release gives interrupts back to the system.
func (i *interrupts) release() {
	signal.Stop(i.signals)
	close(i.signals)
	<-i.done
}
