package qjs

import (
	"sync"

	"github.com/tetratelabs/wazero/experimental"
)

// keepUsed is how many used bytes a pooled memory may have and still be
// cleared and kept; a fuller one goes back to the operating system.
const keepUsed = 24 << 20

// pool hands out linear memories that are reserved at their cap, so that
// growth never copies. A few are kept for the next machine, cleared.
//
// Owns: the address ranges it reserved, until drain. Safe for concurrent use.
type pool struct {
	mu     sync.Mutex
	free   []*region
	closed bool
}

const poolKeep = 2

func (p *pool) get(limit uint64) (*region, error) {
	p.mu.Lock()
	for i, r := range p.free {
		if uint64(len(r.data)) == limit {
			p.free = append(p.free[:i], p.free[i+1:]...)
			p.mu.Unlock()
			return r, nil
		}
	}
	p.mu.Unlock()
	return reserve(limit)
}

func (p *pool) put(r *region, used uint64) {
	if used <= keepUsed {
		clear(r.data[:used])
		p.mu.Lock()
		if !p.closed && len(p.free) < poolKeep {
			p.free = append(p.free, r)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
	}
	r.release()
}

func (p *pool) drain() {
	p.mu.Lock()
	free := p.free
	p.free, p.closed = nil, true
	p.mu.Unlock()
	for _, r := range free {
		r.release()
	}
}

// allocator gives one machine its linear memory, capped at limit bytes.
type allocator struct {
	pool  *pool
	limit uint64
}

// Allocate implements experimental.MemoryAllocator.
func (a *allocator) Allocate(_, _ uint64) experimental.LinearMemory {
	r, err := a.pool.get(a.limit)
	if err != nil {
		return &linear{}
	}
	return &linear{pool: a.pool, region: r}
}

type linear struct {
	pool   *pool
	region *region
	used   uint64
}

// Reallocate implements experimental.LinearMemory; nil refuses the growth.
func (l *linear) Reallocate(size uint64) []byte {
	if l.region == nil || size > uint64(len(l.region.data)) {
		return nil
	}
	l.used = size
	return l.region.data[:size:size]
}

// Free implements experimental.LinearMemory.
func (l *linear) Free() {
	if l.region != nil {
		l.pool.put(l.region, l.used)
		l.region = nil
	}
}
