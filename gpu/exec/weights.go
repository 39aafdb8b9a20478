package exec

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
	"github.com/pooled/pooled/gpu/program"
)

// matrix is a weight of a Linear or an Embed, quantised, in one part or several, cut by rows where a binding is too small.
type matrix struct {
	layout     kernel.Layout
	rows, cols int
	blocks     int
	parts      []matrixPart
}

type matrixPart struct {
	first, rows int
	planes      []device.View
}

// key names a matrix by the tensors it is made of: one, or two whose rows alternate.
type key struct{ first, second int }

const none = -1

// source is a tensor of the file that has passed every check.
type source struct {
	name   string
	tensor engine.Tensor
	rows   int
	cols   int
	// matrix and vector say how it is read.
	matrix, vector bool
	values         []float32 // of a vector
	layout         kernel.Layout
	// pair is the matrix that this one is joined with, second whether this is the second of the two.
	pair   *source
	second bool
	index  int // in the plan
}

// survey checks all tensors of a program before anything is allocated, and returns them by their index in the plan.
func survey(c engine.Config, p *program.Program) (map[int]*source, error) {
	sources := map[int]*source{}
	for _, ops := range [][]program.Op{p.Trunk, p.Head} {
		for _, op := range ops {
			for i, w := range op.Weights {
				s, err := surveyOne(c, p.Plan.Tensors[w], sources[w])
				if err != nil {
					return nil, err
				}
				if op.Kind.Facts().Weights[i] == model.Vector {
					s.vector = true
				} else {
					s.matrix = true
				}
				sources[w] = s
			}
		}
	}
	for w, s := range sources {
		if !s.matrix {
			continue
		}
		l, err := kernel.LayoutOf(s.tensor.Type)
		if err != nil {
			return nil, &model.PlanError{Op: -1, Tensor: p.Plan.Tensors[w].Name, Reason: err.Error()}
		}
		s.layout, s.index = l, w
	}
	return sources, nil
}

func surveyOne(c engine.Config, want model.Tensor, have *source) (*source, error) {
	if have != nil {
		return have, nil
	}
	bad := func(reason string, args ...any) error {
		return &model.PlanError{Op: -1, Tensor: want.Name, Reason: fmt.Sprintf(reason, args...)}
	}
	t, err := c.Weights.Tensor(want.Name)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", want.Name, err)
	}
	if !model.SameShape(t.Shape, want.Shape) {
		return nil, bad("the plan says %v, the file has %v", want.Shape, t.Shape)
	}
	s := &source{name: want.Name, tensor: t, rows: 1, cols: want.Shape[len(want.Shape)-1]}
	if len(want.Shape) == 2 {
		s.rows = want.Shape[0]
	}
	if !quant.Supported(t.Type) {
		return nil, bad("its type %v cannot be computed", t.Type)
	}
	row, err := t.Type.RowBytes(s.cols)
	if err != nil {
		return nil, bad("%v", err)
	}
	if t.Size != int64(row)*int64(s.rows) {
		return nil, bad("it has %d bytes, want %d rows of %d", t.Size, s.rows, row)
	}
	return s, nil
}

// read reads a small tensor as float32.
func (s *source) read(ctx context.Context, w engine.Weights) error {
	data, err := w.Bytes(ctx, s.name, 0, s.tensor.Size)
	if err != nil {
		return err
	}
	s.values = make([]float32, s.rows*s.cols)
	if err := quant.Dequantize(s.values, s.tensor.Type, data); err != nil {
		return fmt.Errorf("tensor %s: %w", s.name, err)
	}
	return nil
}

// uploadChunk is about how many bytes are read and laid out in memory at a time.
const uploadChunk = 16 << 20

func up(n, to int64) int64 { return (n + to - 1) / to * to }

// upload lays matrices out in device memory as one, piece by piece: of two of a kind, 32 rows of either in turn. done is
// called with the bytes of the file that are through.
func (s *session) upload(ctx context.Context, w engine.Weights, srcs []*source, done func(int64)) (*matrix, error) {
	src, k := srcs[0], len(srcs)
	m := &matrix{layout: src.layout, rows: k * src.rows, cols: src.cols, blocks: (src.cols + 31) / 32}
	limits := s.b.limits
	tileBytes := m.layout.Planes(32, m.blocks)
	perPart := (m.rows + 31) / 32
	sum := int64(0)
	for _, n := range tileBytes {
		sum += n
		perPart = min(perPart, int(min(limits.Binding/n, 1<<26)))
	}
	perPart = min(perPart, int(min((limits.Buffer-4096)/sum, 1<<26))) / k * k
	if perPart < 1 {
		return nil, fmt.Errorf("tensor %s: 32 rows need %d bytes, a binding of the device has %d: %w", src.name, sum, limits.Binding, engine.ErrOutOfMemory)
	}
	for first := 0; first < m.rows; first += perPart * 32 {
		part, err := s.uploadPart(ctx, w, srcs, m, first, min(perPart*32, m.rows-first), done)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", src.name, err)
		}
		m.parts = append(m.parts, part)
	}
	return m, nil
}

// uploadPart lays rows [first, first+rows) of m out.
func (s *session) uploadPart(ctx context.Context, w engine.Weights, srcs []*source, m *matrix, first, rows int, done func(int64)) (matrixPart, error) {
	part := matrixPart{first: first, rows: rows}
	at := int64(0)
	for _, n := range m.layout.Planes(rows, m.blocks) {
		part.planes = append(part.planes, device.View{Offset: at, Size: n})
		at = up(at+n, device.Align)
	}
	buf, err := s.alloc(&s.weightBytes, at, device.Storage|device.CopyTo)
	if err != nil {
		return part, err
	}
	tileBytes := m.layout.Planes(32, m.blocks)
	sum := int64(0)
	for i, n := range tileBytes {
		part.planes[i].Buffer = buf
		sum += n
	}
	k := len(srcs)
	chunk := int(max(1, uploadChunk/sum/int64(k))) * 32 * k
	dst := make([][]byte, len(tileBytes))
	for r := 0; r < rows; r += chunk {
		if err := ctx.Err(); err != nil {
			return part, err
		}
		n := min(chunk, rows-r)
		for i, size := range m.layout.Planes(n, m.blocks) {
			if int64(cap(dst[i])) < size {
				dst[i] = make([]byte, size)
			}
			dst[i] = dst[i][:size]
			if n%32 != 0 {
				clear(dst[i])
			}
		}
		for j, src := range srcs {
			row, err := src.tensor.Type.RowBytes(src.cols)
			if err != nil {
				return part, err
			}
			data, err := w.Bytes(ctx, src.name, int64((first+r)/k)*int64(row), int64(n/k)*int64(row))
			if err != nil {
				return part, err
			}
			if err := m.layout.PackInto(dst, src.tensor.Type, data, n/k, src.cols, k, j); err != nil {
				return part, err
			}
			done(int64(len(data)))
		}
		for i := range dst {
			if err := s.b.dev.Write(buf, part.planes[i].Offset+int64(r/32)*tileBytes[i], dst[i]); err != nil {
				return part, err
			}
		}
	}
	return part, nil
}

// vector uploads small weights as float32.
func (s *session) vector(v []float32) (device.View, error) {
	buf, err := s.alloc(&s.weightBytes, int64(len(v))*4, device.Storage|device.CopyTo)
	if err != nil {
		return device.View{}, err
	}
	return device.View{Buffer: buf, Size: int64(len(v)) * 4}, s.b.dev.Write(buf, 0, floatBytes(v))
}

// alloc allocates a buffer of the session and counts it.
func (s *session) alloc(count *int64, size int64, u device.Usage) (*device.Buffer, error) {
	buf, err := s.b.dev.NewBuffer(size, u)
	if err != nil {
		return nil, err
	}
	s.buffers = append(s.buffers, buf)
	*count += buf.Size()
	return buf, nil
}
