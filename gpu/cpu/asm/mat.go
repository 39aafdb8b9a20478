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

// headerBytes is the size of the header in front of the quants.
func (k kind) headerBytes() int {
	switch {
	case k.super == 256:
		return 320
	case k.min:
		return 64
	}
	return 32
}

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
	k       kind
	w       int
	headers reg.GPVirtual // of the current super-block
	quants  reg.GPVirtual // of the current block, less quantsAt
	sub     reg.GPVirtual // sub-scales of the current block
	x       reg.GPVirtual // of the current block
	y       reg.GPVirtual // of the current panel
	stride  reg.GPVirtual

	quantsAt int
}

// act is the address of four activations of column c.
func (l *loop) act(c, j int) Mem { return Mem{Base: l.x, Disp: 32*c + 4*j} }

// num is the address of number i of column c.
func (l *loop) num(i, c int) Mem { return Mem{Base: l.x, Disp: 4 * ((8+i)*l.w + c)} }

// quant is the address of bytes of the block's quants.
func (l *loop) quant(disp int) Mem { return Mem{Base: l.quants, Disp: l.quantsAt + disp} }

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
		"func(panel *byte, acts *uint32, y *float32, blocks, panels, panelBytes, strideBytes int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("mul%sx%d%s multiplies panels of %s by %d columns.", k.name, w, isa, k.name, w))
	l := &loop{k: k, w: w, headers: GP64(), x: GP64(), y: GP64(), stride: GP64()}
	panel, blocks := GP64(), GP64()
	Load(Param("panel"), panel)
	Load(Param("y"), l.y)
	Load(Param("strideBytes"), l.stride)
	panels := GP64()
	Load(Param("panels"), panels)
	if k.super == 32 {
		l.quants, l.quantsAt = l.headers, k.headerBytes()
	} else {
		l.quants, l.sub = GP64(), GP64()
	}
	h := body(l)

	Label("panel")
	MOVQ(panel, l.headers)
	Load(Param("acts"), l.x)
	Load(Param("blocks"), blocks)
	h.panel()
	if k.super == 32 {
		Label("block")
		h.block()
		ADDQ(U32(k.headerBytes()+k.quantBytes()), l.headers)
		ADDQ(U32(4*blockWords*w), l.x)
		DECQ(blocks)
		JNZ(LabelRef("block"))
	} else {
		SHRQ(Imm(3), blocks)
		left := GP64()
		Label("super")
		h.super()
		first := 32
		if k.min {
			first = 64
		}
		LEAQ(Mem{Base: l.headers, Disp: first}, l.sub)
		LEAQ(Mem{Base: l.headers, Disp: k.headerBytes()}, l.quants)
		MOVQ(U32(8), left)
		Label("block")
		h.block()
		ADDQ(Imm(32), l.sub)
		ADDQ(U32(k.quantBytes()), l.quants)
		ADDQ(U32(4*blockWords*w), l.x)
		DECQ(left)
		JNZ(LabelRef("block"))
		MOVQ(l.quants, l.headers)
		DECQ(blocks)
		JNZ(LabelRef("super"))
	}
	h.store()
	ADDQ(Imm(64), l.y)
	step := GP64()
	Load(Param("panelBytes"), step)
	ADDQ(step, panel)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	VZEROUPPER()
	RET()
}
