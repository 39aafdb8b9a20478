package js

import (
	"embed"
	"fmt"

	"github.com/pooled/pooled/sandbox/js/qjs"
)

//go:embed prelude/*.js
var preludeFiles embed.FS

// preludeOrder is the order of evaluation: each file is a function that
// receives the private host object, and control's result is the host's handle.
var preludeOrder = []string{
	"core", "encoding", "url", "clone", "random", "timers", "inspect", "console", "intl", "control",
}

// bootPrelude evaluates the prelude in an empty machine and returns the host
// object and the control function.
func bootPrelude(vm *qjs.VM) (host, control qjs.Handle, err error) {
	call, err := vm.HostFunction("host")
	if err != nil {
		return 0, 0, err
	}
	make, err := vm.Eval("(call) => ({ call })", "pooled:boot.js", qjs.EvalScript)
	if err != nil {
		return 0, 0, err
	}
	if host, err = vm.Call(make, call); err != nil {
		return 0, 0, err
	}
	vm.Free(call)
	vm.Free(make)
	for _, name := range preludeOrder {
		source, err := preludeFiles.ReadFile("prelude/" + name + ".js")
		if err != nil {
			return 0, 0, err
		}
		result, err := applyPrelude(vm, host, name+".js", string(source))
		if err != nil {
			return 0, 0, fmt.Errorf("prelude %s: %w", name, err)
		}
		if name == "control" {
			control = result
		} else {
			vm.Free(result)
		}
	}
	return host, control, nil
}

// applyPrelude evaluates a file that is a function and calls it with the host object.
func applyPrelude(vm *qjs.VM, host qjs.Handle, name, source string) (qjs.Handle, error) {
	f, err := vm.Eval(source, "pooled:"+name, qjs.EvalScript)
	if err != nil {
		return 0, err
	}
	defer vm.Free(f)
	return vm.Call(f, host)
}
