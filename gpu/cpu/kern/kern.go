// Package kern holds the inner loops of the CPU backend that are not products of weights: attention over a float16
// cache, the gated delta rule and the short convolution.
//
// Each has a portable form and one for processors with AVX2, FMA and F16C. Lanes are outputs, so that every output is
// one chain of multiply-adds in a fixed order: its bits do not depend on how many columns are computed together.
package kern

import "github.com/pooled/pooled/core/quant"

// Lanes is the number of outputs that a panel holds side by side.
const Lanes = 16

// PanelDot adds Σ_k x[c, k] · panel[p][k, lane] to dst[c, 16·p + lane], for n columns and count panels of 16 lanes.
// Shapes: dst [n, 16·count] with dstStride values from row to row, x [n, k] with xStride, and from panelStride to
// panelStride a panel [k, 16] of float16.
func PanelDot(dst []float32, dstStride int, x []float32, xStride int, panels []uint16, panelStride, count, k, n int) {
	if k == 0 || n == 0 || count == 0 {
		return
	}
	// Touch the last element of each, so that the assembly below stays within the slices.
	_, _, _ = dst[(n-1)*dstStride+count*Lanes-1], x[(n-1)*xStride+k-1], panels[(count-1)*panelStride+k*Lanes-1]
	if !useAVX2 {
		for p := range count {
			panelDot(dst[p*Lanes:], dstStride, x, xStride, panels[p*panelStride:], k, n)
		}
		return
	}
	whole := n &^ 3
	if whole > 0 {
		for p := range count {
			panelDotAVX2(&dst[p*Lanes], dstStride, &x[0], xStride, &panels[p*panelStride], k, whole)
		}
	}
	for c := whole; c < n; c++ {
		p := 0
		for ; p+4 <= count; p += 4 {
			panelDot4AVX2(&dst[c*dstStride+p*Lanes], &x[c*xStride], &panels[p*panelStride], panelStride, k)
		}
		for ; p < count; p++ {
			panelDotAVX2(&dst[c*dstStride+p*Lanes], dstStride, &x[c*xStride], xStride, &panels[p*panelStride], k, 1)
		}
	}
}

func panelDot(dst []float32, dstStride int, x []float32, xStride int, panel []uint16, k, n int) {
	for c := range n {
		d := dst[c*dstStride:][:Lanes]
		for j := range k {
			v := x[c*xStride+j]
			for lane, w := range panel[j*Lanes:][:Lanes] {
				d[lane] += v * quant.HalfToFloat(w)
			}
		}
	}
}

// DeltaStep runs one token of the gated delta rule on one head: S ← keep·S, u = beta·(v − Sᵀk), S ← S + k uᵀ, out = Sᵀq.
// Shapes: state [len(k), len(v)], q like k, out like v.
func DeltaStep(out, state, q, k, v []float32, keep, beta float32) {
	kd, vd := len(k), len(v)
	_, _, _ = state[kd*vd-1], q[kd-1], out[vd-1]
	if useAVX2 && vd%8 == 0 {
		deltaStepAVX2(&out[0], &state[0], &q[0], &k[0], &v[0], kd, vd, keep, beta)
		return
	}
	for i := range vd {
		var u, o float32
		for j, kj := range k {
			u += state[j*vd+i] * kj
		}
		u = beta * (v[i] - keep*u)
		for j, kj := range k {
			s := keep*state[j*vd+i] + kj*u
			state[j*vd+i] = s
			o += q[j] * s
		}
		out[i] = o
	}
}

// MulAdd does dst[i] += a[i] · b[i].
func MulAdd(dst, a, b []float32) {
	n := len(dst)
	a, b = a[:n], b[:n]
	i := 0
	if useAVX2 && n >= 8 {
		i = n &^ 7
		mulAddAVX2(&dst[0], &a[0], &b[0], i)
	}
	for ; i < n; i++ {
		dst[i] += a[i] * b[i]
	}
}
