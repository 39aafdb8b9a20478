package optest

import (
	"fmt"
	"math"
	"strings"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
)

// routes are choices of experts by themselves. Scores are the input, so that no rounding decides between two.
func (m *maker) routes() []Case {
	var cs []Case
	for _, r := range []struct {
		experts, used int
		renormalize   bool
		scale, input  float64
	}{
		{8, 2, true, 1, 1},
		{16, 16, false, 1, 1},
		{300, 8, true, 2.5, 4},
		{512, 10, false, 0.5, 30}, // far beyond where exp overflows
		{1, 1, true, 1, 1},
	} {
		name := fmt.Sprintf("route %d of %d", r.used, r.experts)
		if r.renormalize {
			name += " renormalized"
		}
		c := stateless(name, nil, []int{r.experts}, 2*r.used, func(o *model.Ops, in []model.Value) model.Value {
			return o.Route(in[0], model.RouteAttrs{Used: r.used, Renormalize: r.renormalize}, r.scale)
		})
		c.Input = r.input
		cs = append(cs, c)
	}
	return append(cs, stateless("route of equals", nil, []int{40}, 10, func(o *model.Ops, in []model.Value) model.Value {
		return o.Route(o.Scale(in[0], 0), model.RouteAttrs{Used: 5, Renormalize: true}, 1)
	}))
}

// experts are products and sums over chosen experts.
func (m *maker) experts() []Case {
	var cs []Case
	route := func(o *model.Ops, scores model.Value, used int) model.Value {
		return o.Route(scores, model.RouteAttrs{Used: used, Renormalize: true}, 1)
	}
	for _, e := range []struct {
		t                         gguf.Type
		experts, used, rows, cols int
		columns                   []int
	}{
		{gguf.F32, 3, 2, 5, 7, []int{1, 4, 33}},
		{gguf.F16, 8, 2, 70, 96, []int{1, 3, 40}},
		{gguf.BF16, 4, 4, 33, 32, []int{1, 40}},
		{gguf.Q4_0, 16, 4, 64, 160, []int{1, 2, 9, 70}},
		{gguf.Q8_0, 40, 8, 96, 64, []int{1, 5, 17, 70}},
		{gguf.Q4_K, 6, 2, 45, 256, []int{1, 3, 40}},
		{gguf.Q6_K, 6, 3, 32, 512, []int{1, 3, 40}},
	} {
		scale := 1 / math.Sqrt(float64(e.cols))
		name := fmt.Sprintf("%s %d of %d, %d×%d", strings.ToLower(e.t.String()), e.used, e.experts, e.rows, e.cols)
		same := stateless("expert linear "+name, weights(m.tensor(e.t, scale, e.experts, e.rows, e.cols)), []int{e.experts, e.cols}, e.used*e.rows,
			func(o *model.Ops, in []model.Value) model.Value {
				return o.ExpertLinear(in[1], route(o, in[0], e.used), "w0", e.experts, e.rows, e.cols)
			})
		parts := stateless("expert linear of parts "+name, weights(m.tensor(e.t, scale, e.experts, e.rows, e.cols)),
			[]int{e.experts, e.used * e.cols}, e.rows, func(o *model.Ops, in []model.Value) model.Value {
				r := route(o, in[0], e.used)
				return o.Combine(o.ExpertLinear(in[1], r, "w0", e.experts, e.rows, e.cols), r)
			})
		same.Columns, parts.Columns = e.columns, e.columns
		cs = append(cs, same, parts)
	}
	const experts, used, hidden, wide = 12, 3, 64, 96
	scale := 1 / math.Sqrt(float64(hidden))
	w := weights(m.tensor(gguf.Q4_0, scale, experts, wide, hidden), m.tensor(gguf.Q4_0, scale, experts, wide, hidden), m.tensor(gguf.Q8_0, scale, experts, hidden, wide))
	whole := stateless("expert network", w, []int{experts, hidden}, hidden, func(o *model.Ops, in []model.Value) model.Value {
		r := route(o, in[0], used)
		h := o.SwiGLU(o.ExpertLinear(in[1], r, "w0", experts, wide, hidden), o.ExpertLinear(in[1], r, "w1", experts, wide, hidden))
		return o.Add(in[1], o.Combine(o.ExpertLinear(h, r, "w2", experts, hidden, wide), r))
	})
	whole.Columns = []int{1, 2, 9, 70}
	gate := stateless("sigmoid gate of a number", nil, []int{77, 1}, 77, func(o *model.Ops, in []model.Value) model.Value {
		return o.SigmoidGate(in[0], in[1])
	})
	concat := stateless("concat", nil, []int{13, 50}, 63, func(o *model.Ops, in []model.Value) model.Value { return o.Concat(in[0], in[1]) })
	return append(cs, whole, gate, concat)
}
