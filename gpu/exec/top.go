package exec

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
)

// topBytes is what is read back of the device's search: the log of the sum of exponentials, then the candidates.
const topBytes = 8 + 8*kernel.MaxTop

// addTop adds the search for the largest logits of the last column.
func (b *block) addTop(logits device.View, vocab int) error {
	s := b.s
	scratch := func(n int) (device.View, error) {
		buf, err := s.alloc(&s.stateBytes, int64(n), device.Storage|device.CopyFrom)
		return device.View{Buffer: buf, Size: int64(n)}, err
	}
	count, from, first := vocab, logits, true
	for {
		groups := kernel.TopGroups(count)
		to, err := scratch(groups * kernel.MaxTop * 8)
		if err != nil {
			return err
		}
		b.fixed(kernel.Top(count, first), func(int) [3]uint32 { return [3]uint32{uint32(groups), 1, 1} }, from, to)
		count, from, first = groups*kernel.MaxTop, to, false
		if groups == 1 {
			s.topFrom = to
			break
		}
	}
	count, from, first = vocab, logits, true
	for {
		groups := kernel.LogSumExpGroups(count)
		to, err := scratch(groups * 8)
		if err != nil {
			return err
		}
		b.fixed(kernel.LogSumExp(count, first), func(int) [3]uint32 { return [3]uint32{uint32(groups), 1, 1} }, from, to)
		if !first && groups == 1 {
			s.lseFrom = to
			return nil
		}
		count, from, first = groups, to, false
	}
}

// readTop decodes what the device found.
func readTop(r *engine.Result, b []byte, k int) {
	r.LogSumExp = math.Float32frombits(binary.LittleEndian.Uint32(b))
	for i := range k {
		c := b[8+8*i:]
		r.Top = append(r.Top, engine.Candidate{
			ID: int32(binary.LittleEndian.Uint32(c)), Logit: math.Float32frombits(binary.LittleEndian.Uint32(c[4:])),
		})
	}
}

// hostTop finds more candidates than the device looks for.
func hostTop(r *engine.Result, logits []float32, k int) {
	top := make([]engine.Candidate, len(logits))
	most := math.Inf(-1)
	for i, l := range logits {
		top[i] = engine.Candidate{ID: int32(i), Logit: l}
		most = max(most, float64(l))
	}
	slices.SortFunc(top, func(a, b engine.Candidate) int {
		if c := cmp.Compare(b.Logit, a.Logit); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - most)
	}
	r.LogSumExp = float32(most + math.Log(sum))
	r.Top = slices.Clone(top[:k])
}
