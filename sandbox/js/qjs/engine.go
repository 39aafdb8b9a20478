package qjs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	guestjs "github.com/pooled/pooled/sandbox/guest-js"
	"github.com/pooled/pooled/sandbox/wasmhost"
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
	pool    *pool
}

// Open compiles QuickJS, or takes it from the cache when a former call left it
// there; the cache may be nil, and stays the caller's.
//
// Errors: ErrModule when the embedded binary is damaged.
func Open(ctx context.Context, cache *wasmhost.Cache) (*Engine, error) {
	if sum := sha256.Sum256(guestjs.QuickJS); hex.EncodeToString(sum[:]) != WasmSHA256 {
		return nil, fmt.Errorf("%w: quickjs.wasm has checksum %x", ErrModule, sum)
	}
	metered, err := meter(guestjs.QuickJS)
	if err != nil {
		return nil, err
	}
	e := &Engine{pool: &pool{}}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxMemory / pageSize)
	e.runtime, e.module, err = wasmhost.Build(ctx, cache, config, func(r wazero.Runtime) error { return link(ctx, r) }, metered)
	if err != nil {
		return nil, fmt.Errorf("compile quickjs.wasm: %w", err)
	}
	return e, nil
}

// Close ends every machine and releases the compiled code.
func (e *Engine) Close(ctx context.Context) error {
	err := e.runtime.Close(ctx)
	e.pool.drain()
	return err
}
