package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tetratelabs/wazero"
)

// Cache keeps compiled modules, on disk when it has a folder. A folder that cannot be read or written any more only costs
// time: see [Build].
//
// Owns: Close it after every program that uses it. Safe for concurrent use.
type Cache struct {
	cache wazero.CompilationCache
}

// NewCache returns a cache that lives in memory only.
func NewCache() *Cache { return &Cache{cache: wazero.NewCompilationCache()} }

// OpenCache returns a cache in dir, which is created with mode 0700.
//
// Errors: ErrCacheNotPrivate when dir can be written by others or is a symbolic link.
func OpenCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("folder of compiled code: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("folder of compiled code: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("folder of compiled code: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w: it is not a folder; remove it", dir, ErrCacheNotPrivate)
	}
	if runtime.GOOS != "windows" && (info.Mode().Perm()&0o022 != 0 || !ownedByUs(info)) {
		return nil, fmt.Errorf("%s: %w: others may write to it; remove it or take it back (chmod 700)", dir, ErrCacheNotPrivate)
	}
	c, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("folder of compiled code: %w", err)
	}
	return &Cache{cache: c}, nil
}

// Build makes a runtime and compiles a module in it; link adds what the module imports, and may be nil. Where the cache
// fails, because its disk is full, say, it compiles without one. A nil cache compiles every time.
//
// Owns: the caller closes the runtime, and the cache after it.
func Build(ctx context.Context, c *Cache, config wazero.RuntimeConfig, link func(wazero.Runtime) error, wasm []byte) (wazero.Runtime, wazero.CompiledModule, error) {
	if c != nil {
		r, m, err := build(ctx, config.WithCompilationCache(c.cache), link, wasm)
		if err == nil {
			return r, m, nil
		}
	}
	return build(ctx, config, link, wasm) // whose error is about the module
}

func build(ctx context.Context, config wazero.RuntimeConfig, link func(wazero.Runtime) error, wasm []byte) (wazero.Runtime, wazero.CompiledModule, error) {
	r := wazero.NewRuntimeWithConfig(ctx, config)
	if link != nil {
		if err := link(r); err != nil {
			return nil, nil, errors.Join(err, r.Close(ctx))
		}
	}
	m, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(ctx))
	}
	return r, m, nil
}

// Close releases the compiled code in memory; what is on disk stays.
func (c *Cache) Close() error { return c.cache.Close(context.Background()) }
