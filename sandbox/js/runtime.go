package js

import (
	"context"
	"errors"
	"fmt"

	"github.com/pooled/pooled/sandbox/js/qjs"
)

// RuntimeOptions configure a Runtime.
type RuntimeOptions struct {
	// CacheDir keeps the compiled engine between processes: the first start takes
	// about half a second, later ones some 20 ms. The folder is made private
	// (0700). Empty means no cache.
	CacheDir string
}

// Runtime is the JavaScript engine, compiled and booted once.
//
// Owns: the engine; Close releases it. Safe for concurrent use: every run has
// its own machine.
type Runtime struct {
	engine *qjs.Engine
	base   *Image
}

// NewRuntime compiles the engine and takes the image that every run starts from.
func NewRuntime(ctx context.Context, o RuntimeOptions) (*Runtime, error) {
	engine, err := qjs.Open(ctx, o.CacheDir)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{engine: engine}
	if rt.base, err = rt.Image(ctx, bootMemory); err != nil {
		_ = engine.Close(ctx)
		return nil, fmt.Errorf("boot the sandbox: %w", err)
	}
	return rt, nil
}

// Close ends all runs and releases the engine.
func (rt *Runtime) Close(ctx context.Context) error { return rt.engine.Close(ctx) }

const (
	bootMemory = 64 << 20
	bootStack  = 512 << 10
)

// Source is a file that an Image runs at boot: a JavaScript function of one
// argument, the prelude's private host object.
type Source struct {
	Name, Code string
}

// Image is a booted machine from which sessions start.
type Image struct {
	snapshot *qjs.Snapshot
	control  qjs.Handle
}

// Size is the length of the memory image in bytes.
func (i *Image) Size() int { return len(i.snapshot.Memory) }

// Image boots a machine with the prelude and then the given sources, within
// memory bytes, and returns its image. The clock stands still at zero meanwhile.
func (rt *Runtime) Image(ctx context.Context, memory uint32, sources ...Source) (*Image, error) {
	vm, err := rt.engine.New(ctx, qjs.Options{Memory: memory, Stack: bootStack}, qjs.Hooks{
		Now: func(monotonic bool) int64 {
			if monotonic {
				return 0
			}
			return epoch.UnixNano()
		},
	})
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	host, control, err := bootPrelude(vm)
	if err != nil {
		return nil, explainBoot(vm, err)
	}
	for _, s := range sources {
		h, err := applyPrelude(vm, host, s.Name, s.Code)
		if err != nil {
			return nil, fmt.Errorf("boot %s: %w", s.Name, explainBoot(vm, err))
		}
		vm.Free(h)
	}
	if err := vm.RunJobs(); err != nil {
		return nil, explainBoot(vm, err)
	}
	vm.CollectGarbage()
	snapshot, err := vm.Snapshot()
	if err != nil {
		return nil, err
	}
	return &Image{snapshot, control}, nil
}

// explainBoot adds the text of a JavaScript exception to a boot error.
func explainBoot(vm *qjs.VM, err error) error {
	var x *qjs.Exception
	if !errors.As(err, &x) {
		return err
	}
	show, eerr := vm.Eval("(e) => `${e}\\n${e?.stack}`", "pooled:boot.js", qjs.EvalScript)
	if eerr != nil {
		return err
	}
	text, cerr := vm.Call(show, x.Value)
	if cerr != nil {
		return err
	}
	return fmt.Errorf("%w: %s", err, vm.Text(text))
}
