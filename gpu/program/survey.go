package program

import (
	"fmt"
	"slices"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/quant"
)

// Source is a tensor of the file that fits the plan.
type Source struct {
	engine.Tensor
	Name string
	// Index is the tensor's in the plan.
	Index int
	// Rows and Cols are its shape as a matrix, of RowBytes a row; a vector has one row. Of three dimensions the first two are
	// rows, and Experts is the first; else it is 1.
	Rows, Cols, RowBytes, Experts int
	// Roles are how the operations of the program read it.
	Roles []model.Role
}

// Reads reports whether an operation reads the tensor in one of these roles.
func (s *Source) Reads(roles ...model.Role) bool {
	return slices.ContainsFunc(roles, func(r model.Role) bool { return slices.Contains(s.Roles, r) })
}

// Survey holds every tensor that the program reads to the plan, before anything is allocated, and returns them by their
// index in the plan.
//
// Errors: [*model.PlanError] for another shape or size than the plan's and for a type that cannot be computed; those of w.
func (p *Program) Survey(w engine.Weights) (map[int]*Source, error) {
	sources := map[int]*Source{}
	for _, ops := range p.All() {
		for _, op := range ops {
			for i, id := range op.Weights {
				s := sources[id]
				if s == nil {
					var err error
					if s, err = survey(w, id, p.Plan.Tensors[id]); err != nil {
						return nil, err
					}
					sources[id] = s
				}
				if role := op.Kind.Facts().Weights[i]; !s.Reads(role) {
					s.Roles = append(s.Roles, role)
				}
			}
		}
	}
	return sources, nil
}

func survey(w engine.Weights, id int, want model.Tensor) (*Source, error) {
	bad := func(reason string, args ...any) error {
		return &model.PlanError{Op: -1, Tensor: want.Name, Reason: fmt.Sprintf(reason, args...)}
	}
	t, err := w.Tensor(want.Name)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", want.Name, err)
	}
	if !model.SameShape(t.Shape, want.Shape) {
		return nil, bad("the plan says %v, the file has %v", want.Shape, t.Shape)
	}
	s := &Source{Tensor: t, Name: want.Name, Index: id, Cols: want.Shape[len(want.Shape)-1], Experts: 1}
	if len(want.Shape) == 3 {
		s.Experts = want.Shape[0]
	}
	s.Rows = int(want.Elements()) / s.Cols
	if !quant.Supported(t.Type) {
		return nil, bad("its type %v cannot be computed", t.Type)
	}
	if s.RowBytes, err = t.Type.RowBytes(s.Cols); err != nil {
		return nil, bad("%v", err)
	}
	if t.Size != int64(s.RowBytes)*int64(s.Rows) {
		return nil, bad("it has %d bytes, want %d rows of %d", t.Size, s.Rows, s.RowBytes)
	}
	return s, nil
}
