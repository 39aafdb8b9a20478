package kernel

import "fmt"

// Experts sizes the product with matrices of experts, of which each token uses a few.
type Experts struct {
	Layout Layout
	// Blocks is the number of blocks of 32 weights of a row, Rows how many rows each expert has.
	Blocks, Rows int
	// First and Count say which experts this part of the weights holds, All how many there are.
	First, Count, All int
	// Used is how many a token uses. Shared says that they all read the same row.
	Used   int
	Shared bool
	// Lanes is as in [Linear].
	Lanes int
}

// ExpertTile is how many pairs of a token and an expert [Experts.Matmul] takes at a time.
const ExpertTile = 16

// ExpertMatmulShared is the workgroup memory that [Experts.Matmul] needs.
const ExpertMatmulShared = 18 << 10

// padded is how many rows each expert takes in memory.
func (e Experts) padded() int { return (e.Rows + tile - 1) / tile * tile }

// linear sizes threads as those of a [Linear] of one expert.
func (e Experts) linear() Linear {
	return Linear{Layout: e.Layout, Blocks: e.Blocks, Rows: e.Rows, Lanes: e.Lanes}
}

func (e Experts) start(kind string, padded int) *text {
	t := begin(fmt.Sprintf("%s %s %d × [%d, %d]", kind, e.Layout.name, e.All, e.Rows, 32*e.Blocks))
	t.read("x", "vec4<f32>")
	t.write("y", "f32")
	e.Layout.bind(t)
	t.int("BLOCKS", e.Blocks)
	t.int("COUNT", e.Rows)
	t.int("PADDED", padded)
	t.int("LANES", e.Lanes)
	t.int("EXPERT", e.First)
	t.int("EXPERTS", e.Count)
	t.int("USED", e.Used)
	t.bool("SHARED", e.Shared)
	return t
}

// Matvec is the product for few columns. Bindings: step, x, y, planes, route.
func (e Experts) Matvec() Kernel {
	rows := e.linear().perThread(1)
	return e.few("experts", rows, e.linear().across()*rows, e.padded(), "matvec_experts")
}

// Glu is SiLU(first half) · second half of matrices of which every 64 rows are 32 of either, for few columns; Rows counts the rows
// of a half, a multiple of 32. Bindings: as [Experts.Matvec].
func (e Experts) Glu() Kernel {
	pairs := e.linear().pairs(1)
	return e.few("expert glu", 2*pairs, e.linear().across()*pairs, 2*e.Rows, "swiglu", "matvec_glu_experts")
}

func (e Experts) few(kind string, rows, group, padded int, files ...string) Kernel {
	t := e.start(kind, padded)
	t.read("route", "f32")
	e.Layout.decode(t)
	t.int("COLUMNS", 1)
	t.int("ROWS", rows)
	t.int("GROUP", group)
	t.int("ACROSS", e.linear().across())
	t.int("THREADS", threads)
	t.int("SUMS", threads*rows)
	for _, f := range files {
		t.file(f)
	}
	t.file("matvec", repeat{"$r", rows}, repeat{"$c", 1})
	return t.end()
}

// MatvecGrid is the grid of [Experts.Matvec] for n tokens.
func (e Experts) MatvecGrid(n int) [3]uint32 {
	l := e.linear()
	return l.fewGrid(l.across()*l.perThread(1), n*e.Used, 1)
}

// GluGrid is the grid of [Experts.Glu] for n tokens.
func (e Experts) GluGrid(n int) [3]uint32 {
	l := e.linear()
	return l.fewGrid(l.across()*l.pairs(1), n*e.Used, 1)
}

// Matmul is the product for many columns, of pairs that [Experts.Groups] brought together. Bindings: step, x, y, planes, tiles, pairs.
func (e Experts) Matmul() Kernel { return e.many(e.padded()) }

func (e Experts) many(padded int) Kernel {
	t := e.start("experts matmul", padded)
	t.read("tiles", "vec4<u32>")
	t.read("pairs", "u32")
	e.Layout.decode(t)
	t.file("matmul_experts")
	return t.end()
}

// MatmulGrid is the grid of [Experts.Matmul] for n tokens.
func (e Experts) MatmulGrid(n int) [3]uint32 {
	return Grid((e.Rows+127)/128, ExpertTiles(n*e.Used, e.All))
}

// ExpertTiles is how many tiles so many pairs may take.
func ExpertTiles(pairs, experts int) int { return (pairs+ExpertTile-1)/ExpertTile + experts }

// ExpertGroups brings the pairs of each expert together. Bindings: step, route, pairs, tiles. Grid: one workgroup.
func ExpertGroups(experts, used int) Kernel {
	t := begin(fmt.Sprintf("expert groups %d of %d", used, experts))
	t.read("route", "f32")
	t.write("pairs", "u32")
	t.write("tiles", "vec4<u32>")
	t.int("EXPERTS", experts)
	t.int("USED", used)
	t.int("TILE", ExpertTile)
	t.file("expert_groups")
	return t.end()
}

// Route chooses used of experts. Bindings: step, x, y.
func Route(experts, used int, renormalize bool, scale float64) Kernel {
	t := begin(fmt.Sprintf("route %d of %d", used, experts))
	t.read("x", "f32")
	t.write("y", "f32")
	t.int("EXPERTS", experts)
	t.int("USED", used)
	t.bool("RENORMALIZE", renormalize)
	t.float("SCALE", scale)
	t.file("route")
	return t.end()
}

// Combine adds up what the experts of each row made. Bindings: step, x, route, y.
func Combine(used, width int) Kernel {
	t := begin(fmt.Sprintf("combine %d × [%d]", used, width))
	t.read("x", "f32")
	t.read("route", "f32")
	t.write("y", "f32")
	t.int("USED", used)
	t.int("WIDTH", width)
	t.file("combine")
	return t.end()
}

// GateRows is a SigmoidGate with one number a row. Bindings: step, a, b, y.
func GateRows(width int) Kernel {
	t := begin(fmt.Sprintf("gate rows [%d]", width))
	t.read("a", "f32")
	t.read("b", "f32")
	t.write("y", "f32")
	t.int("WIDTH", width)
	t.file("gate_rows")
	return t.end()
}

// Concat joins rows. Bindings: step, a, b, y.
func Concat(first, second int) Kernel {
	t := begin(fmt.Sprintf("concat [%d, %d]", first, second))
	t.read("a", "f32")
	t.read("b", "f32")
	t.write("y", "f32")
	t.int("FIRST", first)
	t.int("SECOND", second)
	t.file("concat")
	return t.end()
}
