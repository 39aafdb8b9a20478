package wasmtool

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

const (
	// maxFiles bounds the paths that list_files gives.
	maxFiles = 10_000
	// maxPath bounds a path. Units: bytes.
	maxPath = 4 << 10
	// maxSaid bounds what is kept of a module's output. Units: bytes.
	maxSaid = 1 << 10
)

// Results of the system interface.
// Source: WASI snapshot preview 1, errno.
const (
	success  = 0
	badFile  = 8
	badPlace = 21
	noSystem = 52
)

const (
	wasi = "wasi_snapshot_preview1"
	// noFile is what read_file returns for a path that is no file.
	noFile = ^uint64(0)
)

// provide gives the module the functions that it imports.
func (s *Set) provide(ctx context.Context) error {
	byModule := map[string][]api.FunctionDefinition{}
	for _, f := range s.module.ImportedFunctions() {
		module, _, _ := f.Import()
		byModule[module] = append(byModule[module], f)
	}
	for module, imports := range byModule {
		b := s.runtime.NewHostModuleBuilder(module)
		done := map[string]bool{}
		for _, f := range imports {
			_, name, _ := f.Import()
			if done[name] {
				continue
			}
			done[name] = true
			var call api.GoModuleFunc
			signature := ""
			switch module {
			case "pooled":
				call, signature = pooled[name].call, pooled[name].signature
			case wasi:
				if call, signature = system[name].call, system[name].signature; call == nil {
					call, signature = unsupported(f), signatureOf(f)
				}
			}
			if call == nil {
				return fmt.Errorf("%w: it imports %s.%s, which does not exist", ErrModule, module, name)
			}
			if signatureOf(f) != signature {
				return fmt.Errorf("%w: it imports %s.%s with other parameters or results", ErrModule, module, name)
			}
			b = b.NewFunctionBuilder().WithGoModuleFunction(call, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("%w: %w", ErrModule, err)
		}
	}
	return nil
}

// signatureOf writes a function's type with i for i32, l for i64 and ? for others: "ii>l".
func signatureOf(f api.FunctionDefinition) string {
	letters := func(types []api.ValueType) string {
		var s strings.Builder
		for _, t := range types {
			switch t {
			case api.ValueTypeI32:
				s.WriteByte('i')
			case api.ValueTypeI64:
				s.WriteByte('l')
			default:
				s.WriteByte('?')
			}
		}
		return s.String()
	}
	return letters(f.ParamTypes()) + ">" + letters(f.ResultTypes())
}

// unsupported fails as a system does that has no such function, and no such file.
func unsupported(f api.FunctionDefinition) api.GoModuleFunc {
	code := uint64(noSystem)
	if _, name, _ := f.Import(); strings.HasPrefix(name, "fd_") {
		code = badFile
	}
	return func(_ context.Context, _ api.Module, stack []uint64) {
		if len(f.ResultTypes()) > 0 {
			stack[0] = code
		}
	}
}

// function is a host function and its type.
type function struct {
	signature string
	call      api.GoModuleFunc
}

// pooled are the functions of Pooled's own.
var pooled = map[string]function{
	"read_file": {"iiii>l", func(ctx context.Context, m api.Module, stack []uint64) {
		g := guestOf(ctx)
		name, ok := m.Memory().Read(uint32(stack[0]), min(uint32(stack[1]), maxPath+1))
		if !ok || g.w == nil || len(name) > maxPath {
			stack[0] = noFile
			return
		}
		data, err := g.w.ReadFile(string(name))
		if err != nil {
			stack[0] = noFile
			return
		}
		stack[0] = give(m, data, stack[2], stack[3])
	}},
	"list_files": {"ii>l", func(ctx context.Context, m api.Module, stack []uint64) {
		g := guestOf(ctx)
		var all strings.Builder
		if g.w != nil {
			list, _, err := g.w.Files(ctx, maxFiles)
			if err != nil && ctx.Err() == nil {
				panic(errors.New("the project cannot be listed"))
			}
			for _, e := range list {
				all.WriteString(e.Name)
				all.WriteByte('\n')
			}
		}
		stack[0] = give(m, []byte(all.String()), stack[0], stack[1])
	}},
}

// give writes data to a buffer of the guest if it fits, and returns its size.
func give(m api.Module, data []byte, at, size uint64) uint64 {
	if uint64(len(data)) <= uint64(uint32(size)) && !m.Memory().Write(uint32(at), data) {
		panic(errors.New("the buffer lies outside of its memory"))
	}
	return uint64(len(data))
}

// system are the functions of WASI that do something. What is not here fails.
var system = map[string]function{
	"args_sizes_get":    {"ii>i", none},
	"args_get":          {"ii>i", nothing},
	"environ_sizes_get": {"ii>i", none},
	"environ_get":       {"ii>i", nothing},
	"sched_yield":       {">i", nothing},
	"random_get": {"ii>i", func(ctx context.Context, m api.Module, stack []uint64) {
		view, ok := m.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		for len(view) > 0 {
			if err := ctx.Err(); err != nil {
				panic(err) // filling a large memory takes as long as some calls may
			}
			n := min(len(view), 1<<20)
			_, _ = rand.Read(view[:n]) // never fails
			view = view[n:]
		}
		stack[0] = errno(ok)
	}},
	"clock_time_get": {"ili>i", func(ctx context.Context, m api.Module, stack []uint64) {
		g := guestOf(ctx)
		g.ticks++
		stack[0] = errno(m.Memory().WriteUint64Le(uint32(stack[2]), g.ticks*1e6))
	}},
	"fd_write":    {"iiii>i", write},
	"poll_oneoff": {"iiii>i", poll},
	"proc_exit": {"i>", func(ctx context.Context, m api.Module, stack []uint64) {
		code := uint32(stack[0])
		_ = m.CloseWithExitCode(ctx, code)
		panic(sys.NewExitError(code))
	}},
}

func errno(ok bool) uint64 {
	if ok {
		return success
	}
	return badPlace
}

// nothing is there to be done.
func nothing(_ context.Context, _ api.Module, stack []uint64) { stack[0] = success }

// none answers that there are no arguments or variables, of no size.
func none(_ context.Context, m api.Module, stack []uint64) {
	stack[0] = errno(m.Memory().WriteUint32Le(uint32(stack[0]), 0) && m.Memory().WriteUint32Le(uint32(stack[1]), 0))
}

// write keeps what is written to standard output and error.
func write(ctx context.Context, m api.Module, stack []uint64) {
	fd, vectors, count, written := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if fd != 1 && fd != 2 {
		stack[0] = badFile
		return
	}
	g, total := guestOf(ctx), uint32(0)
	for i := range min(count, 1024) {
		at, ok1 := m.Memory().ReadUint32Le(vectors + 8*i)
		n, ok2 := m.Memory().ReadUint32Le(vectors + 8*i + 4)
		view, ok3 := m.Memory().Read(at, n)
		if !ok1 || !ok2 || !ok3 {
			stack[0] = badPlace
			return
		}
		g.said = append(g.said, view[:min(len(view), maxSaid-len(g.said))]...)
		total += n
	}
	stack[0] = errno(m.Memory().WriteUint32Le(written, total))
}

// poll says that the first thing that was waited for is there: time passes at once.
func poll(ctx context.Context, m api.Module, stack []uint64) {
	subscriptions, events, written := uint32(stack[0]), uint32(stack[1]), uint32(stack[3])
	guestOf(ctx).ticks++
	user, ok := m.Memory().ReadUint64Le(subscriptions)
	event := binary.LittleEndian.AppendUint64(nil, user)
	event = append(event, make([]byte, 24)...) // no error, of kind clock
	ok = ok && m.Memory().Write(events, event) && m.Memory().WriteUint32Le(written, 1)
	stack[0] = errno(ok)
}
