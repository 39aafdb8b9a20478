package generate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pooled/pooled/core/engine"
)

// vocabulary is a small tokenizer: pieces of bytes, some of which are parts of a character.
type vocabulary struct {
	pieces  []string
	eog     int32
	control int32
}

// newVocabulary returns letters, pieces of a few letters, parts of characters, an empty piece, <ctl> and <end>.
func newVocabulary() *vocabulary {
	v := &vocabulary{}
	for c := 'a'; c <= 'p'; c++ {
		v.pieces = append(v.pieces, string(c))
	}
	v.pieces = append(v.pieces, " ", "ab", "abc", "\n", "é", "\xc3", "\xa9", "\xf0\x9f", "\x98\x80", "</s", ">", "", "<ctl>", "<end>")
	v.control = int32(len(v.pieces) - 2)
	v.eog = int32(len(v.pieces) - 1)
	return v
}

func (v *vocabulary) Size() int           { return len(v.pieces) }
func (v *vocabulary) IsEOG(id int32) bool { return id == v.eog }
func (v *vocabulary) NewStream(special bool) *vocabularyStream {
	return &vocabularyStream{v: v, special: special}
}

func (v *vocabulary) text(ids []int32, special bool) string {
	d, s := v.NewStream(special), ""
	for _, id := range ids {
		s += d.Push(id)
	}
	return s + d.Flush()
}

type vocabularyStream struct {
	v       *vocabulary
	special bool
	held    string
}

func (d *vocabularyStream) Push(id int32) string {
	if !d.special && id >= d.v.control {
		return ""
	}
	d.held += d.v.pieces[id]
	var out strings.Builder
	for d.held != "" && utf8.FullRuneInString(d.held) {
		r, n := utf8.DecodeRuneInString(d.held)
		out.WriteRune(r)
		d.held = d.held[n:]
	}
	return out.String()
}

func (d *vocabularyStream) Flush() string {
	n := len(d.held)
	d.held = ""
	return strings.Repeat("\uFFFD", n)
}

// session is a deterministic model: the logits after a column depend on the two last ids alone. It checks its own
// contract and fails on demand.
type session struct {
	t         *testing.T
	vocab     int
	context   int
	recurrent bool
	keep      int // positions kept; it loses those before, as no session should

	ids   []int32
	marks []int // the positions kept

	logits func(ids []int32) []float32 // nil for the table

	saved  map[engine.Checkpoint][]int32
	budget int // how many positions may be saved

	calls    int                    // laps
	failAt   int                    // the call that fails, from 1; 0 for none
	failWith error                  // what it returns
	failLose int                    // positions that a failing call loses
	hook     func(call int)         // runs at the beginning of every call
	columns  []int                  // widths of the passes
	outputs  []engine.Output        // what they asked for
	forward  func(r *engine.Result) // may spoil a result
	extra    int                    // positions by which Forward grows too much
}

func newSession(t *testing.T, vocab, context int) *session {
	return &session{t: t, vocab: vocab, context: context, keep: engine.MaxKept}
}

// table returns the logits after ids.
func (s *session) table(ids []int32) []float32 {
	if s.logits != nil {
		return slices.Clone(s.logits(ids))
	}
	seed := uint64(ids[len(ids)-1])
	if len(ids) > 1 {
		seed = seed<<20 | uint64(ids[len(ids)-2]+1)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]float32, s.vocab)
	for i := range out {
		out[i] = float32(r.NormFloat64() * 2)
	}
	out[s.vocab-1] -= 6 // the end token of newVocabulary comes late
	return out
}

// drafts guesses n tokens behind ids, most of them as greedy sampling does.
func (s *session) drafts(ids []int32, n int) (out []int32) {
	for range n {
		best := largest(nil, s.table(ids), 2)
		next := best[0].ID
		if len(ids)%7 == 3 {
			next = best[1].ID
		}
		ids, out = append(ids, next), append(out, next)
	}
	return out
}

func (s *session) fail() error {
	s.calls++
	if s.hook != nil {
		s.hook(s.calls)
	}
	if s.calls == s.failAt {
		s.cut(max(0, len(s.ids)-s.failLose))
		return s.failWith
	}
	return nil
}

func (s *session) cut(n int) {
	s.ids = s.ids[:n]
	s.marks = slices.DeleteFunc(s.marks, func(m int) bool { return m > n })
}

func (s *session) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	if err := s.fail(); err != nil {
		return engine.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return engine.Result{}, err
	}
	if b.Restore != 0 {
		ids, ok := s.saved[b.Restore]
		if !ok {
			return engine.Result{}, engine.ErrNoCheckpoint
		}
		s.ids, s.marks = slices.Clone(ids), nil
		return engine.Result{}, nil
	}
	for _, id := range b.Drop {
		delete(s.saved, id)
	}
	if len(b.Save) > 0 {
		held := 0
		for _, ids := range s.saved {
			held += len(ids)
		}
		if held+len(s.ids) > s.budget {
			return engine.Result{}, &engine.BudgetError{Need: int64(len(s.ids)), Held: int64(held), Budget: int64(s.budget)}
		}
		if s.saved == nil {
			s.saved = map[engine.Checkpoint][]int32{}
		}
		for _, id := range b.Save {
			s.saved[id] = slices.Clone(s.ids)
		}
	}
	if b.Hidden != nil || b.Pos > len(s.ids) || !slices.IsSorted(b.Keep) || len(b.Keep) > 0 && (b.Keep[0] < b.Pos || b.Keep[len(b.Keep)-1] > b.Pos+len(b.Tokens)) {
		s.t.Errorf("batch of %d tokens and %d hidden values at %d that keeps %v; the session is at %d", len(b.Tokens), len(b.Hidden), b.Pos, b.Keep, len(s.ids))
	}
	if s.recurrent && b.Pos < len(s.ids) {
		at := 0
		for _, m := range s.marks {
			if m <= b.Pos {
				at = max(at, m)
			}
		}
		if at != b.Pos {
			return engine.Result{}, &engine.PositionError{Pos: b.Pos, Len: len(s.ids), Latest: at}
		}
	}
	if b.Pos+len(b.Tokens) > s.context {
		return engine.Result{}, fmt.Errorf("%d tokens at %d of %d: %w", len(b.Tokens), b.Pos, s.context, engine.ErrContextFull)
	}
	for _, id := range b.Tokens {
		if id < 0 || int(id) >= s.vocab {
			s.t.Errorf("token %d of a vocabulary of %d", id, s.vocab)
		}
	}
	var r engine.Result
	if n := b.Draft.Count; n > 0 {
		r.Draft = s.drafts(append(slices.Clone(s.ids[:b.Pos]), append(b.Tokens, b.Draft.Token)...), n)
	}
	s.cut(b.Pos)
	s.marks = slices.DeleteFunc(s.marks, func(m int) bool { return slices.Contains(b.Forget, m) })
	s.marks = append(s.marks, b.Keep...)
	s.marks = s.marks[max(0, len(s.marks)-s.keep):]
	if len(b.Tokens) == 0 {
		return r, nil
	}
	s.columns, s.outputs = append(s.columns, len(b.Tokens)), append(s.outputs, b.Output)
	s.ids = append(s.ids, b.Tokens...)
	last := len(s.ids)
	for range s.extra {
		s.ids = append(s.ids, 0)
	}
	o := b.Output
	if o.Top > 0 && o.Logits != engine.NoColumns || max(o.Logits, o.TopOf) == engine.AllColumns || o.Hidden != engine.NoColumns || o.Accept {
		s.t.Errorf("asked for %+v: more than a sampler needs", o)
	}
	for i := o.Logits.Of(len(b.Tokens)); i > 0; i-- {
		r.Logits = append(r.Logits, s.table(s.ids[:last+1-i])...)
	}
	for i := max(o.TopOf, engine.LastColumn).Of(len(b.Tokens)); o.Top > 0 && i > 0; i-- {
		l := s.table(s.ids[:last+1-i])
		var sum float64
		var top []engine.Candidate
		for i, v := range l {
			top = append(top, engine.Candidate{ID: int32(i), Logit: v})
			sum += math.Exp(float64(v))
		}
		slices.SortFunc(top, byLogit)
		r.Top = append(r.Top, top[:min(o.Top, len(top))])
		r.LogSumExp = append(r.LogSumExp, float32(math.Log(sum)))
	}
	if s.forward != nil {
		s.forward(&r)
	}
	return r, nil
}

func (s *session) Len() int { return len(s.ids) }

func (s *session) Memory() (weights, state int64) { return 0, 0 }
func (s *session) Close() error                   { return nil }

var errDevice = errors.New("the device caught fire")

// level checks that a sequence and its session hold the same ids, but for a draft that the session can go back before.
func level(t *testing.T, q *Sequence, s *session) {
	t.Helper()
	got, want := q.IDs(), s.ids
	if n := len(got); n < len(want) && (!s.recurrent || slices.Contains(s.marks, n)) && len(want)-n <= maxDraft {
		want = want[:n]
	}
	if !slices.Equal(got, want) {
		t.Errorf("the sequence believes in %v, the session holds %v", got, want)
	}
}

func newSequence(t *testing.T, s *session, v *vocabulary) *Sequence {
	t.Helper()
	q, err := New(s, Tokens(v), Config{Context: s.context, Batch: 4, Recurrent: s.recurrent})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// heard collects what is emitted.
type heard struct {
	ids  []int32
	text strings.Builder
}

func (h *heard) emit(t Token) error {
	if t.ID != NoToken {
		h.ids = append(h.ids, t.ID)
	}
	h.text.WriteString(t.Text)
	return nil
}

// script returns logits that make the greedy answer to a prompt of n tokens be the given ids.
func script(vocab, n int, ids ...int32) func([]int32) []float32 {
	return func(held []int32) []float32 {
		out := make([]float32, vocab)
		if i := len(held) - n; i >= 0 && i < len(ids) {
			out[ids[i]] = 5
		}
		return out
	}
}

// greedy returns the answer of the session's model computed the plain way.
func greedy(s *session, v *vocabulary, prompt []int32, n int) []int32 {
	ids := slices.Clone(prompt)
	for len(ids) < len(prompt)+n {
		l := s.table(ids)
		best := 0
		for i := range l {
			if l[i] > l[best] {
				best = i
			}
		}
		ids = append(ids, int32(best))
		if v.IsEOG(int32(best)) {
			break
		}
	}
	return ids[len(prompt):]
}
