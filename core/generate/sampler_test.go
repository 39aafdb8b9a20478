package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

var infinity = float32(math.Inf(1))

// plainly computes the distribution that options sample from, with a full sort and no shortcuts: penalties, mask, top-k,
// top-p, min-p, temperature.
func plainly(logits []float32, o Options, prompt, answer []int32, allowed func(int32) bool) []float64 {
	l := make([]float64, len(logits))
	ids := slices.Concat(prompt, answer)
	if o.RepeatLast == 0 {
		o.RepeatLast = 64
	}
	if o.RepeatLast > 0 {
		ids = ids[max(0, len(ids)-o.RepeatLast):]
	}
	for i, v := range logits {
		l[i] = float64(v)
		if o.RepeatPenalty != 0 && slices.Contains(ids, int32(i)) {
			if l[i] > 0 {
				l[i] /= o.RepeatPenalty
			} else {
				l[i] *= o.RepeatPenalty
			}
		}
		for n, id := range answer {
			if id != int32(i) {
				continue
			}
			if !slices.Contains(answer[:n], id) {
				l[i] -= o.PresencePenalty
			}
			l[i] -= o.FrequencyPenalty
		}
		if allowed != nil && !allowed(int32(i)) {
			l[i] = math.Inf(-1)
		}
	}
	order := make([]int, len(l))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case l[a] > l[b]:
			return -1
		case l[a] < l[b]:
			return 1
		}
		return a - b
	})
	if o.Temperature == 0 {
		order, o.Temperature = order[:1], 1
	}
	if o.TopK > 0 {
		order = order[:min(o.TopK, len(order))]
	}
	softmax := func(temperature float64) []float64 {
		p, sum := make([]float64, len(order)), 0.0
		for i, id := range order {
			p[i] = math.Exp((l[id] - l[order[0]]) / temperature)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	if o.TopP > 0 && o.TopP < 1 {
		n, sum := 0, 0.0
		for p := softmax(1); n < len(p) && sum < o.TopP; n++ {
			sum += p[n]
		}
		order = order[:n]
	}
	if o.MinP > 0 {
		p := softmax(1)
		n := 1
		for n < len(p) && p[n] >= o.MinP*p[0] {
			n++
		}
		order = order[:n]
	}
	out := make([]float64, len(l))
	for i, p := range softmax(o.Temperature) {
		out[order[i]] = p
	}
	return out
}

// TestDistribution draws many tokens and compares their counts with the distribution by its definition.
func TestDistribution(t *testing.T) {
	logits := []float32{2, 1.5, -1, 0.3, 2, -infinity, 0, 1.1, -3, 0.9, 0.9, -0.5, 3, 1.7, -2, 0.1}
	prompt, answer := []int32{12, 0, 1, 8}, []int32{4, 13, 4, 2}
	for i, o := range []Options{
		{Temperature: 1},
		{Temperature: 0.5},
		{Temperature: 2.5},
		{Temperature: 1, TopK: 1},
		{Temperature: 1, TopK: 5},
		{Temperature: 1, TopK: 100},
		{Temperature: 1, TopK: 5, Logprobs: 9},
		{Temperature: 1, TopK: 3, Logprobs: 200},
		{Temperature: 1, TopP: 0.7},
		{Temperature: 3, TopP: 0.9},
		{Temperature: 1, TopP: 0.01},
		{Temperature: 1, TopP: 1},
		{Temperature: 1, MinP: 0.2},
		{Temperature: 4, MinP: 0.05},
		{Temperature: 1, MinP: 1},
		{Temperature: 1.3, TopK: 8, TopP: 0.8},
		{Temperature: 1.3, TopK: 8, TopP: 0.8, MinP: 0.3},
		{Temperature: 1.3, TopP: 0.9, MinP: 0.3},
		{Temperature: 1, RepeatPenalty: 1.5},
		{Temperature: 1, RepeatPenalty: 1.5, RepeatLast: 2},
		{Temperature: 1, RepeatPenalty: 0.5, RepeatLast: -1},
		{Temperature: 1, PresencePenalty: 1},
		{Temperature: 1, FrequencyPenalty: 0.7},
		{Temperature: 0.8, TopK: 6, TopP: 0.9, MinP: 0.1, RepeatPenalty: 1.2, PresencePenalty: 0.5, FrequencyPenalty: -0.3},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want := plainly(logits, o, prompt, answer, nil)
			p := newSampler(&o, len(logits), 42, prompt, &scratch{})
			for _, id := range answer {
				p.accept(id)
			}
			const n = 20000
			counts := make([]float64, len(logits))
			s := newSession(t, len(logits), 9)
			s.logits = func([]int32) []float32 { return logits }
			for range n {
				s.ids = s.ids[:0]
				r, err := s.Forward(t.Context(), engine.Batch{Tokens: []int32{0}, Output: p.output()})
				if err != nil {
					t.Fatal(err)
				}
				c, err := p.pick(r, 0)
				if err != nil {
					t.Fatal(err)
				}
				counts[c.id]++
			}
			chi, freedom := 0.0, -1.0
			for id, p := range want {
				if p == 0 {
					if counts[id] > 0 {
						t.Errorf("%+v: token %d was drawn %v times, want never", o, id, counts[id])
					}
					continue
				}
				d := counts[id] - n*p
				chi += d * d / (n * p)
				freedom++
			}
			// Four standard deviations of the chi-square distribution, and its skew.
			if limit := freedom + 4*math.Sqrt(2*freedom) + 6; chi > limit {
				t.Errorf("%+v: chi-square %.1f with %v degrees of freedom, want below %.1f\ncounts %v\nwant %v", o, chi, freedom, limit, counts, want)
			}
		})
	}
}

// TestFilterAgainstSort compares what the filters leave of random logits with the definition.
func TestFilterAgainstSort(t *testing.T) {
	const seed = 5
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 400 {
		logits := make([]float32, 1+r.IntN(3000))
		spread := math.Pow(10, 4*r.Float64()-2)
		for i := range logits {
			switch logits[i] = float32(r.NormFloat64() * spread); {
			case round%3 == 0: // many equal ones
				logits[i] = float32(math.Round(float64(logits[i])))
			case round%3 == 1 && r.IntN(4) == 0:
				logits[i] = -infinity
			}
		}
		logits[0] = 0
		o := Options{Temperature: 1}
		if round%2 == 0 {
			o.TopP = r.Float64()
		}
		if round%5 == 0 {
			o.TopK = 1 + r.IntN(len(logits)+3)
		}
		if round%4 == 0 {
			o.MinP = r.Float64()
		}
		want := plainly(logits, o, nil, nil, nil)
		p := newSampler(&o, len(logits), 1, nil, &scratch{})
		best, _ := maximum(logits)
		kept := p.filter(logits, logits[best])
		var got []int32
		for _, c := range kept {
			if c.Logit != logits[c.ID] {
				t.Fatalf("token %d has logit %v, want %v", c.ID, c.Logit, logits[c.ID])
			}
			got = append(got, c.ID)
		}
		slices.Sort(got)
		var wantIDs []int32
		for id, p := range want {
			if p > 0 || logits[id] > -infinity && float64(logits[id]-logits[best]) < -700 && slices.Contains(got, int32(id)) {
				wantIDs = append(wantIDs, int32(id))
			}
		}
		if !slices.Equal(got, wantIDs) {
			t.Errorf("round %d, %+v, %d logits: kept %d, want %d", round, o, len(logits), len(got), len(wantIDs))
		}
	}
}

func TestGreedyTakesTheLowestOfEquals(t *testing.T) {
	logits := []float32{0, 3, 1, 3, -infinity, 3}
	for _, o := range []Options{{}, {Logprobs: 3}, {Logprobs: 500}, {PresencePenalty: 1}, {Temperature: 1, TopK: 1}, {Temperature: 1, TopP: 1e-9}} {
		p := newSampler(&o, len(logits), 1, nil, &scratch{})
		s := newSession(t, len(logits), 9)
		s.logits = func([]int32) []float32 { return logits }
		r, err := s.Forward(t.Context(), engine.Batch{Tokens: []int32{0}, Output: p.output()})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := p.pick(r, 0); err != nil || c.id != 1 {
			t.Errorf("%+v: %d, %v, want 1", o, c.id, err)
		}
	}
}

func TestLogprobs(t *testing.T) {
	logits := []float32{0.5, 3, 1, 3, -1, 2}
	var sum float64
	for _, v := range logits {
		sum += math.Exp(float64(v))
	}
	want := func(id int32) float64 { return float64(logits[id]) - math.Log(sum) }
	for _, o := range []Options{
		{Logprobs: 2},
		{Logprobs: 200},
		{Logprobs: 2, Temperature: 3},
		{Logprobs: 2, Temperature: 3, TopK: 4},
		{Logprobs: 4, Temperature: 3, TopK: 2},
		{Logprobs: 2, RepeatPenalty: 3, FrequencyPenalty: 1},
	} {
		v := &vocabulary{pieces: []string{"a", "b", "c", "d", "e", "f"}, eog: 99, control: 99}
		s := newSession(t, len(logits), 64)
		s.logits = func([]int32) []float32 { return logits }
		q := newSequence(t, s, v)
		o.MaxTokens, o.Seed = 30, 3
		_, err := q.Generate(t.Context(), []int32{0, 1}, o, func(token Token) error {
			if d := token.Logprob - want(token.ID); math.Abs(d) > 1e-6 {
				t.Errorf("%+v: token %d has log probability %v, want %v", o, token.ID, token.Logprob, want(token.ID))
			}
			order := []int32{1, 3, 5, 2, 0, 4}[:min(o.Logprobs, 6)]
			if len(token.Top) != len(order) {
				t.Fatalf("%+v: %d most likely tokens, want %d", o, len(token.Top), len(order))
			}
			for i, top := range token.Top {
				if top.ID != order[i] || math.Abs(top.Logprob-want(top.ID)) > 1e-6 {
					t.Errorf("%+v: place %d is %+v, want token %d with %v", o, i, top, order[i], want(order[i]))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOutputAsksForNoMoreThanNeeded(t *testing.T) {
	full := engine.Output{Logits: engine.LastColumn}
	for _, tc := range []struct {
		opt  Options
		want engine.Output
	}{
		{Options{}, engine.Output{Top: 1}},
		{Options{TopK: 40}, engine.Output{Top: 1}},
		{Options{Logprobs: 5}, engine.Output{Top: 5}},
		{Options{Temperature: 1, TopK: 40}, engine.Output{Top: 40}},
		{Options{Temperature: 1, TopK: 40, TopP: 0.9, MinP: 0.1}, engine.Output{Top: 40}},
		{Options{Temperature: 1, TopK: 5, Logprobs: 20}, engine.Output{Top: 20}},
		{Options{Temperature: 1, TopK: topLimit + 1}, full},
		{Options{Temperature: 1}, full},
		{Options{Temperature: 1, TopP: 0.9}, full},
		{Options{RepeatPenalty: 1}, engine.Output{Top: 1}},
		{Options{RepeatPenalty: 1.1}, full},
		{Options{PresencePenalty: 1}, full},
		{Options{FrequencyPenalty: 1}, full},
		{Options{Mask: &digits{}}, full},
	} {
		if got := newSampler(&tc.opt, 100, 1, nil, &scratch{}).output(); got != tc.want {
			t.Errorf("%+v: asked for %+v, want %+v", tc.opt, got, tc.want)
		}
	}
}

// TestSeed fixes what seeds give: the same answer for the same seed, by candidates of the device as by all logits.
func TestSeed(t *testing.T) {
	v := newVocabulary()
	answer := func(o Options) Result {
		t.Helper()
		o.MaxTokens, o.IgnoreEOG = 24, true
		res, err := newSequence(t, newSession(t, v.Size(), 64), v).Generate(t.Context(), prompt, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, o := range []Options{{Temperature: 1}, {Temperature: 0.7, TopK: 5}, {Temperature: 0.7, TopP: 0.9}} {
		o.Seed = 1234
		first, second := answer(o), answer(o)
		if first.Seed != 1234 || !slices.Equal(first.IDs, second.IDs) {
			t.Errorf("%+v: %v and %v", o, first.IDs, second.IDs)
		}
		o.Seed = 1235
		if other := answer(o); slices.Equal(first.IDs, other.IDs) {
			t.Errorf("%+v: two seeds gave %v", o, other.IDs)
		}
		o.Seed = 0
		drawn := answer(o)
		o.Seed = drawn.Seed
		if again := answer(o); !slices.Equal(drawn.IDs, again.IDs) {
			t.Errorf("%+v: the reported seed gave %v, want %v", o, again.IDs, drawn.IDs)
		}
	}
	o := Options{Temperature: 1, TopK: 5, Seed: 9}
	byDevice := answer(o)
	o.Logprobs = topLimit + 1
	if byLogits := answer(o); !slices.Equal(byDevice.IDs, byLogits.IDs) {
		t.Errorf("candidates gave %v, all logits %v", byDevice.IDs, byLogits.IDs)
	}
	golden := []int32{5, 3, 5, 18, 13, 23, 22, 24}
	if got := answer(Options{Temperature: 1, Seed: 1}).IDs[:8]; !slices.Equal(got, golden) {
		t.Errorf("seed 1 gives %v, want %v as ever", got, golden)
	}
}

func TestVocabularyPadded(t *testing.T) {
	v := newVocabulary()
	for _, o := range []Options{{}, {Temperature: 1}, {Temperature: 1, TopK: 4}, {Temperature: 1, TopP: 0.9}, {PresencePenalty: 1, Logprobs: 3}} {
		s := newSession(t, v.Size()+10, 64)
		o.MaxTokens, o.IgnoreEOG, o.Seed = 30, true, 2
		s.logits = func([]int32) []float32 {
			l := make([]float32, v.Size()+10)
			l[v.Size()+3] = 0.1
			return l
		}
		if o.Temperature == 0 && o.PresencePenalty == 0 {
			o.Logprobs = 2
		}
		res, err := newSequence(t, s, v).Generate(t.Context(), prompt, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range res.IDs {
			if int(id) >= v.Size() {
				t.Errorf("%+v: token %d of a vocabulary of %d", o, id, v.Size())
			}
		}
	}
}

func TestMaximum(t *testing.T) {
	for n := range 11 {
		none := slices.Repeat([]float32{-infinity}, n)
		if best, bad := maximum(none); best != -1 || bad != -1 {
			t.Errorf("%d times −∞: %d, %d", n, best, bad)
		}
		for i := range n {
			for _, fill := range []float32{-infinity, -5} {
				l := slices.Repeat([]float32{fill}, n)
				l[i] = -4
				if best, bad := maximum(l); best != i || bad != -1 {
					t.Errorf("largest at %d of %d: %d, %d", i, n, best, bad)
				}
				for _, v := range []float32{float32(math.NaN()), infinity} {
					l[i] = v
					if _, bad := maximum(l); bad != i {
						t.Errorf("%v at %d of %d: %d", v, i, n, bad)
					}
				}
			}
		}
	}
}

func TestExp(t *testing.T) {
	for x := 0.0; x > -720; x -= 0.0137 {
		got, want := exp(x), math.Exp(x)
		if x <= -700 {
			want = 0
		}
		if d := math.Abs(got - want); d > 1e-9*want {
			t.Fatalf("exp(%v) is %v, want %v", x, got, want)
		}
	}
	if got := exp(math.Inf(-1)); got != 0 {
		t.Errorf("exp(−∞) is %v", got)
	}
}

const benchVocabulary = 150000

// benchLogits are spread like those of a language model: most far below the largest.
func benchLogits() []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	l := make([]float32, benchVocabulary)
	for i := range l {
		l[i] = float32(r.NormFloat64() * 2.5)
	}
	for range 20 {
		l[r.IntN(len(l))] = float32(10 + 6*r.Float64())
	}
	return l
}

func BenchmarkSampler(b *testing.B) {
	for _, bc := range []struct {
		name string
		opt  Options
	}{
		{"greedy", Options{PresencePenalty: 1e-9}},
		{"temperature", Options{Temperature: 0.8}},
		{"topk40", Options{Temperature: 0.8, TopK: 40, RepeatPenalty: 1.1}},
		{"topk1000", Options{Temperature: 0.8, TopK: 1000}},
		{"topp", Options{Temperature: 0.8, TopP: 0.95}},
		{"topp-hot", Options{Temperature: 0.8, TopP: 0.9999}},
		{"topk-topp-minp", Options{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1.1}},
		{"minp", Options{Temperature: 0.8, MinP: 0.05}},
		{"mask", Options{Mask: &digits{}}},
		{"logprobs", Options{Logprobs: 20, Temperature: 0.8, MinP: 0.05}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			logits := benchLogits()
			p := newSampler(&bc.opt, len(logits), 1, nil, &scratch{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.pick(engine.Result{Logits: logits}, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
