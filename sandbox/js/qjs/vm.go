package qjs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"
)

// Handle is a JavaScript value held by the host: the address of its box.
type Handle uint32

// Flags of Eval.
const (
	EvalScript = 0      // a classic script
	EvalModule = 1 << 0 // an ES module; the result is a promise of its namespace
	EvalStrict = 1 << 3 // strict mode, for a script
	EvalAsync  = 1 << 7 // a script with top-level await; the result is a promise of {value}
)

// Promise states, as State reports them.
const (
	Pending = iota
	Fulfilled
	Rejected
)

// maxHostArgs bounds the arguments of one host call.
const maxHostArgs = 16

// MaxText bounds what is copied out of the guest at once: a text, or all texts of a host call. Units: bytes.
const MaxText = 32 << 20

// Bounds of names read from the guest: maxName of functions and modules, maxSpecifier of what is imported, which may be a
// data URL. Units: bytes.
const (
	maxName      = 16 << 10
	maxSpecifier = 8 << 20
)

var (
	errNoModules = errors.New("modules are not available here")
	errHostArgs  = errors.New("host calls take up to 16 strings")
	errNoHost    = errors.New("there is no such host function")
)

// Hooks are what a machine asks of its host. Every field may be nil: the
// answer is then "no", zero or nothing. None of them may call the machine,
// except Call, and Reject, which owns its two handles and may Free or identify them.
type Hooks struct {
	// Admit is asked before the texts of a host call, n bytes in all, are copied out of the guest; an error is thrown in
	// their place. More than MaxText are never copied.
	Admit func(n int) error
	// Call answers the host function name. It may evaluate and call guest code, which
	// may call the host again: each level is a Go stack, so Call bounds the levels.
	Call func(name string, args []string) (string, error)
	// Interrupt is polled between bytecodes; true raises an uncatchable error.
	Interrupt func() bool
	// Tick is called every few milliseconds of work, also inside long built-ins, and
	// at the beginning of every host function; an error ends the machine and is the Cause
	// of the resulting Trap.
	Tick func() error
	// Now is the time in nanoseconds: since 1970, or since the start if monotonic.
	Now func(monotonic bool) int64
	// Random fills b.
	Random func(b []byte)
	// Normalize resolves the specifier name against the module base.
	Normalize func(base, name string) (string, error)
	// Load returns the source of a module.
	Load func(name string) (string, error)
	// Reject reports a promise rejected without a handler (handled false) or one
	// that got its handler later (handled true).
	Reject func(promise, reason Handle, handled bool)
}

// Options size one machine. Units: bytes.
type Options struct {
	// Memory is what JavaScript may allocate.
	Memory uint32
	// Stack is the JavaScript stack; 256 KiB is a good value, 512 KiB the most.
	Stack uint32
}

// headroom is what linear memory holds beyond the JavaScript limit: the C
// stack, static data and the texts being handed over.
const headroom = 4 << 20

// VM is one JavaScript machine.
//
// Owns: its linear memory, until Close. Not safe for concurrent use.
type VM struct {
	engine *Engine
	ctx    context.Context
	mod    api.Module
	mem    api.Memory
	hooks  Hooks
	depth  int
	funcs  []map[string]api.Function // by nesting: a wazero function is not re-entrant
	dead   error
}

// New starts an empty machine.
//
// Errors: ErrMemory when the limit does not hold an empty machine.
func (e *Engine) New(ctx context.Context, o Options, h Hooks) (*VM, error) {
	v, err := e.instantiate(ctx, o, h)
	if err != nil {
		return nil, err
	}
	v.call("_initialize")
	if v.call("qjs_init") != 0 && v.dead == nil {
		v.dead = ErrMemory
	}
	return v.ready(o)
}

func (e *Engine) instantiate(ctx context.Context, o Options, h Hooks) (*VM, error) {
	limit := (uint64(o.Memory) + headroom + pageSize - 1) / pageSize * pageSize
	if limit > maxMemory {
		return nil, fmt.Errorf("%w: a limit of %d bytes is over %d", ErrMemory, o.Memory, uint32(maxMemory-headroom))
	}
	v := &VM{engine: e, hooks: h}
	v.ctx = context.WithValue(ctx, vmKey{}, v)
	mctx := experimental.WithMemoryAllocator(v.ctx, &allocator{e.pool, limit})
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	m, err := e.runtime.InstantiateModule(mctx, e.module, config)
	if err != nil {
		return nil, fmt.Errorf("start quickjs: %w", err)
	}
	v.mod, v.mem = m, m.Memory()
	return v, nil
}

func (v *VM) ready(o Options) (*VM, error) {
	v.call("qjs_set_memory_limit", uint64(o.Memory))
	v.call("qjs_set_max_stack_size", uint64(o.Stack))
	v.call("qjs_set_interrupt_handler", 1)
	v.call("qjs_set_module_loader", 1)
	v.call("qjs_set_promise_rejection_handler", 1)
	if v.dead != nil {
		err := v.dead
		v.Close()
		return nil, err
	}
	return v, nil
}

// Close ends the machine and gives its memory back.
func (v *VM) Close() {
	_ = v.mod.Close(v.ctx)
	v.dead = ErrClosed
}

// Err returns why the machine is unusable, or nil.
func (v *VM) Err() error { return v.dead }

// MemorySize returns the linear memory in use, in bytes.
func (v *VM) MemorySize() uint32 { return v.mem.Size() }

// call invokes an export. After a trap the machine is dead and every further
// call returns zero; exported methods report v.dead.
//
// A trap inside a host call must not return to the guest, whose shadow stack
// is no longer consistent: it is raised again as a panic, which wazero turns into the
// error of the outermost call.
func (v *VM) call(name string, args ...uint64) uint32 {
	if v.dead != nil {
		return 0
	}
	if v.depth == len(v.funcs) {
		v.funcs = append(v.funcs, map[string]api.Function{})
	}
	f := v.funcs[v.depth][name]
	if f == nil {
		if f = v.mod.ExportedFunction(name); f == nil {
			v.dead = fmt.Errorf("%w: no export %s", ErrModule, name)
			return 0
		}
		v.funcs[v.depth][name] = f
	}
	v.depth++
	out, err := f.Call(v.ctx, args...)
	v.depth--
	if err != nil {
		if v.dead == nil {
			v.dead = &Trap{classify(err)}
		}
		if v.depth > 0 {
			panic(v.dead)
		}
		return 0
	}
	if len(out) == 0 {
		return 0
	}
	return uint32(out[0])
}

// classify names the traps that callers tell apart.
func classify(err error) error {
	var exit *sys.ExitError
	switch text := err.Error(); {
	case errors.As(err, &exit):
		return ErrClosed
	case strings.Contains(text, "stack overflow"):
		return fmt.Errorf("%w: %w", ErrStack, err)
	default:
		return err
	}
}

// write copies a text and a final NUL into the guest; 0 when there is no room.
// The guest, or free, releases it.
func (v *VM) write(s string) uint32 {
	if uint64(len(s)) >= maxMemory-1 {
		return 0
	}
	p := v.call("wasm_malloc", uint64(len(s)+1))
	if p == 0 || !v.mem.WriteString(p, s) || !v.mem.WriteByte(p+uint32(len(s)), 0) {
		return 0
	}
	return p
}

func (v *VM) free(p uint32) {
	if p != 0 {
		v.call("wasm_free", uint64(p))
	}
}

func (v *VM) read(p, n uint32) string {
	b, _ := v.mem.Read(p, n)
	return string(b)
}

// cString reads a NUL-terminated text of less than most bytes; a longer one is empty.
func (v *VM) cString(p, most uint32) string {
	size := v.mem.Size()
	if p >= size {
		return ""
	}
	b, _ := v.mem.Read(p, min(size-p, most))
	return string(b[:max(bytes.IndexByte(b, 0), 0)])
}

func (v *VM) newString(s string) Handle {
	p := v.write(s)
	if p == 0 {
		return 0
	}
	h := v.call("qjs_new_string", uint64(p), uint64(len(s)))
	v.free(p)
	return Handle(h)
}

// chars are the bytes of a string value within the guest. The zero value has none.
type chars struct{ at, n uint32 }

// lend has the guest write a string value in UTF-8, within its own memory; giveBack frees that.
func (v *VM) lend(h Handle) (c chars) {
	lenAt := v.call("wasm_malloc", 4)
	if lenAt == 0 {
		return chars{}
	}
	if c.at = v.call("qjs_get_string_len", uint64(h), uint64(lenAt)); c.at != 0 {
		c.n, _ = v.mem.ReadUint32Le(lenAt)
	}
	v.free(lenAt)
	return c
}

func (v *VM) giveBack(c chars) {
	if c.at != 0 {
		v.call("qjs_free_cstring", uint64(c.at))
	}
}

// throw raises an Error with the given message in the guest.
func (v *VM) throw(cause error) {
	e := v.call("qjs_new_error")
	message := v.newString(cause.Error())
	key := v.write("message")
	if e == 0 || message == 0 || key == 0 {
		return
	}
	const writableConfigurable = 3
	v.call("qjs_define_prop_string", uint64(e), uint64(key), uint64(message), writableConfigurable)
	v.free(key)
	v.Free(message)
	v.Free(Handle(v.call("qjs_throw", uint64(e))))
	v.Free(Handle(e))
}
