// Package plugin finds, approves, starts and supervises the programs that extend Pooled. The author's side is
// core/plugin/serve; what both agree on is core/plugin/protocol. docs/plugins.md is the page for authors.
//
// # What a plugin is
//
// A plugin is a model family or a set of tools: a program that speaks gRPC through hashicorp/go-plugin;
// core/plugin/modelv1/model.proto and core/plugin/toolv1/tool.proto say how. What is built in is this same program started
// again ("pooled plugin serve models/dense"), so that there is one file to install and one way to run a plugin. A further
// one is dropped into the plugin folder:
//
//	plugins/gemma3/plugin.json     {"name": "gemma3", "kind": "models", "contract": 1, "binary": "gemma3"}
//	plugins/gemma3/gemma3
//	plugins/starling               or just a program, without a manifest
//	plugins/words.wasm             tools as a WebAssembly module, which runs in a sandbox without a process: [WasmLoader]
//	plugins/approved.json          what the user approved: [Catalog.Approve]
//
// Kinds of plugins are a table: what is common (folder, manifest, approval, handshake, supervision) is written once, and
// a further kind is one entry of kinds with its wire form beside modelv1 and toolv1.
//
// # Trust
//
// Nothing dropped in runs before the user approved it. Approval records the SHA-256 of the program and what the program
// says about itself; the sum is checked before every start. This guards against a file that changes unnoticed, not
// against a process of the same user, which could as well change Pooled itself.
//
// A plugin gets none of this process's environment, and its answers are untrusted: messages are bounded, conversion checks every number, and
// [model.Checked] checks every plan against the file.
//
// Built-in tools work on what a model wrote, so their processes get as few rights as the system allows: see rights.go for
// what that is and where it is nothing. A dropped-in program runs with the rights of the user who approved it. [Rights] says
// for every set what it can do.
//
// # Life
//
// Every session of tools has a process of its own, from its first call to its end, so that projects are kept apart; it is
// started again when it failed. For families:
//
// A child starts when a family is first asked for a plan and stops after [Options.Linger] without work. Whatever goes
// wrong (a wrong version or sum, a crash, a hang, garbage, a plan that lies) ends in one [Error], with the process group
// killed. A plugin that fails [Options.Restarts] times within [Options.Window] is not started again until the window
// has passed. When Pooled dies, its children end: they see their standard input close, and on Linux and Windows the
// kernel kills them.
package plugin
