//go:build !amd64

package isa

// Detected returns the best path that this processor has.
func Detected() Path { return Portable }
