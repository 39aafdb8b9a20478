package qjs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	guestjs "github.com/pooled/pooled/sandbox/guest-js"
	"github.com/tetratelabs/wazero"
)

// WasmSHA256 is the checksum of the published quickjs.wasm of npm
// quickjs-wasi 3.7.0, which is embedded unchanged.
const WasmSHA256 = "c0bd8f296e18cf074969f6401b9ecb72609a1323818ec2b9bf7a8f8d740d1363"

// Version changes whenever machines of this package stop being able to use
// snapshots made by an earlier one.
func Version() string { return WasmSHA256 }

// pageSize is the WebAssembly page: 64 KiB.
const pageSize = 1 << 16

// maxMemory bounds Options.Memory: 2 GiB keeps every size within an int32.
const maxMemory = 2 << 30

// Engine is QuickJS compiled for this processor, ready to start machines.
//
// Owns: the wazero runtime and the memory pool; Close releases both. Safe for
// concurrent use.
type Engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	cache   wazero.CompilationCache
	pool    *pool
}

// Open compiles QuickJS, or loads it from cacheDir when a former call left it
// there. The folder is made private to the user, since it holds native code;
// with an empty cacheDir nothing is written.
//
// Errors: ErrModule when the embedded binary is damaged; those of the file system.
func Open(ctx context.Context, cacheDir string) (*Engine, error) {
	if sum := sha256.Sum256(guestjs.QuickJS); hex.EncodeToString(sum[:]) != WasmSHA256 {
		return nil, fmt.Errorf("%w: quickjs.wasm has checksum %x", ErrModule, sum)
	}
	metered, err := meter(guestjs.QuickJS)
	if err != nil {
		return nil, err
	}
	e := &Engine{pool: &pool{}}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxMemory / pageSize)
	if cacheDir != "" {
		if e.cache, err = privateCache(cacheDir); err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(e.cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err = e.link(ctx); err == nil {
		e.module, err = e.runtime.CompileModule(ctx, metered)
	}
	if err != nil {
		_ = e.Close(ctx)
		return nil, fmt.Errorf("compile quickjs.wasm: %w", err)
	}
	return e, nil
}

// privateCache opens a compilation cache that only this user can write:
// whoever writes there chooses the machine code that runs here.
func privateCache(dir string) (wazero.CompilationCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sandbox cache: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sandbox cache: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox cache: %w", err)
	}
	return cache, nil
}

// Close ends every machine and releases the compiled code.
func (e *Engine) Close(ctx context.Context) error {
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		if cerr := e.cache.Close(ctx); err == nil {
			err = cerr
		}
	}
	e.pool.drain()
	return err
}
