//go:build !amd64

package kern

const useAVX2 = false

func panelDotAVX2(dst *float32, dstStride int, x *float32, xStride int, panel *uint16, k, n int) {}

func panelDot4AVX2(dst, x *float32, panels *uint16, panelStride, k int) {}

func deltaStepAVX2(out, state, q, k, v *float32, keyDim, valueDim int, keep, beta float32) {}

func mulAddAVX2(dst, a, b *float32, n int) {}
