package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"
)

const pageSize = 65536

// Config says what to compile and how.
type Config struct {
	// Name is how errors call the guest.
	Name string
	// Wasm is the module.
	Wasm []byte
	// MaxMemory bounds the linear memory of one instance, in bytes.
	MaxMemory uint64
	// Cache keeps compiled code; nil compiles every time.
	Cache *Cache
	// Host are the functions that the guest may call besides the few of its standard library.
	Host []HostFunc
	// Interpreter runs the module without compiling it to native code: a fast start, slow calls.
	Interpreter bool
	// Uninterruptible leaves out the checks that let a context stop a call. Only for guests that bound their own work.
	Uninterruptible bool
}

// HostFunc is a function of the host that a guest may call. Its parameters and its result are 32-bit numbers; everything
// that the guest hands over is untrusted.
type HostFunc struct {
	Module, Name string
	Params       int
	Call         func(ctx context.Context, memory api.Memory, args []uint32) uint32
}

// Program is a compiled guest.
//
// Owns: Close releases it; instances must be closed before. Safe for concurrent use.
type Program struct {
	name    string
	limit   uint64
	runtime wazero.Runtime
	module  wazero.CompiledModule
	serial  atomic.Uint64
}

// Compile makes a module ready to be instantiated.
func Compile(ctx context.Context, c Config) (*Program, error) {
	rc := wazero.NewRuntimeConfigCompiler()
	if c.Interpreter || !compilerSupported() {
		rc = wazero.NewRuntimeConfigInterpreter()
	}
	rc = rc.WithMemoryLimitPages(uint32(c.MaxMemory / pageSize)).WithCloseOnContextDone(!c.Uninterruptible).WithDebugInfoEnabled(false)
	r, m, err := Build(ctx, c.Cache, rc, func(r wazero.Runtime) error {
		if err := instantiateWASI(ctx, r); err != nil {
			return err
		}
		for _, f := range c.Host {
			if err := f.instantiate(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}, c.Wasm)
	if err != nil {
		return nil, fmt.Errorf("%s guest: %w", c.Name, err)
	}
	return &Program{name: c.Name, limit: c.MaxMemory / pageSize * pageSize, runtime: r, module: m}, nil
}

func (f HostFunc) instantiate(ctx context.Context, r wazero.Runtime) error {
	params := make([]api.ValueType, f.Params)
	for i := range params {
		params[i] = api.ValueTypeI32
	}
	call := api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
		args := make([]uint32, f.Params)
		for i := range args {
			args[i] = uint32(stack[i])
		}
		stack[0] = uint64(f.Call(ctx, m.Memory(), args))
	})
	_, err := r.NewHostModuleBuilder(f.Module).NewFunctionBuilder().
		WithGoModuleFunction(call, params, []api.ValueType{api.ValueTypeI32}).Export(f.Name).Instantiate(ctx)
	return err
}

// compilerSupported reports whether native code can be generated here.
func compilerSupported() (ok bool) {
	defer func() { ok = recover() == nil }()
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigCompiler())
	_ = r.Close(context.Background())
	return true
}

// Close releases the program and every instance of it.
func (p *Program) Close() error { return p.runtime.Close(context.Background()) }

// Instance starts a fresh guest.
func (p *Program) Instance(ctx context.Context) (*Instance, error) {
	i := &Instance{name: p.name, functions: map[string]api.Function{}}
	ctx = experimental.WithMemoryAllocator(context.WithValue(ctx, saidKey{}, &i.said), reservation{p.limit})
	config := wazero.NewModuleConfig().WithName(fmt.Sprint(p.name, p.serial.Add(1))).WithStartFunctions("_initialize")
	m, err := p.runtime.InstantiateModule(ctx, p.module, config)
	if err != nil {
		return nil, i.failed(ctx, "start", err)
	}
	i.module = m
	return i, nil
}

// Instance is one running guest with its own memory. It is not safe for concurrent use.
type Instance struct {
	name      string
	module    api.Module
	functions map[string]api.Function
	said      said
	broken    bool
}

// Buffer is a piece of a guest's memory.
type Buffer struct{ Ptr, Len uint32 }

// Call runs an exported function and returns its first result.
//
// Errors: *CallError; the instance is Broken afterwards.
func (i *Instance) Call(ctx context.Context, function string, params ...uint64) (uint64, error) {
	if i.broken {
		return 0, &CallError{Guest: i.name, Function: function, Err: ErrClosed}
	}
	f := i.functions[function]
	if f == nil {
		if f = i.module.ExportedFunction(function); f == nil {
			return 0, &CallError{Guest: i.name, Function: function, Err: fmt.Errorf("%w: it has no such function", ErrTrap)}
		}
		i.functions[function] = f
	}
	i.said.text = i.said.text[:0]
	ctx = context.WithValue(ctx, saidKey{}, &i.said)
	results, err := f.Call(ctx, params...)
	if err != nil {
		return 0, i.failed(ctx, function, err)
	}
	if len(results) == 0 {
		return 0, nil
	}
	return results[0], nil
}

// failed marks the instance broken and says why a call failed.
func (i *Instance) failed(ctx context.Context, function string, err error) error {
	i.broken = true
	e := &CallError{Guest: i.name, Function: function, Said: strings.TrimSpace(string(i.said.text)), Err: ErrTrap}
	var exit *sys.ExitError
	switch text := err.Error(); {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Err = context.Canceled
	case ctx.Err() != nil, errors.As(err, &exit) && exit.ExitCode() == sys.ExitCodeDeadlineExceeded:
		e.Err = ErrTime
	case strings.Contains(e.Said, "memory allocation of"):
		e.Err, e.Said = ErrMemory, ""
	case strings.Contains(text, "stack overflow"), strings.Contains(text, "out of bounds memory access"):
		// A guest's own stack lies at the start of its memory: below it every access is out of bounds.
		e.Err = ErrStack
	default:
		first, _, _ := strings.Cut(text, "\n")
		e.Err = fmt.Errorf("%w: %s", ErrTrap, first)
	}
	return e
}

// Broken reports whether a call has failed, so that the instance must not be used again.
func (i *Instance) Broken() bool { return i.broken }

// MemorySize returns the bytes of memory that the guest has now.
func (i *Instance) MemorySize() uint32 { return i.module.Memory().Size() }

// Write copies data into a new buffer of the guest, to be freed with Free.
func (i *Instance) Write(ctx context.Context, data []byte) (Buffer, error) {
	b, err := i.Alloc(ctx, len(data))
	if err != nil {
		return Buffer{}, err
	}
	if !i.module.Memory().Write(b.Ptr, data) {
		i.broken = true
		return Buffer{}, &CallError{Guest: i.name, Function: "buffer_new", Err: fmt.Errorf("%w: it gave a bad buffer", ErrTrap)}
	}
	return b, nil
}

// Alloc returns a new buffer of n bytes whose content is undefined.
func (i *Instance) Alloc(ctx context.Context, n int) (Buffer, error) {
	if uint64(n) > 1<<31-1 {
		return Buffer{}, &CallError{Guest: i.name, Function: "buffer_new", Err: ErrMemory}
	}
	ptr, err := i.Call(ctx, "buffer_new", uint64(n))
	return Buffer{Ptr: uint32(ptr), Len: uint32(n)}, err
}

// Free gives a buffer back.
func (i *Instance) Free(ctx context.Context, b Buffer) error {
	_, err := i.Call(ctx, "buffer_free", uint64(b.Ptr), uint64(b.Len))
	return err
}

// View returns the guest's memory behind a buffer, valid until the next call.
func (i *Instance) View(b Buffer) ([]byte, error) {
	view, ok := i.module.Memory().Read(b.Ptr, b.Len)
	if !ok {
		i.broken = true
		return nil, &CallError{Guest: i.name, Function: "memory", Err: fmt.Errorf("%w: a buffer lies outside its memory", ErrTrap)}
	}
	return view, nil
}

// CopyFrom gives the instance the memory of another one, between two calls of both. Both must be instances of the same module,
// though of different programs perhaps: one that was compiled without checks prepares what one with checks goes on with. A
// module of sandbox/guest keeps its whole state in memory.
func (i *Instance) CopyFrom(other *Instance) error {
	from, to := other.module.Memory(), i.module.Memory()
	if size := from.Size(); size > to.Size() {
		if _, ok := to.Grow((size - to.Size()) / pageSize); !ok {
			return &CallError{Guest: i.name, Function: "copy", Err: ErrMemory}
		}
	}
	view, _ := from.Read(0, from.Size())
	to.Write(0, view)
	return nil
}

// Result returns a copy of the answer of the last call.
func (i *Instance) Result(ctx context.Context) (string, error) {
	ptr, err := i.Call(ctx, "result_ptr")
	if err != nil {
		return "", err
	}
	n, err := i.Call(ctx, "result_len")
	if err != nil {
		return "", err
	}
	view, err := i.View(Buffer{Ptr: uint32(ptr), Len: uint32(n)})
	return string(view), err
}

// Reason returns the answer of the last call where it says what is wrong, in words that may quote what was handed over: at
// most n bytes of it.
func (i *Instance) Reason(ctx context.Context, n int) (string, error) {
	text, err := i.Result(ctx)
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text, err
}

// Close frees the instance's memory.
func (i *Instance) Close() error {
	i.broken = true
	return i.module.Close(context.Background())
}
