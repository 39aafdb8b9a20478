// Package guest embeds the WebAssembly modules written in Rust: the engine of chat templates, and llguidance for token masks.
//
// Their sources are the two crates beside this file; ./build rebuilds and checks the modules. Building Pooled needs no
// Rust. The licences of everything linked into the modules are in NOTICE.
package guest

import _ "embed"

// Template renders chat templates. Its functions are documented in template/src/lib.rs.
//
//go:embed template.wasm
var Template []byte

// Grammar computes token masks. Its functions are documented in grammar/src/lib.rs.
//
//go:embed grammar.wasm
var Grammar []byte
