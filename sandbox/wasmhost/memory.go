package wasmhost

import "github.com/tetratelabs/wazero/experimental"

// reservation hands out linear memories that never move: the address range of the limit is reserved at once and pages
// come as they are touched. The default allocator copies the whole memory whenever it grows, which needs up to three
// times the limit.
type reservation struct {
	limit uint64
}

// Allocate implements experimental.MemoryAllocator.
func (r reservation) Allocate(_, _ uint64) experimental.LinearMemory {
	mem, release := reserve(r.limit)
	return &linear{mem: mem, release: release}
}

// linear is one reserved memory.
type linear struct {
	mem     []byte
	release func()
}

// Reallocate implements experimental.LinearMemory; nil refuses.
func (l *linear) Reallocate(size uint64) []byte {
	if l.mem == nil || size > uint64(len(l.mem)) {
		return nil
	}
	return l.mem[:size]
}

// Free implements experimental.LinearMemory.
func (l *linear) Free() {
	if l.release != nil {
		l.release()
		l.mem, l.release = nil, nil
	}
}
