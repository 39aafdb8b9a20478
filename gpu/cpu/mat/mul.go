package mat

import (
	"runtime"
	"sort"

	"github.com/pooled/pooled/gpu/cpu/pool"
)

// Job is one matrix of a [MulMany], the columns that it is multiplied by and
// where its output goes.
//
// Shapes: Y [columns, Stride], of which the first M.Rows() of each are written.
type Job struct {
	M      *Matrix
	Y      []float32
	Stride int
	// From and To are the columns [From, To), a part of [Acts.Split]. A To of 0
	// means all of activations that are not split.
	From, To int
}

// Mul multiplies the matrix by every column of a: y[c·yStride+r] is row r times
// column c.
//
// Shapes: y [a.N(), yStride].
func (m *Matrix) Mul(p *pool.Pool, y []float32, yStride int, a *Acts) {
	MulMany(p, a, []Job{{M: m, Y: y, Stride: yStride}})
}

const (
	// leastWork and mostWork bound the multiplications of an item of the loop:
	// enough to hide what handing it out costs, and so few that the threads end
	// together.
	leastWork = 1 << 16
	mostWork  = 1 << 20
	// itemsPerThread is how many items a thread gets between these bounds.
	itemsPerThread = 8
	// tileBytes is how much of the activations one pass over the panels reads:
	// they stay in the second-level cache while the panels stream by.
	tileBytes = 384 << 10
)

// span is the part of a loop that multiplies one matrix.
type span struct {
	job       Job
	from, to  int // columns
	exact     bool
	perItem   int // panels of an item
	tile      int // columns of an item
	items     int // in one tile
	firstItem int
}

// MulMany multiplies several matrices of the same width by the same activations
// in one parallel loop, which costs one hand-over to the workers instead of one each.
func MulMany(p *pool.Pool, a *Acts, jobs []Job) {
	if a.n == 0 {
		return
	}
	a.spans = a.spans[:0]
	items := 0
	for _, job := range jobs {
		s := a.plan(p, job)
		s.firstItem = items
		items += s.items * ((s.to - s.from + s.tile - 1) / s.tile)
		a.spans = append(a.spans, s)
	}
	a.buffers = grow(a.buffers, p.Threads())
	if a.mulItem == nil {
		a.mulItem = a.runItem
	}
	p.Run(items, a.mulItem)
	clear(a.spans)          // keep no matrix
	runtime.KeepAlive(jobs) // their memory is not the collector's
}

// plan cuts the multiplication of one matrix into items and prepares the
// activations that it reads.
func (a *Acts) plan(p *pool.Pool, job Job) span {
	m := job.M
	s := span{job: job, from: job.From, to: job.To, exact: a.exact || m.format.float(), tile: floatTile}
	if s.to == 0 {
		s.to = a.n
	}
	n := s.to - s.from
	if m.cols != a.cols || s.from < 0 || n < 1 || s.to > a.n || job.Stride < m.rows || len(job.Y) < (n-1)*job.Stride+m.rows {
		panic("mat: output or activations out of range")
	}
	if s.exact {
		a.prepareFloats(p)
	} else {
		a.prepareQuants(p)
		s.tile = roundUp(max(1, tileBytes/(m.cols/blockCols*blockWords*4)), maxWidth)
	}
	s.tile = min(s.tile, roundUp(n, maxWidth))
	work := panelRows * m.cols * min(s.tile, n) // of a panel
	s.perItem = m.panels / (itemsPerThread * p.Threads())
	s.perItem = max(1, min(max(s.perItem, leastWork/work), mostWork/work, m.panels))
	s.items = (m.panels + s.perItem - 1) / s.perItem
	return s
}

// runItem runs one item of the loop of MulMany.
func (a *Acts) runItem(worker, item int) {
	i := sort.Search(len(a.spans), func(i int) bool { return a.spans[i].firstItem > item }) - 1
	s := &a.spans[i]
	s.run(a, item-s.firstItem, &a.buffers[worker])
}

// run multiplies some panels by the columns of one tile.
func (s *span) run(a *Acts, item int, buffer *scratch) {
	m := s.job.M
	first := item % s.items * s.perItem
	last := min(first+s.perItem, m.panels)
	column := s.from + item/s.items*s.tile
	end := min(column+s.tile, s.to)
	if s.exact {
		for i := first; i < last; i++ {
			s.runFloat(a, i, column, end, buffer)
		}
		return
	}
	t := &buffer.task // kernels are called through a variable: a local one would be allocated
	*t = task{m: m, panel: first, stride: s.job.Stride, scratch: buffer}
	for c := column; c < end; c += t.w {
		t.w = widthOf(end - c)
		t.panels = last - first
		t.y = s.job.Y[(c-s.from)*s.job.Stride+first*panelRows:]
		t.acts = a.group(c)
		partial := last == m.panels && m.rows%panelRows != 0
		if partial {
			t.panels--
		}
		if t.panels > 0 {
			active.quant(t)
		}
		if partial {
			t.partial()
		}
	}
	*t = task{} // keep no matrix
}

// partial multiplies the last panel, whose rows do not all exist.
func (t *task) partial() {
	whole := *t
	t.panel += t.panels
	t.panels = 1
	t.y, t.stride = t.scratch.out[:], panelRows
	active.quant(t)
	y := whole.y[whole.panels*panelRows:]
	for c := range t.w {
		copy(y[c*whole.stride:], t.y[c*panelRows:c*panelRows+t.m.rows%panelRows])
	}
	*t = whole
}

// scratch is what one worker needs besides its registers.
type scratch struct {
	task   task
	out    [maxWidth * panelRows]float32
	sums   [floatTile]columnSums
	values [floatChunk * panelRows]float32
	_      [align]byte
}
