package enginetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
)

// form is a way to put a whole model together; all of them have to behave alike.
type form struct {
	name string
	// cuts are the layers where one part ends and the next begins.
	cuts []int
	// carried plays every lap from its bytes.
	carried bool
}

// forms returns a session, one that is told everything in bytes, a chain for every cut, and one of three parts.
func (m *loaded) forms(o Options) []form {
	n := len(m.plan.Layers)
	all := []form{{name: "session"}, {name: "loopback", carried: true}}
	for at := 0; at <= n; at += max(1, o.Every) {
		all = append(all, form{name: fmt.Sprintf("chain cut at %d", at), cuts: []int{at}})
	}
	return append(all, form{name: "chain of three", cuts: []int{1, n - 1}})
}

// subject is a model in a form, as a test uses it.
type subject struct {
	*loaded
	form
	Options
	first bool // it is the first model with recurrent state, or the first without
}

// tests returns what to test: all rules, or of a slow backend all for a session and a chain of three of the first models, and
// for the others only those of going forward and back.
func (s *subject) tests() (tests []rule) {
	brief := []rule{{"widths", s.widths}, {"going back", s.goingBack}, {"top", s.top}, {"cancel", s.cancel}}
	all := append(brief, []rule{
		{"kept", s.kept},
		{"drafts", s.drafts},
		{"checkpoints", s.checkpoints},
		{"undo", s.undo},
		{"accept", s.accept},
		{"faults", s.faults},
		{"faults of a restore", s.restoreFaults},
	}...)
	if s.Exact {
		tests = []rule{{"carried on", s.carriedOn}, {"drafted", s.drafted}}
		if !s.Slow || len(s.cuts) == 0 && (s.first || !s.carried) {
			tests = append(tests, rule{"logits", s.logits}, rule{"greedy", s.greedy})
		}
	}
	switch {
	case !s.Slow, s.first && (len(s.cuts) == 2 || len(s.cuts) == 0 && !s.carried):
		return append(tests, all...)
	case len(s.cuts) == 0 && !s.carried:
		return append(tests, brief...)
	}
	return tests
}

// rule is a test of something that every form has to do.
type rule struct {
	name string
	test func(t *testing.T)
}

// configs returns the configurations of the parts.
func (s *subject) configs() []engine.Config {
	var all []engine.Config
	begin, n := 0, len(s.plan.Layers)
	for i, end := range append(s.cuts[:len(s.cuts):len(s.cuts)], n) {
		c := s.config(s.Options, begin, end)
		c.Embed, c.Head = i == 0, i == len(s.cuts)
		all, begin = append(all, c), end
	}
	return all
}

// open opens the model anew. Wrap, which may be nil, gets each part.
func (s *subject) open(t *testing.T, wrap func(part int, p engine.Session) engine.Session) engine.Session {
	t.Helper()
	var parts []engine.Session
	for i, c := range s.configs() {
		p := s.openConfig(t, s.Options, c)
		if s.carried {
			p = &loopback{p, engine.BoundsOf(s.plan, c.Context)}
		}
		if wrap != nil {
			p = wrap(i, p)
		}
		parts = append(parts, p)
	}
	return engine.Chain(parts...)
}

// recurrent reports whether the session can only go back to kept positions.
func (s *subject) recurrent() bool {
	return s.plan.Recurrent(model.LayerRange{End: len(s.plan.Layers)})
}

// loopback carries each lap to its session as bytes, and each result back.
type loopback struct {
	engine.Session
	limit engine.Bounds
}

func (l *loopback) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	b, err := engine.DecodeBatch(engine.AppendBatch(nil, b), l.limit)
	if err != nil {
		return engine.Result{}, fmt.Errorf("%w: %w", engine.ErrBatch, err)
	}
	r, err := l.Session.Forward(ctx, b)
	if err != nil {
		return engine.Result{}, err
	}
	return engine.DecodeResult(engine.AppendResult(nil, r), l.limit)
}
