package cputime

import (
	"runtime"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("wall time here: nothing to tell apart")
	}
	if got := Of(func() { time.Sleep(60 * time.Millisecond) }); got > 30*time.Millisecond {
		t.Errorf("sleeping 60 ms cost %v of processor time", got)
	}
	busy := Of(func() {
		for began := time.Now(); time.Since(began) < 40*time.Millisecond; {
		}
	})
	if busy <= 0 || busy > 60*time.Millisecond {
		t.Errorf("40 ms of work cost %v", busy)
	}
}
