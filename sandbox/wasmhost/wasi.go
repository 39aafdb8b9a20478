package wasmhost

import (
	"context"
	"crypto/rand"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// Results of the system interface.
// Source: WASI snapshot preview 1, errno.
const (
	errnoSuccess = 0
	errnoBadf    = 8
	errnoFault   = 21
)

// maxSaid bounds what is kept of a guest's output.
const maxSaid = 512

// saidKey finds an instance's output in the context of its call.
type saidKey struct{}

// said collects what a guest prints, which is a panic message at most.
type said struct{ text []byte }

func (s *said) add(b []byte) {
	if s != nil {
		s.text = append(s.text, b[:min(len(b), maxSaid-len(s.text))]...)
	}
}

// instantiateWASI gives a runtime the few functions that Rust's standard library imports: random bytes, a clock that
// stands still, an empty environment, output that is only kept for error messages, and exit.
func instantiateWASI(ctx context.Context, r wazero.Runtime) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	b := r.NewHostModuleBuilder("wasi_snapshot_preview1")
	export := func(name string, params []api.ValueType, results []api.ValueType, f api.GoModuleFunc) {
		b.NewFunctionBuilder().WithGoModuleFunction(f, params, results).Export(name)
	}
	one := []api.ValueType{i32}
	export("random_get", []api.ValueType{i32, i32}, one, func(_ context.Context, m api.Module, stack []uint64) {
		view, ok := m.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		if !ok {
			stack[0] = errnoFault
			return
		}
		_, _ = rand.Read(view) // never fails
		stack[0] = errnoSuccess
	})
	export("environ_sizes_get", []api.ValueType{i32, i32}, one, func(_ context.Context, m api.Module, stack []uint64) {
		ok := m.Memory().WriteUint32Le(uint32(stack[0]), 0) && m.Memory().WriteUint32Le(uint32(stack[1]), 0)
		stack[0] = errno(ok)
	})
	export("environ_get", []api.ValueType{i32, i32}, one, func(_ context.Context, _ api.Module, stack []uint64) {
		stack[0] = errnoSuccess
	})
	export("clock_time_get", []api.ValueType{i32, i64, i32}, one, func(_ context.Context, m api.Module, stack []uint64) {
		stack[0] = errno(m.Memory().WriteUint64Le(uint32(stack[2]), 0))
	})
	export("fd_write", []api.ValueType{i32, i32, i32, i32}, one, fdWrite)
	export("proc_exit", one, nil, func(ctx context.Context, m api.Module, stack []uint64) {
		code := uint32(stack[0])
		_ = m.CloseWithExitCode(ctx, code)
		panic(sys.NewExitError(code))
	})
	_, err := b.Instantiate(ctx)
	return err
}

func errno(ok bool) uint64 {
	if ok {
		return errnoSuccess
	}
	return errnoFault
}

// fdWrite keeps what is written to standard output and error.
func fdWrite(ctx context.Context, m api.Module, stack []uint64) {
	fd, vectors, count, written := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if fd != 1 && fd != 2 {
		stack[0] = errnoBadf
		return
	}
	out, _ := ctx.Value(saidKey{}).(*said)
	var total uint32
	for i := range min(count, 64) {
		ptr, ok1 := m.Memory().ReadUint32Le(vectors + 8*i)
		n, ok2 := m.Memory().ReadUint32Le(vectors + 8*i + 4)
		view, ok3 := m.Memory().Read(ptr, n)
		if !ok1 || !ok2 || !ok3 {
			stack[0] = errnoFault
			return
		}
		out.add(view)
		total += n
	}
	stack[0] = errno(m.Memory().WriteUint32Le(written, total))
}
