// Package enginetest is the conformance suite of compute backends: reference models whole and cut in two at every layer,
// and the rules of engine.Session.
package enginetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
)

// Options says what to test.
type Options struct {
	// Backend is the backend under test.
	Backend engine.Backend
	// Families plan the reference models; those of other architectures are left out.
	Families []model.Family
	// Exact keeps activations in float32, as the references do. Without it only the rules of sessions are tested.
	Exact bool
	// MaxDiff is the largest difference of a logit that is allowed, MaxNMSE that of a whole row.
	MaxDiff, MaxNMSE float64
	// Every tests only every n-th cut and skips the longest prompts, for a backend that is very slow; 0 and 1 test all.
	Every int
}

// loaded is a reference model with its plan.
type loaded struct {
	*Golden
	plan    *model.Plan
	weights engine.Weights
}

// Run runs the suite.
func Run(t *testing.T, o Options) {
	ran := 0
	for _, g := range Goldens(t) {
		m, ok := load(t, g, o.Families)
		if !ok {
			continue
		}
		ran++
		t.Run(g.Name, func(t *testing.T) {
			if o.Exact {
				t.Run("logits", func(t *testing.T) { m.logits(t, o) })
				t.Run("greedy", func(t *testing.T) { m.greedy(t, o) })
				t.Run("cut", func(t *testing.T) { m.cut(t, o) })
				t.Run("hidden", func(t *testing.T) { m.hidden(t, o) })
			}
			t.Run("widths", func(t *testing.T) { m.widths(t, o) })
			t.Run("rewind", func(t *testing.T) { m.rewind(t, o) })
			t.Run("top", func(t *testing.T) { m.top(t, o) })
			t.Run("cancel", func(t *testing.T) { m.cancel(t, o) })
		})
		if ran == 1 {
			t.Run("errors", func(t *testing.T) { m.errors(t, o) })
		}
	}
	if ran == 0 {
		t.Fatal("no reference model is of the families given")
	}
}

func load(t *testing.T, g *Golden, families []model.Family) (*loaded, bool) {
	t.Helper()
	f := g.File(t)
	md := ggufmeta.Of(f)
	for _, fam := range families {
		if slices.Contains(fam.Info().Architectures, md.Architecture) {
			plan, err := fam.Plan(t.Context(), md)
			if errors.Is(err, model.ErrUnsupported) {
				return nil, false
			}
			if err != nil {
				t.Fatalf("%s: %v", g.Name, err)
			}
			return &loaded{g, plan, engine.FileWeights(f)}, true
		}
	}
	return nil, false
}

// open opens layers [begin, end) with 256 positions.
func (m *loaded) open(t *testing.T, o Options, begin, end int) engine.Session {
	t.Helper()
	return m.openConfig(t, o, m.config(o, begin, end))
}

func (m *loaded) openConfig(t *testing.T, o Options, c engine.Config) engine.Session {
	t.Helper()
	s, err := o.Backend.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (m *loaded) config(o Options, begin, end int) engine.Config {
	n := len(m.plan.Layers)
	return engine.Config{
		Plan: m.plan, Weights: m.weights, Range: model.LayerRange{Begin: begin, End: end},
		Embed: begin == 0, Head: end == n, Context: 256, Exact: o.Exact,
	}
}

func (m *loaded) whole(t *testing.T, o Options) engine.Session {
	return m.open(t, o, 0, len(m.plan.Layers))
}

func forward(t *testing.T, s engine.Session, b engine.Batch) engine.Result {
	t.Helper()
	b.Pos = s.Len()
	r, err := s.Forward(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reset(t *testing.T, s engine.Session) {
	t.Helper()
	if _, err := s.Rewind(0); err != nil {
		t.Fatal(err)
	}
	if s.Len() != 0 {
		t.Fatalf("Rewind(0) leaves %d positions", s.Len())
	}
}

// compare checks rows of logits against the reference.
func compare(t *testing.T, o Options, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d values, want %d", what, len(got), len(want))
	}
	var diff, ref, worst float64
	for i := range got {
		d := float64(got[i]) - float64(want[i])
		diff += d * d
		ref += float64(want[i]) * float64(want[i])
		worst = max(worst, math.Abs(d))
	}
	if nmse := diff / ref; !(worst <= o.MaxDiff) || !(nmse <= o.MaxNMSE) {
		t.Errorf("%s: largest difference %.2e (at most %.0e), NMSE %.2e (at most %.0e)", what, worst, o.MaxDiff, nmse, o.MaxNMSE)
	}
}

func (m *loaded) logits(t *testing.T, o Options) {
	s := m.whole(t, o)
	for _, p := range m.Prompts {
		if o.Every > 1 && len(p.IDs) > 40 {
			continue
		}
		want, _ := m.Array(t, "logits/"+p.Name)
		reset(t, s)
		out := engine.Output{Logits: engine.AllColumns}
		if p.Logits == "last" {
			out.Logits = engine.LastColumn
		}
		r := forward(t, s, engine.Batch{Tokens: p.IDs, Output: out})
		compare(t, o, p.Name, r.Logits, want)
	}
}

func (m *loaded) greedy(t *testing.T, o Options) {
	s := m.whole(t, o)
	for _, g := range m.Greedy {
		ids := m.Prompt(g.Prompt)
		if o.Every > 1 && len(ids) > 40 {
			continue
		}
		reset(t, s)
		for step, want := range g.IDs {
			r := forward(t, s, engine.Batch{Tokens: ids, Output: engine.Output{Top: 2}})
			if got := r.Top[0].ID; got != want {
				t.Errorf("%s, step %d: got token %d, want %d (gap %.3f)", g.Prompt, step, got, want, g.Gap[step])
				break
			}
			ids = []int32{want}
		}
	}
}

// cut hands the hidden state over from one session to another, at every layer.
func (m *loaded) cut(t *testing.T, o Options) {
	ids := m.Prompt("p33")
	want, _ := m.Array(t, "logits/p33")
	n := len(m.plan.Layers)
	for at := 0; at <= n; at += max(1, o.Every) {
		first, second := m.config(o, 0, at), m.config(o, at, n)
		first.Embed, first.Head, second.Embed, second.Head = true, false, false, true
		s := engine.Chain(m.openConfig(t, o, first), m.openConfig(t, o, second))
		// In three passes, so that state is carried on on both sides.
		forward(t, s, engine.Batch{Tokens: ids[:20]})
		forward(t, s, engine.Batch{Tokens: ids[20:21]})
		r := forward(t, s, engine.Batch{Tokens: ids[21:], Output: engine.Output{Logits: engine.LastColumn}})
		compare(t, o, fmt.Sprintf("cut at %d", at), r.Logits, want[len(want)-len(r.Logits):])
	}
}

// hidden runs each layer by itself on the reference's own input.
func (m *loaded) hidden(t *testing.T, o Options) {
	if m.Hidden == nil {
		return
	}
	h, shape := m.Array(t, m.Hidden.Tensor)
	size := shape[1] * shape[2]
	for l := range len(m.plan.Layers) {
		c := m.config(o, l, l+1)
		c.Embed, c.Head = false, false
		s, err := o.Backend.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		r := forward(t, s, engine.Batch{Hidden: h[l*size : (l+1)*size], Output: engine.Output{Hidden: true}})
		compare(t, o, fmt.Sprintf("layer %d", l), r.Hidden, h[(l+1)*size:(l+2)*size])
		s.Close()
	}
}
