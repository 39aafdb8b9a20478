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
	for i := 0; i < len(logits); i++ {
		// One comparison lets only larger values and NaN through.
		if rest := logits[i:]; len(rest) >= 4 && rest[0] <= most && rest[1] <= most && rest[2] <= most && rest[3] <= most {
			i += 3
			continue
		}
		v := logits[i]
		if v <= most {
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

// nucleusCells ranges of logits, nucleusScale a nat, are what nucleus tells apart without sorting. The probability of all
// that lies further below the largest logit, 1e-14 a token, is not counted.
const (
	nucleusScale = 32
	nucleusCells = 32 * nucleusScale
)

// nucleus appends the fewest largest logits whose probabilities add up to at least p. Most is the largest logit.
//
// The probability of each range of logits says in which of them the boundary lies; only that one is sorted. The order is
// by id, then that of the boundary's range by falling logit.
func nucleus(dst, edge []engine.Candidate, logits []float32, most float32, p float64) (kept, scratch []engine.Candidate) {
	var mass [nucleusCells]float64
	top := float64(most)
	for _, v := range logits {
		x := float64(v) - top
		if cell := -nucleusScale * x; cell < nucleusCells {
			mass[int(cell)] += exp(x)
		}
	}
	var total float64
	for _, m := range mass {
		total += m
	}
	want, sum, boundary := p*total, 0.0, 0
	for boundary < nucleusCells-1 && sum+mass[boundary] < want {
		sum += mass[boundary]
		boundary++
	}

	// The margin makes up for rounding: what lies behind it is in a later range for sure.
	least := float32(top - float64(boundary+2)/nucleusScale)
	edge = edge[:0]
	for i, v := range logits {
		if v < least {
			continue
		}
		switch cell := int(-nucleusScale * (float64(v) - top)); {
		case cell < boundary:
			dst = append(dst, engine.Candidate{ID: int32(i), Logit: v})
		case cell == boundary:
			edge = append(edge, engine.Candidate{ID: int32(i), Logit: v})
		}
	}
	slices.SortFunc(edge, byLogit)
	for _, c := range edge {
		dst = append(dst, c)
		if sum += exp(float64(c.Logit) - top); sum >= want {
			break
		}
	}
	return dst, edge
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
// With k the integer nearest 64·x/ln 2 and r = x − k·ln 2/64, it is 2^(k/64), whose fraction comes from a table, times the
// Taylor polynomial of degree 3 at |r| ≤ 0.0055.
func exp(x float64) float64 {
	if x < -700 {
		return 0
	}
	const shift = 3 << 51 // added to a small number, it leaves the nearest integer in the low bits
	t := x*(64/math.Ln2) + shift
	k := math.Float64bits(t)
	r := x - (t-shift)*(math.Ln2/64)
	return math.Float64frombits(roots[k%64]+k>>6<<52) * (1 + r*(1+r*(1.0/2+r*(1.0/6))))
}

// roots are the bits of 2^(i/64).
var roots = func() (t [64]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(float64(i) / 64))
	}
	return t
}()
