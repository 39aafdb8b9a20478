package gguf

import (
	"fmt"
	"runtime/debug"
	"sync"
	"unsafe"
)

// Guard runs f, which reads mapped tensor data, and returns [ErrLost] where a page of it could not be read: somebody
// shortened the file, or the disk or the network file system under it failed. Without it, that ends the process. It
// covers the goroutine that calls it; one that f hands work to must pass the fault on.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover(); {
		case r == nil:
		case mapped.hold(r):
			err = fmt.Errorf("%w: load the model again", ErrLost)
		default:
			panic(r)
		}
	}()
	return f()
}

// mapped are the mappings that are open, so that a fault in one can be told from a fault of the program.
var mapped mappings

type mappings struct {
	mu   sync.Mutex
	ends map[uintptr]uintptr // by begin
}

func (m *mappings) add(data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ends == nil {
		m.ends = map[uintptr]uintptr{}
	}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	m.ends[begin] = begin + uintptr(len(data))
}

func (m *mappings) remove(data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ends, uintptr(unsafe.Pointer(unsafe.SliceData(data))))
}

// hold reports whether r is the panic of a read inside one of the mappings.
func (m *mappings) hold(r any) bool {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for begin, end := range m.ends {
		if begin <= fault.Addr() && fault.Addr() < end {
			return true
		}
	}
	return false
}
