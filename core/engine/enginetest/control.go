package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

// script is a session's work in laps of every kind but a restore. It leaves checkpoint 2, of position 20.
func (s *subject) script() []engine.Batch {
	ids := s.Prompt("p33")
	return []engine.Batch{
		{Tokens: ids[:20], Keep: []int{10, 20}, Save: []engine.Checkpoint{1, 2}},
		{Pos: 20, Tokens: ids[20:21], Output: last},
		{Pos: 10, Tokens: ids[5:12], Keep: []int{12}, Output: last}, // goes back and writes over
		{Pos: 17, Keep: []int{17}, Save: []engine.Checkpoint{3}},    // control alone
		{Pos: 17, Forget: []int{10}, Drop: []engine.Checkpoint{1}, Tokens: ids[:3], Output: all},
		{Pos: 12, Tokens: ids[7:9], Drop: []engine.Checkpoint{3}, Output: last}, // forgets by going back
		{Pos: 0, Tokens: ids[1:4], Output: last},
	}
}

// state tells where a session is: the bits of laps from every position that it can go to, each taken back.
func (s *subject) state(t *testing.T, e engine.Session) string {
	t.Helper()
	out := fmt.Sprint("length ", e.Len())
	ids := s.Prompt("p33")[4:6]
	positions := []int{e.Len(), 20, 17, 12, 10, 0}
	if s.Every > 1 {
		positions = []int{e.Len(), 12, 0}
	}
	for _, pos := range positions {
		n := e.Len()
		r, err := e.Forward(t.Context(), engine.Batch{Pos: pos, Tokens: ids, Output: engine.Output{Top: 3}})
		var pe *engine.PositionError
		switch {
		case errors.As(err, &pe):
			out += fmt.Sprintf("; %d refused for %d", pos, pe.Latest)
			continue
		case err != nil:
			t.Fatalf("at %d: %v", pos, err)
		}
		out += fmt.Sprint("; ", pos, " ", r.Top, r.LogSumExp)
		lap(t, e, engine.Batch{Undo: true})
		if e.Len() != n {
			t.Fatalf("a lap from %d that was taken back leaves %d positions, want %d", pos, e.Len(), n)
		}
	}
	return out
}

// undo takes every lap of the script back and runs it again.
func (s *subject) undo(t *testing.T) {
	e, control := s.open(t, nil), s.open(t, nil)
	for i, b := range s.script() {
		before := s.state(t, e)
		if want := s.state(t, control); before != want {
			t.Fatalf("before lap %d:\n got %s\nwant %s", i, before, want)
		}
		want := lap(t, control, b)
		lap(t, e, b)
		lap(t, e, engine.Batch{Undo: true})
		if _, err := e.Forward(t.Context(), engine.Batch{Undo: true}); !errors.Is(err, engine.ErrNoUndo) {
			t.Errorf("taking lap %d back twice: got %v, want %v", i, err, engine.ErrNoUndo)
		}
		if after := s.state(t, e); after != before {
			t.Errorf("lap %d, taken back:\n got %s\nwant %s", i, after, before)
		}
		if got := lap(t, e, b); !slices.Equal(got.Logits, want.Logits) {
			t.Errorf("lap %d, taken back and run again, gives other logits", i)
		}
	}
	s.finish(t, e, control)

	// One token after the other, each taken back in between, for longer than a backend may look ahead.
	ids := s.Prompt("p33")
	reset(t, e)
	want := lap(t, control, engine.Batch{Tokens: append(ids[:len(ids):len(ids)], ids...), Output: all}).Logits
	for i := range 2 * len(ids) {
		b := engine.Batch{Pos: i, Tokens: ids[i%len(ids):][:1], Output: last}
		if i%3 > 0 {
			lap(t, e, b)
			lap(t, e, engine.Batch{Undo: true})
		}
		if got := lap(t, e, b).Logits; !slices.Equal(got, want[i*s.plan.Vocab:][:s.plan.Vocab]) {
			t.Fatalf("token %d, which was taken back before, gives other logits", i)
		}
	}
}

// finish compares the checkpoint that the script leaves.
func (s *subject) finish(t *testing.T, e, control engine.Session) {
	t.Helper()
	for _, s := range []engine.Session{e, control} {
		lap(t, s, engine.Batch{Restore: 2})
	}
	if got, want := s.state(t, e), s.state(t, control); got != want {
		t.Errorf("a checkpoint, restored:\n got %s\nwant %s", got, want)
	}
	for _, id := range []engine.Checkpoint{1, 3} {
		if _, err := e.Forward(t.Context(), engine.Batch{Restore: id}); !errors.Is(err, engine.ErrNoCheckpoint) {
			t.Errorf("checkpoint %d, which was dropped: got %v, want %v", id, err, engine.ErrNoCheckpoint)
		}
	}
}

// checkpoints saves, goes elsewhere and comes back.
func (s *subject) checkpoints(t *testing.T) {
	ids := s.Prompt("p33")
	e := s.open(t, nil)
	r := lap(t, e, engine.Batch{Tokens: ids[:19], Keep: []int{7}, Save: []engine.Checkpoint{7}})
	if len(r.Saved) != 1 || r.Saved[0].ID != 7 || r.Saved[0].Bytes < 1 || r.Saved[0].Bytes > checkpointBytes {
		t.Fatalf("saved %+v", r.Saved)
	}
	want := forward(t, e, engine.Batch{Tokens: ids[19:30], Output: all}).Logits
	lap(t, e, engine.Batch{Tokens: ids[10:33], Save: []engine.Checkpoint{8}}) // elsewhere
	for range 2 {
		lap(t, e, engine.Batch{Restore: 7})
		if e.Len() != 19 {
			t.Fatalf("a restored checkpoint holds %d positions, want 19", e.Len())
		}
		if _, err := e.Forward(t.Context(), engine.Batch{Undo: true}); !errors.Is(err, engine.ErrNoUndo) {
			t.Errorf("taking a restore back: got %v, want %v", err, engine.ErrNoUndo)
		}
		if s.recurrent() {
			var pe *engine.PositionError
			if _, err := e.Forward(t.Context(), engine.Batch{Pos: 7}); !errors.As(err, &pe) || pe.Latest != 0 {
				t.Errorf("a position kept before the restore: got %v", err)
			}
		}
		if got := forward(t, e, engine.Batch{Tokens: ids[19:30], Output: all}).Logits; !slices.Equal(got, want) {
			t.Error("after a restore the same tokens give other logits")
		}
		reset(t, e)
	}
	if _, err := e.Forward(t.Context(), engine.Batch{Save: []engine.Checkpoint{7}}); !errors.Is(err, engine.ErrBatch) {
		t.Errorf("saving under a number in use: got %v, want %v", err, engine.ErrBatch)
	}
	lap(t, e, engine.Batch{Drop: []engine.Checkpoint{7, 8}})
	lap(t, e, engine.Batch{Tokens: ids})

	// Until the budget is used up.
	var be *engine.BudgetError
	id, n := engine.Checkpoint(10), e.Len()
	for ; id < 1000; id++ {
		_, err := e.Forward(t.Context(), engine.Batch{Pos: n, Tokens: ids[:1], Save: []engine.Checkpoint{id}})
		if errors.As(err, &be) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n++; n > 200 {
			lap(t, e, engine.Batch{Tokens: ids[:1]})
			n = 1
		}
	}
	if be == nil || be.Budget != checkpointBytes || be.Need+be.Held <= be.Budget || e.Len() != n {
		t.Fatalf("after %d checkpoints: %v, %d positions, want %d", id-10, be, e.Len(), n)
	}
	lap(t, e, engine.Batch{Pos: n, Drop: []engine.Checkpoint{id - 1, id - 2}})
	lap(t, e, engine.Batch{Pos: n, Tokens: ids[:1], Save: []engine.Checkpoint{id}})
}

// countdown is a context that is cancelled when it has been asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// cancel cancels every lap of the script, before it and wherever a backend looks in the midst of it.
func (s *subject) cancel(t *testing.T) {
	e, control := s.open(t, nil), s.open(t, nil)
	look := 3 * max(1, s.Every)
	if len(s.cuts) > 0 {
		look *= 3
	}
	for i, b := range s.script() {
		before := s.state(t, control)
		for left, done := 0, false; !done; left++ {
			_, err := e.Forward(&countdown{t.Context(), left}, b)
			if done = err == nil; done {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("lap %d: %v", i, err)
			}
			if left%look != 0 {
				continue // a look undoes nothing: what one failure left, the next would show
			}
			if got := s.state(t, e); got != before {
				t.Fatalf("lap %d, cancelled when asked %d times:\n got %s\nwant %s", i, left+1, got, before)
			}
		}
		lap(t, control, b)
	}
	s.finish(t, e, control)
}

var errFault = errors.New("an injected fault")

// faulty is a session that fails once: before its lap of number at, or after it has played it.
type faulty struct {
	engine.Session
	at, laps    int
	after       bool
	undo, empty bool // it cannot take laps back; a restore that fails leaves nothing
}

func (f *faulty) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	if b.Undo {
		if f.undo {
			return engine.Result{}, errFault
		}
		return f.Session.Forward(ctx, b)
	}
	f.laps++
	if f.laps-1 != f.at {
		return f.Session.Forward(ctx, b)
	}
	if f.after {
		if _, err := f.Session.Forward(ctx, b); err != nil {
			return engine.Result{}, err
		}
		if _, err := f.Session.Forward(ctx, engine.Batch{Undo: true}); err != nil {
			return engine.Result{}, err
		}
	}
	if f.empty {
		if _, err := f.Session.Forward(ctx, engine.Batch{}); err != nil {
			return engine.Result{}, err
		}
		return engine.Result{}, errors.Join(engine.ErrEmptied, errFault)
	}
	return engine.Result{}, errFault
}

// faults lets every lap of the script fail in every part, before and after the part has played it.
func (s *subject) faults(t *testing.T) {
	e, control := []*faulty{}, s.open(t, nil)
	chain := s.open(t, func(_ int, p engine.Session) engine.Session {
		e = append(e, &faulty{Session: p, at: -1})
		return e[len(e)-1]
	})
	for i, b := range s.script() {
		before := s.state(t, control)
		want := lap(t, control, b)
		for part, f := range e {
			for _, after := range []bool{false, true} {
				if s.Every > 1 && (i+part)%s.Every != 0 {
					continue
				}
				f.at, f.after = f.laps, after
				if _, err := chain.Forward(t.Context(), b); !errors.Is(err, errFault) {
					t.Fatalf("lap %d with a fault in part %d: %v", i, part, err)
				}
				if got := s.state(t, chain); got != before {
					t.Fatalf("lap %d, part %d, after %v:\n got %s\nwant %s", i, part, after, got, before)
				}
				for part, f := range e {
					if f.Len() != chain.Len() {
						t.Fatalf("lap %d: part %d holds %d positions, the chain %d", i, part, f.Len(), chain.Len())
					}
				}
			}
		}
		if got := lap(t, chain, b); !slices.Equal(got.Logits, want.Logits) {
			t.Errorf("lap %d gives other logits after faults", i)
		}
	}
	s.finish(t, chain, control)
	if len(e) == 1 {
		return
	}

	// A part that cannot take a lap back leaves the chain broken.
	e[0].undo, e[1].at = true, e[1].laps
	n := chain.Len()
	for range 2 {
		var be *engine.BrokenError
		if _, err := chain.Forward(t.Context(), engine.Batch{Pos: n, Tokens: []int32{1}}); !errors.As(err, &be) || be.Part != 0 {
			t.Errorf("a lap that cannot be taken back: got %v, want a broken chain", err)
		}
	}
}

// restoreFaults lets a restore fail in every part: nothing has changed, or nothing is held.
func (s *subject) restoreFaults(t *testing.T) {
	ids := s.Prompt("p33")
	for part := range len(s.cuts) + 1 {
		for _, empty := range []bool{false, true} {
			var f *faulty
			e := s.open(t, func(i int, p engine.Session) engine.Session {
				if i == part {
					f = &faulty{Session: p, at: 2, empty: empty}
					return f
				}
				return p
			})
			lap(t, e, engine.Batch{Tokens: ids[:9], Save: []engine.Checkpoint{4}})
			want := forward(t, e, engine.Batch{Tokens: ids[9:12], Output: all}).Logits
			_, err := e.Forward(t.Context(), engine.Batch{Restore: 4})
			held := 12
			if empty || part > 0 {
				held = 0
			}
			if !errors.Is(err, errFault) || errors.Is(err, engine.ErrEmptied) != (held == 0) || e.Len() != held {
				t.Errorf("a fault in part %d: got %v, %d positions, want %d", part, err, e.Len(), held)
			}
			if held == 0 && len(s.cuts) > 0 {
				if _, err := e.Forward(t.Context(), engine.Batch{Undo: true}); !errors.Is(err, engine.ErrNoUndo) {
					t.Errorf("taking back: got %v, want %v", err, engine.ErrNoUndo)
				}
			}
			lap(t, e, engine.Batch{Restore: 4})
			if got := forward(t, e, engine.Batch{Tokens: ids[9:12], Output: all}).Logits; !slices.Equal(got, want) {
				t.Error("after the restore the same tokens give other logits")
			}
		}
	}
}
