package exec

import (
	"errors"
	"time"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
)

// StageTime is what an operation of a pass costs by itself.
type StageTime struct {
	Name string
	Time time.Duration
}

// Profile measures every operation of the trunk by itself for n columns from position pos: each is submitted repeat times
// at once, so that the cost of submitting vanishes. The session's state is garbage afterwards; rewind it to 0.
// Timestamp queries, which would be the obvious way, slow some drivers down.
func Profile(es engine.Session, n, pos, repeat int) ([]StageTime, error) {
	s, ok := es.(*session)
	if !ok {
		return nil, errors.New("not a WebGPU session")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writeStep(0, pos, n); err != nil {
		return nil, err
	}
	var times []StageTime
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
