//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package console

import "io"

// markPastes does nothing: this system's terminals do not mark what is pasted for a program that reads lines.
func markPastes(*Console) (restore func()) { return func() {} }

// flushInput does nothing; what comes without a pause is forgotten all the same.
func flushInput(io.Reader) {}
