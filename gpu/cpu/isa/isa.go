// Package isa says which instruction sets the CPU kernels may use.
package isa

import (
	"os"
	"sync"
)

// Path is a way through the kernels; a greater one needs more of the processor.
type Path int

const (
	// Portable is plain Go.
	Portable Path = iota
	// AVX2 needs AVX2, FMA and F16C.
	AVX2
	// AVX512 needs AVX-512 F, BW, DQ and VL, and VNNI.
	AVX512
)

// names are the values of the environment variable.
var names = [...]string{Portable: "portable", AVX2: "avx2", AVX512: "avx512"}

// String returns the name that the environment variable knows the path by.
func (p Path) String() string { return names[p] }

// Env is the environment variable that names the best path to take.
const Env = "POOLED_CPU"

// Best returns the best path that this processor has and that the environment
// variable [Env] allows. An unknown value allows everything.
var Best = sync.OnceValue(func() Path { return limit(Detected(), os.Getenv(Env)) })

// limit returns best, or the path of this name if that is lower.
func limit(best Path, name string) Path {
	for p, n := range names {
		if n == name {
			return min(best, Path(p))
		}
	}
	return best
}
