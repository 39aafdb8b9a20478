package units_test

import (
	"testing"

	"github.com/pooled/pooled/core/units"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 491_400_000: "491.4 MB",
		4_683_073_536: "4.7 GB", 16_100_000_000: "16.1 GB", 1 << 62: "4611.7 PB",
	} {
		if got := units.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 32768: "32,768", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := units.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
