//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package weights

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the advisory lock of an open file without waiting; held reports that another has it. Closing the file, or
// the end of the process, gives it up.
func tryLock(f *os.File) (held bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
