package device

import (
	"path/filepath"
	"runtime"
)

// nodes are where Linux shows GPUs: those of its own drivers, NVIDIA's, those of phones and boards, and Windows' behind WSL.
var nodes = []string{"/dev/dri/render*", "/dev/dri/card*", "/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/kgsl*", "/dev/mali*", "/dev/dxg"}

// Hardware reports whether there may be a GPU. It is cheap where [Adapters] loads drivers, software ones of 60 MB among them;
// it says no only where the system shows none.
func Hardware() bool { return runtime.GOOS != "linux" || present("/", nodes) }

// present reports whether a file below root matches one of the patterns.
func present(root string, patterns []string) bool {
	for _, p := range patterns {
		if found, err := filepath.Glob(filepath.Join(root, p)); err != nil || len(found) > 0 {
			return true // a pattern that cannot be read rules nothing out
		}
	}
	return false
}
