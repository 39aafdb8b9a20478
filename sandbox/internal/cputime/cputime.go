// Package cputime measures what a test's own code costs on a machine that others use too.
package cputime

import (
	"runtime"
	"time"
)

// Of runs f on a thread of its own and returns the processor time of that thread; where the
// system does not tell, the wall time. What f hands to other goroutines is not counted.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, before := time.Now(), thread()
	f()
	if before < 0 {
		return time.Since(began)
	}
	return thread() - before
}
