package exec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/program"
)

// ropeTable is the cosines and sines of the columns of a pass, for all layers that turn alike.
type ropeTable struct {
	key   string
	freqs []float64 // radians a position
	view  device.View
}

// turns returns the table of a Rope.
func (b *block) turns(st *program.Op) (device.View, error) {
	s := b.s
	a := st.Attrs.Rope
	weight := -1
	if len(st.Weights) == 1 {
		weight = st.Weights[0]
	}
	key := fmt.Sprint(a.Dims, a.Base, a.FreqScale, weight)
	for _, t := range b.ropes {
		if t.key == key {
			return t.view, nil
		}
	}
	t := ropeTable{key: key, freqs: make([]float64, a.Dims/2)}
	for i := range t.freqs {
		t.freqs[i] = a.FreqScale * math.Pow(a.Base, -2*float64(i)/float64(a.Dims))
	}
	if weight >= 0 {
		factors, err := s.sources[weight].values()
		if err != nil {
			return device.View{}, err
		}
		for i, f := range factors {
			if f == 0 {
				return device.View{}, &model.PlanError{Op: -1, Kind: st.Kind, Tensor: s.sources[weight].name, Reason: "a factor is 0"}
			}
			t.freqs[i] /= float64(f)
		}
	}
	size := int64(b.columns) * int64(len(t.freqs)) * 8
	buf, err := s.alloc(&s.stateBytes, size, device.Storage|device.CopyTo)
	if err != nil {
		return device.View{}, err
	}
	t.view = device.View{Buffer: buf, Size: size}
	b.ropes = append(b.ropes, t)
	return t.view, nil
}

// writeTurns fills every table for n columns from position pos.
func (b *block) writeTurns(n, pos int) error {
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
		if err := s.b.dev.Write(t.view.Buffer, 0, out); err != nil {
			return err
		}
	}
	return nil
}
