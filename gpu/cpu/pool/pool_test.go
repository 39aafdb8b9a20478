package pool

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestRunCallsEveryItemOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		for _, n := range []int{0, 1, 2, 3, 7, 100, 1000} {
			t.Run(fmt.Sprintf("threads=%d/n=%d", threads, n), func(t *testing.T) {
				p := New(threads)
				defer p.Close()
				counts := make([]atomic.Int32, n)
				for range 50 {
					p.Run(n, func(w, i int) {
						if w < 0 || w >= threads {
							t.Errorf("worker %d of %d", w, threads)
						}
						counts[i].Add(1)
					})
				}
				for i := range counts {
					if got := counts[i].Load(); got != 50 {
						t.Fatalf("item %d ran %d times, want 50", i, got)
					}
				}
			})
		}
	}
}

func TestRunPublishesWrites(t *testing.T) {
	p := New(4)
	defer p.Close()
	in, out := make([]int, 64), make([]int, 64)
	for round := range 2000 {
		for i := range in {
			in[i] = round + i
		}
		p.Run(len(in), func(_, i int) { out[i] = 2 * in[i] })
		for i, got := range out {
			if want := 2 * (round + i); got != want {
				t.Fatalf("round %d item %d: got %d, want %d", round, i, got, want)
			}
		}
	}
}

func TestSameWorkerNeverOverlaps(t *testing.T) {
	p := New(4)
	defer p.Close()
	busy := make([]atomic.Int32, 4)
	for range 200 {
		p.Run(16, func(w, _ int) {
			if busy[w].Add(1) != 1 {
				t.Error("two items at a time on one worker")
			}
			runtime.Gosched()
			busy[w].Add(-1)
		})
	}
}

// Workers that have parked must be woken, at any distance from their parking.
func TestRunAfterPause(t *testing.T) {
	p := New(3)
	defer p.Close()
	var total atomic.Int64
	for i := range 100 {
		p.Run(3, func(_, _ int) { total.Add(1) })
		time.Sleep(spinTime + time.Duration(i-50)*time.Microsecond)
	}
	if got := total.Load(); got != 300 {
		t.Errorf("got %d items, want 300", got)
	}
}

// Two items that wait for each other can only end on two threads.
func TestRunIsParallel(t *testing.T) {
	p := New(2)
	defer p.Close()
	time.Sleep(4 * spinTime) // let the worker park
	var meet sync.WaitGroup
	meet.Add(2)
	p.Run(2, func(_, _ int) { meet.Done(); meet.Wait() })
}

func TestConcurrentRuns(t *testing.T) {
	p := New(3)
	defer p.Close()
	var total atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				p.Run(5, func(_, _ int) { total.Add(1) })
			}
		}()
	}
	wg.Wait()
	if got := total.Load(); got != 2000 {
		t.Errorf("got %d items, want 2000", got)
	}
}

func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, pause := range []time.Duration{0, 10 * spinTime} {
		p := New(4)
		time.Sleep(pause)
		p.Close()
		p.Close()
		n := 0
		p.Run(4, func(w, _ int) {
			if w != 0 {
				t.Errorf("worker %d after Close", w)
			}
			n++
		})
		if n != 4 {
			t.Errorf("got %d items after Close, want 4", n)
		}
	}
	if got := runtime.NumGoroutine(); got > before {
		t.Errorf("got %d goroutines, want at most %d", got, before)
	}
	var none *Pool
	none.Run(2, func(_, _ int) {})
	none.Close()
	if got := none.Threads(); got != 1 {
		t.Errorf("nil pool has %d threads, want 1", got)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			p := New(threads)
			defer p.Close()
			for b.Loop() {
				p.Run(threads, func(_, _ int) {})
			}
		})
	}
}
