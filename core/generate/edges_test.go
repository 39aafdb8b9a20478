package generate

import (
	"errors"
	"math"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

// TestEdges draws with options at their edges.
func TestEdges(t *testing.T) {
	const tiny = math.SmallestNonzeroFloat64
	logits := []float32{0, 3, 1, 3, -infinity, 2.5}
	for _, tc := range []struct {
		name string
		opt  Options
		want []int32 // what may be drawn, all of which is
	}{
		{"all", Options{Temperature: 1}, []int32{0, 1, 2, 3, 5}},
		{"top-p just above 0", Options{Temperature: 1, TopP: tiny}, []int32{1}},
		{"top-p just above 0 among some", Options{Temperature: 1, TopP: tiny, TopK: 4}, []int32{1}},
		{"top-p 1", Options{Temperature: 1, TopP: 1}, []int32{0, 1, 2, 3, 5}},
		{"min-p 1", Options{Temperature: 1, MinP: 1}, []int32{1, 3}},
		{"min-p 1 among some", Options{Temperature: 1, MinP: 1, TopK: 4}, []int32{1, 3}},
		{"min-p just above 0", Options{Temperature: 1, MinP: tiny}, []int32{0, 1, 2, 3, 5}},
		{"min-p and top-p at their edges", Options{Temperature: 1, MinP: 1, TopP: tiny}, []int32{1}},
		{"top-k huge", Options{Temperature: 1, TopK: math.MaxInt}, []int32{0, 1, 2, 3, 5}},
		{"top-k 1", Options{Temperature: 1, TopK: 1}, []int32{1}},
		{"temperature just above 0", Options{Temperature: tiny}, []int32{1, 3}},
		{"temperature just above 0 among some", Options{Temperature: tiny, TopK: 5}, []int32{1, 3}},
		{"temperature at its most", Options{Temperature: 1e6}, []int32{0, 1, 2, 3, 5}},
		{"repetition penalty 1", Options{Temperature: 1, TopK: 1, RepeatPenalty: 1}, []int32{1}},
		{"repetition penalty at its most", Options{Temperature: 1, TopK: 1, RepeatPenalty: 100, RepeatLast: math.MaxInt}, []int32{5}},
		{"repetition penalty at its least", Options{Temperature: 1, TopK: 1, RepeatPenalty: 0.01, RepeatLast: math.MinInt}, []int32{1}},
		{"presence penalty at its most", Options{Temperature: 1, TopK: 1, PresencePenalty: 1e6}, []int32{5}},
		{"presence penalty at its least", Options{Temperature: 1, TopK: 1, PresencePenalty: -1e6}, []int32{1}},
		{"frequency penalty at its most", Options{Temperature: 1, TopK: 1, FrequencyPenalty: 1e6}, []int32{5}},
		{"log probabilities of all", Options{Temperature: 1, TopK: 1, Logprobs: math.MaxInt}, []int32{1}},
	} {
		if err := tc.opt.Check(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		drawn := map[int32]bool{}
		for seed := range uint64(300) {
			p := newSampler(&tc.opt, len(logits), seed, nil, &scratch{})
			p.accept(1)
			p.accept(3)
			s := newSession(t, len(logits), 9)
			s.logits = func([]int32) []float32 { return append([]float32(nil), logits...) }
			r, err := s.Forward(t.Context(), engine.Batch{Tokens: []int32{0}, Output: p.output()})
			if err != nil {
				t.Fatal(err)
			}
			c, err := p.pick(r, 0)
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			drawn[c.id] = true
		}
		for id := range int32(len(logits)) {
			want := false
			for _, w := range tc.want {
				want = want || w == id
			}
			if drawn[id] != want {
				t.Errorf("%s: token %d drawn: %v, want %v", tc.name, id, drawn[id], want)
			}
		}
	}
}

// TestRefused refuses options that mean nothing, by their names.
func TestRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	number := map[string]func(float64) Options{
		"Temperature":      func(v float64) Options { return Options{Temperature: v} },
		"TopP":             func(v float64) Options { return Options{TopP: v} },
		"MinP":             func(v float64) Options { return Options{MinP: v} },
		"RepeatPenalty":    func(v float64) Options { return Options{RepeatPenalty: v} },
		"PresencePenalty":  func(v float64) Options { return Options{PresencePenalty: v} },
		"FrequencyPenalty": func(v float64) Options { return Options{FrequencyPenalty: v} },
	}
	for name, with := range number {
		for _, v := range []float64{nan, inf, -inf, 1e300, -1e300} {
			o := with(v)
			bad, ok := errors.AsType[*OptionError](o.Check())
			if !ok || bad.Option != name {
				t.Errorf("%s %v: got %v", name, v, o.Check())
			}
		}
		for _, v := range []float64{0, math.Copysign(0, -1), 1} {
			if o := with(v); o.Check() != nil {
				t.Errorf("%s %v: %v", name, v, o.Check())
			}
		}
	}
	for name, o := range map[string]Options{
		"MaxTokens": {MaxTokens: -1}, "TopK": {TopK: math.MinInt}, "Logprobs": {Logprobs: -1}, "Stop": {Stop: []string{"a", "\xff"}},
	} {
		bad, ok := errors.AsType[*OptionError](o.Check())
		if !ok || bad.Option != name {
			t.Errorf("%s: got %v", name, o.Check())
		}
	}
}
