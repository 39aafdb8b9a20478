package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vecAVX2 emits the kernels of package vec. They use no fused multiply-add and
// add in a fixed order of 32 lanes, so that plain Go can give the same bits.
func vecAVX2() {
	e := newExpConsts()
	dots()
	sums()
	elementwise("fromHalfAVX2", "dst = x.", "dst *float32, x *uint16", func(b *body) {
		b.store("dst", b.load("x"))
	})
	elementwise("fromBF16AVX2", "dst = x.", "dst *float32, x *uint16", func(b *body) {
		v := YMM()
		VPMOVZXWD(b.at("x"), v)
		VPSLLD(Imm(16), v, v)
		VMOVDQU(v, b.at("dst"))
	})
	elementwise("addAVX2", "dst = x + y.", "dst, x, y *float32", func(b *body) {
		v := b.load("x")
		VADDPS(b.at("y"), v, v)
		b.store("dst", v)
	})
	elementwise("mulAVX2", "dst = x·y.", "dst, x, y *float32", func(b *body) {
		v := b.load("x")
		VMULPS(b.at("y"), v, v)
		b.store("dst", v)
	})
	elementwise("scaleAVX2", "dst = a·x.", "dst, x *float32, a float32", func(b *body) {
		v := b.load("x")
		VMULPS(b.scalar("a"), v, v)
		b.store("dst", v)
	})
	elementwise("scaleMulAVX2", "dst = (a·x)·y.", "dst, x, y *float32, a float32", func(b *body) {
		v := b.load("x")
		VMULPS(b.scalar("a"), v, v)
		VMULPS(b.at("y"), v, v)
		b.store("dst", v)
	})
	elementwise("expAVX2", "dst = exp(x − a).", "dst, x *float32, a float32", func(b *body) {
		v := b.load("x")
		VSUBPS(b.scalar("a"), v, v)
		b.store("dst", e.exp(v))
	})
	elementwise("sigmoidAVX2", "dst = 1/(1 + exp(−x)).", "dst, x *float32", func(b *body) {
		v, one := b.load("x"), YMM()
		VBROADCASTSS(e.one, one)
		VDIVPS(e.denominator(v), one, one)
		b.store("dst", one)
	})
	elementwise("siluAVX2", "dst = x/(1 + exp(−x)).", "dst, x *float32", func(b *body) {
		v := b.load("x")
		VDIVPS(e.denominator(v), v, v)
		b.store("dst", v)
	})
	elementwise("siluMulAVX2", "dst = (x/(1 + exp(−x)))·y.", "dst, x, y *float32", func(b *body) {
		v := b.load("x")
		VDIVPS(e.denominator(v), v, v)
		VMULPS(b.at("y"), v, v)
		b.store("dst", v)
	})
	cube, root := bits32("cube", 0.044715), bits32("root", 1.5957691216057308)
	elementwise("geluMulAVX2", "dst = gelu(x)·y.", "dst, x, y *float32", func(b *body) {
		v, t, c := b.load("x"), YMM(), YMM()
		VMULPS(v, v, t)
		VBROADCASTSS(cube, c)
		VMULPS(c, t, t)
		VBROADCASTSS(e.one, c)
		VADDPS(c, t, t)
		VMULPS(v, t, t)
		VBROADCASTSS(root, c)
		VMULPS(c, t, t)
		VDIVPS(e.denominator(t), v, v)
		VMULPS(b.at("y"), v, v)
		b.store("dst", v)
	})
}

// bits32 is a constant number, by its bits: the assembler takes a number
// without a fraction for an integer.
func bits32(name string, v float32) Mem { return ConstData(name, U32(math.Float32bits(v))) }

// body is the inside of an elementwise loop.
type body struct {
	index   reg.GPVirtual
	base    map[string]reg.GPVirtual
	half    map[string]bool
	scalars map[string]reg.VecVirtual
}

func (b *body) at(name string) Mem {
	scale := uint8(4)
	if b.half[name] {
		scale = 2
	}
	return Mem{Base: b.base[name], Index: b.index, Scale: scale}
}

func (b *body) load(name string) reg.VecVirtual {
	v := YMM()
	if b.half[name] {
		VCVTPH2PS(b.at(name), v)
	} else {
		VMOVUPS(b.at(name), v)
	}
	return v
}

func (b *body) store(name string, v reg.VecVirtual) { VMOVUPS(v, b.at(name)) }

func (b *body) scalar(name string) reg.VecVirtual { return b.scalars[name] }

// elementwise emits a loop over n numbers, 8 at a time.
func elementwise(name, doc, params string, f func(*body)) {
	TEXT(name, 0, "func("+params+", n int)")
	Pragma("noescape")
	Doc(name + " computes " + doc + " n is a multiple of 8.")
	b := &body{index: GP64(), base: map[string]reg.GPVirtual{}, half: map[string]bool{}, scalars: map[string]reg.VecVirtual{}}
	for _, p := range parse(params) {
		switch p.typ {
		case "float32":
			v := YMM()
			Load(Param(p.name), v.AsX())
			VBROADCASTSS(v.AsX(), v)
			b.scalars[p.name] = v
		default:
			g := GP64()
			Load(Param(p.name), g)
			b.base[p.name], b.half[p.name] = g, p.typ == "*uint16"
		}
	}
	n := GP64()
	Load(Param("n"), n)
	XORQ(b.index, b.index)
	Label("loop")
	f(b)
	ADDQ(Imm(8), b.index)
	CMPQ(b.index, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// expConsts are the constants of exp.
type expConsts struct {
	low, high, log2e, magic, ln2High, ln2Low, one, sign Mem
	poly                                                []Mem
}

func newExpConsts() *expConsts {
	e := &expConsts{
		low: bits32("expLow", -87.33654), high: bits32("expHigh", 88.72283),
		log2e: bits32("log2e", math.Log2E), magic: bits32("magic", 0x1.8p23),
		ln2High: bits32("ln2High", 0.693359375), ln2Low: bits32("ln2Low", -2.12194440e-4),
		one: bits32("one", 1), sign: ConstData("sign", U32(0x80000000)),
	}
	for i, c := range []float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		e.poly = append(e.poly, bits32("poly"+string(rune('0'+i)), c))
	}
	return e
}

// exp returns exp(x): x = n·ln2 + r, a polynomial in r, n added to the exponent
// in two steps so that no intermediate power overflows.
func (e *expConsts) exp(x reg.VecVirtual) reg.VecVirtual {
	c, n, m, p := YMM(), YMM(), YMM(), YMM()
	r := YMM()
	VBROADCASTSS(e.high, c)
	VMINPS(x, c, r) // a NaN in x stays
	VBROADCASTSS(e.low, c)
	VMAXPS(r, c, r)
	VBROADCASTSS(e.log2e, c)
	VMULPS(r, c, n)
	VBROADCASTSS(e.magic, c)
	VADDPS(c, n, n)
	VSUBPS(c, n, m) // n as a number; n's low bits are the integer
	VBROADCASTSS(e.ln2High, c)
	VMULPS(m, c, p)
	VSUBPS(p, r, r)
	VBROADCASTSS(e.ln2Low, c)
	VMULPS(m, c, p)
	VSUBPS(p, r, r)
	VBROADCASTSS(e.poly[0], p)
	for _, k := range e.poly[1:] {
		VBROADCASTSS(k, c)
		VMULPS(r, p, p)
		VADDPS(c, p, p)
	}
	VMULPS(r, p, p)
	VMULPS(r, p, p)
	VADDPS(r, p, p)
	VBROADCASTSS(e.one, c)
	VADDPS(c, p, p)
	half := YMM()
	VPSLLD(Imm(23), n, n) // the magic number's own bits fall out
	VPSRAD(Imm(1), n, half)
	keep := YMM()
	VPSRAD(Imm(23), half, half)
	VPSLLD(Imm(23), half, half)
	VPSUBD(half, n, keep)
	VPADDD(c, half, half) // 2^⌊n/2⌋
	VPADDD(c, keep, keep) // 2^(n−⌊n/2⌋)
	VMULPS(half, p, p)
	VMULPS(keep, p, p)
	VBROADCASTSS(e.low, c)
	VCMPPS(Imm(0x15), c, x, c) // x is not below; true for a NaN
	VANDPS(c, p, p)
	return p
}

// denominator returns 1 + exp(−x).
func (e *expConsts) denominator(x reg.VecVirtual) reg.VecVirtual {
	c, v := YMM(), YMM()
	VBROADCASTSS(e.sign, c)
	VXORPS(c, x, v)
	v = e.exp(v)
	VBROADCASTSS(e.one, c)
	VADDPS(c, v, v)
	return v
}

// fold adds four registers of 8 lanes up to one number in x.
func fold(acc []reg.VecVirtual) reg.Register {
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	high, low := XMM(), acc[0].AsX()
	VEXTRACTF128(Imm(1), acc[0], high)
	sum := XMM()
	VADDPS(high, low, sum)
	VMOVHLPS(sum, sum, high)
	VADDPS(high, sum, sum)
	VMOVSHDUP(sum, high)
	VADDSS(high, sum, sum)
	return sum
}

// reduction emits a sum over n numbers, 32 at a time.
func reduction(name, doc, params string, f func(b *body, i int, acc reg.VecVirtual)) {
	TEXT(name, 0, "func("+params+", n int) float32")
	Pragma("noescape")
	Doc(name + " returns " + doc + " n is a multiple of 32.")
	b := &body{index: GP64(), base: map[string]reg.GPVirtual{}}
	for _, p := range parse(params) {
		g := GP64()
		Load(Param(p.name), g)
		b.base[p.name] = g
	}
	n := GP64()
	Load(Param("n"), n)
	acc := zeroes(4)
	XORQ(b.index, b.index)
	Label("loop")
	for i := range acc {
		f(b, i, acc[i])
	}
	ADDQ(Imm(32), b.index)
	CMPQ(b.index, n)
	JLT(LabelRef("loop"))
	sum := fold(acc)
	VZEROUPPER()
	Store(sum, ReturnIndex(0))
	RET()
}

func zeroes(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = YMM()
		VXORPS(v[i], v[i], v[i])
	}
	return v
}

// lane is the address of the eight numbers of lane group i.
func (b *body) lane(name string, i int) Mem {
	m := b.at(name)
	m.Disp = 8 * i * int(m.Scale)
	return m
}

func dots() {
	reduction("dotAVX2", "Σ x·y.", "x, y *float32", func(b *body, i int, acc reg.VecVirtual) {
		v := YMM()
		VMOVUPS(b.lane("x", i), v)
		VMULPS(b.lane("y", i), v, v)
		VADDPS(v, acc, acc)
	})
}

func sums() {
	reduction("sumAVX2", "Σ x.", "x *float32", func(b *body, i int, acc reg.VecVirtual) {
		VADDPS(b.lane("x", i), acc, acc)
	})
	TEXT("maxAVX2", 0, "func(x *float32, n int) float32")
	Pragma("noescape")
	Doc("maxAVX2 returns the greatest of n numbers, a positive multiple of 8.")
	x, n, i := GP64(), GP64(), GP64()
	Load(Param("x"), x)
	Load(Param("n"), n)
	m := YMM()
	VMOVUPS(Mem{Base: x}, m)
	XORQ(i, i)
	Label("loop")
	VMAXPS(Mem{Base: x, Index: i, Scale: 4}, m, m)
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	high := XMM()
	VEXTRACTF128(Imm(1), m, high)
	top := XMM()
	VMAXPS(high, m.AsX(), top)
	VMOVHLPS(top, top, high)
	VMAXPS(high, top, top)
	VMOVSHDUP(top, high)
	VMAXSS(high, top, top)
	VZEROUPPER()
	Store(top, ReturnIndex(0))
	RET()
}
