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
	*program.Source
	values []float32     // of a vector
	layout kernel.Layout // of a matrix
	// pair is the matrix that this one is joined with, second whether this is the second of the two.
	pair   *source
	second bool
}

// vector and matrix report how a tensor is read; it may be both.
func (s *source) vector() bool { return s.Reads(model.Vector) }
func (s *source) matrix() bool { return s.Reads(model.Matrix, model.Table, model.Experts) }

// experts reports whether a tensor holds the matrices of experts.
func (s *source) experts() bool { return s.Reads(model.Experts) }

// survey checks all tensors of a program before anything is allocated, and returns them by their index in the plan.
func survey(c engine.Config, p *program.Program) (map[int]*source, error) {
	checked, err := p.Survey(c.Weights)
	if err != nil {
		return nil, err
	}
	sources := map[int]*source{}
	for w, s := range checked {
		sources[w] = &source{Source: s}
		if !sources[w].matrix() {
			continue
		}
		if sources[w].layout, err = kernel.LayoutOf(s.Type); err != nil {
			return nil, &model.PlanError{Op: -1, Tensor: s.Name, Reason: err.Error()}
		}
	}
	return sources, nil
}

// read reads a small tensor as float32.
func (s *source) read(ctx context.Context, w engine.Weights) error {
	data, err := w.Bytes(ctx, s.Name, 0, s.Size)
	if err != nil {
		return err
	}
	s.values = make([]float32, s.Rows*s.Cols)
	if err := quant.Dequantize(s.values, s.Type, data); err != nil {
		return fmt.Errorf("tensor %s: %w", s.Name, err)
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
	m := &matrix{layout: src.layout, rows: k * src.Rows, cols: src.Cols, blocks: (src.Cols + 31) / 32}
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
		return nil, fmt.Errorf("tensor %s: 32 rows need %d bytes, a binding of the device has %d: %w", src.Name, sum, limits.Binding, engine.ErrOutOfMemory)
	}
	for first := 0; first < m.rows; first += perPart * 32 {
		part, err := s.uploadPart(ctx, w, srcs, m, first, min(perPart*32, m.rows-first), done)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", src.Name, err)
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
			row := int64(src.RowBytes)
			data, err := w.Bytes(ctx, src.Name, int64((first+r)/k)*row, int64(n/k)*row)
			if err != nil {
				return part, err
			}
			if err := m.layout.PackInto(dst, src.Type, data, n/k, src.Cols, k, j); err != nil {
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
