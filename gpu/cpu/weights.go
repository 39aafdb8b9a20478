package cpu

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/cpu/mat"
	"github.com/pooled/pooled/gpu/cpu/pool"
	"github.com/pooled/pooled/gpu/program"
)

// weights are the tensors of a range, by index into the plan, each in the form its operations read.
type weights struct {
	matrices map[int]*mat.Matrix
	experts  map[int][]*mat.Matrix
	vectors  map[int][]float32
	tables   map[int]table
	bytes    int64
}

// table is an embedding: rows are decoded from the file as they are looked up, so that only those that are used are
// ever read.
type table struct {
	typ      gguf.Type
	data     []byte
	rowBytes int
}

// load brings the tensors of p into memory and lets go of the file's pages.
func load(ctx context.Context, c engine.Config, p *program.Program, pl *pool.Pool) (*weights, error) {
	w := &weights{matrices: map[int]*mat.Matrix{}, experts: map[int][]*mat.Matrix{}, vectors: map[int][]float32{}, tables: map[int]table{}}
	sources, err := p.Survey(c.Weights)
	if err != nil {
		return nil, err
	}
	total, done := int64(0), int64(0)
	for _, s := range sources {
		total += s.Size
	}
	for _, ops := range p.All() {
		for _, op := range ops {
			for i, id := range op.Weights {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				s := sources[id]
				role := op.Kind.Facts().Weights[i]
				if w.has(id, role) {
					continue
				}
				data, err := c.Weights.Bytes(ctx, s.Name, 0, s.Size)
				if err != nil {
					return nil, err
				}
				if err := w.add(s, data, role, pl); err != nil {
					return nil, fmt.Errorf("tensor %s: %w", s.Name, err)
				}
				if role != model.Table {
					c.Weights.Release(s.Name)
				}
				if c.Progress != nil {
					done = min(total, done+s.Size)
					c.Progress(done, total)
				}
			}
		}
	}
	return w, nil
}

// has reports whether a tensor is there in the form of a role.
func (w *weights) has(id int, r model.Role) bool {
	switch r {
	case model.Matrix:
		return w.matrices[id] != nil
	case model.Experts:
		return w.experts[id] != nil
	case model.Table:
		_, ok := w.tables[id]
		return ok
	}
	return w.vectors[id] != nil
}

// add brings one tensor in.
func (w *weights) add(s *program.Source, data []byte, r model.Role, pl *pool.Pool) error {
	switch r {
	case model.Matrix:
		m, err := mat.Pack(s.Type, s.Rows, s.Cols, data, pl)
		if err != nil {
			return err
		}
		w.matrices[s.Index] = m
		w.bytes += m.Bytes()
	case model.Experts:
		size := len(data) / s.Experts
		for at := 0; at < len(data); at += size {
			m, err := mat.Pack(s.Type, s.Rows/s.Experts, s.Cols, data[at:at+size], pl)
			if err != nil {
				return err
			}
			w.experts[s.Index] = append(w.experts[s.Index], m)
			w.bytes += m.Bytes()
		}
	case model.Table:
		w.tables[s.Index] = table{typ: s.Type, data: data, rowBytes: s.RowBytes}
	case model.Vector:
		v := make([]float32, s.Rows*s.Cols)
		if err := quant.Dequantize(v, s.Type, data); err != nil {
			return err
		}
		w.vectors[s.Index] = v
		w.bytes += 4 * int64(len(v))
	}
	return nil
}

// row decodes a row of the embedding into dst.
func (t table) row(dst []float32, i int) {
	if err := quant.Dequantize(dst, t.typ, t.data[i*t.rowBytes:(i+1)*t.rowBytes]); err != nil {
		panic("cpu: " + err.Error()) // type and lengths were checked at load
	}
}
