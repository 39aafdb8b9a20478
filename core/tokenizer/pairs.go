package tokenizer

import (
	"math/bits"
	"math/rand/v2"
)

// pairTable is the ranker of byte-level BPE: from the ids of both sides of a merge to its rank and what it makes. It is an
// open-addressed hash table, half full at most, with a random seed so that no vocabulary can be made to collide in it.
type pairTable struct {
	slots []pairSlot
	seed  uint64
}

type pairSlot struct {
	pair uint64
	rank uint32
	id   int32
}

// noPair marks an empty slot: two symbols that are no tokens, which no merge has. Its rank is noRank.
const noPair = ^uint64(0)

func newPairTable(n int) *pairTable {
	t := &pairTable{slots: make([]pairSlot, 1<<bits.Len(uint(2*n))), seed: rand.Uint64()}
	for i := range t.slots {
		t.slots[i] = pairSlot{pair: noPair, rank: noRank, id: -1}
	}
	return t
}

// find returns the slot of a pair, or the empty slot where it would be.
func (t *pairTable) find(left, right int32) *pairSlot {
	pair := uint64(uint32(left))<<32 | uint64(uint32(right))
	hi, lo := bits.Mul64(pair^t.seed, 0x9e3779b97f4a7c15)
	mask := uint64(len(t.slots) - 1)
	for i := hi ^ lo; ; i++ {
		if s := &t.slots[i&mask]; s.pair == pair || s.pair == noPair {
			return s
		}
	}
}

// add enters a merge; of two with the same sides the first counts.
func (t *pairTable) add(left, right int32, rank uint32, id int32) {
	if s := t.find(left, right); s.pair == noPair {
		*s = pairSlot{pair: uint64(uint32(left))<<32 | uint64(uint32(right)), rank: rank, id: id}
	}
}

func (t *pairTable) rank(_ string, _, _, _ int, left, right int32) (uint32, int32) {
	s := t.find(left, right)
	return s.rank, s.id
}
