// Package qjs runs QuickJS-ng, compiled to WebAssembly, inside wazero.
//
// It is the low layer of the JavaScript sandbox: engines, machines, handles,
// snapshots. It knows nothing of consoles, timers or pages; packages js and
// page build those on top with a prelude.
//
// # What the guest can reach
//
// quickjs.wasm imports six env.host_* functions and six WASI functions. This
// package implements all twelve itself: there is no file system, no
// environment, no argument list; the clock and the random bytes are whatever
// the caller's [Hooks] say.
//
// # How a guest is stopped
//
// Three layers, from polite to final:
//
//   - QuickJS polls Hooks.Interrupt every few thousand bytecodes. A true
//     answer raises an error that the guest cannot catch.
//   - A long built-in (new Array(4294967295).join("")) never polls. So the
//     module is rewritten before it is compiled: every loop counts down, bulk
//     memory instructions pay by their length, and at zero the guest calls
//     Hooks.Tick, which can end it. See meter.go. This costs far less than wazero's
//     WithCloseOnContextDone and, unlike a flag set by another goroutine, also
//     gives the Go scheduler a safepoint every few milliseconds.
//   - Linear memory is reserved at the cap and never moves; growth beyond it is refused.
//
// # Handles
//
// A [Handle] is the address of a boxed JSValue in guest memory. Handles are
// owned by the caller; Free releases one. They die with the machine, so code
// that runs one program and closes the machine need not free them.
//
// Owns: an Engine is safe for concurrent use; a VM belongs to one goroutine.
//
// Source: the ABI is that of npm quickjs-wasi 3.7.0 (dist/index.js).
package qjs
