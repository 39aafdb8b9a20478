package exec

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
)

// expertRows is how many rows an expert takes in device memory, of one matrix or of two that are joined.
func expertRows(src *source, joined int) int { return (src.Rows/src.Experts + 31) / 32 * 32 * joined }

// expertsPerPart is how many experts one part of the weights can hold.
func (s *session) expertsPerPart(src *source, joined int) int {
	limits := s.b.limits
	tiles := int64(expertRows(src, joined) / 32)
	most, sum := int64(src.Experts), int64(0)
	for _, n := range src.layout.Planes(32, (src.Cols+31)/32) {
		sum += n * tiles
		most = min(most, limits.Binding/(n*tiles))
	}
	return int(min(most, (limits.Buffer-4096)/sum))
}

// checkExperts refuses experts of which not one fits a binding, before anything is uploaded.
func (s *session) checkExperts() error {
	for _, src := range s.sources {
		if !src.experts() {
			continue
		}
		joined := 1
		if src.pair != nil {
			joined = 2
		}
		if s.expertsPerPart(src, joined) < 1 {
			return fmt.Errorf("tensor %s: an expert of %d rows of %d needs more than a binding of the device, %d bytes, or a buffer, %d: %w",
				src.Name, src.Rows/src.Experts, src.Cols, s.b.limits.Binding, s.b.limits.Buffer, engine.ErrOutOfMemory)
		}
	}
	return nil
}

// uploadExperts lays the matrices of experts out, expert after expert, each padded to whole tiles: of two of a kind, 32 rows of
// either in turn. The parts of the result count experts.
func (s *session) uploadExperts(ctx context.Context, w engine.Weights, srcs []*source, done func(int64)) (*matrix, error) {
	src, k := srcs[0], len(srcs)
	m := &matrix{layout: src.layout, rows: src.Rows / src.Experts, cols: src.Cols, blocks: (src.Cols + 31) / 32}
	perPart := s.expertsPerPart(src, k)
	for first := 0; first < src.Experts; first += perPart {
		part, err := s.uploadExpertPart(ctx, w, srcs, m, first, min(perPart, src.Experts-first), done)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", src.Name, err)
		}
		m.parts = append(m.parts, part)
	}
	return m, nil
}

// uploadExpertPart lays experts [first, first+count) out.
func (s *session) uploadExpertPart(ctx context.Context, w engine.Weights, srcs []*source, m *matrix, first, count int, done func(int64)) (matrixPart, error) {
	part := matrixPart{first: first, rows: count}
	k := len(srcs)
	sizes := m.layout.Planes(expertRows(srcs[0], k), m.blocks) // of an expert
	at := int64(0)
	for _, n := range sizes {
		part.planes = append(part.planes, device.View{Offset: at, Size: n * int64(count)})
		at = up(at+n*int64(count), device.Align)
	}
	buf, err := s.alloc(&s.weightBytes, at, device.Storage|device.CopyTo)
	if err != nil {
		return part, err
	}
	dst := make([][]byte, len(sizes))
	for i, n := range sizes {
		part.planes[i].Buffer = buf
		dst[i] = make([]byte, n)
	}
	for e := range count {
		if err := ctx.Err(); err != nil {
			return part, err
		}
		for j, src := range srcs {
			size := int64(src.RowBytes) * int64(m.rows)
			data, err := w.Bytes(ctx, src.Name, int64(first+e)*size, size)
			if err != nil {
				return part, err
			}
			if err := m.layout.PackInto(dst, src.Type, data, m.rows, src.Cols, k, j); err != nil {
				return part, err
			}
			done(size)
		}
		for i, n := range sizes {
			if err := s.b.dev.Write(buf, part.planes[i].Offset+int64(e)*n, dst[i]); err != nil {
				return part, err
			}
		}
	}
	return part, nil
}

// groups is where the pairs of a route are brought together, for passes of many columns.
type groups struct {
	pairs, tiles device.View
	stage        *dispatch
}

// groupsOf returns the groups of a route, whose stage comes with the first product that needs them.
func (b *block) groupsOf(route, experts, used int) (*groups, error) {
	if g := b.groups[route]; g != nil {
		return g, nil
	}
	g := &groups{}
	for _, v := range []struct {
		to   *device.View
		size int
	}{{&g.pairs, 4 * b.columns * used}, {&g.tiles, 16 * kernel.ExpertTiles(b.columns*used, experts)}} {
		buf, err := b.s.alloc(&b.s.stateBytes, int64(v.size), device.Storage)
		if err != nil {
			return nil, err
		}
		*v.to = device.View{Buffer: buf, Size: buf.Size()}
	}
	g.stage = &dispatch{kernel: kernel.ExpertGroups(experts, used), views: []device.View{b.now, b.values[route], g.pairs, g.tiles}}
	if b.groups == nil {
		b.groups = map[int]*groups{}
	}
	b.groups[route] = g
	b.stages = append(b.stages, stage{g.stage.kernel.Name, func(cmds []device.Command, n, _ int) ([]device.Command, error) {
		if !b.manyExperts(n, used, experts) {
			return cmds, nil
		}
		return b.s.run(cmds, g.stage, [3]uint32{1, 1, 1})
	}})
	return g, nil
}

// manyExperts reports whether n columns, which use so many experts each, are enough to bring those of an expert together: then
// most experts are used more than once.
func (b *block) manyExperts(n, used, experts int) bool {
	return n > 4 && n*used > experts && b.s.b.limits.Shared >= kernel.ExpertMatmulShared
}

// experts adds a product with the matrices that a route chooses, or of two weights a gated linear unit.
func (b *block) experts(st *step, weights []int, widths []int) error {
	x, route, out := st.In[0], st.In[1], widths[st.Out]
	used := widths[route] / 2
	src := b.s.sources[weights[0]]
	k := key{weights[0], none}
	both := len(weights) == 2
	if both {
		k.second = weights[1]
	}
	m := b.s.matrices[k]
	g, err := b.groupsOf(route, src.Experts, used)
	if err != nil {
		return err
	}
	in := b.values[x]
	if pad := 32 * m.blocks; pad != m.cols { // rows are padded with zeros to whole blocks
		times := widths[x] / m.cols
		buf, err := b.s.alloc(&b.s.stateBytes, 4*int64(b.columns)*int64(times*pad), device.Storage)
		if err != nil {
			return err
		}
		padded := device.View{Buffer: buf, Size: buf.Size()}
		b.fixed(kernel.Slice(times, m.cols, 0, pad, times*pad), func(n int) [3]uint32 { return kernel.Elements(n * times * pad) }, in, padded)
		in = padded
	}
	y, many := b.values[st.Out], b.values[st.Out]
	var join *dispatch
	if both {
		if many, err = b.s.halvesOf(4 * int64(b.columns) * int64(2*out)); err != nil {
			return err
		}
		join = &dispatch{kernel: kernel.GluOf(out), views: []device.View{b.now, many, y}}
	}
	type part struct {
		few, many *dispatch
		size      kernel.Experts
		whole     kernel.Experts
	}
	var parts []part
	for _, p := range m.parts {
		size := kernel.Experts{
			Layout: m.layout, Blocks: m.blocks, Rows: m.rows, First: p.first, Count: p.rows, All: src.Experts,
			Used: used, Shared: widths[x] == m.cols, Lanes: kernel.Lanes(m.blocks),
		}
		few, whole := size.Matvec(), size
		if both {
			few, whole.Rows = size.Glu(), 2*m.rows
		}
		planes := func(to device.View, rest ...device.View) []device.View {
			return append(append([]device.View{b.now, in, to}, p.planes...), rest...)
		}
		parts = append(parts, part{
			few: &dispatch{kernel: few, views: planes(y, b.values[route])}, size: size,
			many: &dispatch{kernel: whole.Matmul(), views: planes(many, g.tiles, g.pairs)}, whole: whole,
		})
	}
	b.stages = append(b.stages, stage{parts[0].few.kernel.Name, func(cmds []device.Command, n, _ int) ([]device.Command, error) {
		grouped := b.manyExperts(n, used, src.Experts)
		for _, p := range parts {
			d, grid := p.few, p.size.MatvecGrid(n)
			switch {
			case grouped:
				d, grid = p.many, p.whole.MatmulGrid(n)
			case both:
				grid = p.size.GluGrid(n)
			}
			var err error
			if cmds, err = b.s.run(cmds, d, grid); err != nil {
				return nil, err
			}
		}
		if grouped && both {
			return b.s.run(cmds, join, kernel.Elements(n*out))
		}
		return cmds, nil
	}})
	return nil
}

// halvesOf returns the buffer that products of two matrices are left in.
func (s *session) halvesOf(size int64) (device.View, error) {
	if s.halves == nil || s.halves.Size() < size {
		buf, err := s.alloc(&s.stateBytes, size, device.Storage)
		if err != nil {
			return device.View{}, err
		}
		s.halves = buf
	}
	return device.View{Buffer: s.halves, Size: size}, nil
}
