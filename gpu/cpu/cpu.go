// Package cpu is the compute backend for a device without a GPU: the operations of a plan on all cores, in SIMD.
//
// Weights stay quantised, packed for the processor (package mat). Activations are rounded to 8 bits before a product
// with quantised weights unless engine.Config.Exact asks for float32. The KV cache is float16, laid out so that
// attention is two products with panels of 16 lanes (package kern). Every output is one chain of operations whose order
// does not depend on the batch, so a column has the same bits at every width and with any number of threads.
package cpu

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/isa"
	"github.com/pooled/pooled/gpu/cpu/pool"
	"github.com/pooled/pooled/gpu/program"
)

// Backend computes on the processor. Owns: its worker threads, until Close. Safe for concurrent use; passes of several
// sessions take turns.
type Backend struct {
	pool   *pool.Pool
	device engine.Device
}

// New starts a backend with the given number of threads; 0 means one a core.
func New(threads int) *Backend {
	return &Backend{pool: pool.New(threads), device: Describe(threads)}
}

// Describe describes the processor as a backend with the given number of threads would, without starting any.
func Describe(threads int) engine.Device {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return engine.Device{
		ID:      engine.CPU,
		Backend: engine.CPU,
		Name:    processor(),
		Memory:  memory(),
		Detail:  fmt.Sprintf("%d threads, %s", threads, isa.Best()),
	}
}

// Device describes the processor.
func (b *Backend) Device() engine.Device { return b.device }

// Close stops the worker threads.
func (b *Backend) Close() error {
	b.pool.Close()
	return nil
}

// Open packs the weights of the range and allocates its state.
func (b *Backend) Open(ctx context.Context, c engine.Config) (engine.Session, error) {
	p, err := program.Build(c)
	if err != nil {
		return nil, err
	}
	if c.Context < 1 {
		return nil, fmt.Errorf("a session needs room for at least one position, not %d", c.Context)
	}
	var w *weights
	err = gguf.Guard(func() (err error) {
		w, err = load(ctx, c, p, b.pool)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newSession(c, p, w, b.pool)
}

// processor returns the processor's own name, or the architecture where it has none to read.
func processor() string {
	if name := strings.TrimSpace(processorName()); name != "" {
		return name
	}
	return runtime.GOARCH
}
