package qjs

// Eval runs source text under a file name, which error positions carry.
//
// Errors: *Exception when it threw (also for a syntax error), ErrMemory when
// the text does not fit, *Trap.
// Owns: the caller frees the result.
func (v *VM) Eval(code, file string, flags uint32) (Handle, error) {
	c, f := v.write(code), v.write(file)
	if c == 0 || f == 0 {
		return 0, v.noMemory()
	}
	h := v.call("qjs_eval", uint64(c), uint64(len(code)), uint64(f), uint64(flags))
	v.free(c)
	v.free(f)
	return v.checked(h)
}

// Call calls the function f with undefined as its receiver.
//
// Errors: *Exception, ErrMemory, *Trap. Owns: the caller frees the result.
func (v *VM) Call(f Handle, args ...Handle) (Handle, error) {
	argv := v.call("wasm_malloc", uint64(4*len(args)+4))
	undef := v.call("qjs_get_undefined")
	if argv == 0 || undef == 0 {
		return 0, v.noMemory()
	}
	for i, a := range args {
		v.mem.WriteUint32Le(argv+uint32(4*i), uint32(a))
	}
	h := v.call("qjs_call", uint64(f), uint64(undef), uint64(len(args)), uint64(argv))
	v.free(argv)
	v.Free(Handle(undef))
	return v.checked(h)
}

// checked turns a result handle into a value or the pending exception.
func (v *VM) checked(h uint32) (Handle, error) {
	if v.dead != nil {
		return 0, v.dead
	}
	if h == 0 {
		return 0, ErrMemory
	}
	if v.call("qjs_is_exception", uint64(h)) == 0 {
		return Handle(h), v.dead
	}
	v.Free(Handle(h))
	return 0, v.exception()
}

func (v *VM) exception() error {
	x := v.call("qjs_get_exception")
	switch {
	case v.dead != nil:
		return v.dead
	case x == 0:
		return ErrMemory
	}
	return &Exception{Handle(x)}
}

func (v *VM) noMemory() error {
	if v.dead != nil {
		return v.dead
	}
	return ErrMemory
}

// String makes a string value. Errors: ErrMemory, *Trap.
func (v *VM) String(s string) (Handle, error) {
	h := v.newString(s)
	if h == 0 {
		return 0, v.noMemory()
	}
	return v.checked(uint32(h))
}

// Text returns a string value, and "" for any other: it never runs guest code.
// Errors: ErrLarge for more than MaxText.
func (v *VM) Text(h Handle) (string, error) {
	if v.call("qjs_is_string", uint64(h)) == 0 {
		return "", nil
	}
	c := v.lend(h)
	defer v.giveBack(c)
	if c.n > MaxText {
		return "", ErrLarge
	}
	return v.read(c.at, c.n), nil
}

// HostFunction makes a function that ends in Hooks.Call under the given name.
// Errors: ErrMemory, *Trap.
func (v *VM) HostFunction(name string) (Handle, error) {
	p := v.write(name)
	if p == 0 {
		return 0, v.noMemory()
	}
	h := v.call("qjs_new_host_function", uint64(p), uint64(len(name)), 0)
	v.free(p)
	return v.checked(h)
}

// Free releases a handle; zero is allowed.
func (v *VM) Free(h Handle) {
	if h != 0 {
		v.call("qjs_free_value", uint64(h))
	}
}

// Identity is a number that handles of the same object share, and no others while one of them is held; 0 for what is no object.
func (v *VM) Identity(h Handle) uint32 { return v.call("qjs_get_value_ptr", uint64(h)) }

// Uncatchable reports whether an exception is the one that Hooks.Interrupt raises.
func (v *VM) Uncatchable(h Handle) bool {
	return v.call("qjs_is_uncatchable_error", uint64(h)) != 0
}

// RunJobs runs promise jobs until none is pending.
// Errors: *Exception from a job that is not a promise reaction, ErrInterrupted, *Trap.
func (v *VM) RunJobs() error {
	for v.call("qjs_is_job_pending") != 0 {
		if v.hooks.Interrupt != nil && v.hooks.Interrupt() {
			return ErrInterrupted
		}
		if int32(v.call("qjs_execute_pending_job")) < 0 {
			return v.exception()
		}
	}
	return v.dead
}

// IsPromise reports whether h holds a promise.
func (v *VM) IsPromise(h Handle) bool { return v.call("qjs_is_promise", uint64(h)) != 0 }

// State returns the state of a promise.
func (v *VM) State(promise Handle) int { return int(v.call("qjs_promise_state", uint64(promise))) }

// Result returns the value or the reason of a settled promise.
// Errors: ErrMemory, *Trap. Owns: the caller frees it.
func (v *VM) Result(promise Handle) (Handle, error) {
	h := v.call("qjs_promise_result", uint64(promise))
	if h == 0 {
		return 0, v.noMemory()
	}
	return Handle(h), nil
}

// MarkHandled keeps the rejection of a promise from being reported.
func (v *VM) MarkHandled(promise Handle) { v.call("qjs_promise_mark_as_handled", uint64(promise)) }

// SetMemoryLimit changes what JavaScript may allocate; beyond Options.Memory
// there is only a little headroom.
func (v *VM) SetMemoryLimit(n uint32) { v.call("qjs_set_memory_limit", uint64(n)) }

// CollectGarbage frees unreachable cycles, for a smaller snapshot.
func (v *VM) CollectGarbage() { v.call("qjs_run_gc") }
