package store

import (
	"math"
	"time"
)

// Phase is what a pull is doing.
type Phase string

// The phases of a pull.
const (
	Checking    Phase = "checking"    // reading what an earlier pull left behind
	Downloading Phase = "downloading" // from the server
	Waiting     Phase = "waiting"     // before the next try; Note says why
	Copying     Phase = "copying"     // from a local file
	Verifying   Phase = "verifying"   // the file as a model
	Done        Phase = "done"        // the model is in the folder
)

// Progress is one report of a pull.
type Progress struct {
	Model string
	File  string
	Part  int // from 1
	Parts int
	Phase Phase
	Bytes int64         // of this file
	Total int64         // of this file; 0 when not known
	Rate  float64       // bytes a second, smoothed; 0 when not known yet
	ETA   time.Duration // for this file; 0 when not known
	Note  string        // for people
}

// meter turns byte counts into reports: at most one in 100 ms within a phase, with a smoothed rate.
type meter struct {
	report func(Progress)
	now    func() time.Time
	p      Progress

	last      time.Time // of the last report
	rateAt    time.Time // of the last rate sample
	rateBytes int64
}

const (
	reportEvery = 100 * time.Millisecond
	sampleEvery = 250 * time.Millisecond
	smoothing   = 3 * time.Second // time constant of the rate
)

func newMeter(p Progress, report func(Progress)) *meter {
	if report == nil {
		report = func(Progress) {}
	}
	return &meter{report: report, now: time.Now, p: p}
}

// phase begins a phase at a byte count and reports it.
func (m *meter) phase(phase Phase, bytes, total int64, note string) {
	m.p.Phase, m.p.Bytes, m.p.Total, m.p.Note = phase, bytes, total, note
	m.p.Rate, m.p.ETA = 0, 0
	m.rateAt, m.rateBytes = m.now(), bytes
	m.last = m.rateAt
	m.report(m.p)
}

// at reports a byte count when it is time for it.
func (m *meter) at(bytes int64) {
	now := m.now()
	m.p.Bytes = bytes
	if dt := now.Sub(m.rateAt); dt >= sampleEvery {
		sample := float64(bytes-m.rateBytes) / dt.Seconds()
		if m.p.Rate == 0 {
			m.p.Rate = sample
		} else {
			m.p.Rate += (sample - m.p.Rate) * (1 - math.Exp(-dt.Seconds()/smoothing.Seconds()))
		}
		m.rateAt, m.rateBytes = now, bytes
		m.p.ETA = 0
		if m.p.Rate >= 1 && m.p.Total > bytes {
			m.p.ETA = time.Duration(min(float64(m.p.Total-bytes)/m.p.Rate, 1e8) * float64(time.Second))
		}
	}
	if now.Sub(m.last) >= reportEvery || bytes == m.p.Total {
		m.last = now
		m.report(m.p)
	}
}
