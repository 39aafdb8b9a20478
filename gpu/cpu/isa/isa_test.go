package isa

import "testing"

func TestLimit(t *testing.T) {
	tests := []struct {
		best Path
		name string
		want Path
	}{
		{AVX512, "", AVX512},
		{AVX512, "avx512", AVX512},
		{AVX512, "avx2", AVX2},
		{AVX512, "portable", Portable},
		{AVX512, "something", AVX512},
		{AVX2, "avx512", AVX2},
		{Portable, "avx2", Portable},
	}
	for _, tt := range tests {
		if got := limit(tt.best, tt.name); got != tt.want {
			t.Errorf("limit(%v, %q) = %v, want %v", tt.best, tt.name, got, tt.want)
		}
	}
}
