package tokenizer

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// wordCache remembers the ids of short words. It is a direct-mapped table: a word that hashes to a taken slot replaces
// what is there, so the memory is bounded and no lock is needed.
type wordCache struct {
	seed  maphash.Seed
	slots [cacheSlots]atomic.Pointer[cacheEntry]
}

const (
	cacheSlots   = 1 << 13
	cacheMaxWord = 48 // bytes
)

type cacheEntry struct {
	word string
	ids  []int32
}

// slot returns the slot of a word; nil when it is too long to be kept.
func (c *wordCache) slot(word string) *atomic.Pointer[cacheEntry] {
	if len(word) > cacheMaxWord {
		return nil
	}
	return &c.slots[maphash.String(c.seed, word)%cacheSlots]
}

// newEntry copies both arguments, so that an entry keeps no caller's text alive.
func newEntry(word string, ids []int32) *cacheEntry {
	return &cacheEntry{word: strings.Clone(word), ids: append([]int32(nil), ids...)}
}
