package kernel

import (
	"fmt"
	"strings"
)

// Linear sizes a matrix product over one part of a matrix.
type Linear struct {
	Layout Layout
	// Blocks is the number of blocks of 32 weights of a row.
	Blocks int
	// First and Rows say which rows of the whole matrix this part holds, Width how many there are in all.
	First, Rows, Width int
	// Bias and Residual say whether the kernel adds them.
	Bias, Residual bool
	// Lanes is into how many chains a row's sum is split, 8, 16 or 32. It alone decides the order of the sum.
	Lanes int
}

// Lanes chooses the number of chains for rows of so many blocks.
func Lanes(blocks int) int {
	switch {
	case blocks < 16:
		return 8
	case blocks < 32:
		return 16
	}
	return 32
}

// threads are those of a workgroup of [Linear.Matvec] and [Linear.Glu].
const threads = 128

// across is how many rows stand side by side in a workgroup.
func (l Linear) across() int { return threads / l.Lanes }

// perThread is how many rows a thread has where columns are computed at a time: more rows share what is read of x, fewer
// leave more threads, and wide weights take the registers. The bits do not depend on it.
func (l Linear) perThread(columns int) int {
	rows := 2
	if l.Rows < 4096 || l.Layout.parts() > 2 {
		rows = 1
	}
	if columns >= 4 {
		rows *= 2
	}
	return rows
}

func (l Linear) name(kind string) string {
	return fmt.Sprintf("%s %s [%d, %d]", kind, l.Layout.name, l.Width, 32*l.Blocks)
}

// start writes what matvec and matmul share.
func (l Linear) start(kind string) *text {
	t := begin(l.name(kind))
	t.read("x", "vec4<f32>")
	t.write("y", "f32")
	l.Layout.bind(t)
	finish := "sum"
	if l.Bias {
		t.read("bias", "f32")
		finish = finish + " + bias[r]"
	}
	if l.Residual {
		t.read("residual", "f32")
		finish = "(" + finish + ") + residual[t * WIDTH + r]"
	}
	t.int("BLOCKS", l.Blocks)
	t.int("FIRST", l.First)
	t.int("COUNT", l.Rows)
	t.int("PADDED", (l.Rows+tile-1)/tile*tile)
	t.int("WIDTH", l.Width)
	t.int("LANES", l.Lanes)
	t.fn("fn finish(sum: f32, t: u32, r: u32) -> f32 { return " + finish + "; }")
	l.Layout.decode(t)
	return t
}

// decode adds the text that decodes weights.
func (l Layout) decode(t *text) {
	if l.parts() < 4 {
		t.file("numbers")
	}
	t.file(l.name)
	t.file("weights")
}

// bind declares the planes of weights.
func (l Layout) bind(t *text) {
	for i, p := range l.planes {
		t.read(fmt.Sprintf("w%d", i), p.wgsl)
	}
}

// Matvec is the product for few columns, columns at a time. Bindings: step, x, y, planes, bias, residual.
func (l Linear) Matvec(columns int) Kernel {
	rows := l.perThread(columns)
	return l.few("matvec", columns, rows, l.across()*rows, "matvec_rows")
}

// Glu is SiLU(first half) · second half of a matrix of which every 64 rows are 32 of either, for few columns, columns at a
// time; Rows and Width count the rows of a half. Bindings: step, x, y, planes.
func (l Linear) Glu(columns int) Kernel {
	rows := l.pairs(columns)
	return l.few("glu", columns, 2*rows, l.across()*rows, "swiglu", "matvec_glu")
}

// pairs is how many rows of either half a thread of [Linear.Glu] has.
func (l Linear) pairs(columns int) int { return max(1, l.perThread(columns)/2) }

// few is a product for few columns: rows a thread, group rows of the result a workgroup.
func (l Linear) few(kind string, columns, rows, group int, files ...string) Kernel {
	t := l.start(kind)
	t.kernel.Name += fmt.Sprintf(" × %d", columns)
	t.int("COLUMNS", columns)
	t.int("ROWS", rows)
	t.int("GROUP", group)
	t.int("ACROSS", l.across())
	t.int("THREADS", threads)
	t.int("SUMS", threads*rows*columns)
	for _, f := range files {
		t.file(f)
	}
	t.file("matvec", repeat{"$r", rows}, repeat{"$c", columns})
	return t.end()
}

// GluOf joins the two halves of width values that a matrix like that of [Linear.Glu] gives. Bindings: step, x, y.
func GluOf(width int) Kernel {
	t := begin(fmt.Sprintf("glu of [%d]", width))
	t.read("x", "f32")
	t.write("y", "f32")
	t.int("WIDTH", width)
	t.file("swiglu")
	t.file("glu")
	return t.end()
}

// MatvecGrid is the grid of [Linear.Matvec] for n columns.
func (l Linear) MatvecGrid(n, columns int) [3]uint32 {
	return l.fewGrid(l.across()*l.perThread(columns), n, columns)
}

// GluGrid is the grid of [Linear.Glu] for n columns.
func (l Linear) GluGrid(n, columns int) [3]uint32 {
	return l.fewGrid(l.across()*l.pairs(columns), n, columns)
}

func (l Linear) fewGrid(group, n, columns int) [3]uint32 {
	return Grid((l.Rows+group-1)/group, (n+columns-1)/columns)
}

// Matmul is the product for many columns. Bindings as [Linear.Matvec].
func (l Linear) Matmul() Kernel {
	t := l.start("matmul")
	t.file("matmul", repeat{"$c", 4})
	return t.end()
}

// MatmulGrid is the grid of [Linear.Matmul] for n columns.
func (l Linear) MatmulGrid(n int) [3]uint32 { return Grid((l.Rows+127)/128, (n+63)/64) }

// MatmulShared is the workgroup memory that [Linear.Matmul] needs.
const MatmulShared = 24 << 10

// Embed looks rows of width values up in one part of a table. Bindings: step, tokens, y, planes.
func (l Linear) Embed(width int, scale float64) Kernel {
	t := begin(l.name("embed"))
	t.read("tokens", "u32")
	t.write("y", "f32")
	l.Layout.bind(t)
	t.int("BLOCKS", l.Blocks)
	t.int("FIRST", l.First)
	t.int("COUNT", l.Rows)
	t.int("WIDTH", width)
	t.float("SCALE", scale)
	l.Layout.decode(t)
	t.file("embed")
	return t.end()
}

// EmbedGrid is the grid of [Linear.Embed] for n tokens.
func (l Linear) EmbedGrid(n int) [3]uint32 { return Grid((n*l.Blocks+63)/64, 1) }

// String names the layout.
func (l Layout) String() string { return strings.ToUpper(l.name) }
