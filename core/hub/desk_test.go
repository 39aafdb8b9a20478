package hub

import (
	"context"
	"fmt"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/engine/enginetest"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/model"
)

// letters is the vocabulary that a script speaks.
type letters struct{}

func (letters) Size() int           { return 260 }
func (letters) IsEOG(id int32) bool { return id == 2 }
func (letters) Decode(bool) generate.Decoder {
	return nothing{}
}

type nothing struct{}

func (nothing) Push(int32) string { return "" }
func (nothing) Flush() string     { return "" }

// office is a desk whose sequence has room for so many positions, and for so many that are set aside.
func office(t *testing.T, recurrent bool, room int64) *desk {
	t.Helper()
	s, err := enginetest.NewScript("x").Open(t.Context(), engine.Config{
		Plan: &model.Plan{Vocab: 260}, Context: 4096, CheckpointBytes: room,
	})
	if err != nil {
		t.Fatal(err)
	}
	q, err := generate.New(s, letters{}, generate.Config{Context: 4096, Recurrent: recurrent})
	if err != nil {
		t.Fatal(err)
	}
	return &desk{sequence: q}
}

// ask answers a prompt of n ids that begin with the slot's own, and returns how many were reused.
func ask(t *testing.T, d *desk, s *Slot, first int32, n int) int {
	t.Helper()
	prompt := make([]int32, n)
	for i := range prompt {
		prompt[i] = first
	}
	if err := d.seat(t.Context(), s, prompt); err != nil {
		t.Fatal(err)
	}
	r, err := d.sequence.Generate(t.Context(), prompt, generate.Options{MaxTokens: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Reused
}

func TestDesk(t *testing.T) {
	a, b, c := &Slot{}, &Slot{}, &Slot{}
	for _, recurrent := range []bool{false, true} {
		t.Run(fmt.Sprintf("recurrent %v", recurrent), func(t *testing.T) {
			d := office(t, recurrent, 1000)
			for i, step := range []struct {
				slot   *Slot
				first  int32
				n      int
				reused int
			}{
				{a, 10, 100, 0},
				{b, 11, 200, 0},   // a is set aside
				{a, 10, 150, 100}, // and goes on, while b is
				{b, 11, 250, 200},
				{c, 11, 260, 250}, // c begins with what b has
				{b, 11, 270, 260}, // which b shares
				{a, 10, 160, 150},
			} {
				if got := ask(t, d, step.slot, step.first, step.n); got != step.reused {
					t.Errorf("step %d: %d reused, want %d", i, got, step.reused)
				}
			}
		})
	}
}

// TestDeskRoom gives up the oldest where there is no room, and goes on without where there is none at all.
func TestDeskRoom(t *testing.T) {
	a, b, c := &Slot{}, &Slot{}, &Slot{}
	d := office(t, false, 250)
	ask(t, d, a, 10, 100)
	ask(t, d, b, 11, 100)
	ask(t, d, c, 12, 100)                         // a and b are set aside
	if got := ask(t, d, a, 10, 101); got != 100 { // c takes the place of b, for a is wanted
		t.Errorf("a: %d reused, want 100", got)
	}
	if got := ask(t, d, c, 12, 101); got != 100 {
		t.Errorf("c: %d reused, want 100", got)
	}
	if got := ask(t, d, b, 11, 101); got != 0 {
		t.Errorf("b: %d reused, want 0", got)
	}
	none := office(t, false, 0)
	ask(t, none, a, 10, 100)
	ask(t, none, b, 11, 100)
	if got := ask(t, none, a, 10, 101); got != 0 || len(none.parked) != 0 {
		t.Errorf("without room: %d reused, %d set aside", got, len(none.parked))
	}
	little := office(t, false, 1000)
	ask(t, little, a, 10, worthParking-1)
	ask(t, little, b, 11, 100)
	if len(little.parked) != 0 {
		t.Error("a short conversation was set aside")
	}
	many := office(t, false, 1<<20)
	for i := range maxParked + 5 {
		ask(t, many, &Slot{}, int32(10+i), 40)
	}
	if len(many.parked) != maxParked {
		t.Errorf("%d are set aside, want %d", len(many.parked), maxParked)
	}
}

// TestDeskCancelled is cancelled while it sets aside.
func TestDeskCancelled(t *testing.T) {
	d := office(t, false, 1000)
	ask(t, d, &Slot{}, 10, 100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &Slot{}
	if err := d.seat(ctx, b, []int32{11, 12}); err == nil {
		t.Error("no error")
	}
	if got := ask(t, d, b, 10, 120); got != 100 {
		t.Errorf("afterwards %d reused, want 100", got)
	}
}
