package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// line is a queue with askers that have names, and the order in which they got their turns.
type line struct {
	t     *testing.T
	q     *queue
	slots map[string]*Slot
	wg    sync.WaitGroup

	mu    sync.Mutex
	order []string
	heard map[string][]int
}

func newLine(t *testing.T) *line {
	return &line{t: t, q: newQueue(), slots: map[string]*Slot{}, heard: map[string][]int{}}
}

// ask lets one wait for a turn of a second, and returns once it waits or is in. The first letter of a name is the asker's.
func (l *line) ask(ctx context.Context, name string) {
	s := l.slots[name[:1]]
	if s == nil {
		s = &Slot{}
		l.slots[name[:1]] = s
	}
	l.wg.Go(func() {
		leave, err := l.q.enter(ctx, s, func(ahead int) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.heard[name] = append(l.heard[name], ahead)
		})
		if err != nil {
			name += "!"
		}
		l.mu.Lock()
		l.order = append(l.order, name)
		l.mu.Unlock()
		if err == nil {
			time.Sleep(time.Second)
			leave()
		}
	})
	synctest.Wait()
}

func TestQueueOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		asks string // in this order, while the first has its turn
		want string
	}{
		{"by arrival", "a b c d", "a b c d"},
		{"one that asks for much lets the others go first", "a a1 a2 a3 b c", "a b c a1 a2 a3"},
		{"two that ask for much take turns", "a a1 a2 b b1 b2", "a b a1 b1 a2 b2"},
		{"a late one comes before others' later turns", "a b b1 b2 b3 a1 c", "a b c b1 a1 b2 b3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine(t)
				for name := range strings.FieldsSeq(c.asks) {
					l.ask(t.Context(), name)
				}
				l.wg.Wait()
				if got := strings.Join(l.order, " "); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if len(l.q.last) != 0 || l.q.held || len(l.q.waiting) != 0 {
					t.Errorf("the queue is not as it was: %+v", l.q)
				}
			})
		})
	}
}

// TestQueueNoStarvation lets one ask again as soon as its turn ends, for ever.
func TestQueueNoStarvation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		ctx, stop := context.WithCancel(t.Context())
		greedy := &Slot{}
		for range 3 {
			l.wg.Go(func() {
				for {
					leave, err := l.q.enter(ctx, greedy, nil)
					if err != nil {
						return
					}
					time.Sleep(time.Second)
					leave()
				}
			})
		}
		time.Sleep(10*time.Second + time.Millisecond)
		start := time.Now()
		l.ask(ctx, "b")
		l.ask(ctx, "b1")
		for waited := false; !waited; {
			time.Sleep(100 * time.Millisecond)
			l.mu.Lock()
			waited = slices.Contains(l.order, "b1")
			l.mu.Unlock()
		}
		if d := time.Since(start); d > 4*time.Second {
			t.Errorf("two turns came after %v, want after every other one", d)
		}
		stop()
		l.wg.Wait()
	})
}

// TestQueueNewcomers lets new ones come without end; one that is known must get its turns all the same.
func TestQueueNewcomers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for {
					leave, err := q.enter(ctx, &Slot{}, nil)
					if err != nil {
						return
					}
					time.Sleep(time.Second)
					leave()
				}
			})
		}
		time.Sleep(5*time.Second + time.Millisecond)
		known, start := &Slot{}, time.Now()
		const turns = 5
		for range turns {
			leave, err := q.enter(ctx, known, nil)
			if err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if d := time.Since(start); d > 5*turns*time.Second {
			t.Errorf("%d turns took %v among three that always wait", turns, d)
		}
		stop()
		wg.Wait()
	})
}

func TestQueuePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		ctx, cancel := context.WithCancel(t.Context())
		l.ask(t.Context(), "a")
		l.ask(ctx, "b")
		l.ask(t.Context(), "c")
		l.ask(t.Context(), "a1")
		l.ask(t.Context(), "d") // before a's second turn
		cancel()
		synctest.Wait()
		l.mu.Lock()
		got := strings.Join(l.order, " ")
		l.mu.Unlock()
		if want := "a b!"; got != want {
			t.Errorf("after the cancellation: %s, want %s", got, want)
		}
		l.wg.Wait()
		for name, want := range map[string][]int{"a": nil, "b": {1}, "c": {2, 1}, "d": {3, 2, 1}, "a1": {3, 4, 3, 2, 1}} {
			if got := l.heard[name]; !slices.Equal(got, want) {
				t.Errorf("%s was told %v, want %v", name, got, want)
			}
		}
	})
}

// TestQueueCancelledTurn cancels one who waits at the moment its turn comes.
func TestQueueCancelledTurn(t *testing.T) {
	q := newQueue()
	for range 300 {
		leave, err := q.enter(t.Context(), &Slot{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if leave, err := q.enter(ctx, &Slot{}, nil); err == nil {
				leave()
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}()
		go cancel()
		leave()
		<-done
	}
	leave, err := q.enter(t.Context(), &Slot{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	leave() // does nothing
}

func TestQueueClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		l.ask(t.Context(), "a")
		l.ask(t.Context(), "b")
		l.ask(t.Context(), "c")
		start := time.Now()
		l.q.close()
		if d := time.Since(start); d != time.Second {
			t.Errorf("closed after %v, want to wait for the turn of a second", d)
		}
		l.q.close()
		l.wg.Wait()
		slices.Sort(l.order)
		if got, want := strings.Join(l.order, " "), "a b! c!"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := l.q.enter(t.Context(), &Slot{}, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: got %v, want %v", err, ErrClosed)
		}
	})
}

// TestQueueMany has many ask and give up at random: never two at once, and each asker's turns stay in a fair measure.
func TestQueueMany(t *testing.T) {
	q := newQueue()
	var holders, turns int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			s := &Slot{}
			for range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				if rng.IntN(3) == 0 {
					time.AfterFunc(time.Duration(rng.IntN(200))*time.Microsecond, cancel)
				}
				leave, err := q.enter(ctx, s, func(int) {})
				cancel()
				if err != nil {
					continue
				}
				mu.Lock()
				if holders++; holders != 1 {
					t.Errorf("%d have a turn at once", holders)
				}
				turns++
				mu.Unlock()
				mu.Lock()
				holders--
				mu.Unlock()
				leave()
			}
		})
	}
	wg.Wait()
	if turns == 0 || len(q.waiting) != 0 || q.held || len(q.last) != 0 {
		t.Errorf("%d turns; at the end %s", turns, fmt.Sprintf("%+v", q))
	}
}
