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

// search finds the largest logits of one column of the head.
type search struct {
	stages []stage
	top    device.View // kernel.MaxTop candidates
	sum    device.View // the log of the sum of exponentials
}

// searchOf returns the search of a column of the head, compiled when it is first used: most sessions look at one alone.
func (s *session) searchOf(column int) (*search, error) {
	if s.searches[column] != nil {
		return s.searches[column], nil
	}
	b := &block{s: s, now: s.input(s.searchSteps+int64(column)*device.Align, kernel.StepBytes)}
	s.inputs.put(b.now.Offset, kernel.Step{Columns: column + 1}.Append(nil))
	found, err := b.addSearch(s.head.values[s.prog.Logits], s.prog.Plan.Vocab)
	if err != nil {
		return nil, err
	}
	s.searches[column] = found
	return found, nil
}

// addSearch adds the search for the largest logits of the last column of the block's Step.
func (b *block) addSearch(logits device.View, vocab int) (*search, error) {
	s, found := b.s, &search{}
	scratch := func(n int) (device.View, error) {
		buf, err := s.alloc(&s.stateBytes, int64(n), device.Storage|device.CopyFrom)
		return device.View{Buffer: buf, Size: int64(n)}, err
	}
	count, from, first := vocab, logits, true
	for {
		groups := kernel.TopGroups(count)
		to, err := scratch(groups * kernel.MaxTop * 8)
		if err != nil {
			return nil, err
		}
		b.fixed(kernel.Top(count, first), func(int) [3]uint32 { return [3]uint32{uint32(groups), 1, 1} }, from, to)
		count, from, first = groups*kernel.MaxTop, to, false
		if groups == 1 {
			found.top = to
			break
		}
	}
	count, from, first = vocab, logits, true
	for {
		groups := kernel.LogSumExpGroups(count)
		to, err := scratch(groups * 8)
		if err != nil {
			return nil, err
		}
		b.fixed(kernel.LogSumExp(count, first), func(int) [3]uint32 { return [3]uint32{uint32(groups), 1, 1} }, from, to)
		if !first && groups == 1 {
			found.sum, found.stages = to, b.stages
			return found, nil
		}
		count, from, first = groups, to, false
	}
}

// readTop decodes the k largest logits that the device found.
func readTop(b []byte, k int) []engine.Candidate {
	top := make([]engine.Candidate, k)
	for i := range top {
		c := b[8*i:]
		top[i] = engine.Candidate{
			ID: int32(binary.LittleEndian.Uint32(c)), Logit: math.Float32frombits(binary.LittleEndian.Uint32(c[4:])),
		}
	}
	return top
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
	r.LogSumExp = append(r.LogSumExp, float32(most+math.Log(sum)))
	r.Top = append(r.Top, slices.Clone(top[:k]))
}
