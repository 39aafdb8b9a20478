package model_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/model"
)

// plan uses every kind of operation once at least: hidden 8, vocabulary 16, two layers.
func plan() *model.Plan {
	b := model.NewBuilder("test", "test", 8, 16, 32)
	b.Embed(func(o *model.Ops, tokens model.Value) model.Value { return o.Scale(o.Embed(tokens, "embed", 1), 2) }) // ops 0, 1
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		h := o.RMSNorm(x, "norm", 8, 1, 1e-6)                                                                     // op 0
		q := o.Linear(h, "q", 16, 8)                                                                              // op 1
		k := o.LinearBias(h, "k", "k.bias", 8, 8)                                                                 // op 2
		v := o.Linear(h, "v", 6, 8)                                                                               // op 3
		q = o.Rope(q, 4, model.RopeAttrs{Dims: 4, Base: 1e4, FreqScale: 1}, "factors")                            // op 4
		a := o.Attention(q, k, v, model.AttentionShape{Heads: 4, KVHeads: 2, KeyDim: 4, ValueDim: 3, Scale: 0.5}) // op 5
		g := o.Mul(o.SiLU(a), o.GELU(a))                                                                          // ops 6, 7, 8
		g = o.SigmoidGate(o.SwiGLU(g, a), o.GeGLU(g, a))                                                          // ops 9, 10, 11
		return o.Add(x, o.Linear(g, "out", 8, 12))                                                                // ops 12, 13
	})
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		c := o.ShortConv(x, "conv", 8, 4)                           // op 0
		q := o.L2Norm(o.Slice(c, 2, 1, 2), 2, 1e-6, 1)              // ops 1, 2
		k := o.Slice(c, 1, 4, 4)                                    // op 3
		ab := o.Linear(x, "ab", 4, 8)                               // op 4
		return o.GatedDelta(q, k, c, ab, ab, "A", "dt", 2, 4, 2, 2) // op 5
	})
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		r := o.Route(o.Linear(x, "router", 5, 8), model.RouteAttrs{Used: 2, Renormalize: true}, 1) // ops 0, 1
		y := o.ExpertLinear(o.ExpertLinear(x, r, "up", 5, 6, 8), r, "down", 5, 8, 6)               // ops 2, 3
		return o.SigmoidGate(o.Combine(y, r), o.Linear(x, "gate", 1, 8))                           // ops 4, 5, 6
	})
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "embed", 16, 8) })
	b.Draft(0, func(o *model.Ops, e, h model.Value) model.Value { // ops 0, 1
		x := o.Linear(o.Concat(e, h), "join", 8, 16)                                                                // ops 2, 3
		return o.Attention(x, x, x, model.AttentionShape{Heads: 2, KVHeads: 2, KeyDim: 4, ValueDim: 4, Scale: 0.5}) // op 4
	}, func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "embed", 16, 8) })
	return b.Plan()
}

// file is the metadata of a file that holds what p needs.
func file(p *model.Plan) *model.Metadata {
	md := &model.Metadata{Architecture: "test", Values: map[string]any{}, Tensors: map[string]model.TensorInfo{}}
	for _, t := range p.Tensors {
		md.Tensors[t.Name] = model.TensorInfo{Type: "F32", Shape: t.Shape}
	}
	return md
}

func TestCheckAccepts(t *testing.T) {
	p := plan()
	got, err := p.Check()
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Shapes{
		Embed: model.Widths{1, 8, 8},
		Layers: []model.Widths{
			{8, 8, 16, 8, 6, 16, 12, 12, 12, 12, 12, 12, 12, 8, 8},
			{8, 8, 4, 4, 4, 4, 8},
			{8, 5, 4, 12, 16, 8, 1, 8},
		},
		Head:  model.Widths{8, 16},
		Draft: model.Widths{16, 8, 8, 16, 8, 8}, DraftHead: model.Widths{8, 16},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("widths\ngot  %v\nwant %v", got, want)
	}
	seen := map[model.Kind]bool{}
	for _, b := range []model.Block{p.Embed, p.Layers[0].Block, p.Layers[1].Block, p.Layers[2].Block, p.Head, p.Draft.Block} {
		for _, op := range b.Ops {
			seen[op.Kind] = true
		}
	}
	for _, k := range model.Kinds() {
		if !seen[k] {
			t.Errorf("the plan of this test has no %v", k)
		}
	}
}

func TestCheckRejects(t *testing.T) {
	big := math.MaxInt
	for _, c := range []struct {
		name string
		lie  func(p *model.Plan)
		want string
	}{
		{"no hidden size", func(p *model.Plan) { p.Hidden = 0 }, "plan: hidden size is 0"},
		{"huge hidden size", func(p *model.Plan) { p.Hidden = big }, "plan: hidden size is"},
		{"negative vocabulary", func(p *model.Plan) { p.Vocab = -1 }, "plan: vocabulary is -1"},
		{"huge context", func(p *model.Plan) { p.Context = big }, "plan: context is"},
		{"no layers", func(p *model.Plan) { p.Layers = nil }, "plan: number of layers is 0"},
		{"too many layers", func(p *model.Plan) { p.Layers = make([]model.Layer, model.MaxLayers+1) }, "plan: number of layers is 1025"},
		{"no tensors", func(p *model.Plan) { p.Tensors = nil }, "plan: number of tensors is 0"},
		{"nameless tensor", func(p *model.Plan) { p.Tensors[0].Name = "" }, "plan: a tensor has no name"},
		{"tensor twice", func(p *model.Plan) { p.Tensors[1].Name = "embed" }, "plan, tensor embed: is listed twice"},
		{"tensor of no dimensions", func(p *model.Plan) { p.Tensors[0].Shape = nil }, "tensor embed: has 0 dimensions"},
		{"tensor of four dimensions", func(p *model.Plan) { p.Tensors[0].Shape = []int{1, 1, 16, 8} }, "tensor embed: has 4 dimensions"},
		{"more experts than there may be", func(p *model.Plan) { p.Tensors[0].Shape = []int{model.MaxExperts + 1, 16, 8} }, "is out of bounds"},
		{"tensor of no columns", func(p *model.Plan) { p.Tensors[0].Shape = []int{16, 0} }, "tensor embed: shape [16 0] is out of bounds"},
		{"huge tensor", func(p *model.Plan) { p.Tensors[0].Shape = []int{big, big} }, "is out of bounds"},

		{"unknown kind", func(p *model.Plan) { p.Layers[0].Ops[0].Kind = 200 }, "layer 0, op 0 (Kind(200)): this version does not know the kind"},
		{"no kind", func(p *model.Plan) { p.Layers[0].Ops[0].Kind = 0 }, "layer 0, op 0 (Kind(0))"},
		{"too few inputs", func(p *model.Plan) { p.Layers[0].Ops[5].In = []model.Value{1, 2} }, "op 5 (Attention): has 2 inputs, want 3"},
		{"no inputs", func(p *model.Plan) { p.Layers[0].Ops[0].In = nil }, "op 0 (RMSNorm): has 0 inputs"},
		{"too few weights", func(p *model.Plan) { p.Layers[0].Ops[1].Weights = nil }, "op 1 (Linear): has 0 weights, want 1 to 2"},
		{"too many weights", func(p *model.Plan) { p.Layers[0].Ops[1].Weights = []int{0, 1, 2} }, "op 1 (Linear): has 3 weights"},
		{"value of the future", func(p *model.Plan) { p.Layers[0].Ops[0].In[0] = 1 }, "op 0 (RMSNorm): reads value 1, which does not exist yet"},
		{"negative value", func(p *model.Plan) { p.Layers[0].Ops[0].In[0] = -1 }, "reads value -1"},
		{"tensor of no index", func(p *model.Plan) { p.Layers[0].Ops[1].Weights[0] = 99 }, "op 1 (Linear): names tensor 99 of"},
		{"negative tensor", func(p *model.Plan) { p.Layers[0].Ops[1].Weights[0] = -1 }, "names tensor -1 of"},
		{"attribute that is no number", func(p *model.Plan) { p.Layers[0].Ops[0].Attrs.Eps = math.NaN() }, "op 0 (RMSNorm): has the attribute NaN"},
		{"infinite attribute", func(p *model.Plan) { p.Embed.Ops[1].Attrs.Scale = math.Inf(-1) }, "embed, op 1 (Scale): has the attribute -Inf"},
		{"too many operations", func(p *model.Plan) { p.Head.Ops = make([]model.Op, model.MaxOps+1) }, "head: has 1025 operations"},

		{"arithmetic on token ids", func(p *model.Plan) { p.Embed.Ops[1].In[0] = 0 }, "embed, op 1 (Scale): reads the token ids"},
		{"lookup of a hidden state", func(p *model.Plan) { p.Embed.Ops[1] = p.Embed.Ops[0]; p.Embed.Ops[1].In = []model.Value{1} }, "op 1 (Embed): may only read the token ids"},
		{"lookup in a layer", func(p *model.Plan) { p.Layers[0].Ops[0] = p.Embed.Ops[0] }, "layer 0, op 0 (Embed): may only read the token ids"},
		{"lookup with too few rows", func(p *model.Plan) { p.Vocab = 17 }, "embed, op 0 (Embed): tensor embed has shape [16 8], want 17 rows"},
		{"empty embedding", func(p *model.Plan) { p.Embed = model.Block{} }, "embed: its result, value 0, does not exist"},
		{"result of no value", func(p *model.Plan) { p.Layers[0].Out = 99 }, "layer 0: its result, value 99, does not exist"},
		{"result too wide", func(p *model.Plan) { p.Layers[0].Out = 2 }, "layer 0: its result is 16 wide, want 8"},
		{"hidden state for logits", func(p *model.Plan) { p.Head = model.Block{} }, "head: its result is 8 wide, want 16"},

		{"norm of another size", func(p *model.Plan) { p.Layers[0].Ops[0].Attrs.Groups = 2 }, "op 0 (RMSNorm): tensor norm has shape [8], want [4]"},
		{"norm of no groups", func(p *model.Plan) { p.Layers[0].Ops[0].Attrs.Groups = 0 }, "op 0 (RMSNorm): 0 groups do not divide"},
		{"norm of uneven groups", func(p *model.Plan) { p.Layers[1].Ops[2].Attrs.Groups = 3 }, "op 2 (L2Norm): 3 groups do not divide a width of 4"},
		{"negative epsilon", func(p *model.Plan) { p.Layers[0].Ops[0].Attrs.Eps = -1 }, "has the epsilon -1"},
		{"product of another width", func(p *model.Plan) {
			p.Layers[0].Ops[1].In[0] = 0
			p.Tensors[p.Layers[0].Ops[1].Weights[0]].Shape = []int{16, 9}
		}, "op 1 (Linear): tensor q has shape [16 9], want 8 columns"},
		{"vector for a matrix", func(p *model.Plan) { p.Layers[0].Ops[1].Weights[0] = 1 }, "op 1 (Linear): tensor norm has shape [8]"},
		{"bias of another size", func(p *model.Plan) { p.Tensors[4].Shape = []int{9} }, "op 2 (Linear): tensor k.bias has shape [9], want [8]"},
		{"sum of two widths", func(p *model.Plan) { p.Layers[0].Ops[13].In[1] = 2 }, "op 13 (Add): its inputs are 8 and 16 wide"},
		{"slice past the end", func(p *model.Plan) { p.Layers[1].Ops[1].Attrs.Length = 4 }, "op 1 (Slice): takes [1, 1+4) of groups of 4"},
		{"slice that overflows", func(p *model.Plan) { p.Layers[1].Ops[1].Attrs.Offset, p.Layers[1].Ops[1].Attrs.Length = 2, big }, "op 1 (Slice): takes"},
		{"slice before the start", func(p *model.Plan) { p.Layers[1].Ops[1].Attrs.Offset = -1 }, "op 1 (Slice): takes [-1"},
		{"empty slice", func(p *model.Plan) { p.Layers[1].Ops[1].Attrs.Length = 0 }, "op 1 (Slice): takes"},
		{"turning too much", func(p *model.Plan) { p.Layers[0].Ops[4].Attrs.Rope.Dims = 6 }, "op 4 (Rope): turns 6 values of heads of 4"},
		{"turning odd", func(p *model.Plan) { p.Layers[0].Ops[4].Attrs.Rope.Dims = 3 }, "turns 3 values"},
		{"heads that do not divide", func(p *model.Plan) { p.Layers[0].Ops[4].Attrs.Heads = 3 }, "op 4 (Rope): 3 groups do not divide"},
		{"base of 0", func(p *model.Plan) { p.Layers[0].Ops[4].Attrs.Rope.Base = 0 }, "has base 0"},
		{"backward positions", func(p *model.Plan) { p.Layers[0].Ops[4].Attrs.Rope.FreqScale = -1 }, "frequency scale -1"},
		{"factors of another size", func(p *model.Plan) { p.Layers[0].Ops[4].Attrs.Rope.Dims = 2 }, "op 4 (Rope): tensor factors has shape [2], want [1]"},

		{"no cache", func(p *model.Plan) { p.Layers[0].State.KV = nil }, "op 5 (Attention): needs a KV cache of its own"},
		{"cache used twice", func(p *model.Plan) { p.Layers[0].Ops[6] = p.Layers[0].Ops[5] }, "op 6 (Attention): needs a KV cache of its own"},
		{"cache never used", func(p *model.Plan) { p.Layers[1].State.KV = p.Layers[0].State.KV }, "layer 1: no operation uses its KV cache"},
		{"cache of other heads", func(p *model.Plan) { p.Layers[0].Ops[5].Attrs.KVHeads = 4 }, "4 query heads and 4 KV heads over a cache of 2"},
		{"query heads that do not divide", func(p *model.Plan) { p.Layers[0].Ops[5].Attrs.Heads = 3 }, "has 3 query heads"},
		{"cache of other dimensions", func(p *model.Plan) { p.Layers[0].State.KV = &model.KVState{Heads: 2, KeyDim: 5, ValueDim: 3} }, "need others"},
		{"negative window", func(p *model.Plan) { p.Layers[0].Ops[5].Attrs.Window = -1 }, "has the window -1"},
		{"huge cache", func(p *model.Plan) { p.Layers[0].State.KV.ValueDim = big }, "layer 0: the KV cache is out of bounds"},
		{"cache whose size overflows", func(p *model.Plan) {
			p.Layers[0].State.KV = &model.KVState{Heads: 1 << 20, KeyDim: 1 << 20, ValueDim: 1}
		}, "the KV cache is out of bounds"},
		{"attention in the head", func(p *model.Plan) { p.Head.Ops[0] = model.Op{Kind: model.Attention, In: []model.Value{0, 0, 0}} }, "head, op 0 (Attention): needs a KV cache"},
		{"no convolution state", func(p *model.Plan) { p.Layers[1].State.Conv = nil }, "op 0 (ShortConv): needs a convolution state"},
		{"convolution of other channels", func(p *model.Plan) { p.Layers[1].State.Conv.Channels = 9 }, "op 0 (ShortConv): its input is 8 wide, its state 9"},
		{"convolution of other taps", func(p *model.Plan) { p.Layers[1].State.Conv.Taps = 5 }, "op 0 (ShortConv): tensor conv has shape [8 4], want [8 5]"},
		{"convolution of one tap", func(p *model.Plan) { p.Layers[1].State.Conv.Taps = 1 }, "the convolution state is out of bounds"},
		{"no delta state", func(p *model.Plan) { p.Layers[1].State.Delta = nil }, "op 5 (GatedDelta): needs a delta state"},
		{"delta state of other heads", func(p *model.Plan) { p.Layers[1].State.Delta.Heads = 3 }, "op 5 (GatedDelta): has 2 key heads and 4 value heads over a state of 3"},
		{"delta state of other dimensions", func(p *model.Plan) { p.Layers[1].State.Delta.KeyDim = 3 }, "op 5 (GatedDelta): q, k and v are 4, 4 and 8 wide"},
		{"delta gates of another width", func(p *model.Plan) { p.Layers[1].Ops[5].In[3] = 1 }, "op 5 (GatedDelta): a and b are 8 and 4 wide, want 4"},
		{"decay of another size", func(p *model.Plan) { p.Tensors[p.Layers[1].Ops[5].Weights[0]].Shape = []int{5} }, "op 5 (GatedDelta): tensor A has shape [5], want [4]"},
		{"huge delta state", func(p *model.Plan) {
			p.Layers[1].State.Delta = &model.DeltaState{Heads: 1 << 20, KeyDim: 1 << 20, ValueDim: 1 << 20}
		}, "the delta state is out of bounds"},
		{"a draft from no hidden state", func(p *model.Plan) { p.Draft.From = 1 }, "draft: value 1 of the head is no hidden state"},
		{"a draft from no value", func(p *model.Plan) { p.Draft.From = -1 }, "draft: value -1 of the head"},
		{"a draft that is recurrent", func(p *model.Plan) { p.Draft.State.Delta = p.Layers[1].State.Delta }, "draft: keeps a state that cannot be cut anywhere"},
		{"a draft without a cache", func(p *model.Plan) { p.Draft.State.KV = nil }, "draft, op 4 (Attention): needs a KV cache"},
		{"a draft of another width", func(p *model.Plan) { p.Draft.Out = 3 }, "draft: its result is 16 wide, want 8"},
		{"a draft without logits", func(p *model.Plan) { p.Draft.Head = model.Block{} }, "draft head: its result is 8 wide, want 16"},
		{"a choice of no expert", func(p *model.Plan) { p.Layers[2].Ops[1].Attrs.Route.Used = 0 }, "op 1 (Route): uses 0 of 5 experts"},
		{"a choice of more experts than there are", func(p *model.Plan) { p.Layers[2].Ops[1].Attrs.Route.Used = 6 }, "op 1 (Route): uses 6 of 5 experts, want 1 to 5"},
		{"experts that nobody chose", func(p *model.Plan) { p.Layers[2].Ops[2].In[1] = 1 }, "op 2 (ExpertLinear): takes value 1 for a choice of experts"},
		{"a sum that nobody chose", func(p *model.Plan) { p.Layers[2].Ops[4].In[1] = 0 }, "op 4 (Combine): takes value 0 for a choice of experts"},
		{"more experts than were chosen from", func(p *model.Plan) { p.Tensors[p.Layers[2].Ops[2].Weights[0]].Shape[0] = 6 }, "op 2 (ExpertLinear): tensor up has shape [6 6 8], want 5 experts"},
		{"experts of another width", func(p *model.Plan) { p.Tensors[p.Layers[2].Ops[3].Weights[0]].Shape[2] = 5 }, "op 3 (ExpertLinear): tensor down has shape [5 8 5]"},
		{"a matrix for experts", func(p *model.Plan) { p.Layers[2].Ops[2].Weights[0] = p.Layers[2].Ops[0].Weights[0] }, "op 2 (ExpertLinear): tensor router has shape [5 8]"},
		{"experts for a matrix", func(p *model.Plan) { p.Layers[2].Ops[0].Weights[0] = p.Layers[2].Ops[2].Weights[0] }, "op 0 (Linear): tensor up has shape [5 6 8]"},
		{"more state than there is memory", func(p *model.Plan) {
			b := model.NewBuilder("test", "test", 8, 16, model.MaxContext)
			for range 1000 {
				b.Layer(func(o *model.Ops, x model.Value) model.Value {
					q := o.Linear(x, "wide", 1024, 8)
					a := o.Attention(q, q, q, model.AttentionShape{Heads: 8, KVHeads: 8, KeyDim: 128, ValueDim: 128, Scale: 1})
					return o.Linear(a, "back", 8, 1024)
				})
			}
			p.Context, p.Layers, p.Tensors = model.MaxContext, b.Plan().Layers, b.Plan().Tensors
			p.Tensors = append(p.Tensors, model.Tensor{Name: "embed", Shape: []int{16, 8}})
			p.Embed.Ops[0].Weights[0] = len(p.Tensors) - 1
		}, "67108864 positions take more than 16384 GiB of state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan()
			c.lie(p)
			s, err := p.Check()
			var where *model.PlanError
			if !errors.As(err, &where) || s != nil {
				t.Fatalf("got %v, want a PlanError", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCheckFile(t *testing.T) {
	p := plan()
	md := file(p)
	if err := p.CheckFile(md); err != nil {
		t.Fatal(err)
	}
	md.Tensors["norm"] = model.TensorInfo{Shape: []int{1, 8}}
	if err := p.CheckFile(md); err != nil {
		t.Errorf("a dimension of 1 in front: %v", err)
	}
	md.Tensors["norm"] = model.TensorInfo{Shape: []int{8, 1}}
	if err := p.CheckFile(md); err == nil || !strings.Contains(err.Error(), "tensor norm: the plan says [8], the file has [8 1]") {
		t.Errorf("another shape: %v", err)
	}
	delete(md.Tensors, "norm")
	if err := p.CheckFile(md); err == nil || !strings.Contains(err.Error(), "tensor norm: the file has no such tensor") {
		t.Errorf("no tensor: %v", err)
	}
}
