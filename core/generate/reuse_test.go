package generate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

func TestReuse(t *testing.T) {
	v := newVocabulary()
	turn := func(ids ...int32) []int32 { return append(ids, v.eog) }
	const open, think = 16, 17 // what a template writes before an answer
	question := turn(1, 2, 3, 4, 5, 6)
	first := slices.Concat(question, []int32{open, think})
	answer := turn(7, 8, 9)
	next := turn(4, 4, 4)
	for _, tc := range []struct {
		name           string
		second         []int32
		shared         int // ids in common
		plain, reentry int // tokens reused by a state that can be cut anywhere, and by one that cannot
	}{
		{"the same again", first, 9, 8, 7},
		{"goes on from the answer", slices.Concat(first, answer, next, []int32{open, think}), 12, 12, 12},
		{"goes on from the prompt", slices.Concat(first, next), 9, 9, 9},
		{"reasoning stripped", slices.Concat(question, []int32{open}, answer, next, []int32{open, think}), 8, 8, 7},
		{"question edited", slices.Concat([]int32{1, 2, 3, 9}, []int32{open, think}), 3, 3, 0},
		{"shorter", first[:4], 4, 3, 0},
		{"nothing shared", []int32{5, 5}, 0, 0, 0},
	} {
		for _, recurrent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/recurrent=%v", tc.name, recurrent), func(t *testing.T) {
				s := newSession(t, v.Size(), 64)
				s.recurrent = recurrent
				s.logits = script(v.Size(), len(first), answer...)
				q := newSequence(t, s, v)
				if res, err := q.Generate(t.Context(), first, Options{}, nil); err != nil || !slices.Equal(res.IDs, answer) {
					t.Fatalf("%v, %v", res.IDs, err)
				}
				level(t, q, s)
				if got := q.Shared(tc.second); got != tc.shared {
					t.Errorf("%d shared, want %d", got, tc.shared)
				}
				res, err := q.Generate(t.Context(), tc.second, Options{MaxTokens: 1}, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := tc.plain
				if recurrent {
					want = tc.reentry
				}
				if res.Reused != want || res.Timings.PromptTokens != len(tc.second)-want {
					t.Errorf("reused %d and computed %d of %d, want %d reused", res.Reused, res.Timings.PromptTokens, len(tc.second), want)
				}
				if !slices.Equal(s.ids, tc.second) {
					t.Errorf("the session holds %v, want %v", s.ids, tc.second)
				}
				level(t, q, s)
			})
		}
	}
}

func TestMarks(t *testing.T) {
	v := newVocabulary()
	long := make([]int32, 90)
	for _, tc := range []struct {
		name      string
		recurrent bool
		prompt    []int32
		asked     []int
		want      []int
		columns   []int
	}{
		{"state that can be cut", false, []int32{1, 2, v.eog, 3, 4}, nil, nil, []int{4, 1}},
		{"last message", true, []int32{1, v.eog, 2, v.eog, 3}, nil, []int{4, 5}, []int{4, 1}},
		{"message ends the prompt", true, []int32{1, 2, v.eog}, nil, []int{2, 3}, []int{3}},
		{"no message", true, []int32{1, 2, 3}, nil, []int{2, 3}, []int{3}},
		{"message long ago", true, append([]int32{1, v.eog}, long[:70]...), nil, []int{71, 72}, nil},
		{"one token", true, []int32{1}, nil, []int{1}, []int{1}},
		{"asked for", true, []int32{1, 2, 3, 4, 5, 6, 7}, []int{5, 2}, []int{2, 5}, []int{4, 3}},
		{"asked for many", true, []int32{1, 2, 3, 4, 5, 6, 7}, []int{1, 2, 3, 4, 5, 6, 6}, []int{3, 4, 5, 6}, []int{4, 3}},
		{"asked for none", true, []int32{1, 2, 3}, []int{}, nil, []int{3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSession(t, v.Size(), 128)
			s.recurrent = tc.recurrent
			q := newSequence(t, s, v)
			if _, err := q.Generate(t.Context(), tc.prompt, Options{MaxTokens: 1, Marks: tc.asked}, nil); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.marks, tc.want) {
				t.Errorf("marks %v, want %v", s.marks, tc.want)
			}
			if tc.columns != nil && !slices.Equal(s.columns, tc.columns) {
				t.Errorf("passes of %v, want %v", s.columns, tc.columns)
			}
		})
	}
}

func TestNewDropsWhatIsHeld(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	s.ids = []int32{1, 2, 3}
	q := newSequence(t, s, v)
	if s.Len() != 0 || len(q.IDs()) != 0 {
		t.Errorf("the session holds %d positions, the sequence %d", s.Len(), len(q.IDs()))
	}
	s.ids, s.failAt, s.failWith = []int32{1}, s.calls+1, errDevice
	if _, err := New(s, Tokens(v), Config{Context: 64}); !errors.Is(err, errDevice) {
		t.Errorf("got %v", err)
	}
}

func TestReset(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	q := newSequence(t, s, v)
	if _, err := q.Generate(t.Context(), prompt, Options{MaxTokens: 3}, nil); err != nil {
		t.Fatal(err)
	}
	if err := q.Reset(); err != nil {
		t.Fatal(err)
	}
	level(t, q, s)
	if res, err := q.Generate(t.Context(), prompt, Options{MaxTokens: 3}, nil); err != nil || res.Reused != 0 {
		t.Errorf("reused %d, %v", res.Reused, err)
	}
	if q.Context() != 64 || q.Close() != nil {
		t.Errorf("context %d", q.Context())
	}
}

// TestReuseNeverChangesTheAnswer goes through random conversations that branch, and compares each answer with that of a
// fresh session.
func TestReuseNeverChangesTheAnswer(t *testing.T) {
	v := newVocabulary()
	const seed = 11
	t.Log("seed", seed)
	for _, recurrent := range []bool{false, true} {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newSession(t, v.Size(), 400)
		s.recurrent = recurrent
		q := newSequence(t, s, v)
		history := []int32{1}
		reused := 0
		for range 300 {
			history = history[:1+r.IntN(len(history))]
			for range 1 + r.IntN(12) {
				history = append(history, r.Int32N(int32(v.Size())))
			}
			opt := Options{MaxTokens: 1 + r.IntN(5), Temperature: float64(r.IntN(2)), Seed: 1 + r.Uint64(), SpecDepth: r.IntN(6)}
			if s.keep = engine.MaxKept; opt.SpecDepth == 0 {
				opt.Spec, s.keep = SpecOff, 3
			}
			got, err := q.Generate(t.Context(), history, opt, nil)
			if err != nil {
				t.Fatal(err)
			}
			level(t, q, s)
			opt.Spec, opt.SpecDepth = SpecOff, 0
			want, err := newSequence(t, newSession(t, v.Size(), 400), v).Generate(t.Context(), history, opt, nil)
			if err != nil || !slices.Equal(got.IDs, want.IDs) || got.Text != want.Text {
				t.Fatalf("%v %q, a fresh session says %v %q, %v", got.IDs, got.Text, want.IDs, want.Text, err)
			}
			reused += got.Reused
			if history = append(history, got.IDs...); len(history) > 300 {
				history = history[:20]
			}
		}
		if reused < 1000 {
			t.Errorf("recurrent %v: only %d tokens reused", recurrent, reused)
		}
	}
}
