package mat

import (
	"runtime"

	"github.com/pooled/pooled/gpu/cpu/pool"
)

// Job is one matrix of a [MulMany] and where its output goes.
//
// Shapes: Y [n, Stride], of which the first M.Rows() of each column are written.
type Job struct {
	M      *Matrix
	Y      []float32
	Stride int
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
		items += s.items * ((a.n + s.tile - 1) / s.tile)
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
	if m.cols != a.cols || job.Stride < m.rows || len(job.Y) < (a.n-1)*job.Stride+m.rows {
		panic("mat: output or activations out of range")
	}
	s := span{job: job, exact: a.exact || m.format.float()}
	bytes := m.cols * 4
	if s.exact {
		a.prepareFloats(p)
	} else {
		a.prepareQuants(p)
		bytes = m.cols / blockCols * blockWords * 4
	}
	s.tile = min(roundUp(max(1, tileBytes/bytes), maxWidth), roundUp(a.n, maxWidth))
	work := panelRows * m.cols * min(s.tile, a.n) // of a panel
	s.perItem = m.panels / (itemsPerThread * p.Threads())
	s.perItem = max(1, min(max(s.perItem, leastWork/work), mostWork/work, m.panels))
	s.items = (m.panels + s.perItem - 1) / s.perItem
	return s
}

// runItem runs one item of the loop of MulMany.
func (a *Acts) runItem(worker, item int) {
	i := len(a.spans) - 1
	for a.spans[i].firstItem > item {
		i--
	}
	s := &a.spans[i]
	s.run(a, item-s.firstItem, &a.buffers[worker])
}

// run multiplies some panels by the columns of one tile.
func (s *span) run(a *Acts, item int, buffer *scratch) {
	m := s.job.M
	t := &buffer.task // kernels are called through a variable: a local one would be allocated
	*t = task{m: m, panel: item % s.items * s.perItem, stride: s.job.Stride, scratch: buffer}
	last := min(t.panel+s.perItem, m.panels)
	column := item / s.items * s.tile
	for c, end := column, min(column+s.tile, a.n); c < end; c += t.w {
		t.w = a.width(c)
		t.panels = last - t.panel
		t.y = s.job.Y[c*s.job.Stride+t.panel*panelRows:]
		if s.exact {
			t.floats = a.floatGroup(c)
		} else {
			t.acts = a.group(c)
		}
		partial := last == m.panels && m.rows%panelRows != 0
		if partial {
			t.panels--
		}
		if t.panels > 0 {
			s.kernel(t)
		}
		if partial {
			s.partial(t)
		}
	}
	*t = task{} // keep no matrix
}

func (s *span) kernel(t *task) {
	if s.exact {
		mulFloat(t)
	} else {
		active.quant(t)
	}
}

// partial multiplies the last panel, whose rows do not all exist.
func (s *span) partial(t *task) {
	whole := *t
	t.panel += t.panels
	t.panels = 1
	t.y, t.stride = t.scratch.out[:], panelRows
	s.kernel(t)
	y := whole.y[whole.panels*panelRows:]
	for c := range t.w {
		copy(y[c*whole.stride:], t.y[c*panelRows:c*panelRows+t.m.rows%panelRows])
	}
	*t = whole
}

// exactChunk is how many columns of a panel are turned into plain numbers at a time.
const exactChunk = 256

// scratch is what one worker needs besides its registers.
type scratch struct {
	task   task
	out    [maxWidth * panelRows]float32
	acc    floatAcc
	values [exactChunk * panelRows]float32
	_      [align]byte
}

// mulFloat multiplies in float32: plain panels as they are, quantised ones a
// few blocks at a time.
func mulFloat(t *task) {
	m, f := t.m, &t.m.format
	acc := &t.scratch.acc
	for i := range t.panels {
		panel := m.panel(t.panel + i)
		clear(acc[:t.w])
		for k := 0; k < m.cols; k += exactChunk {
			n := min(exactChunk, m.cols-k)
			values := t.scratch.values[:n*panelRows]
			if f.float() {
				for j := range values {
					values[j] = f.number(panel, k*panelRows+j)
				}
			} else {
				m.values(values, panel, k)
			}
			active.float(acc, values, t.floats[k*t.w:], t.w, n)
		}
		for c := range t.w {
			out := t.y[c*t.stride+i*panelRows:][:panelRows]
			for r := range out {
				out[r] = acc[c][0][r] + acc[c][1][r]
			}
		}
	}
}

// values turns blocks of a panel, from column k on, into plain numbers.
func (m *Matrix) values(dst []float32, panel []byte, k int) {
	f := &m.format
	var q [panelRows * blockCols]uint8
	for b := k / blockCols; len(dst) > 0; b++ {
		f.unpack(&q, panel[m.headerBytes+b*f.quantBytes():])
		for r := range panelRows {
			s := f.scale(panel, b, r)
			for k := range blockCols {
				v := int(q[k/4*64+4*r+k%4]) - f.offset
				dst[k*panelRows+r] = float32(s.d[k/16]*float32(v)) + s.m
			}
		}
		dst = dst[blockCols*panelRows:]
	}
}
