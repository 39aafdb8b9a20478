package qjs

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// WASI error numbers.
const (
	wasiOK    = 0
	wasiBadF  = 8
	wasiFault = 21
	wasiInval = 28
	wasiNoSys = 52
)

// maxVectors bounds the pieces of one write, as IOV_MAX does elsewhere.
const maxVectors = 1024

type vmKey struct{}

// vmOf finds the machine a host function was called for. Every call into the
// guest passes through VM.call, which puts it there.
func vmOf(ctx context.Context) *VM {
	v, _ := ctx.Value(vmKey{}).(*VM)
	return v
}

// link defines the twelve functions that quickjs.wasm imports.
func link(ctx context.Context, r wazero.Runtime) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	type fn struct {
		name    string
		run     api.GoModuleFunc
		params  []api.ValueType
		results []api.ValueType
	}
	ps := func(t ...api.ValueType) []api.ValueType { return t }
	one := ps(i32)
	modules := map[string][]fn{
		"env": {
			{"host_get_timezone_offset", func(_ context.Context, _ api.Module, st []uint64) { st[0] = 0 }, ps(i32, i32), one},
			{"host_interrupt", hostInterrupt, nil, one},
			{"host_promise_rejection", hostRejection, ps(i32, i32, i32), nil},
			{"host_module_normalize", hostNormalize, ps(i32, i32), one},
			{"host_module_load", hostLoad, ps(i32, i32), one},
			{"host_call", hostCall, ps(i32, i32, i32, i32, i32), one},
		},
		"wasi_snapshot_preview1": {
			{"clock_time_get", clockTimeGet, ps(i32, i64, i32), one},
			{"fd_close", fdClose, ps(i32), one},
			{"fd_fdstat_get", func(_ context.Context, _ api.Module, st []uint64) { st[0] = wasiBadF }, ps(i32, i32), one},
			{"fd_seek", func(_ context.Context, _ api.Module, st []uint64) { st[0] = wasiNoSys }, ps(i32, i64, i32, i32), one},
			{"fd_write", fdWrite, ps(i32, i32, i32, i32), one},
			{"random_get", randomGet, ps(i32, i32), one},
		},
	}
	for name, fns := range modules {
		b := r.NewHostModuleBuilder(name)
		for _, f := range fns {
			b.NewFunctionBuilder().WithGoModuleFunction(timed(f.run), f.params, f.results).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// timed asks whether the guest may go on before a function of the host does its work, which no meter counts.
func timed(run api.GoModuleFunc) api.GoModuleFunc {
	return func(ctx context.Context, m api.Module, st []uint64) {
		vmOf(ctx).tick()
		run(ctx, m, st)
	}
}

// tick ends the guest when its time is over.
func (v *VM) tick() {
	if v.hooks.Tick == nil {
		return
	}
	if err := v.hooks.Tick(); err != nil {
		panic(err) // wazero turns it into the error of the outer call
	}
}

func hostInterrupt(ctx context.Context, _ api.Module, st []uint64) {
	st[0] = 0
	if v := vmOf(ctx); v.hooks.Interrupt != nil && v.hooks.Interrupt() {
		st[0] = 1
	}
}

// fdClose is also where metered code asks whether it may go on, as every function here does; see meter.go.
func fdClose(_ context.Context, _ api.Module, st []uint64) { st[0] = wasiBadF }

func clockTimeGet(ctx context.Context, m api.Module, st []uint64) {
	v := vmOf(ctx)
	var now int64
	if v.hooks.Now != nil {
		now = v.hooks.Now(uint32(st[0]) != 0)
	}
	st[0] = result(m.Memory().WriteUint64Le(uint32(st[2]), uint64(now)))
}

func fdWrite(_ context.Context, m api.Module, st []uint64) {
	// QuickJS writes only diagnostics here; they are counted and dropped.
	iovs, count, out := uint32(st[1]), uint32(st[2]), uint32(st[3])
	if count > maxVectors {
		st[0] = wasiInval
		return
	}
	total, mem := uint32(0), m.Memory()
	for i := uint32(0); i < count; i++ {
		n, ok := mem.ReadUint32Le(iovs + i*8 + 4)
		if !ok {
			st[0] = wasiFault
			return
		}
		total += n
	}
	st[0] = result(mem.WriteUint32Le(out, total))
}

func randomGet(ctx context.Context, m api.Module, st []uint64) {
	b, ok := m.Memory().Read(uint32(st[0]), uint32(st[1]))
	if v := vmOf(ctx); ok && v.hooks.Random != nil {
		v.hooks.Random(b)
	} else {
		clear(b)
	}
	st[0] = result(ok)
}

func result(ok bool) uint64 {
	if ok {
		return wasiOK
	}
	return wasiFault
}

func hostRejection(ctx context.Context, _ api.Module, st []uint64) {
	v := vmOf(ctx)
	promise, reason := Handle(st[0]), Handle(st[1])
	if v.hooks.Reject != nil {
		v.hooks.Reject(promise, reason, uint32(st[2]) != 0)
		return
	}
	v.Free(promise)
	v.Free(reason)
}

func hostNormalize(ctx context.Context, _ api.Module, st []uint64) {
	v := vmOf(ctx)
	name := v.cString(uint32(st[1]), maxSpecifier)
	if v.hooks.Normalize != nil {
		resolved, err := v.hooks.Normalize(v.cString(uint32(st[0]), maxName), name)
		if err != nil {
			v.throw(err)
			st[0] = 0
			return
		}
		name = resolved
	}
	st[0] = uint64(v.write(name))
}

func hostLoad(ctx context.Context, _ api.Module, st []uint64) {
	v := vmOf(ctx)
	name, out := v.cString(uint32(st[0]), maxName), uint32(st[1])
	st[0] = 0
	if v.hooks.Load == nil {
		v.throw(errNoModules)
		return
	}
	source, err := v.hooks.Load(name)
	if err != nil {
		v.throw(err)
		return
	}
	p := v.write(source)
	if p != 0 && v.mem.WriteUint32Le(out, uint32(len(source))) {
		st[0] = uint64(p)
	}
}

func hostCall(ctx context.Context, _ api.Module, st []uint64) {
	v := vmOf(ctx)
	name, argc, argv := v.read(uint32(st[0]), min(uint32(st[1]), maxName)), uint32(st[3]), uint32(st[4])
	st[0] = 0
	if argc > maxHostArgs {
		v.throw(errHostArgs)
		return
	}
	args, err := v.arguments(argc, argv)
	answer := ""
	switch {
	case err != nil:
	case v.hooks.Call == nil:
		err = errNoHost
	default:
		answer, err = v.hooks.Call(name, args)
	}
	if err != nil {
		v.throw(err)
		return
	}
	st[0] = uint64(v.newString(answer))
}

// arguments copies the texts of a host call out of the guest.
func (v *VM) arguments(argc, argv uint32) ([]string, error) {
	lent, total := make([]chars, argc), 0
	defer func() {
		for _, c := range lent {
			v.giveBack(c)
		}
	}()
	for i := range lent {
		p, _ := v.mem.ReadUint32Le(argv + uint32(i)*4)
		// Only strings are accepted, so no code of the guest (toString, a
		// getter, a proxy) ever runs inside a host call.
		if p == 0 || v.call("qjs_is_string", uint64(p)) == 0 {
			return nil, errHostArgs
		}
		lent[i] = v.lend(Handle(p))
		total += int(lent[i].n)
	}
	if v.hooks.Admit != nil {
		if err := v.hooks.Admit(total); err != nil {
			return nil, err
		}
	}
	if total > MaxText {
		return nil, ErrLarge
	}
	args := make([]string, argc)
	for i, c := range lent {
		args[i] = v.read(c.at, c.n)
	}
	return args, nil
}
