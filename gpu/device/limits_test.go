package device

import (
	"math"
	"testing"
)

// TestAskFor checks what is requested of adapters that have no limit, or a larger one than is sane.
func TestAskFor(t *testing.T) {
	for _, c := range []struct {
		name     string
		reported uint64
		most     int64
		want     int64
	}{
		{"none at all means undefined", math.MaxUint64, mostBuffer, mostBuffer},
		{"larger than an int64", math.MaxInt64 + 1, mostBuffer, mostBuffer},
		{"the default of WebGPU", 256 << 20, mostBuffer, 256 << 20},
		{"an odd number", 2<<30 - 1, mostBuffer, 2<<30 - 16},
		{"a binding without a limit", math.MaxUint64, mostBinding, mostBinding},
		{"a binding of 128 MiB", 128 << 20, mostBinding, 128 << 20},
	} {
		if got := askFor(c.reported, c.most); got != c.want {
			t.Errorf("%s: %d of at most %d asks for %d, want %d", c.name, c.reported, c.most, got, c.want)
		}
	}
	if mostBinding > math.MaxUint32 {
		t.Error("a binding's size does not fit in 32 bits")
	}
}
