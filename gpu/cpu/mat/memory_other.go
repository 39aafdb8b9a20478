//go:build !linux

package mat

// allocate gives m zero memory for its panels.
func (m *Matrix) allocate(n int) { m.data = heapBytes(n) }
