package gguf

import (
	"errors"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps a file read-only. The mapping outlives the handle.
func mapFile(f *os.File, size int64) (*memory, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, errors.ErrUnsupported
	}
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h)
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, err
	}
	// The address is outside Go's heap: reading it as a pointer through memory keeps vet's rule about uintptr.
	data := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), int(size))
	return &memory{data: data, unmap: func([]byte) error { return windows.UnmapViewOfFile(addr) }}, nil
}
