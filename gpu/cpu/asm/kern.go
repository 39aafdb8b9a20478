package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kernAVX2 emits the kernels of package kern: lanes are outputs, each one chain of fused multiply-adds.
func kernAVX2() {
	panelDot()
	panelDot4()
	deltaStep()
	mulAdd()
}

// panelDot: dst[c][0:16] += Σ_k x[c·xStride + k] · panel[k][0:16], columns four at a time and then one at a time.
func panelDot() {
	TEXT("panelDotAVX2", NOSPLIT, "func(dst *float32, dstStride int, x *float32, xStride int, panel *uint16, k, n int)")
	Doc("panelDotAVX2 is PanelDot for k > 0 and n > 0; strides in elements.")
	dst, ds := Load(Param("dst"), GP64()), Load(Param("dstStride"), GP64())
	x, xs := Load(Param("x"), GP64()), Load(Param("xStride"), GP64())
	panel, k, n := Load(Param("panel"), GP64()), Load(Param("k"), GP64()), Load(Param("n"), GP64())
	SHLQ(Imm(2), ds)
	SHLQ(Imm(2), xs)
	for _, cols := range []int{4, 1} {
		name := map[int]string{4: "four", 1: "one"}[cols]
		Label(name)
		CMPQ(n, Imm(uint64(cols)))
		JLT(LabelRef(name + "_end"))
		d, xp, p, left := GP64(), GP64(), GP64(), GP64()
		xcol := make([]reg.GPVirtual, cols)
		acc := make([][2]reg.VecVirtual, cols)
		MOVQ(dst, d)
		MOVQ(x, xp)
		for c := range cols {
			xcol[c] = GP64()
			MOVQ(xp, xcol[c])
			acc[c] = [2]reg.VecVirtual{YMM(), YMM()}
			VMOVUPS(Mem{Base: d}, acc[c][0])
			VMOVUPS(Mem{Base: d, Disp: 32}, acc[c][1])
			if c < cols-1 {
				ADDQ(ds, d)
				ADDQ(xs, xp)
			}
		}
		MOVQ(panel, p)
		MOVQ(k, left)
		Label(name + "_k")
		w0, w1 := YMM(), YMM()
		VCVTPH2PS(Mem{Base: p}, w0)
		VCVTPH2PS(Mem{Base: p, Disp: 16}, w1)
		for c := range cols {
			b := YMM()
			VBROADCASTSS(Mem{Base: xcol[c]}, b)
			VFMADD231PS(w0, b, acc[c][0])
			VFMADD231PS(w1, b, acc[c][1])
			ADDQ(Imm(4), xcol[c])
		}
		ADDQ(Imm(32), p)
		DECQ(left)
		JNZ(LabelRef(name + "_k"))
		for c := range cols {
			VMOVUPS(acc[c][0], Mem{Base: dst})
			VMOVUPS(acc[c][1], Mem{Base: dst, Disp: 32})
			ADDQ(ds, dst)
			ADDQ(xs, x)
		}
		SUBQ(Imm(uint64(cols)), n)
		JMP(LabelRef(name))
		Label(name + "_end")
	}
	VZEROUPPER()
	RET()
}

// panelDot4 is panelDot for one column and four panels: alone, a column of one panel waits for its own two sums.
func panelDot4() {
	TEXT("panelDot4AVX2", NOSPLIT, "func(dst *float32, x *float32, panels *uint16, panelStride, k int)")
	Doc("panelDot4AVX2 adds the products of one column with four panels to dst[0:64]; k > 0, the stride in elements.")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	panels, stride, k := Load(Param("panels"), GP64()), Load(Param("panelStride"), GP64()), Load(Param("k"), GP64())
	SHLQ(Imm(1), stride)
	var p [4]reg.GPVirtual
	var acc [4][2]reg.VecVirtual
	for i := range p {
		p[i] = GP64()
		MOVQ(panels, p[i])
		ADDQ(stride, panels)
		acc[i] = [2]reg.VecVirtual{YMM(), YMM()}
		VMOVUPS(Mem{Base: dst, Disp: 64 * i}, acc[i][0])
		VMOVUPS(Mem{Base: dst, Disp: 64*i + 32}, acc[i][1])
	}
	Label("k")
	b := YMM()
	VBROADCASTSS(Mem{Base: x}, b)
	for i := range p {
		w0, w1 := YMM(), YMM()
		VCVTPH2PS(Mem{Base: p[i]}, w0)
		VCVTPH2PS(Mem{Base: p[i], Disp: 16}, w1)
		VFMADD231PS(w0, b, acc[i][0])
		VFMADD231PS(w1, b, acc[i][1])
		ADDQ(Imm(32), p[i])
	}
	ADDQ(Imm(4), x)
	DECQ(k)
	JNZ(LabelRef("k"))
	for i := range p {
		VMOVUPS(acc[i][0], Mem{Base: dst, Disp: 64 * i})
		VMOVUPS(acc[i][1], Mem{Base: dst, Disp: 64*i + 32})
	}
	VZEROUPPER()
	RET()
}

// deltaStep runs one token of the gated delta rule on one head. For each block of value columns it goes over the state
// twice: once for Sᵀk, once to decay, update and read it.
func deltaStep() {
	TEXT("deltaStepAVX2", NOSPLIT, "func(out, state, q, k, v *float32, keyDim, valueDim int, keep, beta float32)")
	Doc("deltaStepAVX2 is DeltaStep for valueDim a multiple of 8.")
	out, st := Load(Param("out"), GP64()), Load(Param("state"), GP64())
	q, k, v := Load(Param("q"), GP64()), Load(Param("k"), GP64()), Load(Param("v"), GP64())
	kd, vd := Load(Param("keyDim"), GP64()), Load(Param("valueDim"), GP64())
	keep, beta := YMM(), YMM()
	VBROADCASTSS(NewParamAddr("keep", 56), keep)
	VBROADCASTSS(NewParamAddr("beta", 60), beta)
	row := GP64()
	MOVQ(vd, row)
	SHLQ(Imm(2), row)
	for _, regs := range []int{4, 1} {
		name := map[int]string{4: "wide", 1: "narrow"}[regs]
		Label(name)
		CMPQ(vd, Imm(uint64(8*regs)))
		JLT(LabelRef(name + "_end"))
		u, o := make([]reg.VecVirtual, regs), make([]reg.VecVirtual, regs)
		for i := range regs {
			u[i], o[i] = YMM(), YMM()
			VXORPS(u[i], u[i], u[i])
			VXORPS(o[i], o[i], o[i])
		}
		s, j := GP64(), GP64()
		MOVQ(st, s)
		XORQ(j, j)
		Label(name + "_read")
		b := YMM()
		VBROADCASTSS(Mem{Base: k, Index: j, Scale: 4}, b)
		for i := range regs {
			VFMADD231PS(Mem{Base: s, Disp: 32 * i}, b, u[i])
		}
		ADDQ(row, s)
		INCQ(j)
		CMPQ(j, kd)
		JLT(LabelRef(name + "_read"))
		for i := range regs {
			// u = β·(v − keep·u)
			t := YMM()
			VMOVUPS(Mem{Base: v, Disp: 32 * i}, t)
			VFNMADD231PS(keep, u[i], t)
			VMULPS(beta, t, u[i])
		}
		MOVQ(st, s)
		XORQ(j, j)
		Label(name + "_write")
		bk, bq := YMM(), YMM()
		VBROADCASTSS(Mem{Base: k, Index: j, Scale: 4}, bk)
		VBROADCASTSS(Mem{Base: q, Index: j, Scale: 4}, bq)
		for i := range regs {
			t := YMM()
			VMULPS(Mem{Base: s, Disp: 32 * i}, keep, t)
			VFMADD231PS(bk, u[i], t)
			VMOVUPS(t, Mem{Base: s, Disp: 32 * i})
			VFMADD231PS(bq, t, o[i])
		}
		ADDQ(row, s)
		INCQ(j)
		CMPQ(j, kd)
		JLT(LabelRef(name + "_write"))
		for i := range regs {
			VMOVUPS(o[i], Mem{Base: out, Disp: 32 * i})
		}
		ADDQ(Imm(uint64(32*regs)), out)
		ADDQ(Imm(uint64(32*regs)), v)
		ADDQ(Imm(uint64(32*regs)), st)
		SUBQ(Imm(uint64(8*regs)), vd)
		JMP(LabelRef(name))
		Label(name + "_end")
	}
	VZEROUPPER()
	RET()
}

// mulAdd: dst[i] += a[i] · b[i].
func mulAdd() {
	TEXT("mulAddAVX2", NOSPLIT, "func(dst, a, b *float32, n int)")
	Doc("mulAddAVX2 is MulAdd for n a multiple of 8.")
	dst, a, b := Load(Param("dst"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	Label("loop")
	CMPQ(n, Imm(8))
	JLT(LabelRef("end"))
	acc, x := YMM(), YMM()
	VMOVUPS(Mem{Base: dst}, acc)
	VMOVUPS(Mem{Base: a}, x)
	VFMADD231PS(Mem{Base: b}, x, acc)
	VMOVUPS(acc, Mem{Base: dst})
	ADDQ(Imm(32), dst)
	ADDQ(Imm(32), a)
	ADDQ(Imm(32), b)
	SUBQ(Imm(8), n)
	JMP(LabelRef("loop"))
	Label("end")
	VZEROUPPER()
	RET()
}
