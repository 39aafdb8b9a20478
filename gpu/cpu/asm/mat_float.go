package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// floatKernel emits the multiplication of plain numbers: count columns of 16
// rows times w columns of activations, onto sums over even and over odd columns.
// group is how many columns of activations have registers at a time, rows how
// many rows a register holds.
func floatKernel(isa string, w, group, rows int, register func() reg.VecVirtual, add func(x Mem, w, acc reg.VecVirtual)) {
	TEXT(fmt.Sprintf("mulFloatx%d%s", w, isa), 0, "func(acc, w, x *float32, count int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("mulFloatx%d%s multiplies plain numbers by %d columns.", w, isa, w))
	acc := GP64()
	Load(Param("acc"), acc)
	parts := 16 / rows
	for first := 0; first < w; first += group {
		n := min(group, w-first)
		wp, x, count := GP64(), GP64(), GP64()
		Load(Param("w"), wp)
		Load(Param("x"), x)
		Load(Param("count"), count)
		at := func(c, odd, part int) Mem {
			return Mem{Base: acc, Disp: 128*(first+c) + 64*odd + 4*rows*part}
		}
		sums := make([][2][]reg.VecVirtual, n)
		each := func(f func(c, odd, part int)) {
			for c := range n {
				for odd := range 2 {
					for part := range parts {
						f(c, odd, part)
					}
				}
			}
		}
		each(func(c, odd, part int) {
			v := register()
			VMOVUPS(at(c, odd, part), v)
			sums[c][odd] = append(sums[c][odd], v)
		})
		column := func(odd int) {
			for part := range parts {
				v := register()
				VMOVUPS(Mem{Base: wp, Disp: 64*odd + 4*rows*part}, v)
				for c := range n {
					add(Mem{Base: x, Disp: 4 * (w*odd + first + c)}, v, sums[c][odd][part])
				}
			}
		}
		loop, tail, done := fmt.Sprintf("loop%d", first), fmt.Sprintf("tail%d", first), fmt.Sprintf("done%d", first)
		SUBQ(Imm(2), count)
		JLT(LabelRef(tail))
		Label(loop)
		column(0)
		column(1)
		ADDQ(U32(128), wp)
		ADDQ(Imm(uint64(8*w)), x)
		SUBQ(Imm(2), count)
		JGE(LabelRef(loop))
		Label(tail)
		ADDQ(Imm(2), count)
		JZ(LabelRef(done))
		column(0)
		Label(done)
		each(func(c, odd, part int) { VMOVUPS(sums[c][odd][part], at(c, odd, part)) })
	}
	VZEROUPPER()
	RET()
}

func floatAVX512() {
	for _, w := range widths {
		floatKernel("AVX512", w, 8, 16, ZMM, func(x Mem, w, acc reg.VecVirtual) { VFMADD231PS_BCST(x, w, acc) })
	}
}

func floatAVX2() {
	for _, w := range widths {
		floatKernel("AVX2", w, 2, 8, YMM, func(x Mem, w, acc reg.VecVirtual) {
			v := YMM()
			VBROADCASTSS(x, v)
			VFMADD231PS(v, w, acc)
		})
	}
}
