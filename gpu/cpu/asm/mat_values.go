package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// valuesAVX2 emits the function that turns super-blocks of a panel into plain
// numbers, 16 a column. A lane holds four columns of a row; each is shifted down
// and converted, then scaled and offset without fusing, as plain Go does.
func valuesAVX2(k kind, consts avx2Consts, byteMask Mem) {
	TEXT(fmt.Sprintf("values%sAVX2", k.name), 0, "func(panel *byte, dst *float32, supers int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("values%sAVX2 turns super-blocks of %s into plain numbers.", k.name, k.name))
	l := &loop{k: k, headers: GP64(), quants: GP64(), sub: GP64()}
	g := &avx2{loop: l, avx2Consts: consts}
	dst, supers := GP64(), GP64()
	Load(Param("panel"), l.headers)
	Load(Param("dst"), dst)
	Load(Param("supers"), supers)
	g.scales = AllocLocal(128)
	if k.super != 32 {
		g.supers = AllocLocal(128)
	}
	if k.bits < 8 {
		g.mask = YMM()
		VMOVDQU(g.low, g.mask)
	}
	bytes := YMM()
	VMOVDQU(byteMask, bytes)

	Label("super")
	if k.super != 32 {
		g.super()
	}
	first := 32
	if k.min {
		first = 64
	}
	left := GP64()
	LEAQ(Mem{Base: l.headers, Disp: first}, l.sub)
	LEAQ(Mem{Base: l.headers, Disp: k.headerBytes()}, l.quants)
	MOVQ(U32(k.super/32), left)
	Label("block")
	g.readScales()
	if k.halves {
		for i := range 2 { // of the first and the last 16 columns
			halves(func(h int) {
				d := YMM()
				VPMOVSXBD(Mem{Base: l.sub, Disp: 16*i + 8*h}, d)
				VCVTDQ2PS(d, d)
				VMULPS(g.supers.Offset(32*h), d, d)
				VMOVUPS(d, g.scales.Offset(64*i+32*h))
			})
		}
	}
	offset := YMM()
	if k.offset != 0 {
		n := GP32()
		MOVL(U32(k.offset), n)
		VMOVD(n, offset.AsX())
		VPBROADCASTD(offset.AsX(), offset)
	}
	column := func(j, h int, w reg.VecVirtual) {
		for i := range 4 {
			v := YMM()
			switch i {
			case 0:
				VPAND(bytes, w, v)
			case 3:
				VPSRLD(Imm(24), w, v)
			default:
				VPSRLD(Imm(uint64(8*i)), w, v)
				VPAND(bytes, v, v)
			}
			if k.offset != 0 {
				VPSUBD(offset, v, v)
			}
			VCVTDQ2PS(v, v)
			d := 32 * h
			if k.halves {
				d += j / 4 * 64
			}
			VMULPS(g.scales.Offset(d), v, v)
			switch {
			case k.min && k.super == 32:
				VADDPS(g.scales.Offset(64+32*h), v, v)
			case k.min:
				VSUBPS(g.scales.Offset(64+32*h), v, v)
			}
			VMOVUPS(v, Mem{Base: dst, Disp: 64*(4*j+i) + 32*h})
		}
	}
	if k.bits == 8 {
		for j := range 8 {
			halves(func(h int) {
				w := YMM()
				VMOVDQU(g.quant(64*j+32*h), w)
				column(j, h, w)
			})
		}
	} else {
		for j := range 4 {
			low, high := g.group(j)
			halves(func(h int) {
				column(j, h, low[h])
				column(j+4, h, high[h])
			})
		}
	}
	ADDQ(Imm(32), l.sub)
	ADDQ(U32(k.quantBytes()), l.quants)
	ADDQ(U32(2048), dst)
	DECQ(left)
	JNZ(LabelRef("block"))
	MOVQ(l.quants, l.headers)
	DECQ(supers)
	JNZ(LabelRef("super"))
	VZEROUPPER()
	RET()
}
