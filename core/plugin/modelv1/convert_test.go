package modelv1

import (
	"context"
	"errors"
	"math"
	"net"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/pooled/pooled/core/model"
)

// sample is a plan with every field of the contract in use.
func sample() *model.Plan {
	b := model.NewBuilder("sample", "toy", 8, 16, 32)
	b.Embed(func(o *model.Ops, tokens model.Value) model.Value { return o.Embed(tokens, "embed", 2) })
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		h := o.RMSNorm(x, "norm", 8, 1, 1e-6)
		q := o.Rope(o.Linear(h, "q", 16, 8), 4, model.RopeAttrs{Dims: 4, Base: 1e4, FreqScale: 0.5, Interleaved: true}, "factors")
		k, v := o.LinearBias(h, "k", "k.bias", 8, 8), o.Linear(h, "v", 6, 8)
		a := o.Attention(q, k, v, model.AttentionShape{Heads: 4, KVHeads: 2, KeyDim: 4, ValueDim: 3, Scale: 0.5, Window: 7})
		return o.Add(x, o.Linear(a, "out", 8, 12))
	})
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		c := o.ShortConv(x, "conv", 8, 4)
		q := o.L2Norm(o.Slice(c, 2, 1, 2), 2, 1e-6, 1)
		ab := o.Linear(x, "ab", 4, 8)
		return o.GatedDelta(q, o.Slice(c, 1, 4, 4), c, ab, ab, "A", "dt", 2, 4, 2, 2)
	})
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		r := o.Route(o.Linear(x, "router", 5, 8), model.RouteAttrs{Used: 2, Renormalize: true}, 2.5)
		return o.Combine(o.ExpertLinear(x, r, "experts", 5, 8, 8), r)
	})
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "embed", 16, 8) })
	b.Draft(0, func(o *model.Ops, e, h model.Value) model.Value {
		x := o.Linear(o.Concat(e, h), "join", 8, 16)
		return o.Linear(o.Attention(x, x, x, model.AttentionShape{Heads: 2, KVHeads: 2, KeyDim: 4, ValueDim: 4, Scale: 0.5}), "out2", 8, 8)
	}, func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "embed", 16, 8) })
	return b.Plan()
}

func file() *model.Metadata {
	md := &model.Metadata{
		Architecture: "toy",
		Values: map[string]any{
			"int": int64(math.MinInt64), "float": 0.1, "bool": true, "text": "x",
			"ints": []int64{1, -2}, "floats": []float64{0.5, math.Inf(1)}, "bools": []bool{true, false}, "texts": []string{"a", ""},
		},
		Tensors: map[string]model.TensorInfo{"experts": {Type: "Q4_0", Shape: []int{2, 3, 4}}},
	}
	return md
}

// fake is a family that makes whatever it is told.
type fake struct {
	info model.Info
	make func(*model.Metadata) (*model.Plan, error)
}

func (f fake) Info() model.Info { return f.info }

func (f fake) Plan(_ context.Context, md *model.Metadata) (*model.Plan, error) { return f.make(md) }

var info = model.Info{Name: "sample", Architectures: []string{"toy", "toy2"}, Contract: 1}

// connect serves f in this process and returns the client's end.
func connect(t *testing.T, f model.Family) *grpc.ClientConn {
	t.Helper()
	l := bufconn.Listen(1 << 16)
	s := grpc.NewServer()
	Register(s, f)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient("passthrough:///pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestRoundTrip(t *testing.T) {
	var got *model.Metadata
	c, err := NewClient(t.Context(), connect(t, fake{info, func(md *model.Metadata) (*model.Plan, error) {
		got = md
		return sample(), nil
	}}))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Info(), info) {
		t.Errorf("info %v, want %v", c.Info(), info)
	}
	p, err := c.Plan(t.Context(), file())
	if err != nil {
		t.Fatal(err)
	}
	if want := sample(); !reflect.DeepEqual(p, want) {
		t.Errorf("plan\ngot  %+v\nwant %+v", p, want)
	}
	if _, err := p.Check(); err != nil {
		t.Error(err)
	}
	if want := file(); !reflect.DeepEqual(got, want) {
		t.Errorf("metadata\ngot  %+v\nwant %+v", got, want)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		want        string
		typed       bool // a MetadataError
		unsupported bool
	}{
		{"metadata", &model.MetadataError{Name: "toy.x", Reason: "is missing"}, "toy.x: is missing", true, false},
		{"unsupported", &model.MetadataError{Name: "toy.x", Reason: "is 8", Unsupported: true}, "toy.x: is 8: not supported", true, true},
		{"unsupported in words", errors.Join(errors.New("experts"), model.ErrUnsupported), "experts�not supported: not supported", false, true},
		{"words", errors.New("no \x1b[31mway"), "no �[31mway", false, false},
		{"plan", &model.PlanError{Op: -1, Tensor: "w", Reason: "is gone"}, "plan, tensor w: is gone", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := NewClient(t.Context(), connect(t, fake{info, func(*model.Metadata) (*model.Plan, error) { return nil, c.err }}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Plan(t.Context(), file())
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			_, typed := errors.AsType[*model.MetadataError](err)
			if typed != c.typed || errors.Is(err, model.ErrUnsupported) != c.unsupported || errors.Is(err, model.ErrFault) {
				t.Errorf("%v: a MetadataError: %v, unsupported: %v, a fault: %v", err, typed, errors.Is(err, model.ErrUnsupported), errors.Is(err, model.ErrFault))
			}
		})
	}
}

func TestInfoChecked(t *testing.T) {
	for name, i := range map[string]model.Info{
		"no name":           {Architectures: []string{"toy"}},
		"no architecture":   {Name: "x"},
		"empty one":         {Name: "x", Architectures: []string{""}},
		"escape sequence":   {Name: "x\x1b", Architectures: []string{"toy"}},
		"long name":         {Name: strings.Repeat("x", 65), Architectures: []string{"toy"}},
		"too many":          {Name: "x", Architectures: make([]string, 65)},
		"long architecture": {Name: "x", Architectures: []string{strings.Repeat("y", 1000)}},
	} {
		if _, err := NewClient(t.Context(), connect(t, fake{info: i})); !errors.Is(err, model.ErrFault) {
			t.Errorf("%s: got %v, want ErrFault", name, err)
		}
	}
}

func TestLargeMetadata(t *testing.T) {
	c, err := NewClient(t.Context(), connect(t, fake{info: info}))
	if err != nil {
		t.Fatal(err)
	}
	md := file()
	md.Values["text"] = strings.Repeat("x", MaxMessage)
	if _, err := c.Plan(t.Context(), md); err == nil || !strings.Contains(err.Error(), "a plugin gets at most 2097152") {
		t.Errorf("got %v, want that it is too large", err)
	}
	md.Values["text"] = 'x'
	if _, err := c.Plan(t.Context(), md); err == nil || !strings.Contains(err.Error(), "text: has the type int32") {
		t.Errorf("got %v, want that the value has no such type", err)
	}
}

func TestDecodePlanRejects(t *testing.T) {
	for _, c := range []struct {
		name string
		lie  func(p *Plan)
		want string
	}{
		{"huge number", func(p *Plan) { p.Hidden = 1 << 40 }, "plan: has the number 1099511627776"},
		{"huge shape", func(p *Plan) { p.Tensors[0].Shape[0] = math.MinInt64 }, "plan: has the number -9223372036854775808"},
		{"many layers", func(p *Plan) { p.Layers = make([]*Layer, model.MaxLayers+1) }, "plan: has 1025 layers, want at most 1024"},
		{"many tensors", func(p *Plan) { p.Tensors = make([]*Tensor, model.MaxTensors+1) }, "plan: has 65537 tensors"},
		{"many operations", func(p *Plan) { p.Layers[1].Block.Ops = make([]*Op, model.MaxOps+1) }, "layer 1: has 1025 operations"},
		{"many dimensions", func(p *Plan) { p.Tensors[0].Shape = make([]int64, 9) }, "has 9 dimensions"},
		{"many inputs", func(p *Plan) { p.Layers[0].Block.Ops[1].Inputs = make([]int64, 9) }, "layer 0, op 1 (Linear): has 9 inputs"},
		{"many weights", func(p *Plan) { p.Head.Ops[0].Weights = make([]int64, 9) }, "head, op 0 (Linear): has 9 weights"},
		{"kind that wraps", func(p *Plan) { p.Embed.Ops[0].Kind = 256 + 1 }, "embed: operation 0 is of kind 257"},
		{"negative kind", func(p *Plan) { p.Embed.Ops[0].Kind = -1 }, "embed: operation 0 is of kind -1"},
		{"no kind", func(p *Plan) { p.Embed.Ops[0].Kind = 0 }, "embed: operation 0 is of kind 0"},
		{"escape sequence", func(p *Plan) { p.Tensors[0].Name = "\x1b[2J" }, `plan: has the name "\x1b[2J"`},
		{"long name", func(p *Plan) { p.Family = strings.Repeat("x", maxName+1) }, "plan: has the name"},
		{"huge state", func(p *Plan) { p.Layers[0].Kv.Heads = 1 << 40 }, "has the number"},
		{"huge result", func(p *Plan) { p.Head.Out = 1 << 40 }, "head: has the number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := encodePlan(sample())
			c.lie(w)
			p, err := decodePlan(w)
			if err == nil || p != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := decodePlan(&Plan{}); err != nil {
		t.Errorf("an empty message: %v; want an empty plan, which Check refuses", err)
	}
}

// TestKindNumbers keeps the numbers on the wire equal to those of the contract.
func TestKindNumbers(t *testing.T) {
	squash := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	if got, want := len(Kind_name), len(model.Kinds())+1; got != want {
		t.Errorf("%d kinds on the wire, want %d", got, want)
	}
	for _, k := range model.Kinds() {
		if got, want := squash(Kind_name[int32(k)]), "kind"+squash(k.String()); got != want {
			t.Errorf("kind %d is %s on the wire, want %s", k, got, want)
		}
	}
}

// FuzzPlan feeds arbitrary messages to the way that a plugin's plan takes. None may panic, and of a plan that is accepted
// every size is bounded.
func FuzzPlan(f *testing.F) {
	for _, edit := range []func(p *Plan){
		func(*Plan) {},
		func(p *Plan) { p.Layers = p.Layers[:1] },
		func(p *Plan) { p.Embed.Ops[0].Scale = math.NaN() },
		func(p *Plan) { p.Layers[0].Kv.ValueDim = 1 << 30 },
		func(p *Plan) { p.Layers[1].Block.Ops[2].Length = math.MaxInt32 },
	} {
		w := encodePlan(sample())
		edit(w)
		data, err := proto.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var w Plan
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		p, err := decodePlan(&w)
		if err != nil {
			return
		}
		shapes, err := p.Check()
		if err != nil {
			return
		}
		all := model.LayerRange{Begin: 0, End: len(p.Layers)}
		if kv, recurrent := p.StateBytes(all, p.Context); kv < 0 || recurrent < 0 || kv+recurrent > 1<<40 {
			t.Errorf("%d and %d bytes of state", kv, recurrent)
		}
		for _, widths := range append(shapes.Layers, shapes.Embed, shapes.Head) {
			for _, width := range widths {
				if width < 1 || width > model.MaxVocab {
					t.Errorf("a value of width %d", width)
				}
			}
		}
		for _, x := range p.Tensors {
			if n := x.Elements(); n < 1 || n > model.MaxExperts*model.MaxWidth*model.MaxWidth {
				t.Errorf("tensor %s of %d elements", x.Name, n)
			}
		}
		p.TensorsOf(all, true, true, true)
		if again, err := decodePlan(encodePlan(p)); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("the plan changes on its way: %v", err)
		}
	})
}

// FuzzMetadata feeds arbitrary requests to a plugin's end.
func FuzzMetadata(f *testing.F) {
	w, err := encodeMetadata(file())
	if err != nil {
		f.Fatal(err)
	}
	data, err := proto.Marshal(w)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var w Metadata
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		md, err := decodeMetadata(&w)
		if err != nil {
			return
		}
		if _, err := encodeMetadata(md); err != nil {
			t.Errorf("metadata that came in cannot go out: %v", err)
		}
	})
}
