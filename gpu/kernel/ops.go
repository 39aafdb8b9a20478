package kernel

import (
	"fmt"

	"github.com/pooled/pooled/core/model"
)

// Norm sizes a normalisation of groups, with what is fused into it.
type Norm struct {
	Size, Groups int
	Eps          float64
	// Weight says whether a weight [Size] multiplies; without it the result has length Gain.
	Weight bool
	Gain   float64
	// Stride is the width of the rows that are read, Offset where the first group begins in them, and GroupStride how far
	// the next one is. Stride 0 means that the groups lie side by side and fill the row.
	Stride, Offset, GroupStride int
	// Add says whether the sum of two inputs is normalised, and also kept. It excludes a Stride.
	Add bool
	// Gate says whether the result is the second input of a SwiGLU.
	Gate bool
	// Turn is, above 0, how many values of each group a Rope turns afterwards.
	Turn        int
	Interleaved bool
}

// Kernel is the normalisation. Bindings: step, x, y, weight (where Weight), other and total (where Add), gate (where Gate),
// turns (where Turn).
func (n Norm) Kernel() Kernel {
	t := begin(fmt.Sprintf("norm [%d, %d]", n.Groups, n.Size))
	t.read("x", "f32")
	t.write("y", "f32")
	weighted := "v"
	mean, gain := 1.0, n.Gain
	if n.Weight {
		t.read("weight", "f32")
		weighted, mean, gain = "v * weight[i]", 1/float64(n.Size), 1
	}
	load := "return x[i];"
	if n.Add {
		t.read("other", "f32")
		t.write("total", "f32")
		load = "let v = x[i] + other[i]; total[i] = v; return v;"
	}
	if n.Stride == 0 {
		n.Stride, n.Offset, n.GroupStride = n.Size*n.Groups, 0, n.Size
	}
	t.int("SIZE", n.Size)
	t.int("GROUPS", n.Groups)
	t.int("STRIDE", n.Stride)
	t.int("OFFSET", n.Offset)
	t.int("GSTRIDE", n.GroupStride)
	threads := 32
	for threads < 256 && threads < n.Size {
		threads *= 2
	}
	t.int("THREADS", threads)
	t.float("MEAN", mean)
	t.float("GAIN", gain)
	t.float("EPS", n.Eps)
	t.fn("fn load(i: u32) -> f32 { " + load + " }")
	t.fn("fn weighted(v: f32, i: u32) -> f32 { return " + weighted + "; }")
	switch {
	case n.Gate:
		t.kernel.Name += " gated"
		t.read("gate", "f32")
		t.file("swiglu")
		t.file("norm_gate")
	case n.Turn > 0:
		t.kernel.Name += " turned"
		t.read("turns", "vec2<f32>")
		t.int("DIMS", n.Turn)
		t.bool("INTERLEAVED", n.Interleaved)
		t.file("norm_rope")
	default:
		t.file("norm_plain")
	}
	t.file("norm")
	return t.end()
}

// Grid is the grid of [Norm.Kernel] for n columns.
func (n Norm) Grid(columns int) [3]uint32 { return Grid(columns*n.Groups, 1) }

var maps = map[model.Kind]struct {
	file   string
	inputs int
}{
	model.Add: {"add", 2}, model.Mul: {"mul", 2}, model.Scale: {"scale", 1}, model.SiLU: {"silu", 1},
	model.GELU: {"gelu", 1}, model.SwiGLU: {"swiglu", 2}, model.GeGLU: {"geglu", 2}, model.SigmoidGate: {"sigmoid_gate", 2},
}

// Map is an operation by element. Bindings: step, the inputs, y. It reports false for a kind that is none.
func Map(kind model.Kind, width int, factor float64) (Kernel, bool) {
	m, ok := maps[kind]
	if !ok {
		return Kernel{}, false
	}
	t := begin(fmt.Sprintf("%s [%d]", m.file, width))
	if m.inputs == 1 {
		t.read("x", "f32")
	} else {
		t.read("a", "f32")
		t.read("b", "f32")
	}
	t.write("y", "f32")
	t.int("WIDTH", width)
	t.float("FACTOR", factor)
	t.file(m.file)
	t.file(fmt.Sprintf("map%d", m.inputs))
	return t.end(), true
}

// Elements is the grid of kernels with a thread an element: [Map], [Slice], [Rope], [KVAppend].
func Elements(n int) [3]uint32 { return Grid((n+255)/256, 1) }

// Slice takes [offset, offset+length) of each of groups groups of size values; the row is filled with zeros up to width.
// Bindings: step, x, y.
func Slice(groups, size, offset, length, width int) Kernel {
	t := begin(fmt.Sprintf("slice [%d, %d]", groups, size))
	t.read("x", "f32")
	t.write("y", "f32")
	t.int("GROUPS", groups)
	t.int("SIZE", size)
	t.int("OFFSET", offset)
	t.int("LENGTH", length)
	t.int("WIDTH", width)
	t.file("slice")
	return t.end()
}

// Rope turns heads of size values. Bindings: step, x, y, turns.
func Rope(heads, size, dims int, interleaved bool) Kernel {
	t := begin(fmt.Sprintf("rope [%d, %d]", heads, size))
	t.read("x", "f32")
	t.write("y", "f32")
	t.read("turns", "vec2<f32>")
	t.int("HEADS", heads)
	t.int("SIZE", size)
	t.int("DIMS", dims)
	t.bool("INTERLEAVED", interleaved)
	t.file("rope")
	return t.end()
}

// ShortConv convolves channels over time, with a SiLU after it where asked. Bindings: step, x, y, weight, state.
func ShortConv(channels, taps int, silu bool) Kernel {
	t := begin(fmt.Sprintf("short conv [%d, %d]", channels, taps))
	t.read("x", "f32")
	t.write("y", "f32")
	t.read("weight", "f32")
	t.write("state", "f32")
	t.int("CHANNELS", channels)
	t.int("TAPS", taps)
	activate := "x"
	if silu {
		t.file("silu")
		activate = "apply(x)"
	}
	t.fn("fn activate(x: f32) -> f32 { return " + activate + "; }")
	t.file("short_conv")
	return t.end()
}

// ShortConvGrid is the grid of [ShortConv].
func ShortConvGrid(channels int) [3]uint32 { return Grid((channels+63)/64, 1) }

// Delta sizes a gated delta rule.
type Delta struct{ KeyHeads, Heads, Key, Value int }

// DeltaKey is the greatest key dimension of [Delta.Kernel], which keeps a sixteenth of it in registers.
const DeltaKey = 512

// Kernel is the gated delta rule. Bindings: step, q, k, v, a, b, y, gates, state.
func (d Delta) Kernel() Kernel {
	t := begin(fmt.Sprintf("gated delta [%d, %d, %d]", d.Heads, d.Key, d.Value))
	for _, in := range []string{"q", "k", "v", "a", "b"} {
		t.read(in, "f32")
	}
	t.write("y", "f32")
	t.read("gates", "vec2<f32>")
	t.write("state", "f32")
	rows := (d.Key + 15) / 16
	t.int("KEYHEADS", d.KeyHeads)
	t.int("HEADS", d.Heads)
	t.int("KEY", d.Key)
	t.int("VALUE", d.Value)
	t.int("ROWS", rows)
	t.file("gated_delta", repeat{"$c", rows})
	return t.end()
}

// Grid is the grid of [Delta.Kernel].
func (d Delta) Grid() [3]uint32 { return [3]uint32{uint32((d.Value + 15) / 16), uint32(d.Heads), 1} }

// MaxTop is the greatest number of candidates that [Top] finds.
const MaxTop = 64

const topIn, lseIn = 1024, 4096

// Top is one round of finding the largest of count logits. Bindings: step, logits or candidates, y.
func Top(count int, first bool) Kernel {
	t := begin(fmt.Sprintf("top of %d", count))
	typ, take := "vec2<u32>", "let c = logits[at]; ids[i] = c.x; values[i] = bitcast<f32>(c.y);"
	if first {
		typ, take = "f32", "ids[i] = at; values[i] = max(logits[(now.n - 1u) * COUNT + at], -3.3e38);"
	}
	t.read("logits", typ)
	t.write("y", "vec2<u32>")
	t.int("COUNT", count)
	t.int("KEEP", MaxTop)
	t.file("top")
	t.fn("fn take(at: u32, i: u32) { " + take + " }")
	return t.end()
}

// TopGroups is the number of workgroups of a round of [Top], each of which leaves [MaxTop] candidates.
func TopGroups(count int) int { return (count + topIn - 1) / topIn }

// LogSumExp is one round over count values. Bindings: step, logits or parts, y.
func LogSumExp(count int, first bool) Kernel {
	t := begin(fmt.Sprintf("log sum exp of %d", count))
	typ, load, result := "vec2<f32>", "return logits[i];", "return vec2<f32>(top + log(sum), 0.0);"
	if first {
		typ, load, result = "f32", "return vec2<f32>(logits[(now.n - 1u) * COUNT + i], 1.0);", "return vec2<f32>(top, sum);"
	}
	t.read("logits", typ)
	t.write("y", "vec2<f32>")
	t.int("COUNT", count)
	t.fn("fn load(i: u32) -> vec2<f32> { " + load + " }")
	t.fn("fn result(top: f32, sum: f32) -> vec2<f32> { " + result + " }")
	t.file("log_sum_exp")
	return t.end()
}

// LogSumExpGroups is the number of workgroups of the first round of [LogSumExp].
func LogSumExpGroups(count int) int { return (count + lseIn - 1) / lseIn }
