// Package units writes numbers for people.
package units

import (
	"fmt"
	"strconv"
)

// Bytes writes a size in powers of 1,000: 16.1 GB.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n), 0
	for x >= 999.95 && unit < 5 {
		x, unit = x/1000, unit+1
	}
	return fmt.Sprintf("%.1f %cB", x, "-kMGTP"[unit])
}

// Count writes a number with commas: 32,768.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
