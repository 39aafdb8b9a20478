package modeltest_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin/modeltest"
)

// family plans a toy model; info and plan may be replaced by something that breaks a rule.
type family struct {
	info func() model.Info
	plan func(md *model.Metadata) (*model.Plan, error)
}

func (f family) Info() model.Info {
	if f.info != nil {
		return f.info()
	}
	return model.Info{Name: "toy", Architectures: []string{"toy"}, Contract: 1}
}

func (f family) Plan(_ context.Context, md *model.Metadata) (*model.Plan, error) {
	if f.plan != nil {
		return f.plan(md)
	}
	return toy(md)
}

func toy(md *model.Metadata) (*model.Plan, error) {
	if md.Architecture != "toy" {
		return nil, errors.New("not mine")
	}
	r := md.Read()
	hidden, layers := r.Int("hidden", 1, model.MaxWidth), r.Int("layers", 1, 4)
	vocab, scale := r.Rows("w", hidden), r.FloatOr("scale", 1, 1e-3, 1e3)
	r.RefuseOthers()
	if r.Err() != nil {
		return nil, r.Err()
	}
	b := model.NewBuilder("toy", "toy", hidden, vocab, 16)
	b.Embed(func(o *model.Ops, x model.Value) model.Value { return o.Embed(x, "w", scale) })
	for range layers {
		b.Layer(func(o *model.Ops, x model.Value) model.Value { return o.SiLU(x) })
	}
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "w", vocab, hidden) })
	return b.Finish(md, nil)
}

func file() modeltest.File {
	return modeltest.File{Name: "file", Metadata: &model.Metadata{
		Architecture: "toy",
		Values:       map[string]any{"general.architecture": "toy", "toy.hidden": int64(8), "toy.layers": int64(2), "toy.scale": 2.0},
		Tensors:      map[string]model.TensorInfo{"w": {Type: "F32", Shape: []int{4, 8}}},
	}}
}

func TestAcceptsGood(t *testing.T) {
	results := modeltest.Run(t.Context(), family{}, []modeltest.File{file()})
	if err := modeltest.Failed(results); err != nil {
		t.Error(err)
	}
	if len(results) != 11 {
		t.Errorf("%d requirements, want 11", len(results))
	}
}

func TestCatches(t *testing.T) {
	info := func(i model.Info) func() model.Info { return func() model.Info { return i } }
	names := []string{"a", "b"}
	for _, c := range []struct {
		name string
		f    family
		want string // requirement and reason
	}{
		{"bad name", family{info: info(model.Info{Name: "Toy!", Architectures: []string{"toy"}, Contract: 1})}, "info is complete and constant: the name"},
		{"no architecture", family{info: info(model.Info{Name: "toy", Contract: 1})}, "lists no architecture"},
		{"architecture twice", family{info: info(model.Info{Name: "toy", Architectures: []string{"toy", "toy"}, Contract: 1})}, "listed twice"},
		{"newer contract", family{info: info(model.Info{Name: "toy", Architectures: []string{"toy"}, Contract: 2})}, "written for contract 2"},
		{"restless", family{info: func() model.Info {
			names[0], names[1] = names[1], names[0]
			return model.Info{Name: names[0], Architectures: []string{"toy"}, Contract: 1}
		}}, "it changed from"},
		{"plans anything", family{plan: func(*model.Metadata) (*model.Plan, error) { return &model.Plan{}, nil }}, "an architecture that is not its own is refused: got a plan"},
		{"needs nothing", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			if md.Architecture == "toy" {
				return &model.Plan{}, nil
			}
			return nil, errors.New("no")
		}}, "a file without keys is refused: architecture toy: got a plan"},
		{"panics on strangers", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			if md.Architecture != "toy" {
				panic("who?")
			}
			return toy(md)
		}}, "is refused: model family toy: it panicked: who?"},
		{"returns nothing", family{plan: func(*model.Metadata) (*model.Plan, error) { return nil, nil }}, "neither a plan nor an error"},
		{"refuses its own", family{plan: func(*model.Metadata) (*model.Plan, error) { return nil, errors.New("no") }}, "file is planned: no"},
		{"other name", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			p, err := toy(md)
			if err == nil {
				p.Family = "x"
			}
			return p, err
		}}, `file is planned: the plan says family "x"`},
		{"random", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			p, err := toy(md)
			if err == nil {
				p.Context = 1 + rand.IntN(1<<20)
			}
			return p, err
		}}, "file gives the same plan every time, at once, too: two calls gave different plans"},
		{"writes to the metadata", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			p, err := toy(md)
			if md.Values != nil && md.Values["toy.hidden"] == int64(8) {
				md.Values = map[string]any{"toy.hidden": int64(8), "toy.layers": md.Values["toy.layers"], "n": len(md.Values)}
			}
			return p, err
		}}, "file is left unchanged"},
		{"panics on a bad key", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			if v, ok := md.Values["toy.layers"]; ok {
				_ = v.(int64)
			}
			return toy(md)
		}}, "file without a key, or with a bad one, is planned or refused: with toy.layers = NaN"},
		{"believes a tensor", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			p, err := toy(md)
			if md.Architecture == "toy" && len(md.Values) > 0 && err != nil {
				return toy(file().Metadata)
			}
			return p, err
		}}, "file without a tensor, or with a bad one, is refused: without w"},
		{"leaves a tensor out", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			for name := range md.Tensors {
				if name != "w" {
					delete(md.Tensors, name)
				}
			}
			return toy(md)
		}}, "file with a tensor that the family does not know is refused: with the tensor no_such_tensor.weight"},
		{"leaves a key out", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			delete(md.Values, "toy.logit_scale")
			return toy(md)
		}}, "file with a key that asks for other arithmetic is refused or planned in another way: toy.logit_scale = 0.0625 changes nothing"},
		{"leaves a fraction out", family{plan: func(md *model.Metadata) (*model.Plan, error) {
			delete(md.Values, "toy.scale")
			return toy(md)
		}}, "file with another fraction under any of its keys is refused or planned in another way: toy.scale = 3 gives the same plan as 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []string
			for _, r := range modeltest.Run(t.Context(), c.f, []modeltest.File{file()}) {
				if r.Err != nil {
					all = append(all, r.Name+": "+r.Err.Error())
				}
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("found\n%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMetadataFile(t *testing.T) {
	want := &model.Metadata{
		Architecture: "toy",
		Values: map[string]any{
			"general.architecture": "toy", "a": int64(-1 << 60), "b": 10000.0, "c": 1e-6, "d": 1e300, "e": true,
			"f": []int64{1, 2}, "g": []float64{0.5, 2}, "h": []bool{true, false}, "i": []string{"x", `"],"`},
		},
		Tensors: map[string]model.TensorInfo{"w": {Type: "Q4_0", Shape: []int{3, 4}}, "v": {Type: "F32", Shape: []int{1}}},
	}
	var b bytes.Buffer
	if err := modeltest.WriteMetadata(&b, want); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "toy.json"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := modeltest.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name != "toy" {
		t.Fatalf("files %v, %v; want toy", files, err)
	}
	if got := files[0].Metadata; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\nin\n%s", got, want, b.String())
	}
	for _, bad := range []string{`{`, `{"values": {"x": {}}}`, `{"values": {"x": null}}`, `{"tensors": {"x": [1]}}`, `{"tensors": {"x": ["F32", "y"]}}`} {
		if md, err := modeltest.ReadMetadata(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: got %v, want an error", bad, md)
		}
	}
}
