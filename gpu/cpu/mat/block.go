package mat

import (
	"encoding/binary"
	"math"

	"github.com/pooled/pooled/core/quant"
)

// scale is what turns the quants of one row of one block into values.
type scale struct {
	d [2]float32 // for each half of the block
	m float32
}

// scale reads the scales of one row of block b of a panel.
func (f *format) scale(panel []byte, b, lane int) scale {
	h := f.headerOf(panel, b)
	d := half(h[2*lane:])
	if f.super == blockCols {
		s := scale{d: [2]float32{d, d}}
		if f.min {
			s.m = half(h[32+2*lane:])
		}
		return s
	}
	if f.halves {
		sub := h[32+b%8*32:]
		return scale{d: [2]float32{d * float32(int8(sub[lane])), d * float32(int8(sub[16+lane]))}}
	}
	sub := h[64+b%8*32:]
	d *= float32(sub[lane])
	return scale{d: [2]float32{d, d}, m: -float32(half(h[32+2*lane:]) * float32(sub[16+lane]))}
}

// lane reads the quants of one row of a block.
func (f *format) lane(quants []byte, lane int) (q [blockCols]uint8) {
	if f.bits == 8 {
		for j := range 8 {
			copy(q[4*j:4*j+4], quants[64*j+4*lane:])
		}
		return q
	}
	plane, nibbles := quants[:f.planeBytes()], quants[f.planeBytes():f.quantBytes()]
	for i := range 16 {
		v := nibbles[i/4*64+4*lane+i%4]
		q[i], q[i+16] = v&15, v>>4
	}
	switch f.bits {
	case 5:
		for k := range q {
			q[k] |= plane[4*lane+k%4] >> (k / 4) & 1 << 4
		}
	case 6:
		for k := range q {
			q[k] |= plane[k/16*64+4*lane+k%4] >> (k / 4 % 4 * 2) & 3 << 4
		}
	}
	return q
}

// pairs holds the quants of a block two rows to a word: the low half of word
// 8k+p is column k of row 2p, the high half that of row 2p+1. One 64-bit
// multiplication does both.
type pairs [blockCols * panelRows / 2]uint64

// Two equal halves of a word.
const (
	pairOf1   = 0x0000000100000001
	pairOf3   = 0x0000000300000003
	pairOf15  = 0x0000000f0000000f
	pairOf255 = 0x000000ff000000ff
)

// unpack reads the quants of a block.
func (f *format) unpack(words *pairs, quants []byte) {
	read := func(at int) uint64 { return binary.LittleEndian.Uint64(quants[at:]) }
	if f.bits == 8 {
		for j := range 8 {
			for p := range 8 {
				v := read(64*j + 8*p)
				for i := range 4 {
					words[32*j+8*i+p] = v >> (8 * i) & pairOf255
				}
			}
		}
		return
	}
	nibbles := f.planeBytes()
	for j := range 4 {
		for p := range 8 {
			v := read(nibbles + 64*j + 8*p)
			for i := range 4 {
				words[32*j+8*i+p] = v >> (8 * i) & pairOf15
				words[128+32*j+8*i+p] = v >> (8*i + 4) & pairOf15
			}
		}
	}
	switch f.bits {
	case 5:
		for p := range 8 {
			v := read(8 * p)
			for j := range 8 {
				for i := range 4 {
					words[32*j+8*i+p] |= v >> (8*i + j) & pairOf1 << 4
				}
			}
		}
	case 6:
		for j := range 8 {
			for p := range 8 {
				v := read(j/4*64 + 8*p)
				for i := range 4 {
					words[32*j+8*i+p] |= v >> (8*i + j%4*2) & pairOf3 << 4
				}
			}
		}
	}
}

// number reads plain number i of a panel.
func (f *format) number(panel []byte, i int) float32 {
	switch f.kind {
	case kindF16:
		return half(panel[2*i:])
	case kindBF16:
		return quant.BF16ToFloat(binary.LittleEndian.Uint16(panel[2*i:]))
	default:
		return math.Float32frombits(binary.LittleEndian.Uint32(panel[4*i:]))
	}
}

// half reads a half-precision number.
func half(b []byte) float32 { return quant.HalfToFloat(binary.LittleEndian.Uint16(b)) }
