package store

import (
	"math"

	"golang.org/x/sys/windows"
)

// freeSpace returns the bytes that this user may still write below dir.
func freeSpace(dir string) (int64, bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64)), true
}
