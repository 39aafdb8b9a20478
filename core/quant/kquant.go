package quant

// The K formats: 256 elements, in sub-blocks with quantised scales.
//
//	Q2_K  scales[16] (low nibble scale, high nibble min), qs[64], d f16, dmin f16    x = d·s·q - dmin·m, 16 × 16
//	Q3_K  hmask[32], qs[64], scales[12] (16 of 6 bits), d f16                        x = d·(s-32)·(q-4), 16 × 16
//	Q4_K  d f16, dmin f16, scales[12] (8 + 8 of 6 bits), qs[128]                     x = d·s·q - dmin·m, 8 × 32
//	Q5_K  as Q4_K with qh[32] before qs                                              the same, q of 5 bits
//	Q6_K  ql[128], qh[64], scales[16] int8, d f16                                    x = d·s·(q-32), 16 × 16
//
// Products are converted to float32 before a difference is taken, which forbids a fused multiply-add: ggml rounds twice.

const superLen = 256

func decodeQ2_K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superLen:], src[84:] {
		scales, qs, d, dmin := src[:16], src[16:80], halfAt(src[80:]), halfAt(src[82:])
		for s, sc := range scales {
			// Sub-block s: half s/8 of the block, bit pair (s/2)%4 of the bytes, 16 of the 32 bytes.
			scale, low := d*float32(sc&15), dmin*float32(sc>>4)
			bytes, shift := qs[32*(s/8)+16*(s%2):][:16], 2*(s/2%4)
			out := dst[16*s:][:16]
			for i, q := range bytes {
				out[i] = float32(scale*float32(q>>shift&3)) - low
			}
		}
	}
}

func decodeQ3_K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superLen:], src[110:] {
		hmask, qs, d := src[:32], src[32:96], halfAt(src[108:])
		scales := unpackScalesQ3(src[96:108])
		for s, sc := range scales {
			scale := d * float32(int(sc)-32)
			bytes, shift := qs[32*(s/8)+16*(s%2):][:16], 2*(s/2%4)
			high, bit := hmask[16*(s%2):][:16], s/2
			out := dst[16*s:][:16]
			for i, q := range bytes {
				// The third bit is stored inverted: without it 4 is subtracted.
				out[i] = scale * float32(int(q>>shift&3)+int(high[i]>>bit&1)<<2-4)
			}
		}
	}
}

// unpackScalesQ3 returns the 16 scales of 6 bits: low nibbles in bytes 0–7, high pairs in bytes 8–11.
func unpackScalesQ3(b []byte) (out [16]byte) {
	for s := range out {
		out[s] = b[s%8]>>(4*(s/8))&15 | b[8+s%4]>>(2*(s/4))&3<<4
	}
	return out
}

func decodeQ4_K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superLen:], src[144:] {
		d, dmin, scales, qs := halfAt(src), halfAt(src[2:]), src[4:16], src[16:144]
		for s := range 8 {
			sc, m := scaleMin(scales, s)
			scale, low := d*float32(sc), dmin*float32(m)
			bytes, shift := qs[32*(s/2):][:32], 4*(s%2)
			out := dst[32*s:][:32]
			for i, q := range bytes {
				out[i] = float32(scale*float32(q>>shift&15)) - low
			}
		}
	}
}

func decodeQ5_K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superLen:], src[176:] {
		d, dmin, scales, qh, qs := halfAt(src), halfAt(src[2:]), src[4:16], src[16:48], src[48:176]
		for s := range 8 {
			sc, m := scaleMin(scales, s)
			scale, low := d*float32(sc), dmin*float32(m)
			bytes, shift := qs[32*(s/2):][:32], 4*(s%2)
			out := dst[32*s:][:32]
			for i, q := range bytes {
				out[i] = float32(scale*float32(q>>shift&15|qh[i]>>s&1<<4)) - low
			}
		}
	}
}

// scaleMin returns scale and minimum s of 8 from the 12 packed bytes of Q4_K and Q5_K: the first four of each are the low
// six bits of bytes 0–3 and 4–7; the last four have their low nibbles in bytes 8–11 and their top bits above the first four.
func scaleMin(b []byte, s int) (scale, low byte) {
	if s < 4 {
		return b[s] & 63, b[s+4] & 63
	}
	return b[s+4]&15 | b[s-4]>>6<<4, b[s+4]>>4 | b[s]>>6<<4
}

// putScaleMin is the inverse of scaleMin, on bytes that begin as zero.
func putScaleMin(b []byte, s int, scale, low byte) {
	if s < 4 {
		b[s] |= scale
		b[s+4] |= low
		return
	}
	b[s+4] = scale&15 | low<<4
	b[s-4] |= scale >> 4 << 6
	b[s] |= low >> 4 << 6
}

func decodeQ6_K(dst []float32, src []byte) {
	for ; len(dst) > 0; dst, src = dst[superLen:], src[210:] {
		ql, qh, scales, d := src[:128], src[128:192], src[192:208], halfAt(src[208:])
		for s, sc := range scales {
			scale := d * float32(int8(sc))
			low, shift, high, pair := sixthAt(ql, qh, s)
			out := dst[16*s:][:16]
			for i, q := range low {
				out[i] = scale * float32(int(q>>shift&15|high[i]>>pair&3<<4)-32)
			}
		}
	}
}

// sixthAt locates sub-block s of 16 in a Q6_K block: 16 bytes of low nibbles and how far to shift them, and the same for
// the high pairs. Each half of the block has four rows of 32 elements: rows 0 and 1 are low nibbles, 2 and 3 high ones.
func sixthAt(ql, qh []byte, s int) (low []byte, shift int, high []byte, pair int) {
	half, row, col := s/8, s/2%4, 16*(s%2)
	return ql[64*half+32*(row%2)+col:][:16], 4 * (row / 2), qh[32*half+col:][:16], 2 * row
}
