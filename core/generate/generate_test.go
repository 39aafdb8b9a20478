package generate

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/core/engine"
)

var prompt = []int32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}

func TestGreedyMatchesThePlainWay(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	q := newSequence(t, s, v)
	var h heard
	res, err := q.Generate(t.Context(), prompt, Options{MaxTokens: 20, Spec: SpecOff}, h.emit)
	if err != nil {
		t.Fatal(err)
	}
	want := greedy(s, v, prompt, 20)
	if !slices.Equal(res.IDs, want) || !slices.Equal(h.ids, want) {
		t.Errorf("ids %v, emitted %v, want %v", res.IDs, h.ids, want)
	}
	if res.Prompt != len(prompt) || res.Reused != 0 || res.Timings.PromptTokens != len(prompt) || res.Timings.Tokens != len(want) {
		t.Errorf("counts %+v", res)
	}
	if res.Timings.FirstToken < res.Timings.Prompt || res.Timings.Prompt <= 0 || res.Seed == 0 || res.Seed >= 1<<53 {
		t.Errorf("timings %+v, seed %d", res.Timings, res.Seed)
	}
	if got, want := s.columns[:3], []int{4, 4, 2}; !slices.Equal(got, want) {
		t.Errorf("prefill in passes of %v, want %v", got, want)
	}
	for i, o := range s.outputs {
		want := engine.Output{Top: 1}
		if i < 2 {
			want = engine.Output{}
		}
		if o != want {
			t.Errorf("pass %d asked for %+v, want %+v", i, o, want)
		}
	}
	level(t, q, s)
}

func TestFinishReasons(t *testing.T) {
	v := newVocabulary()
	const a, b, c, d = 0, 1, 2, 3
	n := int32(len(prompt))
	eog, ctl := v.eog, v.control
	emoji := []int32{int32(slices.Index(v.pieces, "\xf0\x9f")), int32(slices.Index(v.pieces, "\x98\x80"))}
	for _, tc := range []struct {
		name    string
		context int // 0 for plenty
		script  []int32
		opt     Options
		ids     []int32
		text    string
		finish  FinishReason
		stop    string
	}{
		{"end token", 0, []int32{a, b, eog, c}, Options{}, []int32{a, b, eog}, "ab", FinishStop, ""},
		{"end token at once", 0, []int32{eog}, Options{}, []int32{eog}, "", FinishStop, ""},
		{"end token shown is no text", 0, []int32{a, eog}, Options{ShowSpecial: true}, []int32{a, eog}, "a", FinishStop, ""},
		{"control token", 0, []int32{a, ctl, b, eog}, Options{}, []int32{a, ctl, b, eog}, "ab", FinishStop, ""},
		{"control token shown", 0, []int32{a, ctl, b, eog}, Options{ShowSpecial: true}, []int32{a, ctl, b, eog}, "a<ctl>b", FinishStop, ""},
		{"end token ignored", 0, []int32{a, eog, b, c}, Options{IgnoreEOG: true, MaxTokens: 3}, []int32{a, eog, b}, "ab", FinishLength, ""},
		{"stop id", 0, []int32{a, b, c, d}, Options{StopIDs: []int32{c}}, []int32{a, b, c}, "ab", FinishStop, ""},
		{"length", 0, []int32{a, b, c, d}, Options{MaxTokens: 2}, []int32{a, b}, "ab", FinishLength, ""},
		{"end token at the bound", 0, []int32{a, eog}, Options{MaxTokens: 2}, []int32{a, eog}, "a", FinishStop, ""},
		{"stop string at the bound", 0, []int32{a, b}, Options{MaxTokens: 2, Stop: []string{"b"}}, []int32{a, b}, "a", FinishStop, "b"},
		{"stop string over tokens", 0, []int32{a, b, c, d, eog}, Options{Stop: []string{"bcd"}}, []int32{a, b, c, d}, "a", FinishStop, "bcd"},
		{"stop string within a token", 0, []int32{d, 18, a}, Options{Stop: []string{"b"}}, []int32{d, 18}, "da", FinishStop, "b"},
		{"begun stop string", 0, []int32{a, b, c, eog}, Options{Stop: []string{"bcd"}}, []int32{a, b, c, eog}, "abc", FinishStop, ""},
		{"begun stop string at the bound", 0, []int32{a, b, c}, Options{MaxTokens: 3, Stop: []string{"bcd"}}, []int32{a, b, c}, "abc", FinishLength, ""},
		{"character over tokens", 0, []int32{emoji[0], emoji[1], eog}, Options{}, []int32{emoji[0], emoji[1], eog}, "😀", FinishStop, ""},
		{"character cut by the bound", 0, []int32{a, emoji[0], emoji[1]}, Options{MaxTokens: 2}, []int32{a, emoji[0]}, "a\uFFFD\uFFFD", FinishLength, ""},
		{"context", int(n) + 2, []int32{a, b, c, d}, Options{}, []int32{a, b, c}, "abc", FinishContext, ""},
		{"prompt fills the context", int(n), []int32{a, b, c, d}, Options{}, []int32{a}, "a", FinishContext, ""},
		{"end token in the last place", int(n) + 1, []int32{a, eog}, Options{}, []int32{a, eog}, "a", FinishStop, ""},
		{"length and context together", int(n) + 1, []int32{a, b, c}, Options{MaxTokens: 2}, []int32{a, b}, "ab", FinishLength, ""},
		{"begun stop string at the context", int(n) + 1, []int32{a, b, c}, Options{Stop: []string{"bc"}}, []int32{a, b}, "ab", FinishContext, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.context == 0 {
				tc.context = 64
			}
			s := newSession(t, v.Size(), tc.context)
			s.logits = script(v.Size(), len(prompt), tc.script...)
			q := newSequence(t, s, v)
			var h heard
			res, err := q.Generate(t.Context(), prompt, tc.opt, h.emit)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(res.IDs, tc.ids) || res.Text != tc.text || res.Finish != tc.finish || res.StopSequence != tc.stop {
				t.Errorf("got %v %q %s %q, want %v %q %s %q", res.IDs, res.Text, res.Finish, res.StopSequence, tc.ids, tc.text, tc.finish, tc.stop)
			}
			if h.text.String() != res.Text || !slices.Equal(h.ids, res.IDs) {
				t.Errorf("emitted %v %q, returned %v %q", h.ids, h.text.String(), res.IDs, res.Text)
			}
			if want := slices.Concat(prompt, res.IDs[:len(res.IDs)-1]); !slices.Equal(s.ids, want) {
				t.Errorf("the session holds %v, want %v", s.ids, want)
			}
			level(t, q, s)
		})
	}
}

func TestSessionWithLessRoomThanConfigured(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), len(prompt)+2)
	s.logits = script(v.Size(), len(prompt), 0, 1, 2, 3)
	q, err := New(s, Tokens(v), Config{Context: 100})
	if err != nil {
		t.Fatal(err)
	}
	var h heard
	res, err := q.Generate(t.Context(), prompt, Options{Stop: []string{"cd"}}, h.emit)
	if err != nil || res.Finish != FinishContext || res.Text != "abc" || h.text.String() != "abc" {
		t.Errorf("got %+v, emitted %q, %v", res, h.text.String(), err)
	}
	level(t, q, s)
}

func TestRequestsThatCannotBeAnswered(t *testing.T) {
	v := newVocabulary()
	nan := math.NaN()
	for _, tc := range []struct {
		name   string
		prompt []int32
		opt    Options
		want   string
	}{
		{"empty prompt", nil, Options{}, "the prompt is empty"},
		{"long prompt", make([]int32, 17), Options{}, "the prompt has 17 tokens and the context holds 16"},
		{"negative id", []int32{1, -1}, Options{}, "prompt: token -1 at index 1 is not one of the vocabulary's 30 tokens"},
		{"id past the end", []int32{30}, Options{}, "prompt: token 30 at index 0"},
		{"stop id", prompt, Options{StopIDs: []int32{1, 30}}, "stop ids: token 30 at index 1"},
		{"empty stop", prompt, Options{Stop: []string{"a", ""}}, `Stop is ""`},
		{"stop that is no text", prompt, Options{Stop: []string{"\xff"}}, `Stop is "\xff"`},
		{"negative bound", prompt, Options{MaxTokens: -1}, "MaxTokens is -1; it must not be negative"},
		{"top-k", prompt, Options{TopK: -1}, "TopK is -1"},
		{"logprobs", prompt, Options{Logprobs: -1}, "Logprobs is -1"},
		{"temperature", prompt, Options{Temperature: -1}, "Temperature is -1"},
		{"temperature NaN", prompt, Options{Temperature: nan}, "Temperature is NaN"},
		{"temperature infinite", prompt, Options{Temperature: math.Inf(1)}, "Temperature is +Inf"},
		{"top-p", prompt, Options{TopP: 1.1}, "TopP is 1.1"},
		{"min-p", prompt, Options{MinP: -0.1}, "MinP is -0.1"},
		{"repeat", prompt, Options{RepeatPenalty: 1e-9}, "RepeatPenalty is 1e-09"},
		{"presence", prompt, Options{PresencePenalty: nan}, "PresencePenalty is NaN"},
		{"frequency", prompt, Options{FrequencyPenalty: math.Inf(-1)}, "FrequencyPenalty is -Inf"},
		{"marks", prompt, Options{Marks: []int{11}}, "Marks is 11; it must be between 1 and the 10 tokens of the prompt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSession(t, v.Size(), 16)
			q := newSequence(t, s, v)
			res, err := q.Generate(t.Context(), tc.prompt, tc.opt, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if res.Finish != FinishError || s.calls != 0 {
				t.Errorf("finish %s after %d calls", res.Finish, s.calls)
			}
		})
	}
	var long *PromptTooLongError
	_, err := newSequence(t, newSession(t, v.Size(), 16), v).Generate(t.Context(), make([]int32, 17), Options{}, nil)
	if !errors.As(err, &long) || *long != (PromptTooLongError{17, 16}) {
		t.Errorf("got %#v", err)
	}
	if _, err := New(newSession(t, 1, 1), Tokens(v), Config{}); err == nil {
		t.Error("a context of 0 was accepted")
	}
	if _, err := New(newSession(t, 1, 1), Tokens(v), Config{Context: 1, Batch: -1}); err == nil {
		t.Error("a batch of −1 was accepted")
	}
}

func TestCancelAtEveryCall(t *testing.T) {
	v := newVocabulary()
	for _, recurrent := range []bool{false, true} {
		whole := newSession(t, v.Size(), 64)
		want := greedy(whole, v, prompt, 12)
		total := 0
		for at := 0; at == 0 || at <= total; at++ {
			s := newSession(t, v.Size(), 64)
			s.recurrent = recurrent
			q := newSequence(t, s, v)
			ctx, cancel := context.WithCancel(t.Context())
			s.hook = func(call int) {
				if call == at {
					cancel()
				}
			}
			var h heard
			opt := Options{MaxTokens: 12, Stop: []string{"never, never"}}
			res, err := q.Generate(ctx, prompt, opt, h.emit)
			level(t, q, s)
			if at == 0 {
				total = s.calls
				if err != nil || total < 12 {
					t.Fatalf("%d calls, %v", total, err)
				}
				cancel()
				continue
			}
			if !errors.Is(err, context.Canceled) || res.Finish != FinishCancelled {
				t.Fatalf("cancelled in call %d: %s, %v", at, res.Finish, err)
			}
			if n := len(res.IDs); !slices.Equal(res.IDs, want[:n]) || res.Text != v.text(res.IDs, false) || h.text.String() != res.Text {
				t.Errorf("cancelled in call %d: %v %q, emitted %q", at, res.IDs, res.Text, h.text.String())
			}
			cancel()

			again, err := q.Generate(t.Context(), prompt, opt, nil)
			if err != nil || !slices.Equal(again.IDs, want) {
				t.Errorf("after call %d: %v, %v, want %v", at, again.IDs, err, want)
			}
			level(t, q, s)
		}
	}
}

func TestCancelInEmit(t *testing.T) {
	v := newVocabulary()
	for at := 1; at <= 5; at++ {
		s := newSession(t, v.Size(), 64)
		s.logits = script(v.Size(), len(prompt), 0, 1, 2, 3, 4)
		q := newSequence(t, s, v)
		ctx, cancel := context.WithCancelCause(t.Context())
		n := 0
		res, err := q.Generate(ctx, prompt, Options{MaxTokens: 5}, func(Token) error {
			if n++; n == at {
				cancel(errors.New("enough"))
			}
			return nil
		})
		want := FinishCancelled
		if at == 5 { // the answer is complete: it was not cancelled
			want = FinishLength
		}
		if res.Finish != want || (err != nil) != (want == FinishCancelled) || res.Text != "abcde"[:at] {
			t.Errorf("cancelled at %d: %s %q %v", at, res.Finish, res.Text, err)
		}
		level(t, q, s)
		cancel(nil)
	}
}

func TestDeadline(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	q := newSequence(t, s, v)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	res, err := q.Generate(ctx, prompt, Options{}, nil)
	if !errors.Is(err, context.DeadlineExceeded) || res.Finish != FinishCancelled || s.calls != 0 {
		t.Errorf("%s, %v, %d calls", res.Finish, err, s.calls)
	}
}

func TestEmitError(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	s.logits = script(v.Size(), len(prompt), 0, 1, 2, 3, 4)
	q := newSequence(t, s, v)
	gone := errors.New("the reader left")
	n := 0
	res, err := q.Generate(t.Context(), prompt, Options{MaxTokens: 5, Stop: []string{"bx"}}, func(Token) error {
		if n++; n == 2 {
			return gone
		}
		return nil
	})
	if !errors.Is(err, gone) || res.Finish != FinishError || res.Text != "a" || n != 2 || len(res.IDs) != 2 {
		t.Errorf("%+v, %v after %d tokens", res, err, n)
	}
	level(t, q, s)
}

func TestFailureAtEveryCall(t *testing.T) {
	v := newVocabulary()
	for _, recurrent := range []bool{false, true} {
		for _, lose := range []int{0, 1, 3, 100} {
			second := append(slices.Clone(prompt[:7]), 8, 8, 8)
			for at := 1; ; at++ {
				s := newSession(t, v.Size(), 64)
				s.recurrent, s.failAt, s.failWith, s.failLose = recurrent, at, errDevice, lose
				q := newSequence(t, s, v)
				failures := 0
				for _, p := range [][]int32{prompt, second, prompt} {
					var h heard
					res, err := q.Generate(t.Context(), p, Options{MaxTokens: 6}, h.emit)
					level(t, q, s)
					want := greedy(s, v, p, 6)
					if err != nil {
						failures++
						if !errors.Is(err, errDevice) || res.Finish != FinishError {
							t.Fatalf("call %d: %s, %v", at, res.Finish, err)
						}
						if n := len(res.IDs); !slices.Equal(res.IDs, want[:n]) {
							t.Errorf("call %d: %v, want %v", at, res.IDs, want[:n])
						}
					} else if !slices.Equal(res.IDs, want) {
						t.Errorf("failure in call %d, recurrent %v: %v, want %v", at, recurrent, res.IDs, want)
					}
					if h.text.String() != res.Text || v.text(res.IDs, false) != res.Text {
						t.Errorf("call %d: emitted %q, returned %q, ids say %q", at, h.text.String(), res.Text, v.text(res.IDs, false))
					}
				}
				if s.calls < at {
					if failures != 0 {
						t.Errorf("%d failures without one being asked for", failures)
					}
					break
				}
				if failures != 1 {
					t.Errorf("a failure in call %d was reported %d times", at, failures)
				}
			}
		}
	}
}

func TestSessionThatBreaksItsContract(t *testing.T) {
	v := newVocabulary()
	for _, tc := range []struct {
		name  string
		spoil func(s *session)
		opt   Options
	}{
		{"grows too much", func(s *session) { s.extra = 1 }, Options{}},
		{"no candidates", func(s *session) { s.forward = func(r *engine.Result) { r.Top = nil } }, Options{}},
		{"no logits", func(s *session) { s.forward = func(r *engine.Result) { r.Logits = nil } }, Options{PresencePenalty: 1}},
		{"out of order", func(s *session) {
			s.forward = func(r *engine.Result) { slices.Reverse(r.Top[0]) }
		}, Options{Temperature: 1, TopK: 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSession(t, v.Size(), 64)
			tc.spoil(s)
			q := newSequence(t, s, v)
			res, err := q.Generate(t.Context(), prompt[:3], tc.opt, nil)
			if !errors.Is(err, ErrSession) || res.Finish != FinishError {
				t.Errorf("%s, %v", res.Finish, err)
			}
			level(t, q, s)
			s.extra, s.forward = 0, nil
			if _, err := q.Generate(t.Context(), prompt[:3], Options{MaxTokens: 2}, nil); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			level(t, q, s)
		})
	}
}

func TestLogitsThatAreNoDistribution(t *testing.T) {
	v := newVocabulary()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, bad := range []float32{nan, inf} {
		for _, opt := range []Options{
			{},
			{Temperature: 1},
			{Temperature: 1, TopK: 5},
			{Temperature: 1, TopK: 5, Logprobs: 200},
			{Temperature: 1, TopP: 0.5},
			{RepeatPenalty: 1.1},
		} {
			s := newSession(t, v.Size(), 64)
			s.logits = func(ids []int32) []float32 {
				out := make([]float32, v.Size())
				out[1] = 1
				if len(ids) == len(prompt)+2 {
					out[0] = bad
				}
				return out
			}
			s.forward = func(r *engine.Result) { // a device that keeps NaN in its list
				if len(r.Top) == 0 {
					return
				}
				top := r.Top[0]
				for i, c := range top {
					if c.Logit != c.Logit {
						top[0], top[i] = top[i], top[0]
					}
				}
				if len(s.ids) == len(prompt)+2 {
					top[0].Logit = bad
				}
			}
			q := newSequence(t, s, v)
			opt.IgnoreEOG = true
			res, err := q.Generate(t.Context(), prompt, opt, nil)
			var bad *LogitError
			if !errors.As(err, &bad) || bad.Position != len(prompt)+1 || res.Finish != FinishError || len(res.IDs) != 2 {
				t.Errorf("%+v: %s, %v, %v", opt, res.Finish, res.IDs, err)
			}
			level(t, q, s)
		}
	}
	s := newSession(t, v.Size(), 64)
	s.logits = func([]int32) []float32 {
		return slices.Repeat([]float32{float32(math.Inf(-1))}, v.Size())
	}
	for _, opt := range []Options{{Temperature: 1}, {Temperature: 1, TopP: 0.5}, {RepeatPenalty: 2}} {
		if _, err := newSequence(t, s, v).Generate(t.Context(), prompt, opt, nil); !errors.Is(err, ErrNoToken) {
			t.Errorf("%+v: all −∞: %v", opt, err)
		}
	}
}

func TestProgress(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	q := newSequence(t, s, v)
	var got []int
	opt := Options{MaxTokens: 1, Progress: func(done, total int) { got = append(got, done, total) }}
	if _, err := q.Generate(t.Context(), prompt, opt, nil); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 10, 4, 10, 8, 10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("progress %v, want %v", got, want)
	}
	got = nil
	if _, err := q.Generate(t.Context(), prompt, opt, nil); err != nil {
		t.Fatal(err)
	}
	if want := []int{9, 10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("progress of the same prompt %v, want %v", got, want)
	}
}
