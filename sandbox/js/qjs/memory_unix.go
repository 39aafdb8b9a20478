//go:build unix

package qjs

import "syscall"

// region is a private anonymous mapping: the kernel supplies zero pages as
// they are touched, so a large cap costs only what is used.
type region struct{ data []byte }

func reserve(n uint64) (*region, error) {
	b, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return &region{b}, nil
}

func (r *region) release() {
	_ = syscall.Munmap(r.data)
	r.data = nil
}
