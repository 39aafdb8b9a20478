//go:build cgo && !js && (linux || darwin || windows)

package exec

import (
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/engine/enginetest"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/optest"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// openBackend opens the first adapter, or skips loudly where the machine has none.
func openBackend(t testing.TB) *backend {
	t.Helper()
	as, err := device.Adapters()
	if err != nil {
		t.Fatal(err)
	}
	if len(as) == 0 {
		t.Skip("SKIPPED: no WebGPU adapter; install mesa-vulkan-drivers to run this test")
	}
	b, err := New(t.Context(), as[0])
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

// TestEngine runs the reference models. float16 keys and values are what keeps the limits above those of float32.
func TestEngine(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 3
	}
	enginetest.Run(t, enginetest.Options{
		Backend: openBackend(t), Families: []model.Family{dense.Family{}, qwen35.Family{}},
		Exact: true, MaxDiff: 2e-2, MaxNMSE: 2e-6, Every: every, Slow: true,
	})
}

func BenchmarkModel(b *testing.B) {
	enginetest.Bench(b, openBackend(b), []model.Family{dense.Family{}, qwen35.Family{}})
}
