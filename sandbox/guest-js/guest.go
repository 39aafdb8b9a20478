// Package guestjs holds the third-party code that runs inside the JavaScript
// sandbox: QuickJS-ng as WebAssembly, and happy-dom bundled for it. NOTICE.md has the
// licences; the script build makes both files again from their npm packages.
package guestjs

import _ "embed"

// QuickJS is quickjs.wasm of npm quickjs-wasi 3.7.0.
//
//go:embed quickjs.wasm
var QuickJS []byte

// HappyDOM is happy-dom 21.0.4 as one JavaScript function of the prelude's host object.
//
//go:embed happy-dom.js
var HappyDOM string
