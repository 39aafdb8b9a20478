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
	w := &weights{matrices: map[int]*mat.Matrix{}, vectors: map[int][]float32{}, tables: map[int]table{}}
	total, done := int64(0), int64(0)
	ids := p.Plan.TensorsOf(c.Range, c.Embed, c.Head)
	tensors := make(map[int]engine.Tensor, len(ids))
	for _, id := range ids {
		t, err := c.Weights.Tensor(p.Plan.Tensors[id].Name)
		if err != nil {
			return nil, err
		}
		if want := p.Plan.Tensors[id]; !model.SameShape(t.Shape, want.Shape) {
			return nil, &model.PlanError{Op: -1, Tensor: want.Name, Reason: fmt.Sprintf("the plan says %v, the file has %v", want.Shape, t.Shape)}
		}
		tensors[id] = t
		total += t.Size
	}
	for _, ops := range [][]program.Op{p.Trunk, p.Head} {
		for _, op := range ops {
			for i, id := range op.Weights {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				t := tensors[id]
				role := op.Kind.Facts().Weights[i]
				if w.has(id, role) {
					continue
				}
				name := p.Plan.Tensors[id].Name
				data, err := c.Weights.Bytes(ctx, name, 0, t.Size)
				if err != nil {
					return nil, err
				}
				if err := w.add(id, p.Plan.Tensors[id], t.Type, data, role, pl); err != nil {
					return nil, fmt.Errorf("tensor %s: %w", name, err)
				}
				if role != model.Table {
					c.Weights.Release(name)
				}
				if c.Progress != nil {
					done = min(total, done+t.Size)
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
	case model.Table:
		_, ok := w.tables[id]
		return ok
	}
	return w.vectors[id] != nil
}

// add brings one tensor in.
func (w *weights) add(id int, want model.Tensor, typ gguf.Type, data []byte, r model.Role, pl *pool.Pool) error {
	cols := want.Shape[len(want.Shape)-1]
	rows := int(want.Elements()) / cols
	switch r {
	case model.Matrix:
		m, err := mat.Pack(typ, rows, cols, data, pl)
		if err != nil {
			return err
		}
		w.matrices[id] = m
		w.bytes += m.Bytes()
	case model.Table:
		if !quant.Supported(typ) {
			return fmt.Errorf("type %v: %w", typ, mat.ErrType)
		}
		if len(data)%rows != 0 {
			return fmt.Errorf("%d bytes are not %d rows", len(data), rows)
		}
		w.tables[id] = table{typ: typ, data: data, rowBytes: len(data) / rows}
	case model.Vector:
		v := make([]float32, want.Elements())
		if err := quant.Dequantize(v, typ, data); err != nil {
			return err
		}
		w.vectors[id] = v
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
