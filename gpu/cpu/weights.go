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
		total += int64(len(t.Data))
	}
	for _, ops := range [][]program.Op{p.Trunk, p.Head} {
		for _, op := range ops {
			for i, id := range op.Weights {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				t := tensors[id]
				fresh, err := w.add(id, p.Plan.Tensors[id], t, roleOf(op.Kind, i), pl)
				if err != nil {
					return nil, fmt.Errorf("tensor %s: %w", p.Plan.Tensors[id].Name, err)
				}
				if fresh && roleOf(op.Kind, i) != asTable {
					c.Weights.Release(p.Plan.Tensors[id].Name)
				}
				if fresh && c.Progress != nil {
					done = min(total, done+int64(len(t.Data)))
					c.Progress(done, total)
				}
			}
		}
	}
	return w, nil
}

// role is the form in which an operation reads a tensor.
type role int

const (
	asMatrix role = iota
	asVector
	asTable
)

func roleOf(k model.Kind, weight int) role {
	switch {
	case k == model.Embed:
		return asTable
	case k == model.Linear && weight == 0:
		return asMatrix
	}
	return asVector
}

// add brings one tensor in, unless it is there in that form, and reports whether it did.
func (w *weights) add(id int, want model.Tensor, t engine.Tensor, r role, pl *pool.Pool) (bool, error) {
	cols := want.Shape[len(want.Shape)-1]
	rows := int(want.Elements()) / cols
	switch r {
	case asMatrix:
		if w.matrices[id] != nil {
			return false, nil
		}
		m, err := mat.Pack(t.Type, rows, cols, t.Data, pl)
		if err != nil {
			return false, err
		}
		w.matrices[id] = m
		w.bytes += m.Bytes()
	case asTable:
		if _, ok := w.tables[id]; ok {
			return false, nil
		}
		if !quant.Supported(t.Type) {
			return false, fmt.Errorf("type %v: %w", t.Type, mat.ErrType)
		}
		if len(t.Data)%rows != 0 {
			return false, fmt.Errorf("%d bytes are not %d rows", len(t.Data), rows)
		}
		w.tables[id] = table{typ: t.Type, data: t.Data, rowBytes: len(t.Data) / rows}
	case asVector:
		if w.vectors[id] != nil {
			return false, nil
		}
		v := make([]float32, want.Elements())
		if err := quant.Dequantize(v, t.Type, t.Data); err != nil {
			return false, err
		}
		w.vectors[id] = v
		w.bytes += 4 * int64(len(v))
	}
	return true, nil
}

// row decodes a row of the embedding into dst.
func (t table) row(dst []float32, i int) {
	if err := quant.Dequantize(dst, t.typ, t.data[i*t.rowBytes:(i+1)*t.rowBytes]); err != nil {
		panic("cpu: " + err.Error()) // type and lengths were checked at load
	}
}
