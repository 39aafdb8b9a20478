package model_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/model"
)

func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range model.Kinds() {
		name := k.String()
		if name == "" || strings.HasPrefix(name, "Kind(") || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		}
		seen[name] = true
	}
	if got := model.Kind(99).String(); got != "Kind(99)" {
		t.Errorf("unknown kind is called %q", got)
	}
}

func TestMemory(t *testing.T) {
	p := plan()
	all := model.LayerRange{Begin: 0, End: 2}
	kv, recurrent := p.StateBytes(all, 10)
	if want := int64(2 * 10 * 2 * (4 + 3)); kv != want {
		t.Errorf("KV cache of %d bytes, want %d", kv, want)
	}
	if want := int64(4*3*8 + 4*4*2*2); recurrent != want {
		t.Errorf("recurrent state of %d bytes, want %d", recurrent, want)
	}
	if p.Recurrent(model.LayerRange{Begin: 0, End: 1}) || !p.Recurrent(all) {
		t.Error("only layer 1 is recurrent")
	}
	names := func(r model.LayerRange, embed, head bool) (names []string) {
		for _, i := range p.TensorsOf(r, embed, head, head) {
			names = append(names, p.Tensors[i].Name)
		}
		return names
	}
	if got, want := names(model.LayerRange{Begin: 1, End: 2}, false, false), []string{"conv", "ab", "A", "dt"}; !reflect.DeepEqual(got, want) {
		t.Errorf("layer 1 needs %v, want %v", got, want)
	}
	if got, want := names(model.LayerRange{}, true, true), []string{"embed", "join"}; !reflect.DeepEqual(got, want) {
		t.Errorf("embedding, head and draft block need %v, want %v", got, want)
	}
	if got := p.Tensors[0].Elements(); got != 16*8 {
		t.Errorf("embed has %d elements, want 128", got)
	}
}

func TestReader(t *testing.T) {
	md := &model.Metadata{
		Architecture: "a",
		Values: map[string]any{
			"a.int": int64(7), "a.float": 0.5, "a.nan": math.NaN(), "a.text": "linear", "a.none": "none", "a.zero": int64(0),
			"a.bools": []bool{true, false}, "a.ints": []int64{1, 2},
		},
		Tensors: map[string]model.TensorInfo{"m": {Shape: []int{3, 4}}, "v": {Shape: []int{4}}},
	}
	r := md.Read()
	got := []any{
		r.Int("int", 1, 9), r.IntOr("absent", 5, 1, 9), r.Float("float", 0, 1), r.Float("int", 0, 9), r.FloatOr("absent", 2.5, 0, 9),
		r.String("text", ""), r.String("absent", "x"), r.Rows("m", 4),
	}
	if want := []any{7, 5, 0.5, 7.0, 2.5, "linear", "x", 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if b, ok := r.Bools("bools"); !ok || len(b) != 2 {
		t.Errorf("bools %v, %v", b, ok)
	}
	if n, ok := r.Ints("ints"); !ok || len(n) != 2 {
		t.Errorf("ints %v, %v", n, ok)
	}
	if _, ok := r.Bools("absent"); ok {
		t.Error("an absent array is present")
	}
	r.WantLen("bools", 2, 2)
	r.Refuse("absent", "none", "zero")
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name string
		read func(r *model.Reader)
		want string
	}{
		{"missing", func(r *model.Reader) { r.Int("x", 0, 1) }, "a.x: is missing"},
		{"too small", func(r *model.Reader) { r.Int("int", 8, 9) }, "a.int: is 7, want 8 to 9"},
		{"too large", func(r *model.Reader) { r.IntOr("int", 1, 1, 6) }, "a.int: is 7, want 1 to 6"},
		{"no whole number", func(r *model.Reader) { r.Int("float", 0, 1) }, "a.float: is float64, want a whole number"},
		{"no number", func(r *model.Reader) { r.Float("text", 0, 1) }, "a.text: is string, want a number"},
		{"missing number", func(r *model.Reader) { r.Float("x", 0, 1) }, "a.x: is missing"},
		{"not a number", func(r *model.Reader) { r.Float("nan", 0, 1) }, "a.nan: is NaN"},
		{"number too large", func(r *model.Reader) { r.FloatOr("float", 0, 0, 0.25) }, "a.float: is 0.5, want 0 to 0.25"},
		{"no text", func(r *model.Reader) { r.String("int", "") }, "a.int: is int64, want text"},
		{"no truth values", func(r *model.Reader) { r.Bools("ints") }, "a.ints: is []int64"},
		{"no whole numbers", func(r *model.Reader) { r.Ints("bools") }, "a.bools: is []bool"},
		{"another length", func(r *model.Reader) { r.WantLen("bools", 2, 3) }, "a.bools: has 2 elements, want 3"},
		{"no tensor", func(r *model.Reader) { r.Rows("x", 4) }, "x: the file has no such tensor"},
		{"other columns", func(r *model.Reader) { r.Rows("m", 5) }, "m: has the shape [3 4], want a matrix of 5 columns"},
		{"no matrix", func(r *model.Reader) { r.Rows("v", 4) }, "v: has the shape [4]"},
		{"refused number", func(r *model.Reader) { r.Refuse("zero", "int") }, "a.int: is 7: not supported"},
		{"refused list", func(r *model.Reader) { r.Refuse("bools") }, "a.bools: is present: not supported"},
		{"refused text", func(r *model.Reader) { r.Refuse("none", "text") }, "a.text: is linear: not supported"},
		{"first error", func(r *model.Reader) { r.Int("x", 0, 1); r.Int("y", 0, 1); r.Unsupported("z", "") }, "a.x: is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := md.Read()
			c.read(r)
			var e *model.MetadataError
			if !errors.As(r.Err(), &e) || !strings.HasPrefix(e.Error(), c.want) {
				t.Errorf("got %v, want %s", r.Err(), c.want)
			}
			if e != nil && errors.Is(e, model.ErrUnsupported) != strings.Contains(c.want, "not supported") {
				t.Errorf("%v: wraps ErrUnsupported: %v", e, errors.Is(e, model.ErrUnsupported))
			}
		})
	}
}

func TestFinish(t *testing.T) {
	build := func(edit func(*model.Metadata), skip func(string) bool) error {
		b := model.NewBuilder("test", "test", 8, 16, 32)
		b.Embed(func(o *model.Ops, tokens model.Value) model.Value { return o.Embed(tokens, "embed", 1) })
		md := &model.Metadata{Tensors: map[string]model.TensorInfo{"embed": {Shape: []int{16, 8}}}}
		edit(md)
		_, err := b.Finish(md, skip)
		return err
	}
	extra := func(md *model.Metadata) { md.Tensors["extra"] = model.TensorInfo{Shape: []int{1}} }
	if err := build(func(*model.Metadata) {}, nil); err != nil {
		t.Error(err)
	}
	if err := build(extra, nil); !errors.Is(err, model.ErrUnsupported) || !strings.Contains(err.Error(), "extra: family test has no use") {
		t.Errorf("a tensor without a use: %v", err)
	}
	if err := build(extra, func(name string) bool { return name == "extra" }); err != nil {
		t.Errorf("a tensor that is skipped: %v", err)
	}
	var missing *model.PlanError
	if err := build(func(md *model.Metadata) { delete(md.Tensors, "embed") }, nil); !errors.As(err, &missing) || missing.Tensor != "embed" {
		t.Errorf("a missing tensor: %v", err)
	}
}

// fake is a family that makes whatever it is told.
type fake struct {
	make func() (*model.Plan, error)
}

func (fake) Info() model.Info {
	return model.Info{Name: "test", Architectures: []string{"test"}, Contract: model.ContractVersion}
}

func (f fake) Plan(context.Context, *model.Metadata) (*model.Plan, error) { return f.make() }

func TestChecked(t *testing.T) {
	refusal := errors.New("not today")
	for _, c := range []struct {
		name  string
		make  func() (*model.Plan, error)
		want  string // in the error
		fault bool
	}{
		{"good", func() (*model.Plan, error) { return plan(), nil }, "", false},
		{"refusal", func() (*model.Plan, error) { return nil, refusal }, "not today", false},
		{"panic", func() (*model.Plan, error) { panic("oh") }, "model family test: it panicked: oh", true},
		{"nothing", func() (*model.Plan, error) { return nil, nil }, "neither a plan nor an error", true},
		{"lie", func() (*model.Plan, error) { p := plan(); p.Hidden = 9; return p, nil }, "its result is 8 wide, want 9", true},
		{"another file", func() (*model.Plan, error) { p := plan(); p.Tensors[0].Name = "x"; return p, nil }, "tensor x: the file has no such tensor", true},
		{"another name", func() (*model.Plan, error) { p := plan(); p.Family = "x"; return p, nil }, `says family "x"`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := model.Families{fake{c.make}}.Family(t.Context(), "test")
			if err != nil {
				t.Fatal(err)
			}
			p, err := f.Plan(t.Context(), file(plan()))
			if c.want == "" {
				if err != nil || p == nil {
					t.Fatalf("got %v, %v; want a plan", p, err)
				}
				return
			}
			if err == nil || p != nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, model.ErrFault) != c.fault {
				t.Errorf("got %v, %v; want %q, a fault: %v", p, err, c.want, c.fault)
			}
		})
	}
	if _, err := (model.Families{fake{}}).Family(t.Context(), "other"); !errors.Is(err, model.ErrNoFamily) {
		t.Errorf("got %v, want ErrNoFamily", err)
	}
}
