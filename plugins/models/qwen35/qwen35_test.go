package qwen35_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/modeltest"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// fixture reads the metadata of a tiny model.
func fixture(t *testing.T, name string) *model.Metadata {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	md, err := modeltest.ReadMetadata(f)
	if err != nil {
		t.Fatal(err)
	}
	return md
}

// TestMain lets the test binary stand for Pooled, which serves the family when it is started again.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "plugin" {
		serve.Family(qwen35.Family{})
		return
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	files, err := modeltest.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no fixtures")
	}
	catalog := plugin.NewCatalog("", model.Families{qwen35.Family{}}, plugin.Options{})
	defer catalog.Close()
	remote, err := catalog.Family(t.Context(), "qwen35")
	if err != nil {
		t.Fatal(err)
	}
	for how, f := range map[string]model.Family{"in process": qwen35.Family{}, "through gRPC": remote} {
		for _, r := range modeltest.Run(t.Context(), f, files) {
			t.Run(how+" "+r.Name, func(t *testing.T) {
				if r.Err != nil {
					t.Error(r.Err)
				}
			})
		}
	}
	for _, f := range files {
		direct, err := qwen35.Family{}.Plan(t.Context(), f.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		wired, err := remote.Plan(t.Context(), f.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(direct, wired) {
			t.Errorf("%s: the plan that went through gRPC is another one", f.Name)
		}
	}
}

// pattern writes a D for each layer with the delta rule and an A for each with attention.
func pattern(p *model.Plan) string {
	var b strings.Builder
	for _, l := range p.Layers {
		switch {
		case l.State.Delta != nil && l.State.Conv != nil && l.State.KV == nil:
			b.WriteByte('D')
		case l.State.KV != nil && !l.State.Recurrent():
			b.WriteByte('A')
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

func TestLayerKinds(t *testing.T) {
	for _, c := range []struct {
		name, file, want string
		edit             func(md *model.Metadata)
	}{
		{name: "list over interval", file: "qwen35-irregular", want: "DADDAD"},
		{name: "draft block skipped", file: "qwen35-v2x-d64", want: "DDDADDDA"},
		{name: "nano", file: "nano", want: "DDDADDDADDDA"},
		{name: "interval", file: "qwen35-v2x-d64", want: "DDDADDDA", edit: func(md *model.Metadata) {
			delete(md.Values, "qwen35.attention.recurrent_layers")
		}},
		{name: "interval of 4 when nothing is said", file: "qwen35-v2x-d64", want: "DDDADDDA", edit: func(md *model.Metadata) {
			delete(md.Values, "qwen35.attention.recurrent_layers")
			delete(md.Values, "qwen35.full_attention_interval")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			md := fixture(t, c.file)
			if c.edit != nil {
				c.edit(md)
			}
			p, err := qwen35.Family{}.Plan(t.Context(), md)
			if err != nil {
				t.Fatal(err)
			}
			if got := pattern(p); got != c.want {
				t.Errorf("layers %s, want %s", got, c.want)
			}
		})
	}
}

func TestLayers(t *testing.T) {
	p, err := qwen35.Family{}.Plan(t.Context(), fixture(t, "qwen35-v3x-d128"))
	if err != nil {
		t.Fatal(err)
	}
	var delta, attention string
	for _, l := range p.Layers {
		var names []string
		for _, op := range l.Ops {
			names = append(names, op.Kind.String())
			switch op.Kind {
			case model.Rope:
				if r := op.Attrs.Rope; r.Dims != 32 || r.Base != 1e7 || r.Interleaved {
					t.Errorf("rope %+v, want 32 dimensions, base 1e7, halves", r)
				}
			case model.GatedDelta:
				if a := op.Attrs; a.Heads != 2 || a.KVHeads != 6 || *l.State.Delta != (model.DeltaState{Heads: 6, KeyDim: 128, ValueDim: 128}) {
					t.Errorf("delta rule %+v over %+v, want 2 key heads and 6 value heads of 128", a, *l.State.Delta)
				}
				if c := *l.State.Conv; c != (model.ConvState{Channels: (2 + 2 + 6) * 128, Taps: 4}) {
					t.Errorf("convolution state %+v", c)
				}
			}
		}
		if s := strings.Join(names, " "); l.State.KV == nil {
			delta = s
		} else {
			attention = s
		}
	}
	const ffn = " Add RMSNorm Linear Linear SwiGLU Linear Add"
	if want := "RMSNorm Linear ShortConv SiLU Slice L2Norm Slice L2Norm Slice Linear Linear GatedDelta RMSNorm Linear SwiGLU Linear" + ffn; delta != want {
		t.Errorf("delta layer\ngot  %s\nwant %s", delta, want)
	}
	if want := "RMSNorm Linear Slice Slice Linear Linear RMSNorm RMSNorm Rope Rope Attention SigmoidGate Linear" + ffn; attention != want {
		t.Errorf("attention layer\ngot  %s\nwant %s", attention, want)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file  string
		edit        func(md *model.Metadata)
		want        string
		unsupported bool
	}{
		{name: "another architecture", file: "nano", edit: func(md *model.Metadata) { md.Architecture = "qwen36" }, want: "general.architecture", unsupported: true},
		{name: "more experts used than there are", file: "qwen35moe-8x2", edit: set("qwen35moe.expert_used_count", int64(9)), want: "expert_used_count: is 9, want 1 to 8"},
		{name: "experts chosen by a sigmoid", file: "qwen35moe-8x2", edit: set("qwen35moe.expert_gating_func", int64(2)), want: "expert_gating_func: is 2", unsupported: true},
		{name: "groups of experts", file: "qwen35moe-8x2", edit: set("qwen35moe.expert_group_count", int64(4)), want: "expert_group_count: is 4", unsupported: true},
		{name: "a selection bias", file: "qwen35moe-8x2", edit: func(md *model.Metadata) {
			md.Tensors["blk.0.exp_probs_b.bias"] = model.TensorInfo{Type: "F32", Shape: []int{8}}
		}, want: "blk.0.exp_probs_b.bias", unsupported: true},
		{name: "experts by key", file: "nano", edit: set("qwen35.expert_count", int64(8)), want: "qwen35.expert_count", unsupported: true},
		{name: "unknown tensor", file: "nano", edit: func(md *model.Metadata) {
			md.Tensors["blk.0.ssm_d"] = model.TensorInfo{Type: "F32", Shape: []int{8}}
		}, want: "blk.0.ssm_d", unsupported: true},
		{name: "short list", file: "nano", edit: set("qwen35.attention.recurrent_layers", []bool{true}), want: "has 1 elements, want 13"},
		{name: "only a draft block", file: "nano", edit: set("qwen35.block_count", int64(1)), want: "qwen35.block_count: is 1, want 2"},
		{name: "drawn out positions", file: "nano", edit: set("qwen35.rope.scaling.factor", 4.0), want: "qwen35.rope.scaling.factor: is 4", unsupported: true},
		{name: "wide values", file: "nano", edit: set("qwen35.attention.value_length", int64(128)), want: "qwen35.attention.value_length"},
		{name: "no state size", file: "nano", edit: func(md *model.Metadata) { delete(md.Values, "qwen35.ssm.state_size") }, want: "qwen35.ssm.state_size: is missing"},
		{name: "missing tensor", file: "nano", edit: func(md *model.Metadata) { delete(md.Tensors, "blk.2.ssm_norm.weight") }, want: "blk.2.ssm_norm.weight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			md := fixture(t, c.file)
			if c.edit != nil {
				c.edit(md)
			}
			_, err := qwen35.Family{}.Plan(t.Context(), md)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
			if c.unsupported != errors.Is(err, model.ErrUnsupported) {
				t.Errorf("%v: wraps ErrUnsupported: %v, want %v", err, !c.unsupported, c.unsupported)
			}
		})
	}
}

// TestAccepts takes values that published files have, or say nothing with.
func TestAccepts(t *testing.T) {
	for key, v := range map[string]any{
		"qwen35.rope.scaling.type": "none", "qwen35.rope.scaling.factor": 1.0, "qwen35.rope.freq_base": 1e12, "qwen35.context_length": int64(10_485_760),
		"qwen35.expert_count": int64(0), "qwen35.attention.layer_norm_rms_epsilon": 1e-5,
	} {
		md := fixture(t, "nano")
		set(key, v)(md)
		p, err := qwen35.Family{}.Plan(t.Context(), md)
		if err == nil {
			_, err = p.Check()
		}
		if err != nil {
			t.Errorf("%s %v: %v", key, v, err)
		}
	}
}

func set(key string, v any) func(*model.Metadata) {
	return func(md *model.Metadata) { md.Values[key] = v }
}
