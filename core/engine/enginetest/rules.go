package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

// widths checks that a column has the same bits however positions are cut into batches.
func (m *loaded) widths(t *testing.T, o Options) {
	ids := m.Prompt("p33")
	s := m.whole(t, o)
	want := forward(t, s, engine.Batch{Tokens: ids, Output: engine.Output{Logits: engine.AllColumns}}).Logits
	for _, width := range []int{1, 2, 3, 5, 8, 16} {
		if o.Every > 1 && width != 1 && width != 5 {
			continue
		}
		reset(t, s)
		var got []float32
		for at := 0; at < len(ids); at += width {
			b := engine.Batch{Tokens: ids[at:min(len(ids), at+width)], Output: engine.Output{Logits: engine.AllColumns}}
			got = append(got, forward(t, s, b).Logits...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("width %d gives other logits than one batch", width)
		}
	}
}

// rewind checks that positions can be dropped and computed again with the same result.
func (m *loaded) rewind(t *testing.T, o Options) {
	ids := m.Prompt("p33")
	s := m.whole(t, o)
	last := engine.Output{Logits: engine.LastColumn}
	forward(t, s, engine.Batch{Tokens: ids[:10]})
	if err := s.Mark(); err != nil {
		t.Fatal(err)
	}
	want := forward(t, s, engine.Batch{Tokens: ids[10:20], Output: last}).Logits
	forward(t, s, engine.Batch{Tokens: ids[20:]})

	recurrent := m.plan.Recurrent(m.config(o, 0, len(m.plan.Layers)).Range)
	wantLen := 15
	if recurrent {
		wantLen = 10
	}
	got, err := s.Rewind(15)
	if err != nil || got != wantLen || s.Len() != wantLen {
		t.Fatalf("Rewind(15) = %d, %v with %d positions left, want %d", got, err, s.Len(), wantLen)
	}
	if r := forward(t, s, engine.Batch{Tokens: ids[wantLen:20], Output: last}); !slices.Equal(r.Logits, want) {
		t.Error("after a rewind the same tokens give other logits")
	}
	if got, err := s.Rewind(s.Len() + 5); err != nil || got != 20 {
		t.Errorf("Rewind beyond the end = %d, %v, want 20", got, err)
	}
	reset(t, s)
	if r := forward(t, s, engine.Batch{Tokens: ids[:20], Output: last}); !slices.Equal(r.Logits, want) {
		t.Error("after a reset the same tokens give other logits")
	}
}

// top checks that the candidates are those of the logits.
func (m *loaded) top(t *testing.T, o Options) {
	s := m.whole(t, o)
	r := forward(t, s, engine.Batch{Tokens: m.Prompt("p7"), Output: engine.Output{Logits: engine.LastColumn, Top: 5}})
	if len(r.Top) != 5 {
		t.Fatalf("got %d candidates, want 5", len(r.Top))
	}
	ids := make([]int32, len(r.Logits))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		switch {
		case r.Logits[a] > r.Logits[b]:
			return -1
		case r.Logits[a] < r.Logits[b]:
			return 1
		}
		return 0
	})
	for i, c := range r.Top {
		if c.ID != ids[i] || c.Logit != r.Logits[c.ID] {
			t.Errorf("candidate %d is %v, want token %d with %v", i, c, ids[i], r.Logits[ids[i]])
		}
	}
	if r.LogSumExp < r.Top[0].Logit || r.LogSumExp > r.Top[0].Logit+7 {
		t.Errorf("log-sum-exp %v does not fit the largest logit %v", r.LogSumExp, r.Top[0].Logit)
	}
}

// cancel checks that a cancelled pass leaves the session as it was.
func (m *loaded) cancel(t *testing.T, o Options) {
	ids := m.Prompt("p33")
	s := m.whole(t, o)
	forward(t, s, engine.Batch{Tokens: ids[:10]})
	want := forward(t, s, engine.Batch{Tokens: ids[10:12], Output: engine.Output{Logits: engine.LastColumn}}).Logits
	reset(t, s)
	forward(t, s, engine.Batch{Tokens: ids[:10]})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Forward(ctx, engine.Batch{Pos: 10, Tokens: ids[10:]}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled pass returns %v", err)
	}
	if s.Len() != 10 {
		t.Errorf("a cancelled pass leaves %d positions, want 10", s.Len())
	}
	got := forward(t, s, engine.Batch{Tokens: ids[10:12], Output: engine.Output{Logits: engine.LastColumn}}).Logits
	if !slices.Equal(got, want) {
		t.Error("a cancelled pass changed the state")
	}
}

// errors checks what a session refuses, and that it goes on afterwards.
func (m *loaded) errors(t *testing.T, o Options) {
	s := m.whole(t, o)
	n := len(m.plan.Layers)
	for _, c := range []struct {
		name string
		b    engine.Batch
	}{
		{"no columns", engine.Batch{}},
		{"another position", engine.Batch{Pos: 3, Tokens: []int32{1}}},
		{"a token beyond the vocabulary", engine.Batch{Tokens: []int32{int32(m.plan.Vocab)}}},
		{"a negative token", engine.Batch{Tokens: []int32{-1}}},
		{"hidden states for the embedding", engine.Batch{Hidden: make([]float32, m.plan.Hidden)}},
	} {
		if _, err := s.Forward(t.Context(), c.b); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	if _, err := s.Forward(t.Context(), engine.Batch{Tokens: make([]int32, 257)}); !errors.Is(err, engine.ErrContextFull) {
		t.Errorf("257 columns into 256 positions: got %v, want %v", err, engine.ErrContextFull)
	}
	if s.Len() != 0 {
		t.Errorf("refused batches leave %d positions", s.Len())
	}
	forward(t, s, engine.Batch{Tokens: make([]int32, 256), Output: engine.Output{Top: 1}})
	if _, err := s.Forward(t.Context(), engine.Batch{Pos: 256, Tokens: []int32{1}}); !errors.Is(err, engine.ErrContextFull) {
		t.Errorf("one column more than fits: got %v, want %v", err, engine.ErrContextFull)
	}

	tail := m.open(t, o, 1, n)
	if _, err := tail.Forward(t.Context(), engine.Batch{Tokens: []int32{1}}); err == nil {
		t.Error("tokens for a session without the embedding: no error")
	}
	if _, err := tail.Forward(t.Context(), engine.Batch{Hidden: make([]float32, m.plan.Hidden+1)}); err == nil {
		t.Error("a part of a hidden state: no error")
	}
	first := m.open(t, o, 0, 1)
	if _, err := first.Forward(t.Context(), engine.Batch{Tokens: []int32{1}, Output: engine.Output{Top: 1}}); err == nil {
		t.Error("logits of a session without the head: no error")
	}
	for _, c := range []struct {
		name       string
		begin, end int
	}{{"beyond the end", 0, n + 1}, {"backwards", 2, 1}, {"negative", -1, 1}} {
		if s, err := o.Backend.Open(t.Context(), m.config(o, c.begin, c.end)); err == nil {
			s.Close()
			t.Errorf("a range %s: no error", c.name)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forward(t.Context(), engine.Batch{Tokens: []int32{1}}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("a closed session: got %v, want %v", err, engine.ErrClosed)
	}
}
