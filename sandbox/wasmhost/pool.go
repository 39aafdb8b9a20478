package wasmhost

import (
	"context"
	"sync"
)

// Pool lends instances of one program: at most Max at a time, idle ones kept for the next caller.
//
// Owns: Close closes the idle instances and waits for none; lent ones are closed when they come back. Safe for
// concurrent use.
type Pool struct {
	program *Program
	slots   chan struct{}

	mu     sync.Mutex
	idle   []*Instance
	closed bool
}

// NewPool returns a pool of at most n instances.
func NewPool(p *Program, n int) *Pool {
	return &Pool{program: p, slots: make(chan struct{}, max(n, 1))}
}

// Get lends an instance; it waits while all are lent. Give it back with Put.
func (p *Pool) Get(ctx context.Context) (*Instance, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.slots
		return nil, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		i := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return i, nil
	}
	p.mu.Unlock()
	i, err := p.program.Instance(ctx)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return i, nil
}

// Put takes an instance back. A broken one is closed, as is one that holds more than keep bytes of memory.
func (p *Pool) Put(i *Instance, keep uint32) {
	defer func() { <-p.slots }()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || i.Broken() || i.MemorySize() > keep {
		_ = i.Close()
		return
	}
	p.idle = append(p.idle, i)
}

// Close closes the idle instances; later calls of Get fail.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, i := range p.idle {
		_ = i.Close()
	}
	p.idle = nil
	return nil
}
