package mat

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Panels live outside the Go heap, in slabs of anonymous memory with huge
// pages: a decode step reads all weights once, and with 4 KiB pages it spends
// more time on page tables than on memory (measured on two Zen 4 cores with
// 144 MB: 23 GB/s against 56). It also keeps the weights out of the collector's
// pacing, which would let as much garbage gather as there are weights.

const (
	slabBytes = 64 << 20 // address space; only what is used takes memory
	hugePage  = 2 << 20
)

// slab is one mapping, filled from the front. Matrices hold it by count.
type slab struct {
	mem   []byte // starts on a huge page
	whole []byte // the mapping
	used  int
	held  int
}

// slabs guards the slab that is being filled and the counts of all.
var slabs struct {
	sync.Mutex
	current *slab
}

// allocate gives m zero memory for its panels. The memory goes back when m is
// collected.
func (m *Matrix) allocate(n int) {
	slabs.Lock()
	defer slabs.Unlock()
	s := slabs.current
	if s == nil || len(s.mem)-s.used < n {
		next := newSlab(max(n, slabBytes))
		if next == nil {
			m.data = heapBytes(n)
			return
		}
		if s != nil && s.held == 0 {
			s.unmap()
		}
		slabs.current, s = next, next
	}
	at := s.used
	s.used += roundUp(n, align)
	s.held++
	m.data = s.mem[at : at+n : at+n]
	runtime.AddCleanup(m, func(r region) { r.release() }, region{s, at, n})
}

// newSlab maps n bytes, or returns nil when the system gives none.
func newSlab(n int) *slab {
	n = roundUp(n, hugePage)
	whole, err := unix.Mmap(-1, 0, n+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(whole))) & (hugePage - 1))
	s := &slab{mem: whole[skip : skip+n : skip+n], whole: whole}
	// Without huge pages everything works, only slower.
	_ = unix.Madvise(s.mem, unix.MADV_HUGEPAGE)
	return s
}

func (s *slab) unmap() { _ = unix.Munmap(s.whole) }

// region is the part of a slab that one matrix has.
type region struct {
	slab  *slab
	at, n int
}

// release gives the region's pages back, and the slab with its last region.
func (r region) release() {
	slabs.Lock()
	defer slabs.Unlock()
	s := r.slab
	s.held--
	if s.held == 0 && s != slabs.current {
		s.unmap()
		return
	}
	page := unix.Getpagesize()
	from, to := roundUp(r.at, page), (r.at+r.n)/page*page
	if from < to {
		_ = unix.Madvise(s.mem[from:to], unix.MADV_DONTNEED)
	}
}
