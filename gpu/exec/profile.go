package exec

import (
	"errors"
	"fmt"
	"time"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
)

// StageTime is what an operation of a pass costs by itself.
type StageTime struct {
	Name string
	Time time.Duration
}

// Profile measures the trunk for n columns from position pos: what recording it costs, all of it in one submission, and
// every operation by itself: each is submitted repeat times
// at once, so that the cost of submitting vanishes. The session's state is garbage afterwards; go back to 0.
// Timestamp queries, which would be the obvious way, slow some drivers down.
func Profile(es engine.Session, n, pos, repeat int) ([]StageTime, error) {
	s, ok := es.(*session)
	if !ok {
		return nil, errors.New("not a WebGPU session")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trunk.writeStep(pos, n)
	if err := s.inputs.flush(s.b.dev); err != nil {
		return nil, err
	}
	var all []device.Command
	var err error
	for _, st := range s.trunk.stages {
		if all, err = st.add(all, n, pos); err != nil {
			return nil, err
		}
	}
	recording, whole := time.Hour, time.Hour
	for range 10 {
		begin := time.Now()
		if err := s.b.dev.Run(all, nil, nil, false); err != nil {
			return nil, err
		}
		recording = min(recording, time.Since(begin))
		if err := s.b.dev.Run(nil, nil, nil, true); err != nil {
			return nil, err
		}
		whole = min(whole, time.Since(begin))
	}
	times := []StageTime{{fmt.Sprintf("recording of %d commands", len(all)), recording}, {"all at once", whole}}
	for _, st := range s.trunk.stages {
		best := time.Duration(0)
		for round := range 2 { // the first compiles and warms up
			var cmds []device.Command
			var err error
			for range repeat {
				if cmds, err = st.add(cmds, n, pos); err != nil {
					return nil, err
				}
			}
			begin := time.Now()
			if err := s.b.dev.Run(cmds, nil, nil, true); err != nil {
				return nil, err
			}
			if round > 0 {
				best = time.Since(begin) / time.Duration(repeat)
			}
		}
		times = append(times, StageTime{st.name, best})
	}
	return times, nil
}
