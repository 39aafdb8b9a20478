package generate

import (
	"errors"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

func TestPark(t *testing.T) {
	v := newVocabulary()
	for _, recurrent := range []bool{false, true} {
		s := newSession(t, v.Size(), 64)
		s.recurrent, s.budget = recurrent, 40
		q := newSequence(t, s, v)
		first := []int32{1, 2, 3, 4, 5, 6, 7}
		one, err := q.Generate(t.Context(), first, Options{MaxTokens: 5}, nil)
		if err != nil {
			t.Fatal(err)
		}
		held := q.IDs()
		p, err := q.Park(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		level(t, q, s)
		if !slices.Equal(q.IDs(), held) {
			t.Errorf("parking changed the sequence to %v", q.IDs())
		}
		if _, err := q.Generate(t.Context(), []int32{9, 8, 7}, Options{MaxTokens: 4}, nil); err != nil {
			t.Fatal(err)
		}
		next := append(slices.Concat(first, one.IDs), 10, 11)
		branch := append(slices.Clone(first), 12)
		if got, want := q.ReusableOf(p, next), len(held); got != want {
			t.Errorf("recurrent %v: %d positions serve a prompt that goes on, want %d", recurrent, got, want)
		}
		want := len(first)
		if recurrent {
			want = 0
		}
		if got := q.ReusableOf(p, branch); got != want {
			t.Errorf("recurrent %v: %d positions serve a prompt that branches off, want %d", recurrent, got, want)
		}
		if got := q.ReusableOf(p, nil); got != 0 {
			t.Errorf("%d positions serve no prompt", got)
		}
		if err := q.Resume(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		level(t, q, s)
		two, err := q.Generate(t.Context(), next, Options{MaxTokens: 5}, nil)
		if err != nil || two.Reused != len(held) || !slices.Equal(two.IDs, greedy(s, v, next, 5)) {
			t.Errorf("recurrent %v: after going on, %d reused, %v, %v", recurrent, two.Reused, two.IDs, err)
		}
		// p is still there, until it is discarded.
		if err := q.Resume(t.Context(), p); err != nil || !slices.Equal(q.IDs(), held) {
			t.Errorf("a second time: %v, %v", q.IDs(), err)
		}
		if err := q.Discard(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := q.Resume(t.Context(), p); !errors.Is(err, engine.ErrNoCheckpoint) {
			t.Errorf("after it was discarded: got %v", err)
		}
		level(t, q, s)
	}
}

func TestParkBudget(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	s.budget = 5
	q := newSequence(t, s, v)
	if _, err := q.Generate(t.Context(), prompt, Options{MaxTokens: 8}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := q.Park(t.Context())
	var budget *engine.BudgetError
	if !errors.As(err, &budget) {
		t.Errorf("got %v, want a budget error", err)
	}
	level(t, q, s)
}

// TestResumeFails lets a restore fail so that the session is left empty, and so that it is as it was.
func TestResumeFails(t *testing.T) {
	v := newVocabulary()
	for _, c := range []struct {
		err  error
		lose int
	}{{errDevice, 0}, {engine.ErrEmptied, 64}} {
		s := newSession(t, v.Size(), 64)
		s.budget = 64
		q := newSequence(t, s, v)
		if _, err := q.Generate(t.Context(), prompt, Options{MaxTokens: 4}, nil); err != nil {
			t.Fatal(err)
		}
		p, err := q.Park(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.failAt, s.failWith, s.failLose = s.calls+1, c.err, c.lose
		if err := q.Resume(t.Context(), p); !errors.Is(err, c.err) {
			t.Errorf("got %v, want %v", err, c.err)
		}
		level(t, q, s)
		if err := q.Resume(t.Context(), p); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		level(t, q, s)
	}
}
