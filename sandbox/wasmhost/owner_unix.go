//go:build unix

package wasmhost

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether the file belongs to the user of this process.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
