// Package filelock locks open files against other processes. Locks are advisory: who reads a file without asking for its
// lock is not kept from it.
//
// A lock ends when the file is closed or its process ends, however that happens. On a platform without file locks, where
// only one process runs, both functions take nothing.
package filelock

import "os"

// Wait takes the lock of an open file and waits for it.
func Wait(f *os.File) error { return wait(f) }

// Try takes the lock of an open file without waiting; held reports that another open file has it.
func Try(f *os.File) (held bool, err error) { return try(f) }
