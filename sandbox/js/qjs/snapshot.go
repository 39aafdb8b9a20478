package qjs

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Snapshot is a machine at rest: its linear memory and three registers. Handles
// of the machine it was taken from are valid in every machine restored from it.
//
// Owns: Memory; a snapshot is never changed after it was taken, so machines may be
// restored from it concurrently.
type Snapshot struct {
	// Memory is the linear memory; zeros at its end may be left out.
	Memory []byte
	// Runtime, Context and StackPointer are guest addresses.
	Runtime, Context, StackPointer uint32
}

// Snapshot copies the state of the machine, which must not be running code.
func (v *VM) Snapshot() (*Snapshot, error) {
	s := &Snapshot{
		Runtime:      v.call("qjs_get_runtime_ptr"),
		Context:      v.call("qjs_get_context_ptr"),
		StackPointer: uint32(v.mod.ExportedGlobal("__stack_pointer").Get()),
	}
	b, ok := v.mem.Read(0, v.mem.Size())
	if v.dead != nil || !ok {
		return nil, v.noMemory()
	}
	s.Memory = append(s.Memory, b...)
	return s, nil
}

// Restore starts a machine in the state of the snapshot, which must come from
// this program: a snapshot is as trusted as the WebAssembly itself.
//
// Errors: ErrMemory when the snapshot is larger than the limit allows.
func (e *Engine) Restore(ctx context.Context, s *Snapshot, o Options, h Hooks) (*VM, error) {
	v, err := e.instantiate(ctx, o, h)
	if err != nil {
		return nil, err
	}
	if have := v.mem.Size(); uint64(len(s.Memory)) > uint64(have) {
		if _, ok := v.mem.Grow((uint32(len(s.Memory)) - have + pageSize - 1) / pageSize); !ok {
			v.Close()
			return nil, fmt.Errorf("%w: a limit of %d bytes does not hold the %d bytes the machine starts with", ErrMemory, o.Memory, len(s.Memory))
		}
	}
	sp, ok := v.mod.ExportedGlobal("__stack_pointer").(api.MutableGlobal)
	if !ok || !v.mem.Write(0, s.Memory) {
		v.Close()
		return nil, fmt.Errorf("%w: snapshot does not fit", ErrModule)
	}
	sp.Set(uint64(s.StackPointer))
	v.call("qjs_set_runtime_and_context", uint64(s.Runtime), uint64(s.Context))
	return v.ready(o)
}
