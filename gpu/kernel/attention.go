package kernel

import "fmt"

// Attention sizes an attention over a float16 cache.
type Attention struct {
	Heads, KVHeads, Key, Value, Window int
	Scale                              float64
	// Rows is the number of query rows that share what a workgroup reads; Block the number of keys it reads at a time.
	// See [Attention.Fit].
	Rows, Block int
}

// Segment is the number of positions of a segment.
const Segment = 256

// MaxValue is the greatest head size of values.
const MaxValue = 512

func words(n int) int { return (n + 1) / 2 }

func (a Attention) shared() int {
	kw := words(a.Key)
	return a.Rows*kw*8 + a.Block*(kw+1)*4 + a.Rows*a.Block*4 + a.Rows*8
}

// Fit chooses Block and Rows for n columns and a device with shared bytes of workgroup memory. It reports whether the
// heads fit at all. Block, on which the bits of a result depend, does not depend on n.
func (a Attention) Fit(n, shared int) (Attention, bool) {
	a.Rows = 4
	for a.Block = 32; a.Block > 8 && a.shared() > shared; {
		a.Block /= 2
	}
	ok := a.shared() <= shared && words(a.Value) <= MaxValue/2
	for _, rows := range []int{8, 16} {
		bigger := a
		bigger.Rows = rows
		if n*a.Heads/a.KVHeads > a.Rows && bigger.shared() <= shared && rows*a.Block <= 512 {
			a = bigger
		}
	}
	return a, ok
}

func (a Attention) start(name string) *text {
	t := begin(fmt.Sprintf("%s [%d/%d, %d, %d]", name, a.Heads, a.KVHeads, a.Key, a.Value))
	return t
}

func (a Attention) consts(t *text) {
	t.int("HEADS", a.Heads)
	t.int("KVHEADS", a.KVHeads)
	t.int("SHARE", a.Heads/a.KVHeads)
	t.int("KEY", a.Key)
	t.int("VALUE", a.Value)
	t.int("KWORDS", words(a.Key))
	t.int("VWORDS", words(a.Value))
	t.int("WINDOW", a.Window)
	t.int("SEGMENT", Segment)
	t.file("attention_part")
}

// Kernel is the attention. With split each segment is a workgroup of its own and y is the parts.
// Bindings: step, q, keys, values, y.
func (a Attention) Kernel(split bool) Kernel {
	t := a.start("attention")
	t.read("q", "f32")
	t.read("keys", "u32")
	t.read("values", "u32")
	t.write("y", "f32")
	a.consts(t)
	groups := 1
	for groups < a.Rows && 2*groups*words(a.Value) <= 256 {
		groups *= 2
	}
	pairs := 1
	if a.Rows*a.Block > 256 {
		pairs = 2
	}
	t.float("SCALE", a.Scale)
	t.bool("SPLIT", split)
	t.int("MROWS", a.Rows)
	t.int("BLOCK", a.Block)
	t.int("PAIRS", pairs)
	t.int("THREADROWS", a.Rows/groups)
	t.int("THREADGROUPS", groups)
	t.int("TQ", a.Rows*words(a.Key))
	t.int("TK", a.Block*(words(a.Key)+1))
	t.int("SCORES", a.Rows*a.Block)
	t.file("attention_leave")
	t.file("attention", repeat{"$c", a.Rows / groups})
	return t.end()
}

// Segments is the number of segments that columns at positions pos … pos+n−1 attend to.
func (a Attention) Segments(pos, n int) int {
	first := 0
	if a.Window > 0 {
		first = max(0, pos+1-a.Window)
	}
	return (pos+n+Segment-1)/Segment - first/Segment
}

// Grid is the grid of [Attention.Kernel] for n columns from position pos.
func (a Attention) Grid(pos, n int, split bool) [3]uint32 {
	z := 1
	if split {
		z = a.Segments(pos, n)
	}
	return [3]uint32{uint32((n*a.Heads/a.KVHeads + a.Rows - 1) / a.Rows), uint32(a.KVHeads), uint32(z)}
}

// PartBytes is the size of the parts of n columns over segments segments.
func (a Attention) PartBytes(n, segments int) int64 {
	return 4 * int64(n) * int64(a.Heads) * int64(segments) * int64(a.Value+2)
}

// Merge joins the parts. Bindings: step, parts, y.
func (a Attention) Merge() Kernel {
	t := a.start("attention merge")
	t.read("parts", "f32")
	t.write("y", "f32")
	a.consts(t)
	t.file("attention_merge")
	return t.end()
}

// MergeGrid is the grid of [Attention.Merge] for n columns.
func (a Attention) MergeGrid(n int) [3]uint32 { return Elements(n * a.Heads * words(a.Value)) }

// KVAppend appends rows to a cache. Bindings: step, x, cache.
func KVAppend(heads, size int) Kernel {
	t := begin(fmt.Sprintf("kv append [%d, %d]", heads, size))
	t.read("x", "f32")
	t.write("cache", "u32")
	t.int("HEADS", heads)
	t.int("SIZE", size)
	t.int("WORDS", words(size))
	t.file("kv_append")
	return t.end()
}

// KVRow is the bytes of one position of a cache of heads heads of size values.
func KVRow(heads, size int) int64 { return 4 * int64(heads) * int64(words(size)) }

// KVAppendGrid is the grid of [KVAppend] for n columns.
func KVAppendGrid(heads, size, n int) [3]uint32 { return Elements(n * heads * words(size)) }
