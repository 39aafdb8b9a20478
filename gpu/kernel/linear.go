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
	// Unroll is how many blocks of a row a thread has under way; 0 means [Unroll].
	Unroll int
	// Lanes is into how many chains a row's sum is split: 8, 16 or 32. See [Lanes].
	Lanes int
}

// Unroll is the usual number of blocks that a thread of a [Linear.Matvec] has under way.
const Unroll = 2

// Lanes chooses the number of chains for a matrix: few for many rows, so that the rows alone keep a GPU busy.
func Lanes(rows, blocks int) int {
	switch {
	case rows >= 8192 || blocks < 16:
		return 8
	case rows >= 3072 || blocks < 32:
		return 16
	}
	return 32
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
	t.file("weights", 1)
	t.file(l.Layout.name, 1)
	return t
}

// bind declares the planes of weights.
func (l Layout) bind(t *text) {
	for i, p := range l.planes {
		t.read(fmt.Sprintf("w%d", i), p.wgsl)
	}
}

// Matvec is the product for few columns, columns at a time. Bindings: step, x, y, planes, bias, residual.
func (l Linear) Matvec(columns int) Kernel {
	t := l.start("matvec")
	t.kernel.Name += fmt.Sprintf(" × %d", columns)
	t.int("COLUMNS", columns)
	t.int("ROWS", 256/l.Lanes)
	t.int("SUMS", 256*columns)
	unroll := l.Unroll
	if unroll == 0 {
		unroll = Unroll
	}
	t.int("UNROLL", unroll)
	t.file("chain", 1)
	t.unrolled("matvec", columns, unroll)
	return t.end()
}

// Glu is SiLU(first half) · second half of a matrix of which every 64 rows are 32 of either, for few columns, columns at a
// time; Rows and Width count the rows of a half. Bindings: step, x, y, planes.
func (l Linear) Glu(columns int) Kernel {
	t := l.start("glu")
	t.kernel.Name += fmt.Sprintf(" × %d", columns)
	t.int("COLUMNS", columns)
	t.int("ROWS", 256/l.Lanes)
	t.int("SUMS", 2*256*columns)
	t.file("chain", 1)
	t.file("swiglu", 1)
	t.file("matvec_glu", columns)
	return t.end()
}

// GluOf joins the two halves of width values that a matrix like that of [Linear.Glu] gives. Bindings: step, x, y.
func GluOf(width int) Kernel {
	t := begin(fmt.Sprintf("glu of [%d]", width))
	t.read("x", "f32")
	t.write("y", "f32")
	t.int("WIDTH", width)
	t.file("swiglu", 1)
	t.file("glu", 1)
	return t.end()
}

// MatvecGrid is the grid of [Linear.Matvec] and [Linear.Glu] for n columns.
func (l Linear) MatvecGrid(n, columns int) [3]uint32 {
	rows := 256 / l.Lanes
	return Grid((l.Rows+rows-1)/rows, (n+columns-1)/columns)
}

// Matmul is the product for many columns. Bindings as [Linear.Matvec].
func (l Linear) Matmul() Kernel {
	t := l.start("matmul")
	t.file("matmul", 4)
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
	t.file("weights", 1)
	t.file(l.Layout.name, 1)
	t.file("embed", 1)
	return t.end()
}

// EmbedGrid is the grid of [Linear.Embed] for n tokens.
func (l Linear) EmbedGrid(n int) [3]uint32 { return Grid((n*l.Blocks+63)/64, 1) }

// String names the layout.
func (l Layout) String() string { return strings.ToUpper(l.name) }
