//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package workspace

import "os"

// lockFile takes nothing: this platform has no file locks, or only one process.
func lockFile(*os.File) error { return nil }
