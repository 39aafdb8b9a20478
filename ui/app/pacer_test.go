package app

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := newPacer(30*time.Millisecond, nil)
		p.ask = func() { asked++ }
		expect := func(what string, want int) {
			t.Helper()
			synctest.Wait()
			if asked != want {
				t.Errorf("%s: asked for %d frames, want %d", what, asked, want)
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
