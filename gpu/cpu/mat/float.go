package mat

import (
	"unsafe"

	"github.com/pooled/pooled/gpu/cpu/vec"
)

// columnSums are the sums of one panel for one column of activations: over the
// even columns of the matrix and over the odd ones.
type columnSums [2][panelRows]float32

const (
	// floatChunk is how many columns of a panel are turned into plain numbers at
	// a time: 16 KiB, half of a first-level cache. It is even.
	floatChunk = 256
	// floatTile is how many columns of activations share them.
	floatTile = 64
)

// runFloat multiplies panel i by the columns [column, end) in float32.
func (s *span) runFloat(a *Acts, i, column, end int, buffer *scratch) {
	m := s.job.M
	panel := m.panel(i)
	clear(buffer.sums[:end-column])
	for k := 0; k < m.cols; k += floatChunk {
		n := min(floatChunk, m.cols-k)
		w := m.plain(buffer.values[:n*panelRows], panel, k)
		for c := column; c < end; {
			width := widthOf(end - c)
			active.float(buffer.sums[c-column:][:width], w, a.floatGroup(c)[k*width:][:n*width])
			c += width
		}
	}
	rows := min(panelRows, m.rows-i*panelRows)
	for c := column; c < end; c++ {
		y := s.job.Y[(c-s.from)*s.job.Stride+i*panelRows:][:rows]
		sums := &buffer.sums[c-column]
		for r := range y {
			y[r] = sums[0][r] + sums[1][r]
		}
	}
}

// plain returns the numbers of a panel from column k on, 16 a column: in dst,
// or where they are.
func (m *Matrix) plain(dst []float32, panel []byte, k int) []float32 {
	at, n := k*panelRows, len(dst)
	switch m.format.kind {
	case kindF32:
		return unsafe.Slice((*float32)(unsafe.Pointer(&panel[4*at])), n)
	case kindF16:
		vec.FromHalf(dst, unsafe.Slice((*uint16)(unsafe.Pointer(&panel[2*at])), n))
	case kindBF16:
		vec.FromBF16(dst, unsafe.Slice((*uint16)(unsafe.Pointer(&panel[2*at])), n))
	default:
		active.values(&m.format, dst, m.format.headerOf(panel, k/blockCols))
	}
	return dst
}

// valuesGo turns super-blocks of a panel into plain numbers.
func valuesGo(f *format, dst []float32, panel []byte) {
	offset := int32(f.offset)
	var q pairs
	var d [2][panelRows]float32
	var low [panelRows]float32
	for b := 0; len(dst) > 0; b++ {
		f.unpack(&q, f.quantsOf(panel, b))
		for r := range panelRows {
			s := f.scale(panel, b, r)
			d[0][r], d[1][r], low[r] = s.d[0], s.d[1], s.m
		}
		for k := range blockCols {
			out, words := (*[panelRows]float32)(dst[k*panelRows:]), (*[8]uint64)(q[8*k:])
			scale := &d[k/16]
			for r := range out {
				v := int32(words[r/2]>>(r%2*32)) - offset
				out[r] = float32(scale[r]*float32(v)) + low[r]
			}
		}
		dst = dst[blockCols*panelRows:]
	}
}

// mulFloatGo is the portable kernel of plain numbers: it adds the columns of w,
// 16 rows each, times a group of activations to the group's sums.
func mulFloatGo(sums []columnSums, w, x []float32) {
	width := len(sums)
	for k := range len(x) / width {
		row := (*[panelRows]float32)(w[k*panelRows:])
		for c, v := range x[k*width : (k+1)*width] {
			sum := &sums[c][k&1]
			for r := range sum {
				sum[r] = fma(row[r], v, sum[r])
			}
		}
	}
}
