package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// matAVX2 emits the kernels for AVX2: a register holds four columns of 8 rows,
// two registers make a panel. Dot products grow in 16 bits as long as they
// cannot overflow, and there are registers for four columns at a time; outputs
// wait on the stack.
func matAVX2() {
	consts := avx2Consts{
		low: wide("low", 0x0f), fifth: wide("fifth", 0x10), sixth: wide("sixth", 0x30), sign: wide("sign", 0x80),
		ones: words("ones", 1),
	}
	for _, k := range kinds {
		for _, w := range widths {
			kernel("AVX2", k, w, func(l *loop) hooks { return (&avx2{loop: l, avx2Consts: consts}).hooks() })
		}
	}
	floatAVX2()
	byteMask := GLOBL("bytes", attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(8*i, U64(0x000000ff000000ff))
	}
	for _, k := range kinds {
		valuesAVX2(k, consts, byteMask)
	}
	quantizeAVX2(consts.ones)
}

// wide is a constant of 32 equal bytes.
func wide(name string, b uint64) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(8*i, U64(b*0x0101010101010101))
	}
	return m
}

// words is a constant of 16 equal words.
func words(name string, v uint64) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(8*i, U64(v*0x0001000100010001))
	}
	return m
}

// float32Const is a constant number, by its bits: the assembler takes a number
// without a fraction for an integer.
func float32Const(name string, v float32) Mem { return ConstData(name, U32(math.Float32bits(v))) }

type avx2Consts struct{ low, fifth, sixth, sign, ones Mem }

type avx2 struct {
	*loop
	avx2Consts

	acc    Mem // outputs, 64 bytes a column
	scales Mem // of the block: d of the rows 0–7 and 8–15, then m
	supers Mem // of the super-block: d, then dmin
	ints   Mem // 32-bit sums, 64 bytes a column, one or two for the halves
	mask   reg.VecVirtual
	ones   reg.VecVirtual
}

func (g *avx2) hooks() hooks {
	g.acc = AllocLocal(64 * g.w)
	g.scales = AllocLocal(128)
	if g.k.super != 32 {
		g.supers = AllocLocal(128)
	}
	if g.k.bits == 5 || g.k.bits == 6 {
		g.ints = AllocLocal(64 * 4 * 2)
	}
	if g.k.bits < 8 {
		g.mask = YMM()
		VMOVDQU(g.low, g.mask)
	} else {
		g.ones = YMM()
		VMOVDQU(g.avx2Consts.ones, g.ones)
	}
	return hooks{panel: g.panel, super: g.super, block: g.block, store: g.store}
}

func (g *avx2) panel() {
	zero := YMM()
	VPXOR(zero, zero, zero)
	for c := range g.w {
		VMOVDQU(zero, g.acc.Offset(64*c))
		VMOVDQU(zero, g.acc.Offset(64*c+32))
	}
}

// halves calls f for the rows 0–7 and for 8–15.
func halves(f func(h int)) { f(0); f(1) }

func (g *avx2) super() {
	halves(func(h int) {
		d := YMM()
		VCVTPH2PS(Mem{Base: g.headers, Disp: 16 * h}, d)
		VMOVUPS(d, g.supers.Offset(32*h))
		if g.k.min {
			VCVTPH2PS(Mem{Base: g.headers, Disp: 32 + 16*h}, d)
			VMOVUPS(d, g.supers.Offset(64+32*h))
		}
	})
}

func (g *avx2) block() {
	g.readScales()
	for c := 0; c < g.w; {
		n := min(4, g.w-c)
		switch g.k.bits {
		case 4:
			g.dotNibbles(c, n)
		case 5:
			g.dotFives(c, n)
		case 6:
			n = min(n, 2)
			g.dotSixes(c, n)
		case 8:
			g.dotBytes(c, n)
		}
		c += n
	}
}

func (g *avx2) readScales() {
	halves(func(h int) {
		switch {
		case g.k.super == 32:
			d := YMM()
			VCVTPH2PS(Mem{Base: g.headers, Disp: 16 * h}, d)
			VMOVUPS(d, g.scales.Offset(32*h))
			if g.k.min {
				VCVTPH2PS(Mem{Base: g.headers, Disp: 32 + 16*h}, d)
				VMOVUPS(d, g.scales.Offset(64+32*h))
			}
		case !g.k.halves:
			for i := range 2 { // d, dmin
				d := YMM()
				VPMOVZXBD(Mem{Base: g.sub, Disp: 16*i + 8*h}, d)
				VCVTDQ2PS(d, d)
				VMULPS(g.supers.Offset(64*i+32*h), d, d)
				VMOVUPS(d, g.scales.Offset(64*i+32*h))
			}
		}
	})
}

// pairs of registers: the rows 0–7 and 8–15.
type pair [2]reg.VecVirtual

func newPairs(n int) []pair {
	p := make([]pair, n)
	for i := range p {
		p[i] = pair{YMM(), YMM()}
	}
	return p
}

// nibbles returns groups i and i+4 of the block, for one half of the rows.
func (g *avx2) nibbles(i, h int) (low, high reg.VecVirtual) {
	low, high = YMM(), YMM()
	VMOVDQU(g.quant(g.k.planeBytes()+64*i+32*h), low)
	VPSRLW(Imm(4), low, high)
	VPAND(low, g.mask, low)
	VPAND(high, g.mask, high)
	return low, high
}

// group returns groups i and i+4, high bits included, for both halves of the rows.
func (g *avx2) group(i int) (low, high pair) {
	halves(func(h int) {
		low[h], high[h] = g.nibbles(i, h)
		switch g.k.bits {
		case 5:
			g.orBits(32*h, 4-i, g.fifth, low[h])
			g.orBits(32*h, -i, g.fifth, high[h])
		case 6:
			g.orBits(32*h, 4-2*i, g.sixth, low[h])
			g.orBits(64+32*h, 4-2*i, g.sixth, high[h])
		}
	})
	return low, high
}

// orBits sets in w the bits of the plane at disp, shifted left, that the mask lets through.
func (g *avx2) orBits(disp, shift int, mask Mem, w reg.VecVirtual) {
	bits := YMM()
	VMOVDQU(g.quant(disp), bits)
	switch {
	case shift > 0:
		VPSLLW(Imm(uint64(shift)), bits, bits)
	case shift < 0:
		VPSRLW(Imm(uint64(-shift)), bits, bits)
	}
	VPAND(mask, bits, bits)
	VPOR(bits, w, w)
}

// addDot adds to (or, when first, writes to) 16-bit sums the products of both
// halves of the rows with activations j of column c.
func (g *avx2) addDot(w pair, c, j int, sum pair, first bool) {
	x := YMM()
	VPBROADCASTD(g.act(c, j), x)
	halves(func(h int) {
		if first {
			VPMADDUBSW(x, w[h], sum[h])
			return
		}
		t := YMM()
		VPMADDUBSW(x, w[h], t)
		VPADDW(t, sum[h], sum[h])
	})
}

// dotNibbles does n columns from c on: 8 groups of 4 bits stay below 2¹⁵.
func (g *avx2) dotNibbles(c, n int) {
	sums := newPairs(n)
	for i := range 4 {
		low, high := g.group(i)
		for k, s := range sums {
			g.addDot(low, c+k, i, s, i == 0)
			g.addDot(high, c+k, i+4, s, false)
		}
	}
	for k, s := range sums {
		halves(func(h int) {
			VPMADDWD(g.avx2Consts.ones, s[h], s[h])
			g.finish(c+k, h, s[h])
		})
	}
}

// flush adds 16-bit sums to the 32-bit sums at to, or writes them.
func (g *avx2) flush(sum pair, to Mem, first bool) {
	halves(func(h int) {
		VPMADDWD(g.avx2Consts.ones, sum[h], sum[h])
		if !first {
			VPADDD(to.Offset(32*h), sum[h], sum[h])
		}
		VMOVDQU(sum[h], to.Offset(32*h))
	})
}

// dotFives does n columns: 4 groups of 5 bits stay below 2¹⁵.
func (g *avx2) dotFives(c, n int) {
	sums := newPairs(n)
	for i := range 4 {
		low, high := g.group(i)
		for k, s := range sums {
			g.addDot(low, c+k, i, s, i%2 == 0)
			g.addDot(high, c+k, i+4, s, false)
			if i == 1 {
				g.flush(s, g.ints.Offset(64*k), true)
			}
		}
	}
	for k, s := range sums {
		halves(func(h int) {
			VPMADDWD(g.avx2Consts.ones, s[h], s[h])
			VPADDD(g.ints.Offset(64*k+32*h), s[h], s[h])
			g.finish(c+k, h, s[h])
		})
	}
}

// dotSixes does n columns, at most two: 2 groups of 6 bits stay below 2¹⁵, and
// each half of the block has its own sum and scale.
func (g *avx2) dotSixes(c, n int) {
	lows, highs := newPairs(n), newPairs(n)
	for i := range 4 {
		low, high := g.group(i)
		for k := range n {
			g.addDot(low, c+k, i, lows[k], i%2 == 0)
			g.addDot(high, c+k, i+4, highs[k], i%2 == 0)
			if i%2 == 1 {
				g.flush(lows[k], g.ints.Offset(128*k), i == 1)
				g.flush(highs[k], g.ints.Offset(128*k+64), i == 1)
			}
		}
	}
	for k := range n {
		halves(func(h int) {
			low, high, scale := YMM(), YMM(), YMM()
			for i, s := range []reg.VecVirtual{low, high} {
				VPBROADCASTD(g.num(numLow+i, c+k), s)
				VPSLLD(Imm(2), s, s)
				VPADDD(g.ints.Offset(128*k+64*i+32*h), s, s)
				VPMOVSXBD(Mem{Base: g.sub, Disp: 16*i + 8*h}, scale)
				VPMULLD(scale, s, s)
			}
			VPADDD(high, low, low)
			g.add(c+k, h, low, g.supers.Offset(32*h))
		})
	}
}

// dotBytes does n columns of signed bytes: |w| times the activation with w's sign.
func (g *avx2) dotBytes(c, n int) {
	sums := newPairs(n)
	for j := range 8 {
		w := pair{YMM(), YMM()}
		size := pair{YMM(), YMM()}
		halves(func(h int) {
			VMOVDQU(g.quant(64*j+32*h), w[h])
			VPXOR(g.sign, w[h], w[h])
			VPABSB(w[h], size[h])
		})
		for k, s := range sums {
			x := YMM()
			VPBROADCASTD(g.act(c+k, j), x)
			halves(func(h int) {
				t := YMM()
				VPSIGNB(w[h], x, t)
				VPMADDUBSW(t, size[h], t)
				if j == 0 {
					VPMADDWD(g.ones, t, s[h])
					return
				}
				VPMADDWD(g.ones, t, t)
				VPADDD(t, s[h], s[h])
			})
		}
	}
	for k, s := range sums {
		halves(func(h int) { g.add(c+k, h, s[h], g.scales.Offset(32*h)) })
	}
}

// finish takes the offset off a dot product and adds it to the outputs.
func (g *avx2) finish(c, h int, sum reg.VecVirtual) {
	if g.k.offset != 0 {
		start := YMM()
		VPBROADCASTD(g.num(numAll, c), start)
		if g.k.offset == 16 {
			VPSLLD(Imm(1), start, start)
		}
		VPADDD(start, sum, sum)
	}
	g.add(c, h, sum, g.scales.Offset(32*h))
}

// add adds a dot product, times d and the column's scale, and the additive part.
func (g *avx2) add(c, h int, sum reg.VecVirtual, d Mem) {
	scale, out := YMM(), g.acc.Offset(64*c+32*h)
	VBROADCASTSS(g.num(numScale, c), scale)
	VMULPS(d, scale, scale)
	VCVTDQ2PS(sum, sum)
	VFMADD213PS(out, sum, scale) // scale·sum + out
	if g.k.min {
		s := YMM()
		VBROADCASTSS(g.num(numSum, c), s)
		if g.k.super == 32 {
			VFMADD231PS(g.scales.Offset(64+32*h), s, scale)
		} else {
			VFNMADD231PS(g.scales.Offset(64+32*h), s, scale)
		}
	}
	VMOVUPS(scale, out)
}

func (g *avx2) store() {
	at, v := GP64(), YMM()
	MOVQ(g.y, at)
	for c := range g.w {
		halves(func(h int) {
			VMOVUPS(g.acc.Offset(64*c+32*h), v)
			VMOVUPS(v, Mem{Base: at, Disp: 32 * h})
		})
		if c+1 < g.w {
			ADDQ(g.stride, at)
		}
	}
}

// quantizeAVX2 emits the quantisation of one column of activations.
func quantizeAVX2(ones Mem) {
	abs := GLOBL("abs", attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(8*i, U64(0x7fffffff7fffffff))
	}
	order := GLOBL("order", attr.RODATA|attr.NOPTR) // undoes the interleaving of the packs
	for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(v))
	}
	limit := float32Const("limit", 127)
	tiny := float32Const("tiny", 1e-30)

	TEXT("quantizeBlocksAVX2", 0, "func(quants *uint32, numbers *uint32, x *float32, blocks, recordBytes, width int)")
	Pragma("noescape")
	Doc("quantizeBlocksAVX2 quantises one column of activations: quants and numbers are",
		"its places in the first record of its group.")
	quants, numbers, x := GP64(), GP64(), GP64()
	blocks, record, width := GP64(), GP64(), GP64()
	Load(Param("quants"), quants)
	Load(Param("numbers"), numbers)
	Load(Param("x"), x)
	Load(Param("blocks"), blocks)
	Load(Param("recordBytes"), record)
	Load(Param("width"), width)
	width3 := GP64()
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, width3)
	mask, perm, one, bytesOne := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(abs, mask)
	VMOVDQU(order, perm)
	VMOVDQU(ones, one)
	VPACKUSWB(one, one, bytesOne)
	top127 := XMM()
	VMOVSS(limit, top127)
	small := XMM()
	VMOVSS(tiny, small)

	Label("block")
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = YMM()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v[i])
	}
	t, u := YMM(), YMM()
	VANDPS(mask, v[0], t)
	for i := 1; i < 4; i++ {
		VANDPS(mask, v[i], u)
		VMAXPS(u, t, t)
	}
	top, other := XMM(), XMM()
	VEXTRACTF128(Imm(1), t, other)
	VMAXPS(other, t.AsX(), top)
	VMOVHLPS(top, top, other)
	VMAXPS(other, top, top)
	VMOVSHDUP(top, other)
	VMAXSS(other, top, top)
	scale, inverse, ok := XMM(), XMM(), XMM()
	VCMPSS(Imm(13), small, top, ok) // top ≥ tiny
	VDIVSS(top127, top, scale)
	VDIVSS(top, top127, inverse)
	VANDPS(ok, scale, scale)
	VANDPS(ok, inverse, inverse)
	wide := YMM()
	VBROADCASTSS(inverse, wide)
	for i := range v {
		VMULPS(wide, v[i], v[i])
		VCVTPS2DQ(v[i], v[i])
	}
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	VPERMD(v[0], perm, v[0])
	VMOVDQU(v[0], Mem{Base: quants})
	sums := YMM()
	VPMADDUBSW(v[0], bytesOne, sums)
	VPMADDWD(one, sums, sums) // 8 sums of 4
	VPHADDD(sums, sums, sums)
	VPHADDD(sums, sums, sums) // of 16 in each half
	high := XMM()
	VEXTRACTI128(Imm(1), sums, high)
	all := XMM()
	VPADDD(high, sums.AsX(), all)
	value := XMM()
	VCVTDQ2PS(all, value)
	VMULSS(scale, value, value)
	VMOVSS(scale, Mem{Base: numbers})
	VMOVSS(value, Mem{Base: numbers, Index: width, Scale: 4})
	zero := XMM()
	VPXOR(zero, zero, zero)
	for i, s := range []reg.Register{all, sums.AsX(), high} {
		n := XMM()
		VPSLLD(Imm(3), s, n)
		VPSUBD(n, zero, n)
		switch i {
		case 0:
			VMOVD(n, Mem{Base: numbers, Index: width, Scale: 8})
		case 1:
			VMOVD(n, Mem{Base: numbers, Index: width3, Scale: 4})
		case 2:
			four := GP64()
			LEAQ(Mem{Base: numbers, Index: width, Scale: 8}, four)
			VMOVD(n, Mem{Base: four, Index: width, Scale: 8})
		}
	}
	ADDQ(U32(128), x)
	ADDQ(record, quants)
	ADDQ(record, numbers)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
