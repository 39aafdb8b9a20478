//go:build !unix

package qjs

// region is ordinary Go memory where there is no mmap.
type region struct{ data []byte }

func reserve(n uint64) (*region, error) { return &region{make([]byte, n)}, nil }

func (r *region) release() { r.data = nil }
