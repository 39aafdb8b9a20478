package mat

import (
	"runtime"
	"testing"
	"time"
)

// The pages of a collected matrix go back to the system: they read as zero.
func TestPagesGoBack(t *testing.T) {
	const n = 1 << 20
	kept := &Matrix{}
	kept.allocate(n)
	slabs.Lock()
	s := slabs.current
	slabs.Unlock()
	at := func() []byte { // of the matrix that is dropped
		m := &Matrix{}
		m.allocate(n)
		for i := range m.data {
			m.data[i] = 1
		}
		slabs.Lock()
		defer slabs.Unlock()
		if s != slabs.current {
			t.Skip("SKIPPED: the slab filled up between two allocations")
		}
		return s.mem[s.used-n : s.used]
	}()
	kept.data[0], kept.data[n-1] = 2, 2
	page := at[n/2]
	for deadline := time.Now().Add(5 * time.Second); page != 0 && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
		page = at[n/2]
	}
	if page != 0 {
		t.Error("the memory of a collected matrix is still there")
	}
	if kept.data[0] != 2 || kept.data[n-1] != 2 {
		t.Error("the memory of its neighbour is gone")
	}
	runtime.KeepAlive(kept)
}
