package generate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/pooled/pooled/core/engine"
)

// topLimit is the greatest number of candidates that is asked of the device; a longer list is found here, from all
// logits.
const topLimit = 128

// sampler picks tokens. It knows the ids that penalties look at.
type sampler struct {
	opt   *Options
	size  int
	rng   *rand.Rand
	ids   []int32       // prompt and answer
	near  map[int32]int // how often a token is among the last RepeatLast ids; nil without a repetition penalty
	used  map[int32]int // how often the answer has a token; nil without a presence or frequency penalty
	allow []uint32      // the mask's bitmap; nil without one
	*scratch
}

// scratch is memory that calls hand on to one another.
type scratch struct {
	candidates []engine.Candidate
	edge       []engine.Candidate
	weights    []float64
	raw        []float32
}

// choice is a token that was picked.
type choice struct {
	id      int32
	logprob float64
	top     []TokenLogprob
}

func newSampler(opt *Options, size int, seed uint64, prompt []int32, s *scratch) *sampler {
	p := &sampler{opt: opt, size: size, rng: rand.New(rand.NewPCG(seed, pcgStream)), scratch: s}
	if opt.RepeatPenalty != 0 && opt.RepeatPenalty != 1 {
		p.near = make(map[int32]int)
		for _, id := range prompt {
			p.see(id)
		}
	}
	if opt.PresencePenalty != 0 || opt.FrequencyPenalty != 0 {
		p.used = make(map[int32]int)
	}
	if opt.Mask != nil {
		p.allow = make([]uint32, (size+31)/32)
	}
	return p
}

// pcgStream is the second word of the generator's seed.
// Source: O'Neill, PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms, 2014.
const pcgStream = 0x9e3779b97f4a7c15

// see moves the window of the repetition penalty past a token.
func (p *sampler) see(id int32) {
	p.near[id]++
	p.ids = append(p.ids, id)
	last := p.opt.RepeatLast
	if last == 0 {
		last = 64
	}
	if last < 0 || len(p.ids) <= last {
		return
	}
	old := p.ids[len(p.ids)-1-last]
	if p.near[old]--; p.near[old] == 0 {
		delete(p.near, old)
	}
}

// accept tells the penalties about a token of the answer.
func (p *sampler) accept(id int32) {
	if p.near != nil {
		p.see(id)
	}
	if p.used != nil {
		p.used[id]++
	}
}

// errNoLogits says that a pick needs all logits, and only the largest were asked for.
var errNoLogits = errors.New("only the largest logits are there")

// outputOf is output for n columns. What becomes of the mask in between is not known yet.
func (p *sampler) outputOf(n int) engine.Output {
	o := p.output()
	if n == 1 {
		return o
	}
	if o.Top > 0 {
		o.TopOf = engine.Columns(n)
	} else {
		o.Logits = engine.Columns(n)
	}
	return o
}

// columnOf returns what column i of n gave.
func columnOf(r engine.Result, i, n int) engine.Result {
	c := engine.Result{}
	if size := len(r.Logits) / n; size > 0 {
		c.Logits = r.Logits[i*size : (i+1)*size]
	}
	if len(r.Top) == n && len(r.LogSumExp) == n {
		c.Top, c.LogSumExp = r.Top[i:i+1], r.LogSumExp[i:i+1]
	}
	return c
}

// output says what a pass must return for the next pick: no more than the picking needs.
func (p *sampler) output() engine.Output {
	top := p.opt.TopK
	if p.opt.Temperature == 0 {
		top = 1
	}
	if n := max(top, p.opt.Logprobs); top > 0 && n <= topLimit && p.near == nil && p.used == nil && p.free() {
		return engine.Output{Top: n}
	}
	return engine.Output{Logits: engine.LastColumn}
}

// free reports whether no mask restricts the next token.
func (p *sampler) free() bool { return p.opt.Mask == nil || p.opt.Mask.Free() }

// pick picks the token that follows position pos, whose column gave r. It may overwrite r.
//
// Errors: [errNoLogits], before anything has changed.
func (p *sampler) pick(r engine.Result, pos int) (choice, error) {
	switch top := p.output().Top > 0; {
	case top && len(r.Logits) == 0:
		return p.pickTop(r, pos)
	case !top && len(r.Logits) == 0 && len(r.Top) > 0:
		return choice{}, errNoLogits
	}
	logits := r.Logits[:min(len(r.Logits), p.size)]
	if len(logits) == 0 {
		return choice{}, fmt.Errorf("%w: it returned no logits", ErrSession)
	}
	raw := logits
	var total float64
	var top []TokenLogprob
	if n := p.opt.Logprobs; n > 0 {
		best, err := p.maximum(logits, pos)
		if err != nil {
			return choice{}, err
		}
		total = logSumExp(logits, logits[best])
		p.candidates = largest(p.candidates[:0], logits, n)
		top = logprobs(p.candidates, total)
		p.raw = append(p.raw[:0], logits...)
		raw = p.raw
	}
	p.penalise(logits)
	if err := p.mask(logits); err != nil {
		return choice{}, err
	}
	best, err := p.maximum(logits, pos)
	if err != nil {
		return choice{}, err
	}
	id := int32(best)
	if p.opt.Temperature > 0 {
		id = p.draw(p.filter(logits, logits[best]), logits[best])
	}
	return choice{id, float64(raw[id]) - total, top}, nil
}

// pickTop picks from candidates that the device found.
func (p *sampler) pickTop(r engine.Result, pos int) (choice, error) {
	if len(r.Top) != 1 || len(r.Top[0]) == 0 || len(r.LogSumExp) != 1 {
		return choice{}, fmt.Errorf("%w: it returned no candidates", ErrSession)
	}
	found, total := r.Top[0], r.LogSumExp[0]
	p.candidates = p.candidates[:0]
	for i, c := range found {
		if !(c.Logit <= math.MaxFloat32) {
			return choice{}, &LogitError{pos, c.ID, c.Logit}
		}
		if i > 0 && !worse(c, found[i-1]) {
			return choice{}, fmt.Errorf("%w: the largest logits are out of order", ErrSession)
		}
		if c.ID >= 0 && int(c.ID) < p.size && c.Logit >= -math.MaxFloat32 {
			p.candidates = append(p.candidates, c)
		}
	}
	if !(float32(math.Abs(float64(total))) <= math.MaxFloat32) {
		return choice{}, &LogitError{pos, NoToken, total}
	}
	if len(p.candidates) == 0 {
		return choice{}, fmt.Errorf("%w, at position %d", ErrNoToken, pos+1)
	}
	var top []TokenLogprob
	if n := p.opt.Logprobs; n > 0 {
		top = logprobs(p.candidates[:min(n, len(p.candidates))], float64(total))
	}
	c := p.candidates[0]
	if p.opt.Temperature > 0 {
		c.ID = p.draw(p.cut(p.candidates[:min(p.opt.TopK, len(p.candidates))]), c.Logit)
		for _, o := range p.candidates {
			if o.ID == c.ID {
				c = o
			}
		}
	}
	return choice{c.ID, float64(c.Logit) - float64(total), top}, nil
}

func logprobs(c []engine.Candidate, total float64) []TokenLogprob {
	top := make([]TokenLogprob, len(c))
	for i, c := range c {
		top[i] = TokenLogprob{c.ID, float64(c.Logit) - total}
	}
	return top
}

// maximum returns the index of the largest logit.
func (p *sampler) maximum(logits []float32, pos int) (int, error) {
	best, bad := maximum(logits)
	if bad >= 0 {
		return 0, &LogitError{pos, int32(bad), logits[bad]}
	}
	if best < 0 {
		return 0, fmt.Errorf("%w, at position %d", ErrNoToken, pos+1)
	}
	return best, nil
}

// penalise applies the penalties.
func (p *sampler) penalise(logits []float32) {
	repeat := float32(p.opt.RepeatPenalty)
	for id := range p.near {
		if int(id) >= len(logits) {
			continue
		}
		if logits[id] > 0 {
			logits[id] /= repeat
		} else {
			logits[id] *= repeat
		}
	}
	for id, n := range p.used {
		if int(id) < len(logits) {
			logits[id] -= float32(p.opt.PresencePenalty + float64(n)*p.opt.FrequencyPenalty)
		}
	}
}

// mask takes out what the mask does not allow.
func (p *sampler) mask(logits []float32) error {
	if p.free() {
		return nil
	}
	if err := p.opt.Mask.Next(p.allow); err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	none := float32(math.Inf(-1))
	for i, word := range p.allow {
		if word == math.MaxUint32 || i*32 >= len(logits) {
			continue
		}
		for j := range logits[i*32 : min(i*32+32, len(logits))] {
			if word>>j&1 == 0 {
				logits[i*32+j] = none
			}
		}
	}
	return nil
}

// filter returns what top-k, top-p and min-p leave of the logits, the largest of which is most.
func (p *sampler) filter(logits []float32, most float32) []engine.Candidate {
	o, c := p.opt, p.candidates[:0]
	switch {
	case o.TopK > 0:
		p.candidates = largest(c, logits, min(o.TopK, len(logits)))
		return p.cut(p.candidates)
	case o.TopP > 0 && o.TopP < 1:
		c, p.edge = nucleus(c, p.edge, logits, most, o.TopP)
		p.candidates = c
		if o.MinP == 0 {
			return c
		}
		least, kept := p.least(most), c[:0]
		for _, c := range c {
			if float64(c.Logit) >= least {
				kept = append(kept, c)
			}
		}
		return kept
	}
	least := p.least(most)
	for i, v := range logits {
		if float64(v) >= least {
			c = append(c, engine.Candidate{ID: int32(i), Logit: v})
		}
	}
	p.candidates = c
	return c
}

// cut returns what top-p and min-p leave of candidates in falling order.
func (p *sampler) cut(c []engine.Candidate) []engine.Candidate {
	most := float64(c[0].Logit)
	if top := p.opt.TopP; top > 0 && top < 1 {
		weights, total := p.room(len(c)), 0.0
		for i := range c {
			weights[i] = exp(float64(c[i].Logit) - most)
			total += weights[i]
		}
		n, sum := 0, 0.0
		for n < len(c) && (n == 0 || sum < top*total) {
			sum += weights[n]
			n++
		}
		c = c[:n]
	}
	least, n := p.least(c[0].Logit), len(c)
	for n > 1 && float64(c[n-1].Logit) < least {
		n--
	}
	return c[:n]
}

// least is the smallest logit that min-p keeps; without it, the smallest that is not −∞.
func (p *sampler) least(most float32) float64 {
	if p.opt.MinP == 0 {
		return -math.MaxFloat32
	}
	return float64(most) + math.Log(p.opt.MinP)
}

// draw picks one of the candidates, the largest logit of which is most, at the temperature.
func (p *sampler) draw(c []engine.Candidate, most float32) int32 {
	weights, total := p.room(len(c)), 0.0
	for i, c := range c {
		weights[i] = exp((float64(c.Logit) - float64(most)) / p.opt.Temperature)
		total += weights[i]
	}
	at := p.rng.Float64() * total
	last := 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if last = i; at < w {
			break
		}
		at -= w
	}
	return c[last].ID
}

// room returns n weights of scratch.
func (p *sampler) room(n int) []float64 {
	if cap(p.weights) < n {
		p.weights = make([]float64, n)
	}
	return p.weights[:n]
}
