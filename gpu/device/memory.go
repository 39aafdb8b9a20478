//go:build cgo && !js && (linux || darwin || windows)

package device

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory asks the kernel for the memory of the only discrete GPU that reports it; WebGPU itself does not say.
func memory(a Adapter) int64 {
	if a.Software || a.Kind != Discrete {
		return 0
	}
	files, _ := filepath.Glob("/sys/class/drm/card*/device/mem_info_vram_total")
	if len(files) != 1 {
		return 0
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
