package enginetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

// The outputs that most rules compare.
var (
	last = engine.Output{Logits: engine.LastColumn}
	all  = engine.Output{Logits: engine.AllColumns}
)

// widths checks that a column has the same bits however positions are cut into batches.
func (s *subject) widths(t *testing.T) {
	ids := s.Prompt("p33")
	e := s.open(t, nil)
	want := lap(t, e, engine.Batch{Tokens: ids, Output: all}).Logits
	for _, width := range []int{1, 2, 3, 5, 8, 16} {
		if (s.Every > 1 || len(s.cuts) > 0) && width != 1 && width != 5 {
			continue
		}
		reset(t, e)
		var got []float32
		for at := 0; at < len(ids); at += width {
			got = append(got, forward(t, e, engine.Batch{Tokens: ids[at:min(len(ids), at+width)], Output: all}).Logits...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("width %d gives other logits than one batch", width)
		}
	}
}

// goingBack checks that positions can be dropped and computed again with the same result, and what cannot be gone to.
func (s *subject) goingBack(t *testing.T) {
	ids := s.Prompt("p33")
	e := s.open(t, nil)
	lap(t, e, engine.Batch{Tokens: ids[:10], Keep: []int{10}})
	want := forward(t, e, engine.Batch{Tokens: ids[10:20], Output: last}).Logits
	forward(t, e, engine.Batch{Tokens: ids[20:]})
	n := e.Len()
	refused := func(pos, latest int) {
		t.Helper()
		var pe *engine.PositionError
		if _, err := e.Forward(t.Context(), engine.Batch{Pos: pos, Tokens: ids[:1]}); !errors.As(err, &pe) {
			t.Errorf("a lap at %d of %d: got %v, want a position error", pos, n, err)
		} else if *pe != (engine.PositionError{Pos: pos, Len: n, Latest: latest}) {
			t.Errorf("a lap at %d of %d: got %+v, want %d as the latest", pos, n, *pe, latest)
		}
		if e.Len() != n {
			t.Fatalf("a refused lap leaves %d positions, want %d", e.Len(), n)
		}
	}
	refused(-1, 0)
	refused(n+1, n)
	back := 15
	if s.recurrent() {
		back = 10
		refused(15, 10)
		refused(9, 0)
	}
	if r := lap(t, e, engine.Batch{Pos: back, Tokens: ids[back:20], Output: last}); !slices.Equal(r.Logits, want) {
		t.Error("after going back the same tokens give other logits")
	}
	if e.Len() != 20 {
		t.Errorf("it holds %d positions, want 20", e.Len())
	}
	if r := lap(t, e, engine.Batch{Tokens: ids[:20], Output: last}); !slices.Equal(r.Logits, want) {
		t.Error("from the beginning the same tokens give other logits")
	}
}

// kept checks positions that are kept in the midst of a lap, and what is forgotten.
func (s *subject) kept(t *testing.T) {
	ids := s.Prompt("p33")
	e := s.open(t, nil)
	want := lap(t, e, engine.Batch{Tokens: ids, Output: all}).Logits
	vocab := s.plan.Vocab
	column := func(i int) []float32 { return want[i*vocab : (i+1)*vocab] }
	got := lap(t, e, engine.Batch{Tokens: ids[:30], Keep: []int{0, 3, 17, 18, 30}, Output: last}).Logits
	if !slices.Equal(got, column(29)) {
		t.Error("a lap that keeps positions gives other logits")
	}
	lap(t, e, engine.Batch{Pos: 30, Tokens: ids[30:]})
	for _, pos := range []int{30, 18, 17, 3, 0} {
		r := lap(t, e, engine.Batch{Pos: pos, Tokens: ids[pos : pos+1], Output: last})
		if !slices.Equal(r.Logits, column(pos)) {
			t.Errorf("going back to kept position %d gives other logits", pos)
		}
		if r := forward(t, e, engine.Batch{Tokens: ids[pos+1 : pos+3], Output: last}); !slices.Equal(r.Logits, column(pos+2)) {
			t.Errorf("going on from kept position %d gives other logits", pos)
		}
	}
	reset(t, e)
	lap(t, e, engine.Batch{Tokens: ids[:12], Keep: []int{4, 8}})
	lap(t, e, engine.Batch{Pos: 8, Forget: []int{4}, Tokens: ids[8:9], Keep: []int{9}})
	for _, b := range []engine.Batch{
		{Pos: 9, Forget: []int{4}},
		{Pos: 9, Forget: []int{9, 8}},
		{Pos: 9, Keep: []int{8}},
		{Pos: 9, Keep: []int{10}},
		{Pos: 9, Tokens: ids[9:11], Keep: []int{11, 10}},
	} {
		if _, err := e.Forward(t.Context(), b); !errors.Is(err, engine.ErrBatch) {
			t.Errorf("batch %+v: got %v, want %v", b, err, engine.ErrBatch)
		}
	}
	many := make([]int, engine.MaxKept)
	for i := range many {
		many[i] = 10 + i
	}
	if _, err := e.Forward(t.Context(), engine.Batch{Pos: 9, Tokens: ids[9:30], Keep: many}); !errors.Is(err, engine.ErrKept) || e.Len() != 9 {
		t.Errorf("more than %d kept: got %v, %d positions", engine.MaxKept, err, e.Len())
	}
	lap(t, e, engine.Batch{Pos: 9, Forget: []int{0, 8, 9}, Tokens: ids[9:30], Keep: many})
	if r := lap(t, e, engine.Batch{Pos: many[15], Tokens: ids[many[15] : many[15]+1], Output: last}); !slices.Equal(r.Logits, column(many[15])) {
		t.Error("going back to the last of many gives other logits")
	}
}

// drafted checks what the draft block guesses against the reference, however the prompt was cut and whatever was guessed and
// computed before, and that asking changes nothing.
func (s *subject) drafted(t *testing.T) {
	e := s.open(t, nil)
	ids := s.Prompt("p33")
	want := lap(t, e, engine.Batch{Tokens: ids, Output: last}).Logits
	if s.plan.Draft == nil || len(s.cuts) > 0 || !s.Drafts {
		if r := lap(t, e, engine.Batch{Pos: len(ids), Draft: engine.Draft{Token: 1, Count: 3}}); len(r.Draft) > 3 {
			t.Errorf("%d tokens were drafted, 3 at most were asked for", len(r.Draft))
		}
		return
	}
	for _, g := range s.Draft {
		if g.Rows == "shifted" {
			continue
		}
		prompt := s.Prompt(g.Prompt)
		for _, cut := range []int{len(prompt), 1, len(prompt) / 2} {
			reset(t, e)
			lap(t, e, engine.Batch{Tokens: prompt[:cut]})
			if cut < len(prompt) {
				// A draft in between, a rejected one and its columns leave nothing behind.
				lap(t, e, engine.Batch{Pos: cut, Draft: engine.Draft{Token: prompt[cut], Count: 2}})
				lap(t, e, engine.Batch{Pos: cut, Tokens: []int32{prompt[cut], 1, 2}, Keep: []int{cut + 1}})
				lap(t, e, engine.Batch{Pos: cut + 1, Forget: []int{cut + 1}, Tokens: prompt[cut+1:]})
			}
			for _, count := range []int{len(g.IDs), 1} {
				r := lap(t, e, engine.Batch{Pos: len(prompt), Draft: engine.Draft{Token: g.First, Count: count}})
				if len(r.Draft) != count {
					t.Fatalf("%s: %d tokens were drafted, want %d", g.Prompt, len(r.Draft), count)
				}
				for i, id := range r.Draft {
					if id != g.IDs[i] {
						if g.Gap[i] > draftGap {
							t.Errorf("%s, cut at %d: token %d of the draft is %d, want %d (gap %.3f)", g.Prompt, cut, i, id, g.IDs[i], g.Gap[i])
						}
						break
					}
				}
			}
		}
	}
	reset(t, e)
	lap(t, e, engine.Batch{Tokens: ids[:20]})
	lap(t, e, engine.Batch{Pos: 20, Draft: engine.Draft{Token: ids[20], Count: 4}})
	if got := lap(t, e, engine.Batch{Pos: 20, Tokens: ids[20:], Output: last}).Logits; !slices.Equal(got, want) {
		t.Error("a draft changes the logits behind it")
	}
}

// draftGap is how near the first and the second logit may be for another choice to count.
const draftGap = 0.1

// drafts checks that every column of a wide lap is that of a plain step, and that going back after each possible rejection is
// as if the columns behind had never been computed.
func (s *subject) drafts(t *testing.T) {
	ids := s.Prompt("p33")
	const at = 9
	e := s.open(t, nil)
	want := lap(t, e, engine.Batch{Tokens: ids, Output: all}).Logits
	column := func(i int) []float32 { return want[i*s.plan.Vocab:][:s.plan.Vocab] }
	for _, width := range []int{2, 3, 8, 16} {
		if s.Every > 1 && width != 3 {
			continue
		}
		for accepted := range width {
			if (s.Every > 1 || len(s.cuts) > 0) && accepted != width/2 {
				continue
			}
			// All but the accepted columns are of tokens that the text does not have.
			draft := slices.Clone(ids[at : at+width])
			var keep []int
			for i := range draft {
				if i > accepted {
					draft[i] = (draft[i] + 1) % int32(s.plan.Vocab)
				}
				if i > 0 {
					keep = append(keep, at+i)
				}
			}
			reset(t, e)
			lap(t, e, engine.Batch{Tokens: ids[:at]})
			got := forward(t, e, engine.Batch{Tokens: draft, Keep: keep, Output: all}).Logits
			for i := range accepted + 1 {
				if !slices.Equal(got[i*s.plan.Vocab:][:s.plan.Vocab], column(at+i)) {
					t.Errorf("column %d of %d has other logits than a plain step", i, width)
				}
			}
			next := at + accepted + 1
			// The next lap is a draft again, which keeps and goes back in one.
			forget := keep[:min(accepted+1, len(keep))]
			r := lap(t, e, engine.Batch{Pos: next, Forget: forget, Tokens: ids[next : next+3], Keep: []int{next + 1, next + 2}, Output: all})
			if !slices.Equal(r.Logits, want[next*s.plan.Vocab:][:3*s.plan.Vocab]) {
				t.Errorf("after %d of %d columns: going on gives other logits", accepted+1, width)
			}
			r = lap(t, e, engine.Batch{Pos: next + 1, Tokens: ids[next+1 : next+2], Output: last})
			if !slices.Equal(r.Logits, column(next+1)) {
				t.Errorf("after %d of %d columns: going back again gives other logits", accepted+1, width)
			}
		}
	}
}

// byLogit returns the ids of a row of logits, largest first.
func byLogit(logits []float32) []int32 {
	ids := make([]int32, len(logits))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	return ids
}

// top checks that the candidates are those of the logits, for the last column and for all.
func (s *subject) top(t *testing.T) {
	e := s.open(t, nil)
	ids, vocab := s.Prompt("p33")[:20], s.plan.Vocab
	for _, o := range []engine.Output{
		{Logits: engine.LastColumn, Top: 5},
		{Logits: engine.AllColumns, Top: 5, TopOf: engine.LastColumn},
		{Logits: engine.AllColumns, Top: 5, TopOf: engine.AllColumns},
		{Logits: engine.LastColumn, Top: 1, TopOf: engine.AllColumns},
		{Logits: engine.AllColumns, Top: vocab + 1, TopOf: engine.AllColumns},
	} {
		if s.carried && o.Top > vocab {
			continue // no such lap can be carried
		}
		r := lap(t, e, engine.Batch{Tokens: ids, Output: o})
		want := 1
		if o.TopOf == engine.AllColumns {
			want = len(ids)
		}
		if len(r.Top) != want || len(r.LogSumExp) != want {
			t.Fatalf("%+v: candidates of %d columns and %d sums, want %d", o, len(r.Top), len(r.LogSumExp), want)
		}
		for c, top := range r.Top {
			if len(top) != min(o.Top, vocab) {
				t.Fatalf("%+v: %d candidates", o, len(top))
			}
			if sum := r.LogSumExp[c]; sum < top[0].Logit || sum > top[0].Logit+7 {
				t.Errorf("%+v: log-sum-exp %v does not fit the largest logit %v", o, sum, top[0].Logit)
			}
			at := len(r.Logits)/vocab - want + c
			if at < 0 {
				continue // the logits of this column were not asked for
			}
			logits := r.Logits[at*vocab : (at+1)*vocab]
			for i, id := range byLogit(logits)[:len(top)] {
				if top[i] != (engine.Candidate{ID: id, Logit: logits[id]}) {
					t.Errorf("%+v: candidate %d is %v, want token %d with %v", o, i, top[i], id, logits[id])
				}
			}
		}
	}
}

// accept checks that the greedy prefix of a draft is found.
func (s *subject) accept(t *testing.T) {
	e := s.open(t, nil)
	ids := s.Prompt("p33")[:9]
	lap(t, e, engine.Batch{Tokens: ids[:8], Keep: []int{8}})
	path := []int32{ids[8]} // the last token, and greedy ones behind it
	for range 6 {
		path = append(path, forward(t, e, engine.Batch{Tokens: path[len(path)-1:], Output: engine.Output{Top: 1}}).Top[0][0].ID)
	}
	for wrong := 1; wrong <= 6; wrong++ {
		draft := slices.Clone(path[:6])
		if wrong < 6 {
			draft[wrong] = (draft[wrong] + 1) % int32(s.plan.Vocab)
		}
		for _, o := range []engine.Output{{Accept: true}, {Accept: true, Top: 3}, {Accept: true, Top: 2, TopOf: engine.AllColumns, Logits: engine.LastColumn}} {
			r := lap(t, e, engine.Batch{Pos: 8, Tokens: draft, Output: o})
			if r.Accepted != wrong-1 || r.Next != path[wrong] {
				t.Errorf("a draft wrong at %d: %d accepted and then %d, want %d and %d", wrong, r.Accepted, r.Next, wrong-1, path[wrong])
			}
			want := 0
			if o.Top > 0 {
				want = max(o.TopOf, engine.LastColumn).Of(len(draft))
			}
			if len(r.Top) != want || len(r.LogSumExp) != want {
				t.Errorf("%+v: candidates of %d columns and %d sums, want %d", o, len(r.Top), len(r.LogSumExp), want)
			}
		}
	}
}

// errors checks what a session refuses, and that it goes on afterwards.
func (m *loaded) errors(t *testing.T, o Options) {
	n := len(m.plan.Layers)
	s := m.openConfig(t, o, m.config(o, 0, n))
	for _, c := range []struct {
		name string
		b    engine.Batch
		want error
	}{
		{"a token beyond the vocabulary", engine.Batch{Tokens: []int32{int32(m.plan.Vocab)}}, engine.ErrBatch},
		{"a negative token", engine.Batch{Tokens: []int32{-1}}, engine.ErrBatch},
		{"hidden states for the embedding", engine.Batch{Hidden: make([]float32, m.plan.Hidden)}, engine.ErrBatch},
		{"output of no columns", engine.Batch{Output: last}, engine.ErrBatch},
		{"a negative number of candidates", engine.Batch{Tokens: []int32{1}, Output: engine.Output{Top: -1}}, engine.ErrBatch},
		{"a draft of more than there may be", engine.Batch{Draft: engine.Draft{Count: engine.MaxDraft + 1}}, engine.ErrBatch},
		{"a draft behind no token", engine.Batch{Draft: engine.Draft{Token: -1, Count: 1}}, engine.ErrBatch},
		{"nothing to take back", engine.Batch{Undo: true}, engine.ErrNoUndo},
		{"taking back and more", engine.Batch{Undo: true, Tokens: []int32{1}}, engine.ErrBatch},
		{"restoring and more", engine.Batch{Restore: 1, Tokens: []int32{1}}, engine.ErrBatch},
		{"restoring nothing", engine.Batch{Restore: 1}, engine.ErrNoCheckpoint},
		{"dropping nothing", engine.Batch{Drop: []engine.Checkpoint{1}}, engine.ErrNoCheckpoint},
		{"saving without a number", engine.Batch{Save: []engine.Checkpoint{0}}, engine.ErrBatch},
		{"saving twice", engine.Batch{Save: []engine.Checkpoint{1, 1}}, engine.ErrBatch},
		{"257 columns into 256 positions", engine.Batch{Tokens: make([]int32, 257)}, engine.ErrContextFull},
	} {
		if _, err := s.Forward(t.Context(), c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if s.Len() != 0 {
		t.Errorf("refused batches leave %d positions", s.Len())
	}
	forward(t, s, engine.Batch{Tokens: make([]int32, 256), Output: engine.Output{Top: 1}})
	if _, err := s.Forward(t.Context(), engine.Batch{Pos: 256, Tokens: []int32{1}}); !errors.Is(err, engine.ErrContextFull) {
		t.Errorf("one column more than fits: got %v, want %v", err, engine.ErrContextFull)
	}

	tail := m.openConfig(t, o, m.config(o, 1, n))
	hidden := make([]float32, m.plan.Hidden)
	for _, b := range []engine.Batch{
		{Tokens: []int32{1}}, {Hidden: append(hidden, 0)}, {Hidden: hidden, Output: engine.Output{Accept: true}},
	} {
		if _, err := tail.Forward(t.Context(), b); !errors.Is(err, engine.ErrBatch) {
			t.Errorf("a session without the embedding: got %v, want %v", err, engine.ErrBatch)
		}
	}
	c := m.config(o, 0, n)
	c.Undo = false
	once := m.openConfig(t, o, c)
	forward(t, once, engine.Batch{Tokens: []int32{1}})
	if _, err := once.Forward(t.Context(), engine.Batch{Undo: true}); !errors.Is(err, engine.ErrNoUndo) {
		t.Errorf("taking back where that was not asked for: got %v, want %v", err, engine.ErrNoUndo)
	}
	first := m.openConfig(t, o, m.config(o, 0, 1))
	if _, err := first.Forward(t.Context(), engine.Batch{Tokens: []int32{1}, Output: engine.Output{Top: 1}}); !errors.Is(err, engine.ErrBatch) {
		t.Errorf("logits of a session without the head: got %v, want %v", err, engine.ErrBatch)
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
	if _, state := s.Memory(); state < 1 {
		t.Errorf("a state of %d bytes", state)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forward(t.Context(), engine.Batch{Tokens: []int32{1}}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("a closed session: got %v, want %v", err, engine.ErrClosed)
	}
}
