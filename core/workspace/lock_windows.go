package workspace

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits for the lock of an open file. Closing the file, or the end of the process, gives it up.
func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
}
