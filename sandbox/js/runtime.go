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
	cache  string
}

// NewRuntime compiles the engine and takes the image that every run starts from.
func NewRuntime(ctx context.Context, o RuntimeOptions) (*Runtime, error) {
	engine, err := qjs.Open(ctx, o.CacheDir)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{engine: engine, cache: o.CacheDir}
	if rt.base, err = rt.boot(ctx, bootMemory, nil); err != nil {
		_ = engine.Close(ctx)
		return nil, fmt.Errorf("boot the sandbox: %w", err)
	}
	return rt, nil
}

// Close ends all runs and releases the engine.
func (rt *Runtime) Close(ctx context.Context) error { return rt.engine.Close(ctx) }

const bootMemory = 64 << 20

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
