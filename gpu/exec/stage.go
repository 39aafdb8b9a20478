package exec

import (
	"fmt"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
	"github.com/pooled/pooled/gpu/program"
)

// stage is an operation, or a part of one.
type stage struct {
	name string
	// add appends its commands for n columns from position pos.
	add func(cmds []device.Command, n, pos int) ([]device.Command, error)
}

// dispatch is a kernel bound to its buffers, compiled when it is first used: which variants a session needs depends on
// the batches it gets.
type dispatch struct {
	kernel   kernel.Kernel
	views    []device.View
	pipeline *device.Pipeline
	group    *device.Group
}

func (s *session) run(cmds []device.Command, d *dispatch, grid [3]uint32) ([]device.Command, error) {
	if d.group == nil {
		p, err := s.b.pipeline(d.kernel)
		if err != nil {
			return nil, err
		}
		g, err := s.b.dev.NewGroup(p, d.views)
		if err != nil {
			return nil, err
		}
		s.groups = append(s.groups, g)
		d.pipeline, d.group = p, g
	}
	return append(cmds, device.Command{Op: device.Dispatch, Pipeline: d.pipeline, Group: d.group, Grid: grid}), nil
}

// block compiles a list of steps, all bound to the same Step.
type block struct {
	s       *session
	now     device.View
	step    int64 // where the Step is in the inputs
	columns int   // the most columns it is run for
	values  []device.View
	ropes   []ropeTable
	stages  []stage
	groups  map[int]*groups // by route
}

// fixed adds a stage of one kernel whose grid depends on the number of columns only.
func (b *block) fixed(k kernel.Kernel, grid func(n int) [3]uint32, views ...device.View) {
	d := &dispatch{kernel: k, views: append([]device.View{b.now}, views...)}
	b.stages = append(b.stages, stage{k.Name, func(cmds []device.Command, n, _ int) ([]device.Command, error) {
		return b.s.run(cmds, d, grid(n))
	}})
}

// compile allocates the values of steps and makes their stages. The views of values that enter are left in b.values.
func (b *block) compile(steps []step, widths []int, keep ...int) error {
	slot, slotWidths := program.Slots(lifetimes(steps), widths, keep)
	views := make([]device.View, len(slotWidths))
	for i, w := range slotWidths {
		buf, err := b.s.alloc(&b.s.stateBytes, 4*int64(b.columns)*int64(w), device.Storage|device.CopyFrom|device.CopyTo)
		if err != nil {
			return err
		}
		views[i] = device.View{Buffer: buf, Size: buf.Size()}
	}
	b.values = make([]device.View, len(widths))
	for v, i := range slot {
		if i != program.None {
			b.values[v] = views[i]
		}
	}
	if b == b.s.trunk && b.s.prog.Embeds {
		b.values[0] = b.s.input(b.s.tokens, 4*int64(b.columns))
	}
	for i := range steps {
		if err := b.add(&steps[i], widths); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) add(st *step, widths []int) error {
	in := make([]device.View, len(st.In))
	for i, v := range st.In {
		in[i] = b.values[v]
	}
	y := b.values[st.Out]
	width := widths[st.In[0]]
	a := st.Attrs
	if h := st.halves; len(h) > 0 && h[0].Kind == model.ExpertLinear {
		return b.experts(st, []int{h[0].Weights[0], h[1].Weights[0]}, widths)
	}
	if len(st.halves) > 0 {
		return b.glu(st, in[0], y, widths[st.Out])
	}
	switch st.Kind {
	case model.Embed:
		return b.embed(st, in[0], y, widths[st.Out])
	case model.Linear:
		return b.linear(st, in[0], y, width)
	case model.RMSNorm, model.L2Norm:
		return b.norm(st, in, y, widths)
	case model.Slice:
		out := widths[st.Out]
		b.fixed(kernel.Slice(a.Groups, width/a.Groups, a.Offset, a.Length, out),
			func(n int) [3]uint32 { return kernel.Elements(n * out) }, in[0], y)
	case model.Rope:
		turns := b.turns(&st.Op)
		b.fixed(kernel.Rope(a.Heads, width/a.Heads, a.Rope.Dims, a.Rope.Interleaved),
			func(n int) [3]uint32 { return kernel.Elements(n * width) }, in[0], y, turns)
	case model.Attention:
		return b.attention(st, in, y)
	case model.ShortConv:
		w, err := b.s.vectorOf(st.Weights[0])
		if err != nil {
			return err
		}
		taps := b.s.prog.Plan.Layers[st.Layer].State.Conv.Taps
		b.fixed(kernel.ShortConv(width, taps, st.silu), func(int) [3]uint32 { return kernel.ShortConvGrid(width) },
			in[0], y, w, b.s.state.conv[st.Layer])
	case model.GatedDelta:
		gates, err := b.s.gates(st)
		if err != nil {
			return err
		}
		size := b.s.prog.Plan.Layers[st.Layer].State.Delta
		d := kernel.Delta{KeyHeads: a.Heads, Heads: a.KVHeads, Key: size.KeyDim, Value: size.ValueDim}
		b.fixed(d.Kernel(), func(int) [3]uint32 { return d.Grid() },
			in[0], in[1], in[2], in[3], in[4], y, gates, b.s.state.delta[st.Layer])
	case model.Route:
		b.fixed(kernel.Route(width, a.Route.Used, a.Route.Renormalize, a.Scale), func(n int) [3]uint32 { return kernel.Grid(n, 1) }, in[0], y)
	case model.ExpertLinear:
		return b.experts(st, st.Weights, widths)
	case model.Combine:
		out := widths[st.Out]
		b.fixed(kernel.Combine(widths[st.In[1]]/2, out), func(n int) [3]uint32 { return kernel.Elements(n * out) }, in[0], in[1], y)
	case model.Concat:
		second := widths[st.In[1]]
		b.fixed(kernel.Concat(width, second), func(n int) [3]uint32 { return kernel.Elements(n * (width + second)) }, in[0], in[1], y)
	default:
		if st.Kind == model.SigmoidGate && widths[st.In[1]] != width {
			b.fixed(kernel.GateRows(width), func(n int) [3]uint32 { return kernel.Elements(n * width) }, in[0], in[1], y)
			return nil
		}
		k, ok := kernel.Map(st.Kind, width, a.Scale)
		if !ok {
			return &model.PlanError{Op: -1, Reason: fmt.Sprintf("%v has no WebGPU kernel", st.Kind)}
		}
		b.fixed(k, func(n int) [3]uint32 { return kernel.Elements(n * width) }, append(in, y)...)
	}
	return nil
}

// norm adds a normalisation, with what is fused into it.
func (b *block) norm(st *step, in []device.View, y device.View, widths []int) error {
	a := st.Attrs
	n := kernel.Norm{
		Size: widths[st.In[0]] / a.Groups, Groups: a.Groups, Eps: a.Eps, Weight: st.Kind == model.RMSNorm, Gain: a.Scale,
		Add: st.total != program.None, Gate: st.gate != program.None,
	}
	if st.slice != nil {
		s := st.slice.Attrs
		n.Size = s.Groups * s.Length / a.Groups
		n.Stride, n.Offset, n.GroupStride = widths[st.In[0]], s.Offset, n.Size
		if s.Groups > 1 {
			n.GroupStride = n.Stride / s.Groups
		}
	}
	views := []device.View{in[0], y}
	if n.Weight {
		w, err := b.s.vectorOf(st.Weights[0])
		if err != nil {
			return err
		}
		views = append(views, w)
	}
	if n.Add {
		views = append(views, in[1], b.values[st.total])
	}
	if n.Gate {
		views = append(views, b.values[st.gate])
	}
	if st.rope != nil {
		n.Turn, n.Interleaved = st.rope.Attrs.Rope.Dims, st.rope.Attrs.Rope.Interleaved
		views = append(views, b.turns(st.rope))
	}
	b.fixed(n.Kernel(), n.Grid, views...)
	return nil
}

func (b *block) embed(st *step, tokens, y device.View, width int) error {
	m := b.s.matrices[key{st.Weights[0], none}]
	for _, part := range m.parts {
		l := kernel.Linear{Layout: m.layout, Blocks: m.blocks, First: part.first, Rows: part.rows, Width: m.rows}
		b.fixed(l.Embed(width, st.Attrs.Scale), l.EmbedGrid, append([]device.View{tokens, y}, part.planes...)...)
	}
	return nil
}

// fewColumns is up to how many columns the kernel for few is the faster one (measured on an H200, Q4_0 of 5,120 × 17,408).
const fewColumns = 64

func (b *block) linear(st *step, x, y device.View, width int) error {
	m := b.s.matrices[key{st.Weights[0], none}]
	if width%32 != 0 { // rows are padded with zeros to whole blocks
		padded := 32 * m.blocks
		buf, err := b.s.alloc(&b.s.stateBytes, 4*int64(b.columns)*int64(padded), device.Storage)
		if err != nil {
			return err
		}
		pad := device.View{Buffer: buf, Size: buf.Size()}
		b.fixed(kernel.Slice(1, width, 0, width, padded), func(n int) [3]uint32 { return kernel.Elements(n * padded) }, x, pad)
		x = pad
	}
	var extra []device.View
	if len(st.Weights) == 2 {
		bias, err := b.s.vectorOf(st.Weights[1])
		if err != nil {
			return err
		}
		extra = append(extra, bias)
	}
	if st.residual != program.None {
		extra = append(extra, b.values[st.residual])
	}
	for _, part := range m.parts {
		l := kernel.Linear{
			Layout: m.layout, Blocks: m.blocks, First: part.first, Rows: part.rows, Width: m.rows,
			Bias: len(st.Weights) == 2, Residual: st.residual != program.None, Lanes: kernel.Lanes(m.blocks),
		}
		views := append([]device.View{b.now, x, y}, part.planes...)
		b.product(l, append(views, extra...))
	}
	return nil
}

// fewFor chooses how many columns the kernel for few takes at a time.
func fewFor(n int) int {
	columns := 1
	for columns < min(n, 8) {
		columns *= 2
	}
	return columns
}

// variants are the kernels of an operation by a number of columns, made as they are needed.
type variants map[int]*dispatch

func (v variants) get(columns int, make func() *dispatch) *dispatch {
	d := v[columns]
	if d == nil {
		d = make()
		v[columns] = d
	}
	return d
}

// product adds a matrix product in all its variants.
func (b *block) product(l kernel.Linear, views []device.View) {
	few := variants{}
	many := &dispatch{kernel: l.Matmul(), views: views}
	hasMany := b.s.b.limits.Shared >= kernel.MatmulShared
	b.stages = append(b.stages, stage{many.kernel.Name, func(cmds []device.Command, n, _ int) ([]device.Command, error) {
		if n > b.s.b.few && hasMany {
			return b.s.run(cmds, many, l.MatmulGrid(n))
		}
		columns := fewFor(n)
		d := few.get(columns, func() *dispatch { return &dispatch{kernel: l.Matvec(columns), views: views} })
		return b.s.run(cmds, d, l.MatvecGrid(n, columns))
	}})
}

// glu adds a gated linear unit: for few columns one kernel, for many a product with both matrices and what joins its halves.
func (b *block) glu(st *step, x, y device.View, width int) error {
	m := b.s.matrices[key{st.halves[0].Weights[0], st.halves[1].Weights[0]}]
	both, err := b.s.halvesOf(4 * int64(b.columns) * int64(2*width))
	if err != nil {
		return err
	}
	join := &dispatch{kernel: kernel.GluOf(width), views: []device.View{b.now, both, y}}
	hasMany := b.s.b.limits.Shared >= kernel.MatmulShared
	type part struct {
		half  kernel.Linear
		whole kernel.Linear
		few   variants
		many  *dispatch
		views []device.View
	}
	var parts []*part
	for _, p := range m.parts {
		l := kernel.Linear{
			Layout: m.layout, Blocks: m.blocks, First: p.first, Rows: p.rows, Width: m.rows, Lanes: kernel.Lanes(m.blocks),
		}
		h := l
		h.First, h.Rows, h.Width = l.First/2, l.Rows/2, l.Width/2
		parts = append(parts, &part{
			half: h, whole: l, few: variants{}, views: append([]device.View{b.now, x, y}, p.planes...),
			many: &dispatch{kernel: l.Matmul(), views: append([]device.View{b.now, x, both}, p.planes...)},
		})
	}
	name := parts[0].half.Glu(1).Name
	b.stages = append(b.stages, stage{name, func(cmds []device.Command, n, _ int) ([]device.Command, error) {
		var err error
		for _, p := range parts {
			if n > b.s.b.few && hasMany {
				cmds, err = b.s.run(cmds, p.many, p.whole.MatmulGrid(n))
			} else {
				columns := fewFor(n)
				d := p.few.get(columns, func() *dispatch { return &dispatch{kernel: p.half.Glu(columns), views: p.views} })
				cmds, err = b.s.run(cmds, d, p.half.GluGrid(n, columns))
			}
			if err != nil {
				return nil, err
			}
		}
		if n > b.s.b.few && hasMany {
			return b.s.run(cmds, join, kernel.Elements(n*width))
		}
		return cmds, nil
	}})
	return nil
}

// splitBelow is the number of workgroups below which an attention is also cut along the context.
const splitBelow = 512

func (b *block) attention(st *step, in []device.View, y device.View) error {
	a := st.Attrs
	kv := b.s.prog.Plan.Layers[st.Layer].State.KV
	cache := b.s.state.kv[st.Layer]
	size := kernel.Attention{
		Heads: a.Heads, KVHeads: a.KVHeads, Key: kv.KeyDim, Value: kv.ValueDim, Window: a.Window, Scale: a.Scale,
	}
	shared := b.s.b.limits.Shared
	if _, ok := size.Fit(1, shared); !ok {
		return &model.PlanError{
			Block: fmt.Sprintf("layer %d", st.Layer), Op: -1, Kind: st.Kind,
			Reason: fmt.Sprintf("heads of %d and %d need more workgroup memory than the device's %d bytes", kv.KeyDim, kv.ValueDim, shared),
		}
	}
	for _, side := range []struct {
		in, cache device.View
		dim       int
	}{{in[1], cache.keys, kv.KeyDim}, {in[2], cache.values, kv.ValueDim}} {
		b.fixed(kernel.KVAppend(kv.Heads, side.dim),
			func(n int) [3]uint32 { return kernel.KVAppendGrid(kv.Heads, side.dim, n) }, side.in, side.cache)
	}
	parts, err := b.s.attentionParts(size)
	if err != nil {
		return err
	}
	type variant struct {
		rows  int
		split bool
	}
	variants := map[variant]*dispatch{}
	merge := &dispatch{kernel: size.Merge(), views: []device.View{b.now, parts, y}}
	b.stages = append(b.stages, stage{merge.kernel.Name, func(cmds []device.Command, n, pos int) ([]device.Command, error) {
		fit, _ := size.Fit(n, shared)
		grid := fit.Grid(pos, n, false)
		segments := fit.Segments(pos, n)
		split := segments > 1 && grid[0]*grid[1] < splitBelow && fit.PartBytes(n, segments) <= parts.Size
		key := variant{fit.Rows, split}
		d := variants[key]
		if d == nil {
			out := y
			if split {
				out = parts
			}
			d = &dispatch{kernel: fit.Kernel(split), views: []device.View{b.now, in[0], cache.keys, cache.values, out}}
			variants[key] = d
		}
		cmds, err := b.s.run(cmds, d, fit.Grid(pos, n, split))
		if err != nil || !split {
			return cmds, err
		}
		return b.s.run(cmds, merge, size.MergeGrid(n))
	}})
	return nil
}
