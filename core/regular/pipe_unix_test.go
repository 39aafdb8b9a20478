//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNotRegular opens what would wait, or never end.
func TestNotRegular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRoot(pipe); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("a pipe as a folder: %v", err)
	}
	for name, says := range map[string]string{pipe: "named pipe", "/dev/zero": "device"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR} {
			f, err := OpenFile(name, flag, 0)
			if !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v, %v", name, f, err)
			}
		}
	}
}
