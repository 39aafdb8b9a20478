package model

import (
	"fmt"
	"math"
)

// checker infers the widths of one block.
type checker struct {
	plan                        *Plan
	block                       string
	widths                      Widths
	state                       *State
	embed                       bool
	usedKV, usedConv, usedDelta bool
	routes                      map[Value]route // the values that say which experts a row goes to
}

// route is what a value of Route holds.
type route struct{ experts, used int }

// op checks operation i and returns the width of the value it makes.
func (c *checker) op(i int, op *Op) (int, error) {
	bad := func(reason string, args ...any) (int, error) {
		return 0, &PlanError{Block: c.block, Op: i, Kind: op.Kind, Reason: fmt.Sprintf(reason, args...)}
	}
	if !op.Kind.Known() {
		return bad("this version does not know the kind; a newer Pooled may")
	}
	f := op.Kind.Facts()
	if len(op.In) != f.Inputs {
		return bad("has %d inputs, want %d", len(op.In), f.Inputs)
	}
	if least, most := len(f.Weights)-f.Optional, len(f.Weights); len(op.Weights) < least || len(op.Weights) > most {
		return bad("has %d weights, want %d to %d", len(op.Weights), least, most)
	}
	for _, v := range op.In {
		if v < 0 || int(v) >= len(c.widths) {
			return bad("reads value %d, which does not exist yet", v)
		}
		if c.embed && v == 0 && op.Kind != Embed {
			return bad("reads the token ids, which only Embed can")
		}
	}
	for _, w := range op.Weights {
		if w < 0 || w >= len(c.plan.Tensors) {
			return bad("names tensor %d of %d", w, len(c.plan.Tensors))
		}
	}
	a := &op.Attrs
	for _, f := range []float64{a.Eps, a.Scale, a.Rope.FreqScale} {
		if !(math.Abs(f) <= maxAttr) { // so that NaN fails
			return bad("has the attribute %v", f)
		}
	}
	w, reason := f.infer(c, op, c.widths[op.In[0]])
	if reason != "" {
		return bad("%s", reason)
	}
	if w < 1 || w > max(MaxWidth, c.plan.Vocab) {
		return bad("its result is %d wide", w)
	}
	if op.Kind == Route {
		if c.routes == nil {
			c.routes = map[Value]route{}
		}
		c.routes[Value(i+1)] = route{experts: c.widths[op.In[0]], used: a.Route.Used}
	}
	return w, nil
}

// shape returns the shape of the op's i-th weight.
func (c *checker) shape(op *Op, i int) []int { return c.plan.Tensors[op.Weights[i]].Shape }

// want returns a reason when weight i of op has another shape than the one wanted.
func (c *checker) want(op *Op, i int, shape ...int) string {
	if have := c.shape(op, i); !SameShape(have, shape) {
		return fmt.Sprintf("tensor %s has shape %v, want %v", c.plan.Tensors[op.Weights[i]].Name, have, shape)
	}
	return ""
}

func (c *checker) inferEmbed(op *Op, _ int) (int, string) {
	if !c.embed || op.In[0] != 0 {
		return 0, "may only read the token ids, in the embedding"
	}
	s := c.shape(op, 0)
	if len(s) != 2 || s[0] != c.plan.Vocab {
		return 0, fmt.Sprintf("tensor %s has shape %v, want %d rows", c.plan.Tensors[op.Weights[0]].Name, s, c.plan.Vocab)
	}
	return s[1], ""
}

// inferNorm is that of the norms, with a weight or without.
func (c *checker) inferNorm(op *Op, x int) (int, string) {
	a := &op.Attrs
	switch {
	case !divides(a.Groups, x):
		return 0, groupsReason(a.Groups, x)
	case a.Eps < 0:
		return 0, fmt.Sprintf("has the epsilon %v, want 0 or more", a.Eps)
	case len(op.Weights) == 0:
		return x, ""
	}
	return x, c.want(op, 0, x/a.Groups)
}

func (c *checker) inferLinear(op *Op, x int) (int, string) {
	s := c.shape(op, 0)
	if len(s) != 2 || s[1] != x {
		return 0, fmt.Sprintf("tensor %s has shape %v, want %d columns", c.plan.Tensors[op.Weights[0]].Name, s, x)
	}
	if len(op.Weights) == 2 {
		return s[0], c.want(op, 1, s[0])
	}
	return s[0], ""
}

// inferSame is that of what works value by value, on one input or on two.
func (c *checker) inferSame(op *Op, x int) (int, string) {
	if len(op.In) == 2 {
		if y := c.widths[op.In[1]]; x != y {
			return 0, fmt.Sprintf("its inputs are %d and %d wide, want the same", x, y)
		}
	}
	return x, ""
}

// inferGate is that of a gate, which is as wide as what it is for, or one number.
func (c *checker) inferGate(op *Op, x int) (int, string) {
	if c.widths[op.In[1]] == 1 {
		return x, ""
	}
	return c.inferSame(op, x)
}

func (c *checker) inferSlice(op *Op, x int) (int, string) {
	a := &op.Attrs
	if !divides(a.Groups, x) {
		return 0, groupsReason(a.Groups, x)
	}
	if g := x / a.Groups; a.Offset < 0 || a.Length < 1 || a.Offset > g || a.Length > g-a.Offset {
		return 0, fmt.Sprintf("takes [%d, %d+%d) of groups of %d", a.Offset, a.Offset, a.Length, g)
	}
	return a.Groups * a.Length, ""
}

func (c *checker) inferConv(op *Op, x int) (int, string) {
	if c.state == nil || c.state.Conv == nil || c.usedConv {
		return 0, "needs a convolution state of its own"
	}
	c.usedConv = true
	s := c.state.Conv
	if s.Channels != x {
		return 0, fmt.Sprintf("its input is %d wide, its state %d", x, s.Channels)
	}
	return x, c.want(op, 0, x, s.Taps)
}

func (c *checker) inferRope(op *Op, x int) (int, string) {
	a := &op.Attrs
	if !divides(a.Heads, x) {
		return 0, groupsReason(a.Heads, x)
	}
	r := &a.Rope
	if r.Dims < 2 || r.Dims%2 != 0 || r.Dims > x/a.Heads {
		return 0, fmt.Sprintf("turns %d values of heads of %d", r.Dims, x/a.Heads)
	}
	if !(r.Base > 0 && r.Base <= MaxRopeBase) || r.FreqScale <= 0 {
		return 0, fmt.Sprintf("has base %v and frequency scale %v, want both above 0 and no base beyond float32", r.Base, r.FreqScale)
	}
	if len(op.Weights) == 1 {
		return x, c.want(op, 0, r.Dims/2)
	}
	return x, ""
}

func (c *checker) inferAttention(op *Op, q int) (int, string) {
	a := &op.Attrs
	if c.state == nil || c.state.KV == nil || c.usedKV {
		return 0, "needs a KV cache of its own"
	}
	c.usedKV = true
	kv := c.state.KV
	if !divides(a.KVHeads, a.Heads) || a.KVHeads != kv.Heads {
		return 0, fmt.Sprintf("has %d query heads and %d KV heads over a cache of %d", a.Heads, a.KVHeads, kv.Heads)
	}
	if a.Window < 0 {
		return 0, fmt.Sprintf("has the window %d", a.Window)
	}
	k, v := c.widths[op.In[1]], c.widths[op.In[2]]
	if q%a.Heads != 0 || q/a.Heads != kv.KeyDim || k != kv.Heads*kv.KeyDim || v != kv.Heads*kv.ValueDim {
		return 0, fmt.Sprintf("q, k and v are %d, %d and %d wide; %d query heads and a cache of %d heads of %d and %d need others",
			q, k, v, a.Heads, kv.Heads, kv.KeyDim, kv.ValueDim)
	}
	return a.Heads * kv.ValueDim, ""
}

func (c *checker) inferDelta(op *Op, q int) (int, string) {
	a := &op.Attrs
	if c.state == nil || c.state.Delta == nil || c.usedDelta {
		return 0, "needs a delta state of its own"
	}
	c.usedDelta = true
	s := c.state.Delta
	if a.KVHeads != s.Heads || !divides(a.Heads, a.KVHeads) {
		return 0, fmt.Sprintf("has %d key heads and %d value heads over a state of %d", a.Heads, a.KVHeads, s.Heads)
	}
	k, v := c.widths[op.In[1]], c.widths[op.In[2]]
	if q%a.Heads != 0 || q/a.Heads != s.KeyDim || k != q || v != s.Heads*s.ValueDim {
		return 0, fmt.Sprintf("q, k and v are %d, %d and %d wide; %d key heads and a state of %d heads of [%d, %d] need others",
			q, k, v, a.Heads, s.Heads, s.KeyDim, s.ValueDim)
	}
	if aw, bw := c.widths[op.In[3]], c.widths[op.In[4]]; aw != s.Heads || bw != s.Heads {
		return 0, fmt.Sprintf("a and b are %d and %d wide, want %d", aw, bw, s.Heads)
	}
	if r := c.want(op, 0, s.Heads); r != "" {
		return 0, r
	}
	return v, c.want(op, 1, s.Heads)
}

func (c *checker) inferRoute(op *Op, x int) (int, string) {
	used := op.Attrs.Route.Used
	if x > MaxExperts {
		return 0, fmt.Sprintf("has %d experts, want at most %d", x, MaxExperts)
	}
	if used < 1 || used > min(x, MaxUsedExperts) {
		return 0, fmt.Sprintf("uses %d of %d experts, want 1 to %d", used, x, min(x, MaxUsedExperts))
	}
	return 2 * used, ""
}

// routed returns what the second input of op chooses, or why it chooses nothing.
func (c *checker) routed(op *Op) (route, string) {
	r, ok := c.routes[op.In[1]]
	if !ok {
		return route{}, fmt.Sprintf("takes value %d for a choice of experts, which no Route made", op.In[1])
	}
	return r, ""
}

func (c *checker) inferExpertLinear(op *Op, x int) (int, string) {
	r, reason := c.routed(op)
	if reason != "" {
		return 0, reason
	}
	s := c.shape(op, 0)
	if len(s) != 3 || s[0] != r.experts || s[2] != x && s[2]*r.used != x {
		return 0, fmt.Sprintf("tensor %s has shape %v, want %d experts and %d columns for all or for each of %d chosen",
			c.plan.Tensors[op.Weights[0]].Name, s, r.experts, x, r.used)
	}
	return r.used * s[1], ""
}

func (c *checker) inferCombine(op *Op, x int) (int, string) {
	r, reason := c.routed(op)
	if reason == "" && !divides(r.used, x) {
		reason = groupsReason(r.used, x)
	}
	if reason != "" {
		return 0, reason
	}
	return x / r.used, ""
}

func (c *checker) inferConcat(op *Op, x int) (int, string) { return x + c.widths[op.In[1]], "" }

func divides(groups, width int) bool { return groups >= 1 && width >= groups && width%groups == 0 }

func groupsReason(groups, width int) string {
	return fmt.Sprintf("%d groups do not divide a width of %d", groups, width)
}
