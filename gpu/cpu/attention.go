package cpu

import (
	"math"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/cpu/kern"
	"github.com/pooled/pooled/gpu/cpu/vec"
	"github.com/pooled/pooled/gpu/program"
)

const (
	// keyBlock is how many positions are scored before the running softmax moves on.
	keyBlock = 128
	// split is how many positions are attended to independently of the others; the parts are then merged in order. It
	// is what one worker takes of a long context when a single token is decoded. A multiple of keyBlock.
	split = 1024
	// queryBlock is how many tokens one worker takes of a long batch.
	queryBlock = 16
)

// kvCache holds keys and values as float16 panels of kern.Lanes. Both are read as panels by kern.PanelDot: the keys
// with 16 positions side by side, the values with 16 dimensions side by side.
type kvCache struct {
	shape model.KVState
	// positions is the capacity, rounded up to whole panels.
	positions int
	// keys is [heads, positions/16, KeyDim, 16], values is [heads, ValueDim/16, positions, 16], rounded up.
	keys, values []uint16
	valueGroups  int
}

func newKVCache(s model.KVState, context int) *kvCache {
	c := &kvCache{shape: s, positions: roundUp(context)}
	c.valueGroups = (s.ValueDim + kern.Lanes - 1) / kern.Lanes
	c.keys = make([]uint16, s.Heads*c.positions*s.KeyDim)
	c.values = make([]uint16, s.Heads*c.valueGroups*c.positions*kern.Lanes)
	return c
}

// roundUp rounds positions up to whole panels.
func roundUp(positions int) int { return (positions + kern.Lanes - 1) / kern.Lanes * kern.Lanes }

// each calls f with the runs of memory that hold positions [from, to), rounded to whole panels, in a fixed order.
func (c *kvCache) each(from, to int, f func([]uint16)) {
	from, to = from/kern.Lanes*kern.Lanes, roundUp(to)
	for h := range c.shape.Heads {
		f(c.keys[(h*c.positions+from)*c.shape.KeyDim : (h*c.positions+to)*c.shape.KeyDim])
	}
	for g := range c.shape.Heads * c.valueGroups {
		f(c.values[(g*c.positions+from)*kern.Lanes : (g*c.positions+to)*kern.Lanes])
	}
}

func (c *kvCache) bytes() int64 { return 2 * int64(len(c.keys)+len(c.values)) }

// put stores the key and the value of one head at a position.
func (c *kvCache) put(head, pos int, key, value []float32) {
	panel := c.keys[(head*c.positions+pos/kern.Lanes*kern.Lanes)*c.shape.KeyDim:]
	lane := pos % kern.Lanes
	for i, v := range key {
		panel[i*kern.Lanes+lane] = quant.FloatToHalf(v)
	}
	for i, v := range value {
		c.values[((head*c.valueGroups+i/kern.Lanes)*c.positions+pos)*kern.Lanes+i%kern.Lanes] = quant.FloatToHalf(v)
	}
}

// attention compiles attention over the layer's cache.
func (s *session) attention(op *program.Op, in func(i, n int) []float32, out func(n int) []float32) func(int) {
	cache := s.layer(op.Layer).kv
	kv := cache.shape
	heads, share := op.Attrs.Heads, op.Attrs.Heads/op.Attrs.KVHeads
	workers := make([]attender, s.pool.Threads())
	for i := range workers {
		workers[i] = attender{cache: cache, share: share, heads: heads, window: op.Attrs.Window, scale: float32(op.Attrs.Scale)}
	}
	var parts []partial
	return func(n int) {
		q, k, v, y := in(0, n), in(1, n), in(2, n), out(n)
		pos := s.position(op.Layer)
		s.pool.Run(kv.Heads, func(_, h int) {
			for t := range n {
				cache.put(h, pos+t, k[(t*kv.Heads+h)*kv.KeyDim:][:kv.KeyDim], v[(t*kv.Heads+h)*kv.ValueDim:][:kv.ValueDim])
			}
		})
		if splits := pos/split + 1; n == 1 && splits > 1 && s.pool.Threads() > kv.Heads {
			// Few heads and a long context: the parts of it are shared out too.
			for len(parts) < kv.Heads*splits {
				parts = append(parts, partial{})
			}
			s.pool.Run(kv.Heads*splits, func(w, i int) {
				a := &workers[w]
				a.begin(q, pos, 1, i/splits)
				a.part(&parts[i], i%splits*split)
			})
			for h := range kv.Heads {
				a := &workers[0]
				a.begin(q, pos, 1, h)
				a.total.reset(share, cache.valueGroups)
				for i := range splits {
					a.total.merge(&parts[h*splits+i])
				}
				a.finish(y, 0)
			}
			return
		}
		blocks := (n + queryBlock - 1) / queryBlock
		s.pool.Run(kv.Heads*blocks, func(w, i int) {
			a, t := &workers[w], i/kv.Heads*queryBlock
			cols := min(queryBlock, n-t)
			a.begin(q[t*heads*kv.KeyDim:], pos+t, cols, i%kv.Heads)
			a.total.reset(cols*share, cache.valueGroups)
			for from := 0; from < pos+t+cols; from += split {
				a.part(&a.scratch, from)
				a.total.merge(&a.scratch)
			}
			a.finish(y, t)
		})
	}
}

// partial is the running softmax of some columns over some positions: acc/sum is the weighted mean of the values and
// top the largest score.
type partial struct {
	top, sum []float32
	acc      []float32 // [columns, width]
	width    int       // valueGroups · 16
}

func (p *partial) reset(columns, groups int) {
	p.width = groups * kern.Lanes
	p.top, p.sum, p.acc = resize(p.top, columns), resize(p.sum, columns), resize(p.acc, columns*p.width)
	clear(p.sum)
	clear(p.acc)
	for i := range p.top {
		p.top[i] = float32(math.Inf(-1))
	}
}

func resize(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// merge adds a later part. A part without positions changes nothing.
func (p *partial) merge(q *partial) {
	for c, top := range q.top {
		if q.sum[c] == 0 {
			continue
		}
		most := max(p.top[c], top)
		mine, theirs := exp32(p.top[c]-most), exp32(top-most)
		p.top[c], p.sum[c] = most, p.sum[c]*mine+q.sum[c]*theirs
		pa, qa := p.acc[c*p.width:][:p.width], q.acc[c*q.width:][:p.width]
		for i := range pa {
			pa[i] = pa[i]*mine + qa[i]*theirs
		}
	}
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

// attender is one worker's scratch memory. Its columns are pairs of a token and a query head that share a KV head.
type attender struct {
	cache               *kvCache
	share, heads        int
	window              int
	scale               float32
	pos, tokens, kvHead int
	query               []float32 // [tokens·share, KeyDim], scaled
	scores              []float32 // [tokens·share, keyBlock]
	scratch, total      partial
}

// begin takes on the query heads of one KV head in tokens at positions pos, pos+1, …; q begins with the first of them.
func (a *attender) begin(q []float32, pos, tokens, kvHead int) {
	a.pos, a.tokens, a.kvHead = pos, tokens, kvHead
	dim := a.cache.shape.KeyDim
	a.query = resize(a.query, tokens*a.share*dim)
	a.scores = resize(a.scores, tokens*a.share*keyBlock)
	for t := range tokens {
		src := q[(t*a.heads+kvHead*a.share)*dim:][:a.share*dim]
		vec.Scale(a.query[t*a.share*dim:][:len(src)], src, a.scale)
	}
}

// part attends to the positions [from, from+split) that the columns see.
func (a *attender) part(p *partial, from int) {
	columns := a.tokens * a.share
	p.reset(columns, a.cache.valueGroups)
	end := min(from+split, a.pos+a.tokens)
	if a.window > 0 { // skip the blocks that no column sees
		from = max(from, max(0, a.pos-a.window+1)/keyBlock*keyBlock)
	}
	for ; from < end; from += keyBlock {
		a.block(p, from, min(keyBlock, end-from))
	}
}

// block attends to n positions from one on that is a multiple of keyBlock.
func (a *attender) block(p *partial, from, n int) {
	c, dim, columns := a.cache, a.cache.shape.KeyDim, a.tokens*a.share
	clear(a.scores)
	panels := c.keys[(a.kvHead*c.positions+from)*dim:]
	kern.PanelDot(a.scores, keyBlock, a.query, dim, panels, kern.Lanes*dim, (n+kern.Lanes-1)/kern.Lanes, dim, columns)
	for col := range columns {
		scores := a.scores[col*keyBlock:][:n]
		last := a.pos + col/a.share
		lo, hi := 0, min(n, last+1-from)
		if a.window > 0 {
			lo = max(0, last-a.window+1-from)
		}
		if lo >= hi {
			clear(scores)
			continue
		}
		most := max(p.top[col], vec.Max(scores[lo:hi]))
		keep := exp32(p.top[col] - most)
		clear(scores[:lo])
		clear(scores[hi:])
		p.sum[col] = p.sum[col]*keep + expSum(scores[lo:hi], most)
		p.top[col] = most
		if keep != 1 {
			acc := p.acc[col*p.width:][:p.width]
			vec.Scale(acc, acc, keep)
		}
	}
	panels = c.values[(a.kvHead*c.valueGroups*c.positions+from)*kern.Lanes:]
	kern.PanelDot(p.acc, p.width, a.scores, keyBlock, panels, c.positions*kern.Lanes, c.valueGroups, n, columns)
}

// finish writes the columns' results; t is the first token's row in y.
func (a *attender) finish(y []float32, t int) {
	dim := a.cache.shape.ValueDim
	for col := range a.tokens * a.share {
		inv := 1 / a.total.sum[col]
		at := ((t+col/a.share)*a.heads + a.kvHead*a.share + col%a.share) * dim
		vec.Scale(y[at:at+dim], a.total.acc[col*a.total.width:][:dim], inv)
	}
}
