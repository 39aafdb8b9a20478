package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// spells is a mask that is free but for some tokens in between, of which it forces some.
type spells struct {
	at     int
	forced bool
}

func (m *spells) Free() bool { return m.at%7 < 4 }

func (m *spells) Next(dst []uint32) error {
	for i := range dst {
		dst[i] = 0x55555555 // the even ones
	}
	return nil
}

func (m *spells) Accept(int32) error {
	m.at++
	return nil
}

func (m *spells) Forced() []int32 {
	if m.forced && m.at%7 == 6 {
		return []int32{2}
	}
	return nil
}

// TestDraftsNeverChangeTheAnswer compares answers with drafts of every depth with those without, over a model that says the same
// again and again, as drafts need it, and now and then something else.
func TestDraftsNeverChangeTheAnswer(t *testing.T) {
	v := newVocabulary()
	for name, opt := range map[string]Options{
		"greedy":            {},
		"seeded":            {Temperature: 0.4},
		"top-k":             {Temperature: 0.7, TopK: 5, TopP: 0.9},
		"penalties":         {RepeatPenalty: 1.05, PresencePenalty: 0.1, FrequencyPenalty: 0.05},
		"log probabilities": {Logprobs: 3, Temperature: 0.5},
		"stop string":       {Stop: []string{"abcabcb"}},
		"end":               {Temperature: 2},
	} {
		for _, masked := range []string{"", "masked", "forced"} {
			for _, recurrent := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", masked, " ", recurrent), func(t *testing.T) {
					r := rand.New(rand.NewPCG(3, 3))
					answer := func(depth int, spec Spec, seed uint64) (Result, []Token) {
						s := newSession(t, v.Size(), 400)
						s.recurrent = recurrent
						s.logits = func(ids []int32) []float32 {
							out := make([]float32, v.Size())
							last := ids[len(ids)-1]
							noise := rand.New(rand.NewPCG(uint64(len(ids)), uint64(last)))
							for i := range out {
								out[i] = float32(noise.NormFloat64() / 2)
							}
							out[v.eog] -= 3
							out[(last+1)%5] += 4
							return out
						}
						o := opt
						o.MaxTokens, o.Seed, o.SpecDepth = 120, seed, depth
						o.Spec = spec
						if masked != "" {
							o.Mask = &spells{forced: masked == "forced"}
						}
						q := newSequence(t, s, v)
						q.config.Drafts = spec != SpecLookup
						var tokens []Token
						res, err := q.Generate(t.Context(), prompt, o, func(t Token) error {
							tokens = append(tokens, t)
							return nil
						})
						if err != nil {
							t.Fatal(err)
						}
						level(t, q, s)
						return res, tokens
					}
					var lookup, block int
					for range 4 {
						seed := 1 + r.Uint64()
						want, plain := answer(0, SpecOff, seed)
						for i, depth := range []int{1, 2, 3, 7, maxDraft, 2, 5, 7, maxDraft} {
							spec := []Spec{SpecAuto, SpecLookup, SpecDraft}[i%3]
							got, tokens := answer(depth, spec, seed)
							if !slices.Equal(got.IDs, want.IDs) || got.Text != want.Text || got.Finish != want.Finish || got.StopSequence != want.StopSequence {
								t.Fatalf("%s of depth %d gives\n%v %s, want\n%v %s", spec, depth, got.IDs, got.Finish, want.IDs, want.Finish)
							}
							if !slices.EqualFunc(tokens, plain, sameToken) {
								t.Errorf("depth %d emits other tokens", depth)
							}
							checkSpec(t, got.Spec)
							if lookup += got.Spec.Lookup; spec == SpecDraft {
								block += got.Spec.Accepted
							}
						}
					}
					if lookup == 0 || block == 0 {
						t.Errorf("%d tokens were looked up, and %d of the draft block came true", lookup, block)
					}
				})
			}
		}
	}
}

func sameToken(a, b Token) bool {
	close := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 || math.IsNaN(a) && math.IsNaN(b) }
	return a.ID == b.ID && a.Text == b.Text && close(a.Logprob, b.Logprob) &&
		slices.EqualFunc(a.Top, b.Top, func(a, b TokenLogprob) bool { return a.ID == b.ID && close(a.Logprob, b.Logprob) })
}

// checkSpec checks that the counts fit together.
func checkSpec(t *testing.T, s Speculation) {
	t.Helper()
	var sum DepthCount
	for i, d := range s.ByDepth {
		sum.Drafted += d.Drafted
		sum.Accepted += d.Accepted
		if d.Accepted > d.Drafted || i > 0 && (d.Drafted > s.ByDepth[i-1].Drafted || d.Accepted > s.ByDepth[i-1].Accepted) {
			t.Errorf("depth %d: %+v", i+1, d)
		}
	}
	if sum.Drafted != s.Drafted || sum.Accepted != s.Accepted || s.Lookup+s.Draft != s.Drafted {
		t.Errorf("counts %+v", s)
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		ids, next []int32
		found     int
	}{
		{nil, nil, 0},
		{[]int32{1, 2}, nil, 0},
		{[]int32{1, 2, 3, 4}, nil, 0},
		{[]int32{1, 2, 3, 9, 1, 2}, []int32{3, 9, 1, 2}, 2},
		{[]int32{5, 1, 2, 3, 1, 2, 4, 5, 1, 2}, []int32{3, 1, 2, 4, 5, 1, 2}, 3}, // the longer one, not the later one
		{[]int32{1, 2, 3, 1, 2, 4, 1, 2}, []int32{4, 1, 2}, 2},                   // of equals the later one
		{[]int32{7, 7, 7, 7}, []int32{7}, 3},
	} {
		var l lookup
		l.add(c.ids...)
		next, found := l.find()
		if !slices.Equal(next, c.next) || found != c.found {
			t.Errorf("%v: %v after %d, want %v after %d", c.ids, next, found, c.next, c.found)
		}
	}
}

// TestPace lets drafts come true or not, over passes of a given cost, and counts what that takes against plain steps.
func TestPace(t *testing.T) {
	const plain = time.Millisecond
	for _, c := range []struct {
		name      string
		block     bool    // drafts are the draft block's, which takes a tenth of a step for a token
		slope     float64 // what a column costs beside the first
		chance    float64 // that a token of a draft comes true
		gain      float64 // tokens a time, at least, in those of plain steps
		neverMore float64
	}{
		{"cheap and right", false, 0.05, 0.95, 3, 20},
		{"cheap and often wrong", false, 0.05, 0.5, 1.5, 3},
		{"cheap and wrong", false, 0.05, 0, 0.98, 1},
		{"dear and wrong", false, 1, 0, 0.97, 1},
		{"dear and right", false, 0.5, 0.97, 1.4, 2.2},
		{"dearer than plain steps", false, 1.1, 0.97, 0.97, 1.03},
		{"a good block", true, 0.2, 0.85, 1.6, 2.6},
		{"a bad block", true, 0.2, 0.05, 0.97, 1.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			p := newPace()
			tokens, took := 0, 0.0
			for tokens < 20000 {
				found := 2 + r.IntN(12)
				depth, chained := 0, 0
				if !c.block {
					depth, _ = p.choose(found, maxDraft, 0)
				} else if _, chained = p.choose(0, 0, maxBlock); chained > 0 {
					p.block.add(plain / 10)
					depth, found = chained, 0
				}
				accepted := 0
				for accepted < depth && r.Float64() < c.chance {
					accepted++
				}
				cost := 1 + c.slope*float64(depth)
				drafting := float64(chained) / 10
				noise := 1 + 0.05*r.NormFloat64()
				if r.IntN(50) == 0 {
					noise = 5 // something else had the machine
				}
				p.measured(1+depth, time.Duration(cost*noise*float64(plain)))
				if depth > 0 {
					p.came(draft{make([]int32, depth), found}, accepted)
				}
				tokens, took = tokens+1+accepted, took+cost+drafting
			}
			if gain := float64(tokens) / took; gain < c.gain || gain > c.neverMore {
				t.Errorf("%.3f tokens a plain step, want %.2f to %.2f", gain, c.gain, c.neverMore)
			}
		})
	}
}
