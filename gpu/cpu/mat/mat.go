// Package mat multiplies quantised weight matrices by activations on the CPU.
//
// At load [Pack] rearranges a matrix into panels of 16 rows whose quants lie
// column by column, so that one register holds the same few columns of 16 rows:
// every lane of the arithmetic is a row, and nothing has to be summed across
// lanes. [Acts] holds the activations of a batch, quantised to 8 bits in blocks
// of 32, and [MulMany] multiplies several matrices with them in one parallel loop.
//
// An output is a chain of fused multiply-adds over the blocks of its row, in
// order, of (d·dx) and an exact integer dot product, then, where the format has
// an additive part, of m and dx·Σx. It depends on one row and one column alone:
// the bits are the same for every number of columns, threads and rows, and on
// every processor, whichever of the paths (AVX-512 VNNI, AVX2, portable) runs.
//
// The environment variable POOLED_CPU with the value avx512, avx2 or portable
// holds the package to that path or to the best one below it.
package mat

import (
	"errors"
	"runtime"

	"github.com/pooled/pooled/core/gguf"
)

var (
	// ErrShape tells that dimensions, or a length, do not fit together.
	ErrShape = errors.New("matrix shape")
	// ErrType tells that a tensor type cannot be computed.
	ErrType = errors.New("tensor type cannot be computed")
)

// Matrix is a weight matrix in panels.
//
// Owns: its memory, which may lie outside the Go heap and is given back when the
// matrix is collected; after dropping a whole model, runtime.GC does so at once.
// Immutable, safe for concurrent use.
type Matrix struct {
	typ        gguf.Type
	format     format
	rows, cols int
	panels     int
	panelBytes int // of one
	data       []byte
}

// Rows is the number of rows: the length of an output column.
func (m *Matrix) Rows() int { return m.rows }

// Cols is the number of columns: the length of an input column.
func (m *Matrix) Cols() int { return m.cols }

// Type is the type that the matrix had in its file.
func (m *Matrix) Type() gguf.Type { return m.typ }

// Bytes is the memory that the panels take.
func (m *Matrix) Bytes() int64 { return int64(len(m.data)) }

func (m *Matrix) panel(i int) []byte { return m.data[i*m.panelBytes : (i+1)*m.panelBytes] }

// Row writes the values of row r to dst, as core/quant would give them.
//
// Shapes: dst [Cols].
func (m *Matrix) Row(dst []float32, r int) {
	if r < 0 || r >= m.rows || len(dst) < m.cols {
		panic("mat: row out of range")
	}
	defer runtime.KeepAlive(m) // its memory is not the collector's
	panel, lane := m.panel(r/panelRows), r%panelRows
	f := &m.format
	if f.float() {
		for k := range m.cols {
			dst[k] = f.number(panel, k*panelRows+lane)
		}
		return
	}
	for b := range m.cols / blockCols {
		s := f.scale(panel, b, lane)
		out := (*[blockCols]float32)(dst[b*blockCols:])
		q := f.lane(f.quantsOf(panel, b), lane)
		for k, v := range q {
			out[k] = float32(s.d[k/16]*float32(int(v)-f.offset)) + s.m
		}
	}
}
