// Package enginetest is the conformance suite of compute backends: reference models and the rules of engine.Session, over
// one session, over chains of every cut, and over a session that is told everything in bytes.
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
	// Every tests only every n-th cut and fault and skips the longest prompts; 0 and 1 test all.
	Every int
	// Slow leaves out, for most models and forms, rules that the others show as well.
	Slow bool
	// Drafts says that the backend runs draft blocks.
	Drafts bool
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
	seen := map[bool]bool{} // by whether the model is recurrent
	for _, g := range Goldens(t) {
		m, ok := load(t, g, o.Families)
		if !ok {
			continue
		}
		ran++
		recurrent := m.plan.Recurrent(model.LayerRange{End: len(m.plan.Layers)})
		first := !seen[recurrent]
		seen[recurrent] = true
		t.Run(g.Name, func(t *testing.T) {
			if o.Exact {
				t.Run("hidden", func(t *testing.T) { m.hidden(t, o) })
			}
			for _, f := range m.forms(o) {
				t.Run(f.name, func(t *testing.T) {
					for _, r := range (&subject{m, f, o, first}).tests() {
						t.Run(r.name, r.test)
					}
				})
			}
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

func (m *loaded) openConfig(t *testing.T, o Options, c engine.Config) engine.Session {
	t.Helper()
	s, err := o.Backend.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// checkpointBytes is room for a few checkpoints of a reference model.
const checkpointBytes = 4 << 20

// config is that of layers [begin, end) with 256 positions.
func (m *loaded) config(o Options, begin, end int) engine.Config {
	n := len(m.plan.Layers)
	return engine.Config{
		Plan: m.plan, Weights: m.weights, Range: model.LayerRange{Begin: begin, End: end},
		Embed: begin == 0, Head: end == n, Context: 256, CheckpointBytes: checkpointBytes, Undo: true, Exact: o.Exact, Draft: true,
	}
}

// forward runs a lap that goes on from where the session is.
func forward(t *testing.T, s engine.Session, b engine.Batch) engine.Result {
	t.Helper()
	b.Pos = s.Len()
	return lap(t, s, b)
}

// lap runs a lap that has to succeed.
func lap(t *testing.T, s engine.Session, b engine.Batch) engine.Result {
	t.Helper()
	r, err := s.Forward(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reset(t *testing.T, s engine.Session) {
	t.Helper()
	lap(t, s, engine.Batch{})
	if s.Len() != 0 {
		t.Fatalf("a lap from position 0 leaves %d positions", s.Len())
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

func (s *subject) logits(t *testing.T) {
	e := s.open(t, nil)
	for _, p := range s.Prompts {
		if s.Every > 1 && len(p.IDs) > 40 {
			continue
		}
		want, _ := s.Array(t, "logits/"+p.Name)
		out := engine.Output{Logits: engine.AllColumns}
		if p.Logits == "last" {
			out.Logits = engine.LastColumn
		}
		r := lap(t, e, engine.Batch{Tokens: p.IDs, Output: out})
		compare(t, s.Options, p.Name, r.Logits, want)
	}
}

// carriedOn runs a prompt in three laps, so that state is carried on in every part.
func (s *subject) carriedOn(t *testing.T) {
	e := s.open(t, nil)
	ids := s.Prompt("p33")
	want, _ := s.Array(t, "logits/p33")
	lap(t, e, engine.Batch{Tokens: ids[:20]})
	forward(t, e, engine.Batch{Tokens: ids[20:21]})
	r := forward(t, e, engine.Batch{Tokens: ids[21:], Output: last})
	compare(t, s.Options, "in three laps", r.Logits, want[len(want)-len(r.Logits):])
}

func (s *subject) greedy(t *testing.T) {
	e := s.open(t, nil)
	for _, g := range s.Greedy {
		ids := s.Prompt(g.Prompt)
		if s.Every > 1 && len(ids) > 40 {
			continue
		}
		reset(t, e)
		for step, want := range g.IDs {
			r := forward(t, e, engine.Batch{Tokens: ids, Output: engine.Output{Top: 2}})
			if got := r.Top[0][0].ID; got != want {
				t.Errorf("%s, step %d: got token %d, want %d (gap %.3f)", g.Prompt, step, got, want, g.Gap[step])
				break
			}
			ids = []int32{want}
		}
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
		r := forward(t, s, engine.Batch{Hidden: h[l*size : (l+1)*size], Output: engine.Output{Hidden: engine.AllColumns}})
		compare(t, o, fmt.Sprintf("layer %d", l), r.Hidden, h[(l+1)*size:(l+2)*size])
		s.Close()
	}
}
