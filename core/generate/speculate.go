package generate

import (
	"slices"
	"time"

	"github.com/pooled/pooled/core/engine"
)

// Spec says where drafts come from: tokens that are computed in the pass of the last one, in the hope that they come next. They
// never change the text, since each is taken only where sampling gives it, too.
type Spec string

// The sources of drafts.
const (
	// SpecAuto drafts wherever that is measured to be faster. So does the zero value.
	SpecAuto Spec = "auto"
	// SpecOff never drafts.
	SpecOff Spec = "off"
	// SpecDraft drafts with the model's own draft block alone, where it has one.
	SpecDraft Spec = "draft"
	// SpecLookup drafts only what followed the last tokens when they stood in the context before.
	SpecLookup Spec = "lookup"
)

// Specs returns the sources of drafts by name.
func Specs() []string {
	return []string{string(SpecAuto), string(SpecOff), string(SpecDraft), string(SpecLookup)}
}

// Speculation counts what was drafted for an answer.
type Speculation struct {
	// Drafted is how many tokens were, and Accepted how many of them became text.
	Drafted, Accepted int
	// ByDepth is the same for the first token of each draft, the second and so on.
	ByDepth []DepthCount
	// Draft is how many of Drafted came from the draft block, Lookup how many were found in the context.
	Draft, Lookup int
}

// DepthCount counts the tokens at one place of all drafts.
type DepthCount struct{ Drafted, Accepted int }

// count adds a draft, of which the first accepted tokens became text.
func (s *Speculation) count(d draft, accepted int) {
	n := len(d.ids)
	for len(s.ByDepth) < n {
		s.ByDepth = append(s.ByDepth, DepthCount{})
	}
	for i := range n {
		s.ByDepth[i].Drafted++
		if i < accepted {
			s.ByDepth[i].Accepted++
		}
	}
	s.Drafted, s.Accepted = s.Drafted+n, s.Accepted+accepted
	if d.found > 0 {
		s.Lookup += n
	} else {
		s.Draft += n
	}
}

// draft is what may come next.
type draft struct {
	ids   []int32
	found int // how much of the text had been found again for it; 0 where the draft block made it
}

// maxDraft is the most tokens of a draft, maxBlock of one that the draft block makes.
const (
	maxDraft = 15
	maxBlock = 7
)

// pace decides how far to draft, by what passes of each width took and how often drafts came true. It belongs to a sequence,
// since both last longer than an answer.
type pace struct {
	took  [maxDraft + 2]median // by width
	block median               // of the draft block, for a token
	luck  [classes]luck        // by how long a text had been found again
	chain [maxBlock]luck       // of the draft block, by depth
	plain int                  // passes without a draft since the last one with
	drawn int                  // passes with a draft since the last one without
	wait  int                  // how many to wait for the next trial
}

// classes is the number of classes of lengths: 2, 3 and 4, 5 to 8, and more.
const classes = 4

func classOf(found int) int {
	switch {
	case found <= 2:
		return 0
	case found <= 4:
		return 1
	case found <= 8:
		return 2
	}
	return 3
}

// luck counts how often a token of a draft came next, old counts less than new ones.
type luck struct{ hits, misses float64 }

func (l *luck) chance() float64 { return l.hits / (l.hits + l.misses) }

func (l *luck) add(hit bool) {
	l.hits, l.misses = memory*l.hits, memory*l.misses
	if hit {
		l.hits++
	} else {
		l.misses++
	}
}

const (
	// worth is by how much a draft must be expected to be faster than plain steps.
	worth = 1.05
	// slope is what each further column costs, in plain steps, where it was not measured.
	slope = 0.2
	// memory is how much a count keeps with every token.
	memory = 0.97
	// Where no draft is worth it, one of trial tokens is tried now and then: after leastWait tokens, then twice as many and so on up
	// to mostWait; after one that paid, soon.
	trial               = 2
	leastWait, mostWait = 32, 512
	soon                = 8
	// deeper is after how many drafts one of the draft block goes a token further, to learn how well that does.
	deeper = 8
	// recheck is after how many drafts a plain step is taken, to measure what it takes now.
	recheck = 32
)

func newPace() *pace {
	// Two tokens' worth of hope each.
	p := &pace{luck: [classes]luck{{0.8, 1.2}, {1, 1}, {1.2, 0.8}, {1.4, 0.6}}, wait: leastWait}
	for i := range p.chain {
		p.chain[i] = luck{1.4, 0.6}
	}
	return p
}

// choose returns how many tokens to draft: of most that stand behind found tokens of text that stood in the context before, or
// instead of block that the draft block may make.
func (p *pace) choose(found, most, block int) (lookup, chained int) {
	plain := float64(p.took[1].value())
	if plain == 0 || p.drawn == recheck {
		p.drawn = 0
		return 0, 0 // nothing to compare with yet
	}
	best := worth
	text, next := 1.0, 1.0
	for k := 1; k <= most; k++ {
		next *= p.luck[classOf(found)].chance()
		text += next
		if gain := text * plain / p.cost(k+1); gain > best {
			best, lookup = gain, k
		}
	}
	each := p.each()
	text, next = 1.0, 1.0
	for k := 1; k <= block; k++ {
		next *= p.chain[k-1].chance()
		text += next
		if gain := text * plain / (p.cost(k+1) + float64(k)*each); gain > best {
			best, lookup, chained = gain, 0, k
		}
	}
	switch {
	case lookup+chained > 0:
		p.wait = leastWait
		if chained > 0 && p.drawn%deeper == deeper-1 {
			chained = min(chained+1, block)
		}
	case p.plain < p.wait || most+block == 0:
		p.plain, p.drawn = p.plain+1, 0
		return 0, 0
	default:
		p.wait = min(2*p.wait, mostWait)
		if most > 0 {
			lookup = min(most, trial)
		} else {
			chained = min(block, trial)
		}
	}
	p.plain = 0
	p.drawn++
	return lookup, chained
}

// cost is what a pass of a width is expected to take: as measured, or by the line through the nearest widths that were. Until a
// width was measured three times one disturbed pass may stand for it, so the lower of both counts.
func (p *pace) cost(width int) float64 {
	m := &p.took[width]
	switch v := float64(m.value()); {
	case m.n >= 3:
		return v
	case m.n > 0 && width > 1:
		return min(v, p.line(width))
	case m.n > 0:
		return v
	}
	return p.line(width)
}

// line is the cost of a width by those of others.
func (p *pace) line(width int) float64 {
	below, above := 1, 0
	for w := width - 1; w > 1; w-- {
		if p.took[w].value() > 0 {
			below = w
			break
		}
	}
	for w := width + 1; w < len(p.took); w++ {
		if p.took[w].value() > 0 {
			above = w
			break
		}
	}
	low := float64(p.took[below].value())
	if above == 0 {
		return low * (1 + slope*float64(width-1)) / (1 + slope*float64(below-1))
	}
	high := float64(p.took[above].value())
	return low + (high-low)*float64(width-below)/float64(above-below)
}

// measured notes that a pass of a width took so long.
func (p *pace) measured(width int, took time.Duration) {
	if width < len(p.took) {
		p.took[width].add(took)
	}
}

// came notes how much of a draft came true.
func (p *pace) came(d draft, accepted int) {
	for i := range min(accepted+1, len(d.ids)) {
		l := &p.luck[classOf(d.found)]
		if d.found == 0 {
			l = &p.chain[min(i, maxBlock-1)]
		}
		l.add(i < accepted)
	}
	if float64(1+accepted)*float64(p.took[1].value()) > worth*(p.cost(1+len(d.ids))+p.drafting(d)) {
		p.wait = min(p.wait, soon) // it paid, so that the next trial comes soon
	}
}

// drafting is what the draft block took for a draft.
func (p *pace) drafting(d draft) float64 {
	if d.found > 0 {
		return 0
	}
	return float64(len(d.ids)) * p.each()
}

// each is what the draft block is expected to take for a token.
func (p *pace) each() float64 {
	if v := p.block.value(); v > 0 {
		return float64(v)
	}
	return slope * float64(p.took[1].value())
}

// room is how far drafts may go.
type room struct{ lookup, block int }

// room says how far drafts behind n further tokens may go, where an answer has left more tokens to come.
func (q *Sequence) room(n, left int, spec Spec) room {
	most := min(maxDraft, q.config.Context-len(q.ids)-n, left)
	if q.config.Recurrent {
		most = min(most, engine.MaxKept-len(q.kept))
	}
	r := room{lookup: max(most, 0), block: max(min(most, maxBlock), 0)}
	if spec == SpecDraft {
		r.lookup = 0
	}
	if spec == SpecLookup || !q.config.Drafts || n != 1 {
		r.block = 0
	}
	return r
}

// median is that of the last few durations, which one that was disturbed does not move. The first one of all does not count: it
// makes room for what the others find there.
type median struct {
	last [7]time.Duration
	n    int
	warm bool
}

func (m *median) add(d time.Duration) {
	if !m.warm {
		m.warm = true
		return
	}
	m.last[m.n%len(m.last)] = d
	m.n++
}

// value returns the median, or 0 without any.
func (m *median) value() time.Duration {
	n := min(m.n, len(m.last))
	if n == 0 {
		return 0
	}
	sorted := m.last
	slices.Sort(sorted[:n])
	return sorted[(n-1)/2]
}
