package generate

import (
	"cmp"
	"math"
	"slices"

	"github.com/pooled/pooled/core/engine"
)

// maximum returns the index of the largest logit, the lowest index among equals, or −1 when all are −∞. Bad is the index
// of the first NaN or +∞ that it met, or −1.
func maximum(logits []float32) (best, bad int) {
	best, most := -1, float32(math.Inf(-1))
	for i, v := range logits {
		if v <= most { // one comparison lets only larger values and NaN through
			continue
		}
		if !(v <= math.MaxFloat32) {
			return -1, i
		}
		best, most = i, v
	}
	return best, -1
}

// worse orders candidates by logit, the higher id first among equals.
func worse(a, b engine.Candidate) bool {
	return a.Logit < b.Logit || a.Logit == b.Logit && a.ID > b.ID
}

// byLogit orders candidates by falling logit, the lower id first among equals.
func byLogit(a, b engine.Candidate) int {
	if c := cmp.Compare(b.Logit, a.Logit); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// largest appends the k largest logits to dst, in the order of byLogit; those that are −∞ are left out.
//
// It keeps a heap of the k best so far, whose root is the worst of them: nearly all of a large vocabulary is passed over
// with one comparison.
func largest(dst []engine.Candidate, logits []float32, k int) []engine.Candidate {
	start := len(dst)
	least := float32(math.Inf(-1))
	for i, v := range logits {
		if v <= least {
			continue
		}
		heap := dst[start:]
		c := engine.Candidate{ID: int32(i), Logit: v}
		if len(heap) < k {
			dst = append(dst, c)
			if len(heap)+1 < k {
				continue
			}
			heap = dst[start:]
			for n := k/2 - 1; n >= 0; n-- {
				sink(heap, n)
			}
		} else {
			heap[0] = c
			sink(heap, 0)
		}
		least = heap[0].Logit
	}
	slices.SortFunc(dst[start:], byLogit)
	return dst
}

// sink moves entry n of a heap down to its place.
func sink(heap []engine.Candidate, n int) {
	for {
		child := 2*n + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && worse(heap[child+1], heap[child]) {
			child++
		}
		if !worse(heap[child], heap[n]) {
			return
		}
		heap[n], heap[child] = heap[child], heap[n]
		n = child
	}
}

// nucleusCells is how finely nucleus tells logits apart without sorting, and nucleusSpan the distance from the largest
// logit, in nats, behind which it does not: nothing there weighs in unless p is within 1e-8 of 1.
const (
	nucleusCells = 1024
	nucleusSpan  = 32
)

// nucleus appends the fewest largest logits whose probabilities add up to at least p. Most is the largest logit, and
// weights is scratch of the length of logits.
//
// The probability of each of many narrow ranges of logits says in which of them the boundary lies; only that one is
// sorted. The order is by id, then the part of the boundary's range by falling logit.
func nucleus(dst []engine.Candidate, logits []float32, most float32, p float64, weights []float64) []engine.Candidate {
	least := most
	for _, v := range logits {
		if v < least && v >= -math.MaxFloat32 {
			least = v
		}
	}
	scale := nucleusCells / max(min(float64(most)-float64(least), nucleusSpan), 1e-6)
	cell := func(v float32) int {
		return int(min((float64(most)-float64(v))*scale, nucleusCells-1))
	}
	var mass [nucleusCells]float64
	var total float64
	for i, v := range logits {
		w := exp(float64(v) - float64(most))
		weights[i] = w
		mass[cell(v)] += w
		total += w
	}

	want, sum, boundary := p*total, 0.0, 0
	for boundary < nucleusCells-1 && sum+mass[boundary] < want {
		sum += mass[boundary]
		boundary++
	}
	var edge []engine.Candidate
	for i, v := range logits {
		if v < -math.MaxFloat32 {
			continue
		}
		switch c := cell(v); {
		case c < boundary:
			dst = append(dst, engine.Candidate{ID: int32(i), Logit: v})
		case c == boundary:
			edge = append(edge, engine.Candidate{ID: int32(i), Logit: v})
		}
	}
	slices.SortFunc(edge, byLogit)
	for _, c := range edge {
		dst = append(dst, c)
		if sum += weights[c.ID]; sum >= want {
			break
		}
	}
	return dst
}

// logSumExp returns log Σ exp(logit).
func logSumExp(logits []float32, most float32) float64 {
	var sum float64
	for _, v := range logits {
		sum += exp(float64(v) - float64(most))
	}
	return float64(most) + math.Log(sum)
}

// exp returns e to the power of x for x ≤ 0, with a relative error below 1e-9; it is several times faster than math.Exp,
// which a vocabulary of 150,000 makes worth having.
//
// With k the integer nearest x/ln 2 and r = x − k·ln 2, it is 2^k times the Taylor polynomial of degree 8 at |r| ≤ 0.35.
func exp(x float64) float64 {
	if !(x > -700) {
		return 0
	}
	const (
		shift = 3 << 51 // added to a small number, it leaves the nearest integer in the low bits
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
	)
	t := x*math.Log2E + shift
	k := int64(math.Float64bits(t)<<12) >> 12
	f := t - shift
	r := x - f*ln2Hi - f*ln2Lo
	r2 := r * r
	r4 := r2 * r2
	y := (1 + r) + r2*(1.0/2+r*(1.0/6)) + r4*((1.0/24+r*(1.0/120))+r2*(1.0/720+r*(1.0/5040))+r4*(1.0/40320))
	return y * math.Float64frombits(uint64(1023+k)<<52)
}
