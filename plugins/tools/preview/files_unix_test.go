//go:build unix

package preview

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestOddFiles asks for what is no file, and for one that has no end in practice.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "sparse.html"), "")
	put(t, filepath.Join(dir, "sparse.bin"), "")
	if err := errors.Join(
		os.Truncate(filepath.Join(dir, "sparse.html"), 10<<30), os.Truncate(filepath.Join(dir, "sparse.bin"), 10<<30),
		syscall.Mkfifo(filepath.Join(dir, "pipe.html"), 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "zero.html")),
	); err != nil {
		t.Fatal(err)
	}
	s, host := serverOf(t, dir)
	for _, name := range []string{"pipe.html", "zero.html"} {
		if resp, _ := get(t, "GET", "http://"+host+"/"+name); resp.StatusCode != 404 {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
	s.setEntry("pipe.html")
	if resp, _ := get(t, "GET", "http://"+host+"/"); resp.StatusCode != 404 {
		t.Errorf("as the entry: %d", resp.StatusCode)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, name := range []string{"sparse.html", "sparse.bin"} {
		if resp, body := get(t, "GET", "http://"+host+"/"+name, "Range: bytes=10-12"); resp.StatusCode != 206 || body != "\x00\x00\x00" {
			t.Errorf("%s: %d %q", name, resp.StatusCode, body)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d kB were allocated", n>>10)
	}
}
