package quant

import (
	"encoding/binary"
	"math"
)

// HalfToFloat returns the value of an IEEE 754 binary16 number. Every half is exact as a float32.
func HalfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	// Shifted up, a half is a float32 whose exponent is too small by 112; scaling by 2^112 corrects normal and subnormal
	// numbers alike and exactly.
	const scale = 0x1p112
	if h&0x7c00 == 0x7c00 {
		return math.Float32frombits(sign | 0x7f800000 | uint32(h&0x3ff)<<13)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(uint32(h&0x7fff)<<13)*scale))
}

// FloatToHalf returns the nearest IEEE 754 binary16 number, ties to even. Too large becomes infinity; a NaN stays one.
func FloatToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // NaN: quiet, with the upper payload
		return sign | 0x7e00 | uint16(b>>13)&0x3ff
	case b >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case b < 0x38800000: // below the smallest normal half: let the float unit round to multiples of 2^-24
		const magic = 0x3f000000 // 0.5, whose last place is 2^-24
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+math.Float32frombits(magic))-magic)
	}
	// Rebias the exponent and round the lower 13 bits half to even; a carry runs into the exponent, as it must.
	b -= 112 << 23
	return sign | uint16((b+0xfff+(b>>13)&1)>>13)
}

// BF16ToFloat returns the value of a bfloat16 number.
func BF16ToFloat(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// FloatToBF16 returns the nearest bfloat16 number, ties to even; a NaN stays one.
func FloatToBF16(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + (b>>16)&1) >> 16)
}

// halfAt decodes the half at the start of b.
func halfAt(b []byte) float32 { return HalfToFloat(binary.LittleEndian.Uint16(b)) }

// putHalf stores f at the start of b and returns the value that was stored.
func putHalf(b []byte, f float32) float32 {
	h := FloatToHalf(f)
	binary.LittleEndian.PutUint16(b, h)
	return HalfToFloat(h)
}

func decodeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = halfAt(src[2*i:])
	}
}

func encodeF16(dst []byte, src []float32) {
	for i, x := range src {
		putHalf(dst[2*i:], x)
	}
}

func decodeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = BF16ToFloat(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func encodeBF16(dst []byte, src []float32) {
	for i, x := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], FloatToBF16(x))
	}
}
