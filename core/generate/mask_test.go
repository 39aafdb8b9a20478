package generate

import (
	"errors"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

// digits is a mask that allows the tokens [0, 4), then forces a script, and then allows the end alone.
type digits struct {
	free     int     // tokens of free choice
	script   []int32 // what is forced afterwards
	end      int32   // the token that must end the answer
	accepted []int32
	fail     string
}

func (m *digits) Free() bool { return false }

func (m *digits) Next(dst []uint32) error {
	clear(dst)
	switch n := len(m.accepted); {
	case m.fail == "next":
		return errDevice
	case m.fail == "empty":
	case n < m.free || len(m.script) == 0:
		dst[0] = 0b1111
	case n < m.free+len(m.script):
		id := m.script[n-m.free]
		dst[id/32] = 1 << (id % 32)
	default:
		dst[m.end/32] = 1 << (m.end % 32)
	}
	return nil
}

func (m *digits) Accept(id int32) error {
	if m.fail == "accept" {
		return errDevice
	}
	m.accepted = append(m.accepted, id)
	return nil
}

func (m *digits) Forced() []int32 {
	if m.fail == "forced" {
		return []int32{1, 12345}
	}
	n := len(m.accepted) - m.free
	if n < 0 || n >= len(m.script) {
		return nil
	}
	return m.script[n:]
}

func TestMask(t *testing.T) {
	v := newVocabulary()
	script := []int32{9, 8, 7}
	for _, tc := range []struct {
		name   string
		mask   digits
		opt    Options
		tokens int
		finish FinishReason
		passes []int // after the prompt's
	}{
		{"end token", digits{free: 3, script: script, end: v.eog}, Options{}, 7, FinishStop, []int{1, 1, 4}},
		{"sampled", digits{free: 3, script: script, end: v.eog}, Options{Temperature: 1, TopP: 0.9}, 7, FinishStop, []int{1, 1, 4}},
		{"log probabilities", digits{free: 3, script: script, end: v.eog}, Options{Logprobs: 2}, 7, FinishStop, []int{1, 1, 1, 1, 1, 1}},
		{"bound within what is forced", digits{free: 3, script: script, end: v.eog}, Options{MaxTokens: 5}, 5, FinishLength, []int{1, 1}},
		{"stop string within what is forced", digits{free: 1, script: script, end: v.eog}, Options{Stop: []string{"i"}}, 3, FinishStop, nil},
		{"forced from the beginning", digits{free: 0, script: script, end: v.eog}, Options{}, 4, FinishStop, []int{3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSession(t, v.Size(), 64)
			q := newSequence(t, s, v)
			tc.opt.Mask, tc.opt.Spec = &tc.mask, SpecOff
			var h heard
			res, err := q.Generate(t.Context(), prompt, tc.opt, h.emit)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.IDs) != tc.tokens || res.Finish != tc.finish || !slices.Equal(res.IDs, tc.mask.accepted) {
				t.Errorf("%v, %s; accepted %v", res.IDs, res.Finish, tc.mask.accepted)
			}
			for i, id := range res.IDs {
				if i < tc.mask.free && id > 3 {
					t.Errorf("token %d is %d, which is not allowed", i, id)
				}
			}
			if got := s.columns[3:]; !slices.Equal(got, tc.passes) {
				t.Errorf("passes of %v, want %v", got, tc.passes)
			}
			if h.text.String() != res.Text {
				t.Errorf("emitted %q, returned %q", h.text.String(), res.Text)
			}
			level(t, q, s)
		})
	}
}

func TestMaskContext(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), len(prompt)+2)
	q := newSequence(t, s, v)
	m := &digits{free: 1, script: []int32{4, 5, 6, 7}, end: v.eog}
	res, err := q.Generate(t.Context(), prompt, Options{Mask: m}, nil)
	if err != nil || res.Finish != FinishContext || len(res.IDs) != 3 {
		t.Errorf("%v, %s, %v", res.IDs, res.Finish, err)
	}
	level(t, q, s)
}

func TestMaskErrors(t *testing.T) {
	v := newVocabulary()
	for _, tc := range []struct {
		fail string
		is   error
	}{{"next", errDevice}, {"accept", errDevice}, {"empty", ErrNoToken}, {"forced", nil}} {
		s := newSession(t, v.Size(), 64)
		q := newSequence(t, s, v)
		res, err := q.Generate(t.Context(), prompt, Options{Mask: &digits{free: 5, fail: tc.fail}}, nil)
		var token *TokenError
		if tc.is != nil && !errors.Is(err, tc.is) || tc.is == nil && (!errors.As(err, &token) || token.Where != "mask") {
			t.Errorf("%s: %v", tc.fail, err)
		}
		if res.Finish != FinishError || res.Text != v.text(res.IDs, false) {
			t.Errorf("%s: %s, %v %q", tc.fail, res.Finish, res.IDs, res.Text)
		}
		level(t, q, s)
	}
}

func TestMaskDistribution(t *testing.T) {
	logits := []float32{2, 1, 0, -1, 9, 9, 9, 9}
	o := Options{Temperature: 1, Mask: &digits{}, Logprobs: 1, Seed: 4}
	want := plainly(logits, o, nil, nil, func(id int32) bool { return id < 4 })
	v := &vocabulary{pieces: []string{"a", "b", "c", "d", "e", "f", "g", "h"}, eog: 99, control: 99}
	s := newSession(t, len(logits), 20000)
	s.logits = func([]int32) []float32 { return logits }
	res, err := newSequence(t, s, v).Generate(t.Context(), []int32{0}, o, func(token Token) error {
		if token.Top[0].ID != 4 || token.Logprob > -7 {
			t.Fatalf("%+v: log probabilities must be the model's own", token)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n := float64(len(res.IDs))
	counts := make([]float64, len(logits))
	for _, id := range res.IDs {
		counts[id]++
	}
	chi := 0.0
	for id, p := range want {
		if p == 0 {
			if counts[id] > 0 {
				t.Errorf("token %d was drawn %v times, want never", id, counts[id])
			}
			continue
		}
		chi += (counts[id] - n*p) * (counts[id] - n*p) / (n * p)
	}
	if chi > 16.3 { // 99.9 % of the distribution with 3 degrees of freedom
		t.Errorf("chi-square %.1f; counts %v, want %v of %v", chi, counts, want, n)
	}
}

// late is a mask that begins to restrict after so many tokens, as a call's grammar does.
type late struct {
	digits
	begin int
	asked int // calls of Next
}

func (m *late) Free() bool { return len(m.accepted) < m.begin }

func (m *late) Next(dst []uint32) error {
	m.asked++
	return m.digits.Next(dst)
}

func (m *late) Forced() []int32 { return nil }

// TestMaskFree checks that a mask costs nothing while it restricts nothing: it is not asked, and the device finds the
// largest logit.
func TestMaskFree(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	m := &late{begin: 3}
	if _, err := newSequence(t, s, v).Generate(t.Context(), prompt, Options{Mask: m, MaxTokens: 6}, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := len(m.accepted), 6; got != want {
		t.Fatalf("%d tokens, want %d", got, want)
	}
	if m.asked != 3 {
		t.Errorf("the mask was asked %d times, want 3", m.asked)
	}
	for i, o := range s.outputs[len(s.outputs)-6:] {
		if free := i < 3; free != (o.Top == 1) || free == (o.Logits == engine.LastColumn) {
			t.Errorf("token %d: asked for %+v, free %v", i, o, free)
		}
	}
	for i, id := range m.accepted[3:] {
		if id > 3 {
			t.Errorf("token %d is %d, which is not allowed", i+3, id)
		}
	}
}
