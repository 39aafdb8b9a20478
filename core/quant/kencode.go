package quant

// Encoders of the K formats. Each sub-block's scale is searched over a few candidates for the least squared error, weighted
// by magnitude as in ggml, then the scales themselves are rounded and the codes computed again against what is stored.

func encodeQ4_K(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[144:], src[superLen:] {
		clear(dst[:144])
		q := affine(dst[:16], src[:superLen], 15)
		for i, x := range q {
			dst[16+32*(i/64)+i%32] |= x << (4 * (i / 32 % 2))
		}
	}
}

func encodeQ5_K(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[176:], src[superLen:] {
		clear(dst[:176])
		q := affine(dst[:16], src[:superLen], 31)
		for i, x := range q {
			dst[16+i%32] |= x >> 4 << (i / 32)
			dst[48+32*(i/64)+i%32] |= x & 15 << (4 * (i / 32 % 2))
		}
	}
}

// affine writes the common head of Q4_K and Q5_K (d, dmin, packed scales) and returns the codes.
func affine(head []byte, src []float32, top int) (q [superLen]byte) {
	var scales, lows [8]float32
	for s := range scales {
		scales[s], lows[s] = fitAffine(src[32*s:][:32], top)
	}
	_, maxScale := bounds(scales[:])
	_, maxLow := bounds(lows[:])
	d, dmin := putHalf(head, maxScale/63), putHalf(head[2:], maxLow/63)
	invD, invMin := reciprocal(d), reciprocal(dmin)
	for s := range scales {
		sc, m := nearest(scales[s]*invD, 0, 63), nearest(lows[s]*invMin, 0, 63)
		putScaleMin(head[4:16], s, byte(sc), byte(m))
		scale, low := d*float32(sc), dmin*float32(m)
		inv := reciprocal(scale)
		for i, x := range src[32*s:][:32] {
			q[32*s+i] = byte(nearest((x+low)*inv, 0, top))
		}
	}
	return q
}

// fitAffine returns scale and low (both ≥ 0) so that scale·q - low, q in 0..top, is close to the values.
func fitAffine(x []float32, top int) (scale, low float32) {
	lo, hi := bounds(x)
	lo = min(lo, 0)
	if hi <= lo {
		return 0, -lo
	}
	weights := make([]float32, len(x))
	sum := float32(0)
	for _, v := range x {
		sum += v * v
	}
	base := sqrt(sum / float32(len(x)))
	for i, v := range x {
		weights[i] = base + abs(v)
	}
	scale, low = (hi-lo)/float32(top), -lo
	best := affineError(x, weights, scale, low, top)
	for step := -10; step <= 10; step++ {
		inv := (float32(top) + 0.1*float32(step)) / (hi - lo)
		s, l, ok := solveAffine(x, weights, lo, inv, top)
		if !ok {
			continue
		}
		if e := affineError(x, weights, s, l, top); e < best {
			best, scale, low = e, s, l
		}
	}
	return scale, low
}

// solveAffine gives the least-squares scale and low for the codes that lo and inv produce.
func solveAffine(x, w []float32, lo, inv float32, top int) (scale, low float32, ok bool) {
	var sw, sl, sl2, sx, sxl float32
	for i, v := range x {
		l := float32(nearest((v-lo)*inv, 0, top))
		sw += w[i]
		sl += w[i] * l
		sl2 += w[i] * l * l
		sx += w[i] * v
		sxl += w[i] * v * l
	}
	det := sw*sl2 - sl*sl
	if det <= 0 {
		return 0, 0, false
	}
	scale, low = (sw*sxl-sx*sl)/det, -(sl2*sx-sl*sxl)/det
	if low < 0 {
		scale, low = sxl/sl2, 0
	}
	return scale, low, scale > 0
}

func affineError(x, w []float32, scale, low float32, top int) (sum float32) {
	inv := reciprocal(scale)
	for i, v := range x {
		diff := scale*float32(nearest((v+low)*inv, 0, top)) - low - v
		sum += w[i] * diff * diff
	}
	return sum
}

func encodeQ6_K(dst []byte, src []float32) {
	for ; len(src) > 0; dst, src = dst[210:], src[superLen:] {
		clear(dst[:210])
		ql, qh, scales := dst[:128], dst[128:192], dst[192:208]
		var fits [16]float32
		for s := range fits {
			fits[s] = fitSymmetric(src[16*s:][:16], 32)
		}
		d := putHalf(dst[208:], extreme(fits[:])/-128)
		inv := reciprocal(d)
		for s, fit := range fits {
			sc := nearest(fit*inv, -128, 127)
			scales[s] = byte(int8(sc))
			step := reciprocal(d * float32(sc))
			low, shift, high, pair := sixthAt(ql, qh, s)
			for i, x := range src[16*s:][:16] {
				q := byte(nearest(x*step, -32, 31) + 32)
				low[i] |= q & 15 << shift
				high[i] |= q >> 4 << pair
			}
		}
	}
}

// fitSymmetric returns a scale so that scale·q, q in -n..n-1, is close to the values, weighted by their squares.
func fitSymmetric(x []float32, n int) float32 {
	most := extreme(x)
	if most == 0 {
		return 0
	}
	best, scale := float32(-1), float32(0)
	for step := -9; step <= 9; step++ {
		inv := -(float32(n) + 0.1*float32(step)) / most
		var sxl, sl2 float32
		for _, v := range x {
			l := float32(nearest(v*inv, -n, n-1))
			w := v * v
			sxl += w * v * l
			sl2 += w * l * l
		}
		// The error that is left falls as sxl²/sl2 grows.
		if sl2 > 0 && sxl*sxl/sl2 > best {
			best, scale = sxl*sxl/sl2, sxl/sl2
		}
	}
	return scale
}
