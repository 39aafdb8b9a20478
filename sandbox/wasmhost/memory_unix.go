//go:build unix

package wasmhost

import "syscall"

// reserve maps n bytes of zeroed address space, which costs nothing until it is touched.
func reserve(n uint64) ([]byte, func()) {
	mem, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return make([]byte, n), func() {}
	}
	return mem, func() { _ = syscall.Munmap(mem) }
}
