package main

import (
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/modeltest"
	"github.com/pooled/pooled/core/plugin/serve"
)

// TestMain lets the test binary stand for the plugin, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		serve.Family(Family{})
		return
	}
	os.Exit(m.Run())
}

func files(t *testing.T) map[string]*model.Metadata {
	t.Helper()
	list, err := modeltest.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*model.Metadata{}
	for _, f := range list {
		byName[f.Name] = f.Metadata
	}
	return byName
}

func TestConformance(t *testing.T) {
	list, err := modeltest.ReadDir("testdata")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d fixtures, %v; want 2", len(list), err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	remote, err := plugin.Open(t.Context(), self, []string{"serve"}, plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	for how, f := range map[string]model.Family{"in process": Family{}, "through gRPC": remote} {
		for _, r := range modeltest.Run(t.Context(), f, list) {
			t.Run(how+" "+r.Name, func(t *testing.T) {
				if r.Err != nil {
					t.Error(r.Err)
				}
			})
		}
	}
}

func TestWindows(t *testing.T) {
	p, err := Family{}.Plan(t.Context(), files(t)["tiny"])
	if err != nil {
		t.Fatal(err)
	}
	type layer struct {
		window int
		base   float64
	}
	var got []layer
	for _, l := range p.Layers {
		var x layer
		for _, op := range l.Ops {
			switch op.Kind {
			case model.Attention:
				x.window = op.Attrs.Window
			case model.Rope:
				x.base = op.Attrs.Rope.Base
			}
		}
		got = append(got, x)
	}
	local, global := layer{16, 1e4}, layer{0, 1e6}
	if want := []layer{local, local, local, local, local, global, local, local}; !reflect.DeepEqual(got, want) {
		t.Errorf("layers\ngot  %v\nwant %v", got, want)
	}
	if got, want := p.Embed.Ops[0].Attrs.Scale, math.Sqrt(64); got != want {
		t.Errorf("the embedding is scaled by %v, want %v", got, want)
	}
}

func TestScaling(t *testing.T) {
	md := files(t)["tiny"]
	md.Values["gemma3.rope.scaling.type"], md.Values["gemma3.rope.scaling.factor"] = "linear", 8.0
	p, err := Family{}.Plan(t.Context(), md)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]float64{0: 1, 5: 0.125} {
		for _, op := range p.Layers[i].Ops {
			if op.Kind == model.Rope && op.Attrs.Rope.FreqScale != want {
				t.Errorf("layer %d scales positions by %v, want %v", i, op.Attrs.Rope.FreqScale, want)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	for key, v := range map[string]any{
		"gemma3.final_logit_softcapping": 30.0, "gemma3.rope.scaling.type": "yarn", "gemma3.expert_count": int64(4),
	} {
		md := files(t)["tiny"]
		md.Values[key] = v
		_, err := Family{}.Plan(t.Context(), md)
		if !errors.Is(err, model.ErrUnsupported) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s = %v: got %v, want ErrUnsupported that names the key", key, v, err)
		}
	}
}
