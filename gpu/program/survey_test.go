package program_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/program"
)

// described is weights of which nothing but the description is there.
type described map[string]engine.Tensor

func (described) ID() (engine.ID, error) { return engine.ID{}, nil }

func (d described) Tensor(name string) (engine.Tensor, error) {
	t, ok := d[name]
	if !ok {
		return t, gguf.ErrNoTensor
	}
	return t, nil
}

func (described) Bytes(context.Context, string, int64, int64) ([]byte, error) { return nil, nil }
func (described) Release(string)                                              {}

func TestSurvey(t *testing.T) {
	p, err := program.Build(config(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	whole := func() described {
		d := described{}
		for _, w := range p.Plan.Tensors {
			d[w.Name] = engine.Tensor{Type: gguf.F32, Shape: w.Shape, Size: 4 * int64(w.Elements())}
		}
		return d
	}
	got, err := p.Survey(whole())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]*program.Source{}
	for i, s := range got {
		if s.Index != i || s.Name != p.Plan.Tensors[i].Name {
			t.Errorf("source %d is number %d, %s", i, s.Index, s.Name)
		}
		names[s.Name] = s
	}
	if len(names) != 5 || names["unused"] != nil || names["embed"] != nil {
		t.Errorf("read are %v, want what the range reads", names)
	}
	if s := names["down1"]; s.Rows != 8 || s.Cols != 24 || s.RowBytes != 96 || !s.Reads(model.Matrix) || s.Reads(model.Vector) {
		t.Errorf("down1: %+v", s)
	}
	if s := names["norm1"]; s.Rows != 1 || s.Cols != 8 || !s.Reads(model.Vector) {
		t.Errorf("norm1: %+v", s)
	}
	for _, c := range []struct {
		name   string
		change func(described)
	}{
		{"another shape", func(d described) { d["up1"] = engine.Tensor{Type: gguf.F32, Shape: []int{8, 24}, Size: 768} }},
		{"too few bytes", func(d described) { d["up1"] = engine.Tensor{Type: gguf.F32, Shape: []int{24, 8}, Size: 764} }},
		{"rows of no whole blocks", func(d described) { d["up1"] = engine.Tensor{Type: gguf.Q4_0, Shape: []int{24, 8}, Size: 108} }},
		{"a type that is not computed", func(d described) { d["up1"] = engine.Tensor{Type: gguf.Type(200), Shape: []int{24, 8}, Size: 768} }},
	} {
		d := whole()
		c.change(d)
		var bad *model.PlanError
		if _, err := p.Survey(d); !errors.As(err, &bad) || bad.Tensor != "up1" {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	missing := whole()
	delete(missing, "up1")
	if _, err := p.Survey(missing); !errors.Is(err, gguf.ErrNoTensor) {
		t.Errorf("a missing tensor: got %v", err)
	}
}
