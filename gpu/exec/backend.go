// Package exec runs plans on WebGPU: it lowers a layer range to dispatches once, keeps weights quantised in device memory
// and submits one pass a batch.
//
// Activations are float32 throughout, the KV cache is float16, recurrent state float32. Every sum has one order, whatever
// the number of columns, so a column has the same bits in every batch.
package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/kernel"
)

// New opens an adapter as a backend. A driver that is opening a device cannot be stopped; a context that ended meanwhile
// closes it again.
//
// Errors: [device.ErrUnavailable], or why the driver refused; the context's.
// Owns: the backend owns the device; close its sessions first.
func New(ctx context.Context, a device.Adapter) (engine.Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := device.Open(a)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &backend{dev: d, limits: d.Adapter().Limits, pipelines: map[string]*device.Pipeline{}, few: fewColumns}, nil
}

type backend struct {
	dev       *device.Device
	limits    device.Limits // what sessions reckon with
	mu        sync.Mutex
	pipelines map[string]*device.Pipeline // by the kernel's text
	plain     bool                        // nothing is fused; for tests
	few       int                         // up to so many columns, a product is done by the kernel for few
}

func (b *backend) Device() engine.Device { return Describe(b.dev.Adapter()) }

// Describe says what an adapter is, without opening it.
func Describe(a device.Adapter) engine.Device {
	d := engine.Device{
		ID: fmt.Sprintf("%s/%d", engine.WebGPU, a.Index()), Backend: engine.WebGPU, Name: a.Name, Software: a.Software, Memory: a.Memory, Detail: fmt.Sprintf("%s, %v", a.API, a.Kind),
	}
	if a.Driver != "" {
		d.Detail += ", " + a.Driver
	}
	return d
}

func (b *backend) Open(ctx context.Context, c engine.Config) (engine.Session, error) {
	return open(ctx, b, c)
}

func (b *backend) Close() error { return b.dev.Close() }

// pipeline compiles a kernel, or returns it compiled before.
func (b *backend) pipeline(k kernel.Kernel) (*device.Pipeline, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.pipelines[k.Code]; ok {
		return p, nil
	}
	p, err := b.dev.NewPipeline(k.Name, k.Code, k.Bindings)
	if err != nil {
		return nil, err
	}
	b.pipelines[k.Code] = p
	return p, nil
}
