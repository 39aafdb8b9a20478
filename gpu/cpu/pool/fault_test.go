//go:build unix

package pool

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRunPassesFaultsOn(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := 2 * os.Getpagesize()
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	p := New(3)
	defer p.Close()
	var ran, sum atomic.Int64
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Run returned, want the panic of a fault")
			}
		}()
		p.Run(50, func(_, i int) { ran.Add(1); sum.Add(int64(data[i])) })
	}()
	if got := ran.Load(); got != 50 {
		t.Errorf("%d items were begun, want 50", got)
	}
	p.Run(50, func(_, _ int) { ran.Add(1) })
	if got := ran.Load(); got != 100 {
		t.Errorf("%d items ran after the loop that failed, want 50", got-50)
	}
}
