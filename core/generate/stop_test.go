package generate

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// cutPlainly is the definition of what the stopper does: the stop string that is complete first, the longest among those
// that are complete together.
func cutPlainly(text string, stops []string) (before, stop string) {
	for end := 1; end <= len(text); end++ {
		for _, s := range stops {
			if strings.HasSuffix(text[:end], s) && len(s) > len(stop) {
				stop = s
			}
		}
		if stop != "" {
			return text[:end-len(stop)], stop
		}
	}
	return text, ""
}

// feed pushes pieces and checks after each that no more is held back than may become a stop string.
func feed(t *testing.T, pieces, stops []string) (text, stop string) {
	t.Helper()
	s := newStopper(stops)
	pushed := ""
	for _, p := range pieces {
		pushed += p
		var certain string
		certain, stop = s.push(p)
		text += certain
		if stop != "" {
			return text, stop
		}
		held := pushed[len(text):]
		if text+held != pushed {
			t.Fatalf("%q: gave %q", pieces, text)
		}
		if held != "" && !slices.ContainsFunc(stops, func(s string) bool { return strings.HasPrefix(s, held) }) {
			t.Errorf("%q, stops %q: %q is held back and begins none", pieces, stops, held)
		}
		for _, s := range stops {
			for n := len(held) + 1; n < len(s); n++ {
				if strings.HasSuffix(pushed, s[:n]) {
					t.Errorf("%q, stops %q: gave %q although %q may begin a stop string", pieces, stops, text, s[:n])
				}
			}
		}
	}
	return text + s.flush(), ""
}

func TestStopperInAllSplits(t *testing.T) {
	for _, tc := range []struct {
		text  string
		stops []string
		want  string
		stop  string
	}{
		{"hello", nil, "hello", ""},
		{"hello", []string{"xyz"}, "hello", ""},
		{"hello</s>", []string{"</s>"}, "hello", "</s>"},
		{"ab</s>cd", []string{"</s>"}, "ab", "</s>"},
		{"ab</s", []string{"</s>"}, "ab</s", ""},
		{"a<</s>", []string{"</s>"}, "a<", "</s>"},
		{"aabaaab", []string{"aaab"}, "aab", "aaab"},
		{"ababac", []string{"abac"}, "ab", "abac"},
		{"abcX", []string{"abcX", "b"}, "a", "b"},
		{"xabc", []string{"c", "abc", "bc"}, "x", "abc"},
		{"aaaa", []string{"aa"}, "", "aa"},
		{"né😀.", []string{"😀"}, "né", "😀"},
		{"né😁.", []string{"😀"}, "né😁.", ""},
		{"é", []string{"é", "éé"}, "", "é"},
	} {
		n := len(tc.text)
		for split := range 1 << max(0, n-1) {
			var pieces []string
			from := 0
			for i := 1; i < n; i++ {
				if split>>(i-1)&1 == 1 {
					pieces = append(pieces, tc.text[from:i])
					from = i
				}
			}
			pieces = append(pieces, tc.text[from:])
			text, stop := feed(t, pieces, tc.stops)
			if text != tc.want || stop != tc.stop {
				t.Errorf("%q, stops %q: got %q %q, want %q %q", pieces, tc.stops, text, stop, tc.want, tc.stop)
			}
		}
	}
}

func FuzzStopper(f *testing.F) {
	f.Add("hello</s>", "</s>", "lo", uint64(0x1234))
	f.Add("aabaaab", "aaab", "ab", uint64(7))
	f.Add("né😀", "😀", "é", uint64(0))
	f.Fuzz(func(t *testing.T, text, a, b string, split uint64) {
		if a == "" || b == "" || len(text) > 200 {
			return
		}
		stops := []string{a, b}
		var pieces []string
		for rest := text; rest != ""; split = split>>3 | split<<61 {
			n := min(len(rest), int(split&7))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
			if n == 0 {
				split |= 1 << 3
			}
		}
		want, wantStop := cutPlainly(text, stops)
		got, stop := feed(t, pieces, stops)
		if got != want || stop != wantStop {
			t.Errorf("%q, stops %q: got %q %q, want %q %q", pieces, stops, got, stop, want, wantStop)
		}
		if utf8.ValidString(text) && utf8.ValidString(a) && utf8.ValidString(b) && !utf8.ValidString(got) {
			t.Errorf("%q, stops %q: %q is cut within a character", pieces, stops, got)
		}
	})
}

// TestTextIsWhatTheIDsSay holds streamed text, returned text and ids against one another over many random answers.
func TestTextIsWhatTheIDsSay(t *testing.T) {
	v := newVocabulary()
	stopped := 0
	for seed := range uint64(400) {
		s := newSession(t, v.Size(), 60)
		s.logits = func([]int32) []float32 { return make([]float32, v.Size()) } // every token alike
		q := newSequence(t, s, v)
		var h heard
		opt := Options{
			Temperature: 1, Seed: seed + 1, ShowSpecial: seed%2 == 0, MaxTokens: int(seed % 60), IgnoreEOG: seed%3 == 0,
			Stop: []string{"ab", "<ctl>", "é", "abcabc", " \n"}[seed%5:],
		}
		res, err := q.Generate(t.Context(), []int32{1, 2}, opt, h.emit)
		if err != nil {
			t.Fatal(err)
		}
		ids := res.IDs
		if last := ids[len(ids)-1]; res.Finish == FinishStop && res.StopSequence == "" {
			if !v.IsEOG(last) || opt.IgnoreEOG {
				t.Errorf("seed %d: stopped at %d", seed, last)
			}
			ids = ids[:len(ids)-1]
		}
		want, stop := cutPlainly(v.text(ids, opt.ShowSpecial), opt.Stop)
		if res.Text != want || res.StopSequence != stop || h.text.String() != want || !slices.Equal(h.ids, res.IDs) {
			t.Errorf("seed %d: text %q, stop %q, emitted %q; the ids say %q, %q", seed, res.Text, res.StopSequence, h.text.String(), want, stop)
		}
		if stop != "" {
			stopped++
		}
		level(t, q, s)
	}
	if stopped < 50 {
		t.Errorf("only %d answers met a stop string", stopped)
	}
}

func TestNothingOfAStopStringIsEmitted(t *testing.T) {
	v := newVocabulary()
	s := newSession(t, v.Size(), 64)
	s.logits = script(v.Size(), len(prompt), 0, 1, 2, 3, 4, 1, 2, 5)
	var texts []string
	_, err := newSequence(t, s, v).Generate(t.Context(), prompt, Options{Stop: []string{"bcf"}}, func(t Token) error {
		texts = append(texts, t.Text)
		return nil
	})
	if want := []string{"a", "", "", "bcd", "e", "", "", ""}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("emitted %q, %v, want %q", texts, err, want)
	}
}
