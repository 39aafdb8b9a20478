package app

import (
	"sync"
	"time"
)

// pacer asks for UI frames, no more often than its pace. Safe for concurrent use. Owns: a timer, until close.
type pacer struct {
	pace time.Duration
	ask  func()

	mu     sync.Mutex
	last   time.Time
	timer  *time.Timer
	closed bool
}

func newPacer(pace time.Duration, ask func()) *pacer { return &pacer{pace: pace, ask: ask} }

// drew says that a frame is drawn now.
func (p *pacer) drew(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
}

// wake asks for a frame, at once when the last is long enough ago.
func (p *pacer) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(p.pace-time.Since(p.last), p.ask)
		return
	}
	p.timer.Reset(p.pace - time.Since(p.last))
}

// close asks for no more frames.
func (p *pacer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
