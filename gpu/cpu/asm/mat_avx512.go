package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot4 adds to every lane of acc the products of its four unsigned bytes in w
// with the four signed bytes at m. avo does not know VPDPBUSD.
func dot4(m Mem, w, acc reg.VecVirtual) {
	Instruction(&ir.Instruction{
		Opcode: "VPDPBUSD", Suffixes: []string{"BCST"}, ISA: []string{"AVX512VNNI"},
		Operands: []Op{m, w, acc}, Inputs: []Op{m, w, acc}, Outputs: []Op{acc},
	})
}

// bytes4 is a constant of four equal bytes.
func bytes4(name string, b uint32) Mem { return ConstData(name, U32(b*0x01010101)) }

// matAVX512 emits the kernels for AVX-512 with VNNI: a register holds four
// columns of all 16 rows of a panel.
func matAVX512() {
	low := bytes4("low", 0x0f)
	fifth := bytes4("fifth", 0x10)
	sixth := bytes4("sixth", 0x30)
	floatAVX512()
	for _, k := range kinds {
		for _, w := range widths {
			kernel("AVX512", k, w, func(l *loop) hooks { return (&avx512{loop: l, lowBits: low, fifth: fifth, sixth: sixth}).hooks() })
		}
	}
}

type avx512 struct {
	*loop
	lowBits, fifth, sixth Mem

	mask, planeMask reg.VecVirtual
	acc             []reg.VecVirtual // a column's outputs
	d, dmin         reg.VecVirtual   // of a super-block
	w               [8]reg.VecVirtual
}

func (g *avx512) hooks() hooks {
	k := g.k
	if k.bits < 8 {
		g.mask = ZMM()
		VPBROADCASTD(g.lowBits, g.mask)
	}
	switch k.bits {
	case 5:
		g.planeMask = ZMM()
		VPBROADCASTD(g.fifth, g.planeMask)
	case 6:
		g.planeMask = ZMM()
		VPBROADCASTD(g.sixth, g.planeMask)
	}
	for range g.loop.w {
		g.acc = append(g.acc, ZMM())
	}
	return hooks{panel: g.panel, super: g.super, block: g.block, store: g.store}
}

func (g *avx512) panel() {
	for _, a := range g.acc {
		VPXORD(a, a, a)
	}
}

func (g *avx512) super() {
	g.d = ZMM()
	VCVTPH2PS(Mem{Base: g.headers}, g.d)
	if g.k.min {
		g.dmin = ZMM()
		VCVTPH2PS(Mem{Base: g.headers, Disp: 32}, g.dmin)
	}
}

func (g *avx512) block() {
	g.unpack()
	d, m := g.scales()
	for c := 0; c < g.loop.w; c += 4 {
		n := min(4, g.loop.w-c)
		if g.k.halves {
			g.dotHalves(c, n, d)
		} else {
			g.dot(c, n, d, m)
		}
	}
}

// unpack fills w with the quants of the block, group j in w[j].
func (g *avx512) unpack() {
	for j := range g.w {
		g.w[j] = ZMM()
	}
	if g.k.bits == 8 {
		for j, w := range g.w {
			VMOVDQU32(g.quant(64*j), w)
		}
		return
	}
	for j := range 4 {
		both := ZMM()
		VMOVDQU32(g.quant(g.k.planeBytes()+64*j), both)
		VPANDD(both, g.mask, g.w[j])
		VPSRLW(Imm(4), both, both)
		VPANDD(both, g.mask, g.w[j+4])
	}
	switch g.k.bits {
	case 5:
		plane := ZMM()
		VMOVDQU32(g.quant(0), plane)
		for j, w := range g.w {
			g.orBits(plane, 4-j, w)
		}
	case 6:
		for p := range 2 {
			plane := ZMM()
			VMOVDQU32(g.quant(64*p), plane)
			for f := range 4 {
				g.orBits(plane, 4-2*f, g.w[4*p+f])
			}
		}
	}
}

// orBits sets in w the bits of plane, shifted left, that the mask lets through.
func (g *avx512) orBits(plane reg.VecVirtual, shift int, w reg.VecVirtual) {
	bits := plane
	if shift != 0 {
		bits = ZMM()
	}
	switch {
	case shift > 0:
		VPSLLW(Imm(uint64(shift)), plane, bits)
	case shift < 0:
		VPSRLW(Imm(uint64(-shift)), plane, bits)
	}
	VPTERNLOGD(Imm(0xf8), bits, g.planeMask, w) // w | (planeMask & bits)
}

// scales returns what the dot products and the sums of the block are multiplied
// with; with super-blocks the second is to be subtracted.
func (g *avx512) scales() (d, m reg.VecVirtual) {
	switch {
	case g.k.super == 32:
		d = ZMM()
		VCVTPH2PS(Mem{Base: g.headers}, d)
		if g.k.min {
			m = ZMM()
			VCVTPH2PS(Mem{Base: g.headers, Disp: 32}, m)
		}
	case g.k.halves:
		d = g.d
	default:
		d, m = ZMM(), ZMM()
		VPMOVZXBD(Mem{Base: g.sub}, d)
		VCVTDQ2PS(d, d)
		VMULPS(d, g.d, d)
		VPMOVZXBD(Mem{Base: g.sub, Disp: 16}, m)
		VCVTDQ2PS(m, m)
		VMULPS(m, g.dmin, m)
	}
	return d, m
}

// dot does n columns from c on.
func (g *avx512) dot(c, n int, d, m reg.VecVirtual) {
	sums := make([]reg.VecVirtual, n)
	for i := range sums {
		sums[i] = g.start(numAll, c+i, g.k.offset)
	}
	for j, w := range g.w {
		for i, s := range sums {
			dot4(g.act(c+i, j), w, s)
		}
	}
	for i, s := range sums {
		g.add(c+i, s, d)
		switch {
		case g.k.min && g.k.super == 32:
			VFMADD231PS_BCST(g.num(numSum, c+i), m, g.acc[c+i])
		case g.k.min:
			VFNMADD231PS_BCST(g.num(numSum, c+i), m, g.acc[c+i])
		}
	}
}

// dotHalves does n columns from c on where each half of the block has a scale.
func (g *avx512) dotHalves(c, n int, d reg.VecVirtual) {
	scaleLow, scaleHigh := ZMM(), ZMM()
	VPMOVSXBD(Mem{Base: g.sub}, scaleLow)
	VPMOVSXBD(Mem{Base: g.sub, Disp: 16}, scaleHigh)
	low, high := make([]reg.VecVirtual, n), make([]reg.VecVirtual, n)
	for i := range n {
		low[i], high[i] = g.start(numLow, c+i, g.k.offset), g.start(numHigh, c+i, g.k.offset)
	}
	for j := range 4 {
		for i := range n {
			dot4(g.act(c+i, j), g.w[j], low[i])
			dot4(g.act(c+i, j+4), g.w[j+4], high[i])
		}
	}
	for i := range n {
		VPMULLD(scaleLow, low[i], low[i])
		VPMULLD(scaleHigh, high[i], high[i])
		VPADDD(high[i], low[i], low[i])
		g.add(c+i, low[i], d)
	}
}

// start returns the first value of a sum: minus the offset of all its quants.
func (g *avx512) start(num, c, offset int) reg.VecVirtual {
	s := ZMM()
	if offset == 0 {
		VPXORD(s, s, s)
		return s
	}
	VPBROADCASTD(g.num(num, c), s)
	switch offset {
	case 16:
		VPSLLD(Imm(1), s, s)
	case 32:
		VPSLLD(Imm(2), s, s)
	case 128:
		VPSLLD(Imm(4), s, s)
	}
	return s
}

// add adds a dot product times d and the column's scale to the column's outputs.
func (g *avx512) add(c int, sum, d reg.VecVirtual) {
	scale := ZMM()
	VMULPS_BCST(g.num(numScale, c), d, scale)
	VCVTDQ2PS(sum, sum)
	VFMADD231PS(sum, scale, g.acc[c])
}

func (g *avx512) store() {
	at := GP64()
	MOVQ(g.y, at)
	for c, a := range g.acc {
		VMOVUPS(a, Mem{Base: at})
		if c+1 < len(g.acc) {
			ADDQ(g.stride, at)
		}
	}
}
