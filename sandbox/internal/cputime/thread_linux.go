package cputime

import (
	"syscall"
	"time"
)

const rusageThread = 1

func thread() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(rusageThread, &r) != nil {
		return -1
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
