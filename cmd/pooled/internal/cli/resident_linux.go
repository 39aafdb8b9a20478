package cli

import (
	"fmt"
	"os"
)

// residentOS reads the process's anonymous and mapped resident memory.
func residentOS() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
