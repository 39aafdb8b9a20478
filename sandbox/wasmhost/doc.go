// Package wasmhost runs small WebAssembly guests for the rest of Pooled.
//
// A guest is a module built by sandbox/guest: it takes buffers, answers through one result slot, and can reach nothing
// of the machine. It gets no file system, no network, no environment and a clock that stands still; random bytes are
// all it is given. The host bounds its memory when it is compiled and its time through the context of every call. A
// call that ends in a trap, at a limit or by its context leaves the instance unusable; the pool then starts a fresh
// one, so one bad input never touches the next.
//
// Compiled code is kept on disk between runs (see Cache). It is native code that will be executed, so the folder must
// be private.
package wasmhost
