//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits for the lock of an open file. Closing the file, or the end of the process, gives it up.
func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
