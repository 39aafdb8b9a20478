package ref

import (
	"cmp"
	"math"
	"slices"
)

// Route chooses used of the experts of each row by their scores; see model.Route. Shapes: out [n, 2·used], scores [n, experts].
func Route(out, scores []float32, experts, used int, renormalize bool, scale float64) {
	order := make([]int, experts)
	for ; len(scores) >= experts; scores, out = scores[experts:], out[2*used:] {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		among := order
		if renormalize {
			among = order[:used]
		}
		sum := 0.0
		for _, e := range among {
			sum += math.Exp(float64(scores[e]) - float64(scores[order[0]]))
		}
		for i, e := range order[:used] {
			out[i] = float32(e)
			out[used+i] = float32(scale * math.Exp(float64(scores[e])-float64(scores[order[0]])) / sum)
		}
	}
}

// ExpertLinear multiplies each row by the matrices that its route names. Shapes: out [n, used·rows], x [n, cols] or [n, used·cols],
// route [n, 2·used], w [experts, rows, cols].
func ExpertLinear(out, x, route, w []float32, used, rows, cols int) {
	n := len(route) / (2 * used)
	for t := range n {
		for i := range used {
			in := x[t*cols:]
			if len(x) != n*cols {
				in = x[(t*used+i)*cols:]
			}
			expert := w[int(route[2*used*t+i])*rows*cols:][:rows*cols]
			Linear(out[(t*used+i)*rows:][:rows], in[:cols], expert, nil, rows, cols)
		}
	}
}

// Combine adds the parts of each row up by the weights of its route. Shapes: out [n, width], x [n, used·width], route [n, 2·used].
func Combine(out, x, route []float32, used, width int) {
	for t := range len(route) / (2 * used) {
		for j := range width {
			var sum float64
			for i := range used {
				sum += float64(route[2*used*t+used+i]) * float64(x[(t*used+i)*width+j])
			}
			out[t*width+j] = float32(sum)
		}
	}
}
