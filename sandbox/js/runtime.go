package js

import (
	"context"
	"errors"
	"fmt"

	"github.com/pooled/pooled/sandbox/js/qjs"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

// RuntimeOptions configure a Runtime.
type RuntimeOptions struct {
	// CacheDir keeps the compiled engine between processes: the first start takes
	// about half a second, later ones some 20 ms. It is not used where others can
	// write to it. Empty means no cache.
	CacheDir string
}

// Runtime is the JavaScript engine, compiled and booted once.
//
// Owns: the engine; Close releases it. Safe for concurrent use: every run has
// its own machine.
type Runtime struct {
	engine *qjs.Engine
	base   *Image
	cache  *wasmhost.Cache
	images string // folder for images, or empty
}

// NewRuntime compiles the engine and takes the image that every run starts from.
func NewRuntime(ctx context.Context, o RuntimeOptions) (*Runtime, error) {
	rt := &Runtime{}
	var err error
	if o.CacheDir != "" {
		if rt.cache, err = wasmhost.OpenCache(o.CacheDir); err == nil { // else all takes longer
			rt.images = o.CacheDir
		}
	}
	if rt.engine, err = qjs.Open(ctx, rt.cache); err != nil {
		return nil, errors.Join(err, rt.Close(ctx))
	}
	if rt.base, err = rt.boot(ctx, bootMemory, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("boot the sandbox: %w", err), rt.Close(ctx))
	}
	return rt, nil
}

// Close ends all runs and releases the engine.
func (rt *Runtime) Close(ctx context.Context) error {
	var errs []error
	if rt.engine != nil {
		errs = append(errs, rt.engine.Close(ctx))
	}
	if rt.cache != nil {
		errs = append(errs, rt.cache.Close())
	}
	return errors.Join(errs...)
}

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
	shown, terr := vm.Text(text)
	return errors.Join(fmt.Errorf("%w: %s", err, shown), terr)
}
