package app

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		p := newPacer(30*time.Millisecond, nil)
		p.ask = func() { asked.Add(1) }
		expect := func(what string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := asked.Load(); got != want {
				t.Errorf("%s: asked for %d frames, want %d", what, got, want)
			}
		}
		time.Sleep(time.Second)
		p.wake()
		expect("the first is asked for at once", 1)
		p.drew(time.Now())
		p.wake()
		expect("the next is not", 1)
		time.Sleep(29 * time.Millisecond)
		expect("nor just before its time", 1)
		time.Sleep(2 * time.Millisecond)
		expect("but then", 2)
		p.drew(time.Now())
		p.wake()
		p.close()
		time.Sleep(time.Second)
		p.wake()
		time.Sleep(time.Second)
		expect("a closed pacer asks for none", 2)
	})
}
