package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

// interrupts turns Ctrl-C into the end of an answer instead of the end of the program.
type interrupts struct {
	signals chan os.Signal
	done    chan struct{}

	mu     sync.Mutex
	cancel context.CancelFunc // of the answer that streams, if one does
}

// catchInterrupts begins to catch; idle is called when nothing streams. Owns: the caller calls release.
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

// answer returns a context that the next interrupt ends, and a function that ends it.
func (i *interrupts) answer(ctx context.Context) (context.Context, context.CancelFunc) {
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

// interruptible lets Ctrl-C, a request to terminate and the end of the terminal end a command's context, so that it ends
// in order: what was generated is printed, a download can be resumed, plugin processes and their files are gone.
func interruptible(c *cobra.Command) *cobra.Command {
	return endedBy(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// conversation is interruptible, but for Ctrl-C of a person, which ends answers.
func (c *commands) conversation(cmd *cobra.Command) *cobra.Command {
	if c.Terminal {
		return endedBy(cmd, syscall.SIGTERM, syscall.SIGHUP)
	}
	return interruptible(cmd)
}

func endedBy(c *cobra.Command, signals ...os.Signal) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(c.Context(), signals...)
		defer stop()
		c.SetContext(ctx)
		return run(c, args)
	}
	return c
}
