package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pooled/pooled/core/regular"
	"github.com/pooled/pooled/core/tool"
)

const (
	wasmExt = ".wasm"
	// maxWasm bounds a module. Units: bytes.
	maxWasm = 64 << 20
)

// WasmLoader makes a set of tools of a WebAssembly module that it runs in a sandbox, without a process of its own. A set
// that is an [io.Closer] is closed after its sessions.
type WasmLoader func(ctx context.Context, module []byte) (tool.Set, error)

// errNoWasm is for hosts that cannot run WebAssembly.
var errNoWasm = errors.New("this program runs no WebAssembly tools")

// isWasm reports whether a plugin is a WebAssembly module.
func isWasm(path string) bool { return strings.EqualFold(filepath.Ext(path), wasmExt) }

// wasmSet is a set of tools that is a WebAssembly module; it is loaded when it is opened.
type wasmSet struct {
	catalog *Catalog
	spec    spec
	info    tool.Info
}

// Info implements [tool.Set].
func (w wasmSet) Info() tool.Info { return w.info }

// Open implements [tool.Set].
func (w wasmSet) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	if err := checkProject(p); err != nil {
		return nil, err
	}
	set, err := w.catalog.loadWasm(ctx, w.spec)
	if err != nil {
		return nil, err
	}
	opened, err := set.Open(ctx, p)
	if err != nil {
		return nil, errors.Join(err, closeSet(set))
	}
	return wasmSession{opened, set}, nil
}

// wasmSession closes the module with the session.
type wasmSession struct {
	tool.Session
	set tool.Set
}

// Close implements [tool.Session].
func (w wasmSession) Close() error { return errors.Join(w.Session.Close(), closeSet(w.set)) }

func closeSet(s tool.Set) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// loadWasm reads a module, checks its sum and loads it.
func (c *Catalog) loadWasm(ctx context.Context, s spec) (tool.Set, error) {
	fault := func(err error) error { return &Error{Plugin: s.name, Doing: "start", Err: err} }
	if c.options.Wasm == nil {
		return nil, fault(errNoWasm)
	}
	module, err := readWasm(s.path)
	if err != nil {
		return nil, fault(err)
	}
	// What was read is what is checked.
	if sum := sha256.Sum256(module); s.sum != "" && hex.EncodeToString(sum[:]) != s.sum {
		return nil, s.changed(hex.EncodeToString(sum[:]))
	}
	set, err := c.options.Wasm(ctx, module)
	if err != nil {
		return nil, fault(err)
	}
	return set, nil
}

func readWasm(path string) ([]byte, error) {
	if err := openToAll(path); err != nil {
		return nil, err
	}
	return regular.Read(path, maxWasm)
}

// learnWasm loads a module to find out what it is.
func (c *Catalog) learnWasm(ctx context.Context, e Entry, a *approval) error {
	set, err := c.loadWasm(ctx, spec{name: e.Name, path: e.Path, sum: e.SHA256})
	if err != nil {
		return err
	}
	a.Kind, a.Tools, a.Contract = KindTools, compact(set.Info()), set.Info().Contract
	err = a.Tools.Check()
	if err != nil {
		err = &Error{Plugin: e.Name, Doing: "start", Err: fmt.Errorf("%w: %w", ErrProtocol, err)}
	}
	return errors.Join(err, closeSet(set))
}

// openWasm loads the module at path for its author.
func (c *Catalog) openWasm(ctx context.Context, path string) (tool.Set, error) {
	s := spec{name: strings.TrimSuffix(filepath.Base(path), wasmExt), path: path}
	set, err := c.loadWasm(ctx, s)
	if err != nil {
		return nil, err
	}
	return wasmSet{c, s, set.Info()}, closeSet(set)
}
