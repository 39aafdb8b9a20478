package cpu

import (
	"container/heap"
	"slices"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/cpu/vec"
)

// top returns the k largest logits, largest first, the lower id first among equals, and log Σ exp.
func top(logits []float32, k int) ([]engine.Candidate, float32) {
	k = min(k, len(logits))
	if k == 1 {
		if i := largest(logits); i >= 0 {
			return []engine.Candidate{{ID: int32(i), Logit: logits[i]}}, logSumExp(logits)
		}
	}
	h := make(worstFirst, 0, k)
	for id, v := range logits {
		c := engine.Candidate{ID: int32(id), Logit: v}
		switch {
		case len(h) < k:
			heap.Push(&h, c)
		case v > h[0].Logit: // an equal one has a higher id, so it stays out
			h[0] = c
			heap.Fix(&h, 0)
		}
	}
	slices.SortFunc(h, func(a, b engine.Candidate) int {
		if worse(a, b) {
			return 1
		}
		return -1
	})
	return h, logSumExp(logits)
}

// largest returns the index of the largest logit, the lowest among equals, or −1 where a logit is no number.
func largest(logits []float32) int { return slices.Index(logits, vec.Max(logits)) }

// worse orders candidates: the lower logit, and among equals the higher id.
func worse(a, b engine.Candidate) bool {
	return a.Logit < b.Logit || (a.Logit == b.Logit && a.ID > b.ID)
}

// worstFirst is a heap with the worst candidate on top.
type worstFirst []engine.Candidate

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return worse(h[i], h[j]) }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(engine.Candidate)) }
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
