//go:build linux || darwin || freebsd

package store

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeSpace returns the bytes that this user may still write below dir.
func freeSpace(dir string) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Bsize <= 0 {
		return 0, false
	}
	blocks, size := uint64(st.Bavail), uint64(st.Bsize)
	if blocks > math.MaxInt64/size {
		return math.MaxInt64, true
	}
	return int64(blocks * size), true
}
