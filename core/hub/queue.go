package hub

import (
	"context"
	"slices"
	"sync"
)

// queue lets in one at a time, fairly among those who ask: whoever asks again comes behind everyone who waits for a first
// turn, however many turns it asks for at once, and nobody can be overtaken for ever, however many come anew.
//
// Each wait has a tag, and the lowest is let in first, among equals the one that came first. A clock goes on by one while
// everyone who waits gets one turn. An asker's tag is what the clock shows, or one more than that of its wait before
// (start-time fair queueing with turns of one length; Goyal et al. 1996).
//
// Safe for concurrent use.
type queue struct {
	mu      sync.Mutex
	closed  bool
	held    bool
	clock   float64
	last    map[*Slot]float64 // the last tag of each asker that still counts
	waiting []*wait           // in the order in which they are let in
	idle    chan struct{}     // closed once the queue is closed and nobody holds it
}

// wait is one who waits.
type wait struct {
	slot  *Slot
	tag   float64
	turn  chan struct{} // closed when it may go in, or when the queue closes
	moved chan struct{} // has a token when its place may have changed
	in    bool
}

func newQueue() *queue { return &queue{last: map[*Slot]float64{}, idle: make(chan struct{})} }

// enter waits for a turn and returns what ends it. While it waits, place gets the number of turns that come before, at
// first and whenever it changes; it may be nil and is called by the waiting goroutine itself.
//
// Errors: [ErrClosed], the context's.
func (q *queue) enter(ctx context.Context, s *Slot, place func(ahead int)) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil, ErrClosed
	}
	w := &wait{slot: s, tag: q.clock, turn: make(chan struct{}), moved: make(chan struct{}, 1)}
	if last, ok := q.last[s]; ok {
		w.tag = max(w.tag, last+1)
	}
	q.last[s] = w.tag
	at := len(q.waiting)
	for at > 0 && q.waiting[at-1].tag > w.tag {
		at--
	}
	q.waiting = slices.Insert(q.waiting, at, w)
	q.serve()
	q.tell(at)
	q.mu.Unlock()
	told := -1
	for {
		select {
		case <-w.turn:
			return q.admitted(w)
		default:
		}
		if ahead := q.ahead(w); ahead != told && ahead > 0 && place != nil {
			told = ahead
			place(ahead)
		}
		select {
		case <-w.turn:
		case <-w.moved:
		case <-ctx.Done():
			q.giveUp(w)
			return nil, ctx.Err()
		}
	}
}

// admitted returns what ends the turn of one who was let in.
func (q *queue) admitted(w *wait) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !w.in {
		return nil, ErrClosed
	}
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.end(w)
	}), nil
}

// ahead returns how many turns come before w's, the running one included; 0 once it is in.
func (q *queue) ahead(w *wait) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Index(q.waiting, w) + 1 // whoever is in comes before all who wait
}

// giveUp takes one out who waits no longer.
func (q *queue) giveUp(w *wait) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.in { // its turn came at the same moment
		q.end(w)
		return
	}
	if at := slices.Index(q.waiting, w); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		if q.last[w.slot] == w.tag { // no trace is left
			q.last[w.slot]--
		}
		q.tell(at)
	}
}

// serve lets the next one in if nobody is. It is called with mu held, as are the following.
func (q *queue) serve() {
	if q.held || q.closed || len(q.waiting) == 0 {
		return
	}
	w := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.held, w.in = true, true
	close(w.turn)
	q.tell(0)
}

// end ends a turn.
func (q *queue) end(w *wait) {
	askers := map[*Slot]bool{w.slot: true}
	for _, w := range q.waiting {
		askers[w.slot] = true
	}
	q.clock += 1 / float64(len(askers))
	q.held = false
	if q.closed {
		close(q.idle)
		return
	}
	q.serve()
	if !q.held {
		clear(q.last)
		q.clock = 0
	}
	for s, tag := range q.last { // those who are behind the clock begin anew
		if tag+1 <= q.clock {
			delete(q.last, s)
		}
	}
}

// tell lets those from place at on look where they are.
func (q *queue) tell(at int) {
	for _, w := range q.waiting[min(at, len(q.waiting)):] {
		select {
		case w.moved <- struct{}{}:
		default:
		}
	}
}

// close sends away all who wait and returns once nobody holds a turn.
func (q *queue) close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		for _, w := range q.waiting {
			close(w.turn)
		}
		q.waiting = nil
		if !q.held {
			close(q.idle)
		}
	}
	q.mu.Unlock()
	<-q.idle
}
