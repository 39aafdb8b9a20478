package quant

import "encoding/binary"

// The formats with one scale for 32 elements. In a block of 4 or 5 bits, byte i of qs holds element i in its low and
// element i+16 in its high nibble; bit i of qh is the fifth bit of element i.
//
//	Q4_0  d f16, qs[16]              x = d·(q-8)
//	Q4_1  d f16, m f16, qs[16]       x = d·q + m
//	Q5_0  d f16, qh u32, qs[16]      x = d·(q-16)
//	Q5_1  d f16, m f16, qh u32, qs   x = d·q + m
//	Q8_0  d f16, qs[32] int8         x = d·q
//
// Products are converted to float32 before the sum, which forbids a fused multiply-add: ggml's values come from two roundings.

const legacyLen = 32

func decodeQ4_0(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[18:] {
		d, qs, out := halfAt(src), src[2:18], dst[:32]
		for i, q := range qs {
			out[i] = d * float32(int(q&15)-8)
			out[i+16] = d * float32(int(q>>4)-8)
		}
	}
}

func decodeQ4_1(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[20:] {
		d, m, qs, out := halfAt(src), halfAt(src[2:]), src[4:20], dst[:32]
		for i, q := range qs {
			out[i] = float32(d*float32(q&15)) + m
			out[i+16] = float32(d*float32(q>>4)) + m
		}
	}
}

func decodeQ5_0(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[22:] {
		d, qh, qs, out := halfAt(src), binary.LittleEndian.Uint32(src[2:]), src[6:22], dst[:32]
		for i, q := range qs {
			out[i] = d * float32(int(fifth(qh, i)|q&15)-16)
			out[i+16] = d * float32(int(fifth(qh, i+16)|q>>4)-16)
		}
	}
}

func decodeQ5_1(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[24:] {
		d, m, qh, qs, out := halfAt(src), halfAt(src[2:]), binary.LittleEndian.Uint32(src[4:]), src[8:24], dst[:32]
		for i, q := range qs {
			out[i] = float32(d*float32(fifth(qh, i)|q&15)) + m
			out[i+16] = float32(d*float32(fifth(qh, i+16)|q>>4)) + m
		}
	}
}

// fifth returns bit i of qh as the value 16 or 0.
func fifth(qh uint32, i int) byte { return byte(qh>>i) & 1 << 4 }

func decodeQ8_0(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[32:], src[34:] {
		d, qs, out := halfAt(src), src[2:34], dst[:32]
		for i, q := range qs {
			out[i] = d * float32(int8(q))
		}
	}
}

// encodeQ4_0 and encodeQ5_0 let the element of largest magnitude hit the most negative code, which has one more step.
func encodeQ4_0(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[18:], src[32:] {
		d := extreme(src[:32]) / -8
		putHalf(dst, d)
		packNibbles(dst[2:18], levels(src[:32], 0, d, 8.5, 15))
	}
}

func encodeQ4_1(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[20:], src[32:] {
		lo, hi := bounds(src[:32])
		d := (hi - lo) / 15
		putHalf(dst, d)
		putHalf(dst[2:], lo)
		packNibbles(dst[4:20], levels(src[:32], lo, d, 0.5, 15))
	}
}

func encodeQ5_0(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[22:], src[32:] {
		d := extreme(src[:32]) / -16
		putHalf(dst, d)
		q := levels(src[:32], 0, d, 16.5, 31)
		binary.LittleEndian.PutUint32(dst[2:], fifths(q))
		packNibbles(dst[6:22], q)
	}
}

func encodeQ5_1(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[24:], src[32:] {
		lo, hi := bounds(src[:32])
		d := (hi - lo) / 31
		putHalf(dst, d)
		putHalf(dst[2:], lo)
		q := levels(src[:32], lo, d, 0.5, 31)
		binary.LittleEndian.PutUint32(dst[4:], fifths(q))
		packNibbles(dst[8:24], q)
	}
}

func encodeQ8_0(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[34:], src[32:] {
		d := abs(extreme(src[:32])) / 127
		putHalf(dst, d)
		inv := reciprocal(d)
		for i, x := range src[:32] {
			dst[2+i] = byte(int8(roundAway(x * inv)))
		}
	}
}

// levels returns the codes trunc((x-lo)/d + bias), held between 0 and top.
func levels(src []float32, lo, d, bias float32, top int) (q [legacyLen]byte) {
	inv := reciprocal(d)
	for i, x := range src {
		q[i] = byte(clampInt(float32((x-lo)*inv)+bias, 0, top))
	}
	return q
}

func packNibbles(qs []byte, q [legacyLen]byte) {
	for i := range qs {
		qs[i] = q[i]&15 | q[i+16]<<4
	}
}

func fifths(q [legacyLen]byte) (qh uint32) {
	for i, x := range q {
		qh |= uint32(x>>4) << i
	}
	return qh
}
