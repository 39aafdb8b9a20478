package isa

import "golang.org/x/sys/cpu"

// Detected returns the best path that this processor has.
func Detected() Path {
	x := cpu.X86
	switch {
	case !(x.HasAVX2 && x.HasFMA && x.HasF16C):
		return Portable
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI:
		return AVX512
	}
	return AVX2
}
