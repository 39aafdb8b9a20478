package grammar

import (
	"context"
	"errors"
	"sync"

	"github.com/pooled/pooled/core/tokenizer"
)

// Cache keeps one engine a tokenizer, for reading a vocabulary takes seconds.
//
// Owns: Close closes the engines. Safe for concurrent use.
type Cache struct {
	open func(context.Context, *tokenizer.Tokenizer) (Engine, error)

	mu      sync.Mutex
	engines map[*tokenizer.Tokenizer]*entry
	closed  bool
}

// entry is an engine, or its making.
type entry struct {
	done   chan struct{}
	engine Engine
	err    error
}

// NewCache returns a cache that makes engines with open.
func NewCache(open func(context.Context, *tokenizer.Tokenizer) (Engine, error)) *Cache {
	return &Cache{open: open, engines: map[*tokenizer.Tokenizer]*entry{}}
}

// Engine returns the engine of a tokenizer; it waits until it is made. A failure is not kept.
func (c *Cache) Engine(ctx context.Context, t *tokenizer.Tokenizer) (Engine, error) {
	e, err := c.entry(t)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.done:
		return e.engine, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Warm starts to make the engine of a tokenizer and does not wait.
func (c *Cache) Warm(t *tokenizer.Tokenizer) { _, _ = c.entry(t) }

func (c *Cache) entry(t *tokenizer.Tokenizer) (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if e := c.engines[t]; e != nil {
		return e, nil
	}
	e := &entry{done: make(chan struct{})}
	c.engines[t] = e
	go func() {
		defer close(e.done)
		if e.engine, e.err = c.open(context.Background(), t); e.err != nil {
			c.mu.Lock()
			delete(c.engines, t)
			c.mu.Unlock()
		}
	}()
	return e, nil
}

// Drop closes the engine of a tokenizer that is no longer used.
func (c *Cache) Drop(t *tokenizer.Tokenizer) error {
	c.mu.Lock()
	e := c.engines[t]
	delete(c.engines, t)
	c.mu.Unlock()
	if e == nil {
		return nil
	}
	<-e.done
	if e.engine == nil {
		return nil
	}
	return e.engine.Close()
}

// Close closes every engine; later calls fail.
func (c *Cache) Close() error {
	c.mu.Lock()
	c.closed = true
	all := c.engines
	c.engines = map[*tokenizer.Tokenizer]*entry{}
	c.mu.Unlock()
	var errs []error
	for _, e := range all {
		<-e.done
		if e.engine != nil {
			errs = append(errs, e.engine.Close())
		}
	}
	return errors.Join(errs...)
}
