// Package pool runs short parallel loops on a fixed set of workers.
//
// A decode step of a small model is about a hundred loops of 10 to 50 µs each,
// so what counts is the time from Run to the first item on another core. The
// caller always takes part, idle workers spin for a short while before they
// park, and a loop is published by one atomic store: a Run that finds its
// workers awake costs about a microsecond, one that has to wake them costs what
// the scheduler takes.
package pool

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// spinTime is how long an idle worker looks for the next loop before it parks.
// The gaps between the loops of one decode step are a few µs, the gap between
// two steps (sampling, sending a token on) some tens.
const spinTime = 150 * time.Microsecond

// spinRounds is the number of polls between two looks at the clock.
const spinRounds = 128

// MaxItems is the largest n that Run accepts.
const MaxItems = 1<<31 - 1

// Pool is a set of workers that run the items of one loop at a time.
//
// Owns: whoever calls New calls Close. Safe for concurrent use: loops started
// at the same time run one after the other.
type Pool struct {
	threads int
	mu      sync.Mutex // held by the Run in progress
	closed  bool
	quit    atomic.Bool
	workers []*worker
	wg      sync.WaitGroup
	f       func(worker, i int) // stable while an item is unfinished

	_ [64]byte
	// claim holds the loop's item count in its high half and the next unclaimed
	// item in its low half, so that one Add both takes an item and tells whether
	// it exists. A worker that comes late can only take an item of the loop that
	// is current, never one of a loop that is over.
	claim atomic.Uint64
	_     [56]byte
	done  atomic.Int64
	fault atomic.Pointer[any] // the first of the loop
	_     [56]byte
}

type worker struct {
	parked atomic.Bool
	wake   chan struct{}
	_      [48]byte
}

// New starts a pool of the given number of threads, the caller of Run included;
// values below 1 mean one thread per available processor.
func New(threads int) *Pool {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool{threads: threads}
	for id := 1; id < threads; id++ {
		w := &worker{wake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		p.wg.Add(1)
		go p.work(w, id)
	}
	return p
}

// Threads is the number of threads that a loop can run on, the caller included.
// A nil pool has one.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return p.threads
}

// Run calls f(worker, i) once for every i in [0, n) and returns when all calls
// have returned. Items are handed out in order, one at a time, to whichever
// thread is free; worker is in [0, Threads()) and no two calls with the same
// worker overlap. One item, one thread, a nil or a closed pool run on the
// caller alone.
//
// f must not call Run on the same pool: loops do not nest, the inner one would
// wait for the outer one for ever. A panic in f ends the process, but for a read of
// memory that is gone (see [debug.SetPanicOnFault]): the loop ends in order and
// Run panics with the first such fault.
func (p *Pool) Run(n int, f func(worker, i int)) {
	if p == nil || p.threads == 1 || n <= 1 {
		for i := 0; i < n; i++ {
			f(0, i)
		}
		return
	}
	if n > MaxItems {
		panic("pool: too many items in one loop")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		for i := 0; i < n; i++ {
			f(0, i)
		}
		return
	}
	p.f = f
	p.done.Store(0)
	p.claim.Store(uint64(n) << 32)
	for _, w := range p.workers[:min(len(p.workers), n-1)] {
		if w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
	p.take(0)
	for spins := 0; p.done.Load() != int64(n); spins++ {
		if spins > spinRounds {
			runtime.Gosched()
		}
	}
	p.f = nil
	if r := p.fault.Swap(nil); r != nil {
		panic(*r)
	}
}

// item runs one item and counts it, also when it reads what is gone.
func (p *Pool) item(id, i int) {
	defer p.finish()
	p.f(id, i)
}

func (p *Pool) finish() {
	if r := recover(); r != nil {
		p.failed(r)
	}
	p.done.Add(1)
}

// failed keeps the first fault for the caller of Run; any other panic goes on. It stands apart from finish so that an item
// without a fault allocates nothing.
func (p *Pool) failed(r any) {
	if _, fault := r.(interface{ Addr() uintptr }); !fault {
		panic(r)
	}
	p.fault.CompareAndSwap(nil, &r)
}

// take runs items of the current loop until none is left and reports whether
// there was one.
func (p *Pool) take(id int) bool {
	some := false
	for {
		c := p.claim.Load()
		if uint32(c) >= uint32(c>>32) {
			return some
		}
		c = p.claim.Add(1) - 1
		if uint32(c) >= uint32(c>>32) {
			return some
		}
		p.item(id, int(uint32(c)))
		some = true
	}
}

func (p *Pool) work(w *worker, id int) {
	defer p.wg.Done()
	debug.SetPanicOnFault(true)
	idle := time.Now()
	for spins := 1; ; spins++ {
		if p.take(id) {
			idle = time.Now()
			spins = 0
			continue
		}
		if p.quit.Load() {
			return
		}
		if spins%spinRounds != 0 || time.Since(idle) < spinTime {
			continue
		}
		// A Run that misses the flag has published its loop before, and is seen
		// by the look that follows; a Run that sees the flag sends a wake-up.
		w.parked.Store(true)
		c := p.claim.Load()
		if uint32(c) < uint32(c>>32) || p.quit.Load() {
			if w.parked.CompareAndSwap(true, false) {
				continue
			}
		}
		<-w.wake
		idle = time.Now()
	}
}

// Close stops the workers and waits until they are gone. Run still works
// afterwards, on the caller alone.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.quit.Store(true)
	for _, w := range p.workers {
		if w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
	p.wg.Wait()
}
