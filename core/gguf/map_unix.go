//go:build unix

package gguf

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file read-only. The mapping outlives the descriptor.
func mapFile(f *os.File, size int64) (*memory, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, errors.ErrUnsupported
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &memory{data: data, drop: dropPages(data), unmap: unix.Munmap}, nil
}

// dropPages returns a function that gives up the whole pages inside a part of the mapping.
func dropPages(mapping []byte) func(begin, end int) {
	page := os.Getpagesize()
	return func(begin, end int) {
		begin = (begin + page - 1) / page * page
		if end < len(mapping) {
			end = end / page * page
		}
		if begin < end {
			// Advice only: a kernel that refuses it costs nothing but memory.
			_ = unix.Madvise(mapping[begin:end], unix.MADV_DONTNEED)
		}
	}
}
