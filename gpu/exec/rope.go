package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/program"
)

// ropeTable is the cosines and sines of the columns of a pass, for all layers that turn alike.
type ropeTable struct {
	key   string
	freqs []float64 // radians a position
	at    int64     // in the inputs
	size  int64
}

// prepareTurns makes the tables of steps.
func (b *block) prepareTurns(steps []step) error {
	for i := range steps {
		for _, op := range []*program.Op{&steps[i].Op, steps[i].rope} {
			if op == nil || op.Kind != model.Rope {
				continue
			}
			if err := b.prepareTable(op); err != nil {
				return err
			}
		}
	}
	return nil
}

func turnsKey(st *program.Op) (key string, weight int) {
	a := st.Attrs.Rope
	weight = none
	if len(st.Weights) == 1 {
		weight = st.Weights[0]
	}
	return fmt.Sprint(a.Dims, a.Base, a.FreqScale, weight), weight
}

// turns returns the table of a Rope.
func (b *block) turns(st *program.Op) device.View {
	key, _ := turnsKey(st)
	i := slices.IndexFunc(b.ropes, func(t ropeTable) bool { return t.key == key })
	return b.s.input(b.ropes[i].at, b.ropes[i].size)
}

func (b *block) prepareTable(st *program.Op) error {
	s, a := b.s, st.Attrs.Rope
	key, weight := turnsKey(st)
	if slices.ContainsFunc(b.ropes, func(t ropeTable) bool { return t.key == key }) {
		return nil
	}
	t := ropeTable{key: key, freqs: make([]float64, a.Dims/2)}
	for i := range t.freqs {
		t.freqs[i] = a.FreqScale * math.Pow(a.Base, -2*float64(i)/float64(a.Dims))
	}
	if weight != none {
		for i, f := range s.sources[weight].values {
			if f == 0 {
				return &model.PlanError{Op: -1, Kind: st.Kind, Tensor: s.sources[weight].Name, Reason: "a factor is 0"}
			}
			t.freqs[i] /= float64(f)
		}
	}
	t.size = int64(b.columns) * int64(len(t.freqs)) * 8
	t.at = s.inputs.take(t.size)
	b.ropes = append(b.ropes, t)
	return nil
}

// writeTurns fills every table for n columns from position pos.
func (b *block) writeTurns(n, pos int) {
	s := b.s
	for _, t := range b.ropes {
		out := s.scratch[:0]
		for c := range n {
			for _, f := range t.freqs {
				sin, cos := math.Sincos(float64(pos+c) * f)
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(cos)))
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(sin)))
			}
		}
		s.scratch = out
		s.inputs.put(t.at, out)
	}
}
