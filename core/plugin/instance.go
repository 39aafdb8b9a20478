package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/pooled/pooled/core/model"
)

// instance is one plugin under supervision: a process that comes when there is work and goes when there is none.
type instance struct {
	spec    spec
	expect  func(*process) error // checks what the program says that it is
	options Options
	log     *slog.Logger

	lock     chan struct{} // a mutex that a context can give up on
	running  *process
	users    int
	idle     *time.Timer // stops running when it has no users
	failures []time.Time // within the window
	why      error       // of the last failure
	closed   bool
	timers   sync.WaitGroup
}

func newInstance(s spec, expect func(*process) error, o Options) *instance {
	return &instance{spec: s, expect: expect, options: o, log: o.Logger.With("plugin", s.name), lock: make(chan struct{}, 1)}
}

// do runs f on the plugin, starting the program when it does not run.
func (i *instance) do(ctx context.Context, doing string, f func(context.Context, *process) error) error {
	p, err := i.acquire(ctx)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, i.options.CallTimeout)
	defer cancel()
	err = p.sort(ctx, within, doing, f(within, p))
	i.release(p, faultOf(err))
	return err
}

// faultOf returns an error if it is a failure after which the program is not used again, else nil.
func faultOf(err error) error {
	if _, fault := errors.AsType[*Error](err); fault && !errors.Is(err, ErrException) {
		return err
	}
	return nil
}

// sort says what became of a call that ran under within, which is ctx with our deadline.
func (p *process) sort(ctx, within context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if given := givenUp(ctx, within, err); given != nil {
		return given
	}
	return p.callError(doing, err)
}

func (i *instance) acquire(ctx context.Context) (*process, error) {
	select {
	case i.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer i.unlock()
	if i.closed {
		return nil, ErrClosed
	}
	i.stopTimer()
	if i.running == nil {
		if err := i.start(ctx); err != nil {
			return nil, err
		}
	}
	i.users++
	return i.running, nil
}

// start starts the program within the restart budget.
func (i *instance) start(ctx context.Context) error {
	now := i.options.Now()
	i.failures = slices.DeleteFunc(i.failures, func(t time.Time) bool { return now.Sub(t) >= i.options.Window })
	if n := len(i.failures); n >= i.options.Restarts {
		wait := i.options.Window - now.Sub(i.failures[n-i.options.Restarts])
		return &Error{Plugin: i.spec.name, Doing: "start", Err: fmt.Errorf("%w: %d times within %v; it may start again in %v. The last time: %w",
			ErrBudget, n, i.options.Window, wait.Round(time.Second), i.why)}
	}
	p, err := start(ctx, i.spec, i.options)
	if err == nil {
		if err = i.expect(p); err != nil {
			p.close()
		}
	}
	if err != nil {
		if _, fault := errors.AsType[*Error](err); fault {
			i.failures, i.why = append(i.failures, now), err
		}
		i.log.Warn("plugin did not start", "err", err)
		return err
	}
	i.log.Debug("plugin started", "dur", time.Since(now))
	i.running = p
	return nil
}

// release ends a use of p. After a fault, which it is given, p is not used again.
func (i *instance) release(p *process, fault error) {
	i.lock <- struct{}{}
	defer i.unlock()
	i.users--
	if fault != nil && i.running == p {
		i.failures, i.why = append(i.failures, i.options.Now()), fault
		i.stop()
	}
	if i.users == 0 && i.running != nil {
		i.timers.Add(1)
		i.idle = time.AfterFunc(i.options.Linger, func() {
			defer i.timers.Done()
			i.lock <- struct{}{}
			defer i.unlock()
			if i.users == 0 {
				i.stop()
			}
		})
	}
}

func (i *instance) unlock() { <-i.lock }

func (i *instance) stop() {
	if i.running != nil {
		i.running.close()
		i.running = nil
	}
}

func (i *instance) stopTimer() {
	if i.idle != nil && i.idle.Stop() {
		i.timers.Done()
	}
	i.idle = nil
}

// close ends the program, under whoever still uses it, and waits until it is gone.
func (i *instance) close() {
	i.lock <- struct{}{}
	i.closed = true
	i.stopTimer()
	i.stop()
	i.unlock()
	i.timers.Wait()
}

// family is a [model.Family] whose plans an instance makes.
type family struct {
	*instance
	info model.Info
}

// expectFamily takes a program that says that it is info; an empty one takes any family.
func expectFamily(info model.Info) func(*process) error {
	return func(p *process) error {
		f, err := servedAs[servedFamily](p, models)
		if err == nil && info.Name != "" && !reflect.DeepEqual(f.Info(), info) {
			err = p.fault("start", fmt.Errorf("%w: it says that it is %v, it was approved as %v", ErrProtocol, f.Info(), info))
		}
		return err
	}
}

// Info implements [model.Family].
func (f family) Info() model.Info { return f.info }

// Plan implements [model.Family].
func (f family) Plan(ctx context.Context, md *model.Metadata) (plan *model.Plan, err error) {
	err = f.do(ctx, doingPlan, func(ctx context.Context, p *process) error {
		c, err := servedAs[servedFamily](p, models)
		if err == nil {
			plan, err = c.Plan(ctx, md)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}
