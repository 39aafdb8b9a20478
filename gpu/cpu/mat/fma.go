//go:build !arm64

package mat

import "math"

// fma is a·b + c with one rounding to float32, the same on every processor.
//
// The product is exact in float64; the sum, rounded to odd where it is not
// exact, keeps enough bits for the second rounding to be the only one.
func fma(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
	s := p + d
	bits := math.Float64bits(s)
	// Away from the middle between two float32 (and from their subnormals) the
	// plain sum already rounds as it should.
	if bits&0x1fffffff != 0x10000000 && math.Abs(s) > 0x1p-126 {
		return float32(s)
	}
	t := s - p
	if e := (p - (s - t)) + (d - t); e != 0 && bits&1 == 0 && e == e {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}
