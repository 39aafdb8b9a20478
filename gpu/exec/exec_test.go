//go:build cgo && !js && (linux || darwin || windows)

package exec

import (
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/optest"
)

// open opens the first adapter, or skips loudly where the machine has none.
func openBackend(t *testing.T) *backend {
	t.Helper()
	as, err := device.Adapters()
	if err != nil {
		t.Fatal(err)
	}
	if len(as) == 0 {
		t.Skip("SKIPPED: no WebGPU adapter; install mesa-vulkan-drivers to run this test")
	}
	b, err := New(as[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.(*backend)
}

func TestOps(t *testing.T) { optest.Run(t, openBackend(t)) }

var _ engine.Backend = (*backend)(nil)
