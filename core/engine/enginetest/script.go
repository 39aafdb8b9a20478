package enginetest

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/core/engine"
)

// byteToken is the id of byte 0 in the vocabulary that a [Script] speaks: <unk>, <s>, </s>, then the 256 bytes.
const byteToken = 3

// Script is a backend that computes nothing: its sessions write a text over and over, one byte a token. It is for tests of
// what stands above a backend.
type Script struct{ text string }

// NewScript returns a backend whose sessions write text.
func NewScript(text string) *Script { return &Script{text} }

// Device implements [engine.Backend].
func (b *Script) Device() engine.Device { return engine.Device{Backend: "script", Name: "script"} }

// Close implements [engine.Backend].
func (b *Script) Close() error { return nil }

// Open implements [engine.Backend].
func (b *Script) Open(_ context.Context, c engine.Config) (engine.Session, error) {
	return &scriptSession{text: b.text, config: c, saved: map[engine.Checkpoint]int{}}, nil
}

type scriptSession struct {
	text   string
	config engine.Config
	n      int
	start  int                       // the position behind the prompt, where the text begins
	saved  map[engine.Checkpoint]int // positions
	closed bool
}

// Forward goes back anywhere; what is kept or taken back is none of its business. Every position saved takes a byte.
func (s *scriptSession) Forward(ctx context.Context, b engine.Batch) (engine.Result, error) {
	switch {
	case s.closed:
		return engine.Result{}, engine.ErrClosed
	case ctx.Err() != nil:
		return engine.Result{}, ctx.Err()
	case b.Undo:
		return engine.Result{}, fmt.Errorf("%w: a script goes on", engine.ErrNoUndo)
	case b.Restore != 0:
		return engine.Result{}, s.restore(b.Restore)
	case b.Pos < 0 || b.Pos > s.n:
		return engine.Result{}, &engine.PositionError{Pos: b.Pos, Len: s.n, Latest: min(s.n, max(b.Pos, 0))}
	case b.Pos+len(b.Tokens) > s.config.Context:
		return engine.Result{}, engine.ErrContextFull
	}
	if b.Pos == 0 || len(b.Tokens) > 1 && b.Output.Head() <= engine.LastColumn { // a prompt, not a draft
		s.start = b.Pos + len(b.Tokens)
	}
	for _, id := range b.Drop {
		delete(s.saved, id)
	}
	if err := s.save(b.Save, b.Pos+len(b.Tokens)); err != nil {
		return engine.Result{}, err
	}
	s.n = b.Pos + len(b.Tokens)
	if b.Output.Head() == engine.NoColumns {
		return engine.Result{}, nil
	}
	var r engine.Result
	for i := b.Output.Head().Of(len(b.Tokens)); i > 0; i-- {
		said := max(s.n+1-i-s.start, 0)
		next := byteToken + int32(s.text[said%len(s.text)])
		r.Top, r.LogSumExp = append(r.Top, []engine.Candidate{{ID: next, Logit: 1}}), append(r.LogSumExp, 1)
		if b.Output.Logits != engine.NoColumns {
			row := make([]float32, s.config.Plan.Vocab)
			row[next] = 1
			r.Logits = append(r.Logits, row...)
		}
	}
	return r, nil
}

func (s *scriptSession) restore(id engine.Checkpoint) error {
	n, ok := s.saved[id]
	if !ok {
		return fmt.Errorf("%w: %d", engine.ErrNoCheckpoint, id)
	}
	s.n = n
	return nil
}

func (s *scriptSession) save(ids []engine.Checkpoint, n int) error {
	held := int64(0)
	for _, n := range s.saved {
		held += int64(n)
	}
	if need := int64(n * len(ids)); need > 0 && held+need > s.config.CheckpointBytes {
		return &engine.BudgetError{Need: need, Held: held, Budget: s.config.CheckpointBytes}
	}
	for _, id := range ids {
		s.saved[id] = n
	}
	return nil
}

func (s *scriptSession) Len() int { return s.n }

// Memory implements [engine.Session]: what the state of the plan would take.
func (s *scriptSession) Memory() (weights, state int64) {
	kv, recurrent := s.config.Plan.StateBytes(s.config.Range, s.config.Context)
	return 0, kv + recurrent
}

func (s *scriptSession) Close() error {
	s.closed = true
	return nil
}
