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

// Cache keeps compiled modules, on disk when it has a folder.
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

// Close releases the compiled code in memory; what is on disk stays.
func (c *Cache) Close() error { return c.cache.Close(context.Background()) }
