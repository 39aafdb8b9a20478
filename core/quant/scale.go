package quant

import "math"

// extreme returns the element of largest magnitude, with its sign.
func extreme(src []float32) (x float32) {
	most := float32(0)
	for _, v := range src {
		if a := abs(v); a > most {
			most, x = a, v
		}
	}
	return x
}

func bounds(src []float32) (lo, hi float32) {
	lo, hi = src[0], src[0]
	for _, v := range src {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// reciprocal returns 1/d, or 0 for a zero scale, whose elements are all zero.
func reciprocal(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

// clampInt truncates x towards zero and holds it between lo and hi; a NaN becomes lo.
func clampInt(x float32, lo, hi int) int {
	switch {
	case x >= float32(hi):
		return hi
	case x >= float32(lo):
		return int(x)
	}
	return lo
}

// roundAway rounds half away from zero and holds the result to an int8.
func roundAway(x float32) int {
	return clampInt(float32(math.Round(float64(x))), -127, 127)
}

// nearest rounds half to even and holds the result between lo and hi.
func nearest(x float32, lo, hi int) int {
	return clampInt(float32(math.RoundToEven(float64(x))), lo, hi)
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
