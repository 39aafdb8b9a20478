package quant

import (
	"encoding/binary"
	"math"
)

// The formats whose 4-bit codes are indices into a table. Byte i of a group of 16 holds element i in its low and element
// i+16 in its high nibble.
//
//	IQ4_NL  d f16, qs[16]                                        x = d·table[q]
//	IQ4_XS  d f16, high u16, low[4], qs[128]: 8 groups of 32     x = d·(scale-32)·table[q], scale of 6 bits
//	MXFP4   e u8, qs[16]                                         x = 2^(e-128)·table2[q], table2 = twice E2M1

var iq4Table = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// fp4Table is the E2M1 values, doubled so that they are whole; the scale is halved for it.
var fp4Table = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

func decodeIQ4_NL(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[18:] {
		lookUp(dst[:32], src[2:18], halfAt(src), &iq4Table)
	}
}

func decodeIQ4_XS(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[256:], src[136:] {
		d, high, low, qs := halfAt(src), binary.LittleEndian.Uint16(src[2:]), src[4:8], src[8:136]
		for g := range 8 {
			scale := int(low[g/2]>>(4*(g%2))&15) | int(high>>(2*g)&3)<<4
			lookUp(dst[32*g:32*g+32], qs[16*g:16*g+16], d*float32(scale-32), &iq4Table)
		}
	}
}

func decodeMXFP4(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[17:] {
		lookUp(dst[:32], src[1:17], halfE8M0(src[0]), &fp4Table)
	}
}

func lookUp(dst []float32, qs []byte, d float32, table *[16]float32) {
	for i, q := range qs {
		dst[i] = d * table[q&15]
		dst[i+16] = d * table[q>>4]
	}
}

// halfE8M0 returns 2^(e-128), half the value of an E8M0 scale; the two smallest are subnormal.
func halfE8M0(e byte) float32 {
	if e < 2 {
		return math.Float32frombits(0x00200000 << e)
	}
	return math.Float32frombits(uint32(e-1) << 23)
}
