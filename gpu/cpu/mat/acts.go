package mat

import (
	"math"
	"unsafe"

	"github.com/pooled/pooled/gpu/cpu/pool"
)

// Acts holds the activations of a batch: n columns that any number of matrices
// are multiplied with. The zero value is ready; its memory is reused by every
// Set. Most matrices read them quantised to 8 bits, in blocks of 32 with the
// scale absmax/127, rounded to nearest even; matrices of plain numbers, and all
// matrices after a Set with exact, read them as they are.
//
// Owns: its memory, but not the x of Set. Not safe for concurrent use.
type Acts struct {
	x       []float32
	n, cols int
	exact   bool

	starts      []int    // the first column of every group, in order
	quants      []uint32 // groups of columns, see group
	floats      []float32
	quantsReady bool
	floatsReady bool

	// The loops, kept so that they allocate nothing.
	buffers   []scratch // one per worker
	spans     []span
	mulItem   func(worker, item int)
	quantItem func(worker, item int)
	floatItem func(worker, item int)
}

// Set takes n columns of cols activations, the next after the one before. With
// exact nothing is quantised: matrices are multiplied in float32. x is prepared
// when the first matrix needs it, so it must not change until the last
// [Matrix.Mul] that reads it has returned. Values must be finite for outputs to
// be meaningful.
//
// Shapes: x [n, cols].
func (a *Acts) Set(x []float32, n, cols int, exact bool) {
	if n < 0 || cols < 1 || len(x) < n*cols {
		panic("mat: activations out of range")
	}
	a.x, a.n, a.cols, a.exact = x[:n*cols], n, cols, exact
	a.quantsReady, a.floatsReady = false, false
	a.starts = appendGroups(a.starts[:0], 0, n)
}

// Split cuts the columns at the given ends, ascending to n, so that a [Job] may
// be for one part alone. It comes before the first multiplication.
func (a *Acts) Split(ends []int) {
	a.starts = a.starts[:0]
	from := 0
	for _, end := range ends {
		a.starts = appendGroups(a.starts, from, end)
		from = end
	}
	if from != a.n {
		panic("mat: parts of activations out of range")
	}
}

// appendGroups appends the first columns of the groups of columns [from, end).
func appendGroups(starts []int, from, end int) []int {
	for from < end {
		starts = append(starts, from)
		from += widthOf(end - from)
	}
	return starts
}

// N is the number of columns.
func (a *Acts) N() int { return a.n }

// maxWidth is the most columns that a kernel multiplies at a time.
const maxWidth = 8

// widthOf is how many columns the first group of n columns has. Columns are in
// groups of 8, what remains in one of 4, of 2 and of 1.
func widthOf(n int) int {
	for w := maxWidth; ; w /= 2 {
		if w <= n {
			return w
		}
	}
}

// blockWords is the size, in 32-bit words, of one column of one block of
// quantised activations: 32 bytes, then five numbers.
const blockWords = blockCols/4 + 5

// The numbers of a block follow the quants of all columns of a group:
// the quants of column c are at word 8c, number i of column c at
// (8+i)·width + c.
const (
	numScale = iota // float32 scale dx
	numSum          // float32 dx·Σq
	numAll          // int32 −8·Σq
	numLow          // int32 −8·Σq of the first 16
	numHigh         // int32 −8·Σq of the last 16
)

// group returns the words of the columns from c on. For every block of the
// columns there is one record of blockWords × width words.
func (a *Acts) group(c int) []uint32 { return a.quants[c*(a.cols/blockCols)*blockWords:] }

// floatGroup returns the plain activations of the columns from c on: for every
// k the numbers of the group's columns side by side.
func (a *Acts) floatGroup(c int) []float32 { return a.floats[c*a.cols:] }

// prepareItem is about how many activations one item of a parallel loop prepares.
const prepareItem = 1 << 13

// prepareQuants quantises the columns.
func (a *Acts) prepareQuants(p *pool.Pool) {
	if a.quantsReady {
		return
	}
	a.quants = grow(a.quants, a.n*(a.cols/blockCols)*blockWords)
	if a.quantItem == nil {
		a.quantItem = func(_, item int) { a.eachGroup(item, a.quantizeGroup) }
	}
	p.Run(a.prepareItems(), a.quantItem)
	a.quantsReady = true
}

func (a *Acts) quantizeGroup(c, w int) {
	dst := a.group(c)[:w*(a.cols/blockCols)*blockWords]
	for i := range w {
		active.quantize(dst, i, w, a.x[(c+i)*a.cols:(c+i+1)*a.cols])
	}
}

// prepareFloats interleaves the columns.
func (a *Acts) prepareFloats(p *pool.Pool) {
	if a.floatsReady {
		return
	}
	a.floats = grow(a.floats, a.n*a.cols)
	if a.floatItem == nil {
		a.floatItem = func(_, item int) { a.eachGroup(item, a.interleaveGroup) }
	}
	p.Run(a.prepareItems(), a.floatItem)
	a.floatsReady = true
}

func (a *Acts) interleaveGroup(c, w int) {
	dst := a.floatGroup(c)[:w*a.cols]
	for i := range w {
		for k, v := range a.x[(c+i)*a.cols : (c+i+1)*a.cols] {
			dst[k*w+i] = v
		}
	}
}

// prepareSpan is how many groups an item prepares.
func (a *Acts) prepareSpan() int { return (prepareItem/a.cols + maxWidth) / maxWidth }

func (a *Acts) prepareItems() int { return (len(a.starts) + a.prepareSpan() - 1) / a.prepareSpan() }

// eachGroup calls f for every group of columns of an item.
func (a *Acts) eachGroup(item int, f func(c, w int)) {
	for i, end := item*a.prepareSpan(), min((item+1)*a.prepareSpan(), len(a.starts)); i < end; i++ {
		next := a.n
		if i+1 < len(a.starts) {
			next = a.starts[i+1]
		}
		f(a.starts[i], next-a.starts[i])
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// tiny is the absmax below which a block counts as zero: its inverse scale
// would not be finite.
const tiny = 1e-30

// quantizeGo quantises column c of a group of w into the group's records.
func quantizeGo(dst []uint32, c, w int, x []float32) {
	for ; len(x) > 0; x = x[blockCols:] {
		block := (*[blockCols]float32)(x)
		var top float32
		for _, v := range block {
			if v = float32(math.Abs(float64(v))); v > top {
				top = v
			}
		}
		var scale, inverse float32
		if top >= tiny {
			scale, inverse = top/127, 127/top
		}
		var sums [2]int32
		for j := range 8 {
			var word uint32
			for i := range 4 {
				q := int32(math.RoundToEven(float64(block[4*j+i] * inverse)))
				sums[j/4] += q
				word |= uint32(uint8(q)) << (8 * i)
			}
			dst[8*c+j] = word
		}
		sum := sums[0] + sums[1]
		dst[(8+numScale)*w+c] = math.Float32bits(scale)
		dst[(8+numSum)*w+c] = math.Float32bits(scale * float32(sum))
		dst[(8+numAll)*w+c] = uint32(-8 * sum)
		dst[(8+numLow)*w+c] = uint32(-8 * sums[0])
		dst[(8+numHigh)*w+c] = uint32(-8 * sums[1])
		dst = dst[blockWords*w:]
	}
}

// bytesOf views words as signed bytes.
func bytesOf(words []uint32) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}
