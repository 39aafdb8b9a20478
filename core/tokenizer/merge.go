package tokenizer

import (
	"math"
	"sync"
)

// ranker ranks the merges of a model. It looks up the pair of symbols text[a:b] and text[b:c] with the ids left and right
// (-1 for a symbol that is no token) and returns the rank of their merge, lowest first, and the token it makes; noRank
// when there is none.
type ranker interface {
	rank(text string, a, b, c int, left, right int32) (rank uint32, id int32)
}

const noRank = math.MaxUint32

// merger merges the symbols of one word until no pair has a rank: always the lowest rank, the leftmost of equals.
//
// Symbols are a doubly linked list threaded through arrays that are indexed by the byte where a symbol starts. The
// candidate pairs lie in a binary heap of rank<<32|start; an entry is stale, and dropped, when the pair at start now has
// another rank. Every merge adds at most two entries, so a word of n symbols takes O(n log n).
type merger struct {
	id    []int32  // token of the symbol at this byte
	next  []int32  // where the following symbol starts
	prev  []int32  // where the symbol before starts; -1 at the front
	ranks []uint32 // rank of the pair that starts here
	joins []int32  // what that pair merges to
	heap  []uint64
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

// keepMerger is the largest scratch, in bytes of text, that goes back to the pool.
const keepMerger = 1 << 16

func getMerger(n int) *merger {
	m := mergers.Get().(*merger)
	if cap(m.id) < n {
		size := max(n, 64)
		*m = merger{
			id: make([]int32, size), next: make([]int32, size), prev: make([]int32, size),
			ranks: make([]uint32, size), joins: make([]int32, size), heap: m.heap,
		}
	}
	m.id, m.next, m.prev, m.ranks, m.joins = m.id[:n], m.next[:n], m.prev[:n], m.ranks[:n], m.joins[:n]
	m.heap = m.heap[:0]
	return m
}

func (m *merger) put() {
	if cap(m.id) <= keepMerger {
		mergers.Put(m)
	}
}

// merge runs on symbols whose id, next and prev are set; the first starts at byte 0.
func (m *merger) merge(text string, r ranker) {
	for a := 0; a < len(text); a = int(m.next[a]) {
		m.look(text, a, r)
	}
	if len(text) <= shortWord {
		m.scan(text, r)
	} else {
		m.queue(text, r)
	}
}

// shortWord is the length up to which looking at every pair for the lowest rank is faster than keeping a heap.
const shortWord = 32

func (m *merger) scan(text string, r ranker) {
	for {
		best, at := uint32(noRank), 0
		for a := 0; a < len(text); a = int(m.next[a]) {
			if m.ranks[a] < best {
				best, at = m.ranks[a], a
			}
		}
		if best == noRank {
			return
		}
		m.join(text, at, r)
	}
}

func (m *merger) queue(text string, r ranker) {
	for a := 0; a < len(text); a = int(m.next[a]) {
		if m.ranks[a] != noRank {
			m.heap = append(m.heap, uint64(m.ranks[a])<<32|uint64(a))
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m.heap) > 0 {
		top := m.heap[0]
		a := int(uint32(top))
		if m.ranks[a] != uint32(top>>32) {
			m.pop()
			continue
		}
		m.join(text, a, r)
		if m.ranks[a] != noRank {
			m.heap[0] = uint64(m.ranks[a])<<32 | uint64(a)
			m.down(0)
		} else {
			m.pop()
		}
		if p := int(m.prev[a]); p >= 0 && m.ranks[p] != noRank {
			m.push(uint64(m.ranks[p])<<32 | uint64(p))
		}
	}
}

// join merges the pair that starts at a, and ranks the two pairs that the new symbol is in.
func (m *merger) join(text string, a int, r ranker) {
	b := int(m.next[a])
	c := int(m.next[b])
	m.id[a], m.next[a] = m.joins[a], int32(c)
	m.ranks[b] = noRank
	if c < len(text) {
		m.prev[c] = int32(a)
	}
	m.look(text, a, r)
	if p := int(m.prev[a]); p >= 0 {
		m.look(text, p, r)
	}
}

// look ranks the pair that starts at a.
func (m *merger) look(text string, a int, r ranker) {
	b := int(m.next[a])
	if b >= len(text) {
		m.ranks[a] = noRank
		return
	}
	m.ranks[a], m.joins[a] = r.rank(text, a, b, int(m.next[b]), m.id[a], m.id[b])
}

func (m *merger) push(x uint64) {
	m.heap = append(m.heap, x)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if m.heap[up] <= x {
			break
		}
		m.heap[i] = m.heap[up]
		i = up
	}
	m.heap[i] = x
}

func (m *merger) pop() {
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	if last > 0 {
		m.down(0)
	}
}

func (m *merger) down(i int) {
	h := m.heap
	x := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if x <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = x
}
