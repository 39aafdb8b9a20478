package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kind is a panel format, as package mat describes it.
type kind struct {
	name   string
	super  int // columns of a header
	bits   int
	offset int // what is subtracted from a quant
	min    bool
	halves bool // each half of a block has its own scale
}

var kinds = []kind{
	{name: "Q4", super: 32, bits: 4, offset: 8},
	{name: "Q4Min", super: 32, bits: 4, min: true},
	{name: "Q5", super: 32, bits: 5, offset: 16},
	{name: "Q5Min", super: 32, bits: 5, min: true},
	{name: "Q8", super: 32, bits: 8, offset: 128},
	{name: "Q4K", super: 256, bits: 4, min: true},
	{name: "Q5K", super: 256, bits: 5, min: true},
	{name: "Q6K", super: 256, bits: 6, offset: 32, halves: true},
}

func (k kind) quantBytes() int { return 64 * k.bits }

// planeBytes is the size of the bit plane in front of the nibbles.
func (k kind) planeBytes() int {
	if k.bits == 8 {
		return 0
	}
	return 64 * (k.bits - 4)
}

// widths are the numbers of columns that have kernels of their own.
var widths = []int{1, 2, 4, 8}

// columns of the numbers that follow the quants of a record of activations.
const (
	numScale = iota
	numSum
	numAll
	numLow
	numHigh
	blockWords = 8 + 5
)

// loop holds the pointers of the two nested loops every kernel of quantised
// panels has: panels outside, blocks inside.
type loop struct {
	k                  kind
	w                  int
	headers, quants, x reg.GPVirtual // of the current block
	sub                reg.GPVirtual // sub-scales of the current block
	y                  reg.GPVirtual // of the current panel
	stride             reg.GPVirtual
}

// act is the address of four activations of column c.
func (l *loop) act(c, j int) Mem { return Mem{Base: l.x, Disp: 32*c + 4*j} }

// num is the address of number i of column c.
func (l *loop) num(i, c int) Mem { return Mem{Base: l.x, Disp: 4 * ((8+i)*l.w + c)} }

// quant is the address of bytes of the block's quants.
func (l *loop) quant(disp int) Mem { return Mem{Base: l.quants, Disp: disp} }

// hooks are the parts that differ between instruction sets.
type hooks struct {
	panel func() // before the blocks of a panel
	super func() // a header of 256 columns
	block func()
	store func() // after the blocks of a panel
}

// kernel emits the function of one kind and width.
func kernel(isa string, k kind, w int, body func(*loop) hooks) {
	TEXT(fmt.Sprintf("mul%sx%d%s", k.name, w, isa), 0,
		"func(headers, quants *byte, acts *uint32, y *float32, blocks, panels, panelBytes, strideBytes int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("mul%sx%d%s multiplies panels of %s by %d columns.", k.name, w, isa, k.name, w))
	l := &loop{k: k, w: w, headers: GP64(), quants: GP64(), x: GP64(), y: GP64(), stride: GP64()}
	headers, quants, blocks := GP64(), GP64(), GP64()
	Load(Param("headers"), headers)
	Load(Param("quants"), quants)
	Load(Param("y"), l.y)
	Load(Param("strideBytes"), l.stride)
	panels := GP64()
	Load(Param("panels"), panels)
	h := body(l)

	Label("panel")
	MOVQ(headers, l.headers)
	MOVQ(quants, l.quants)
	Load(Param("acts"), l.x)
	Load(Param("blocks"), blocks)
	h.panel()
	if k.super == 32 {
		Label("block")
		h.block()
		ADDQ(Imm(map[bool]uint64{false: 32, true: 64}[k.min]), l.headers)
		next(l)
		DECQ(blocks)
		JNZ(LabelRef("block"))
	} else {
		SHRQ(Imm(3), blocks)
		l.sub = GP64()
		left := GP64()
		Label("super")
		h.super()
		first := 32
		if k.min {
			first = 64
		}
		LEAQ(Mem{Base: l.headers, Disp: first}, l.sub)
		MOVQ(U32(8), left)
		Label("block")
		h.block()
		ADDQ(Imm(32), l.sub)
		next(l)
		DECQ(left)
		JNZ(LabelRef("block"))
		MOVQ(l.sub, l.headers)
		DECQ(blocks)
		JNZ(LabelRef("super"))
	}
	h.store()
	ADDQ(Imm(64), l.y)
	step := GP64()
	Load(Param("panelBytes"), step)
	ADDQ(step, headers)
	ADDQ(step, quants)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	VZEROUPPER()
	RET()
}

// next moves on to the next block.
func next(l *loop) {
	ADDQ(U32(l.k.quantBytes()), l.quants)
	ADDQ(U32(4*blockWords*l.w), l.x)
}
