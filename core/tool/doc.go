// Package tool is the contract of tools: what a model may ask for, and how a set of tools is called.
//
// A [Set] is what one plugin provides: a few tools that belong together. It is opened for a project, and the [Session] is
// then called, one call at a time or several at once. A set runs in this process, in a process of its own
// (core/plugin/toolv1 is the contract on the wire) or as a WebAssembly module; for the caller there is no difference.
//
// Everything that a model writes and everything that a set answers is untrusted. [Checked] is what stands between: it
// holds arguments against the declared schema, so that a set only sees arguments that fit, and bounds results. A schema is
// read once, when a set is opened; who writes a grammar of it or mends arguments by it takes [Opened.Schema].
//
// A host knows no tool by its name. What it must know to treat a dropped-in editor as its own, the set says: [Spec.Does],
// [Spec.Roles] and [Info.Prompt] before a call, [Result.Health] after it.
//
// What a model should read is a [Result], also when it went wrong; an error means that the call itself broke down: its
// context ended, or the set failed ([ErrFault]). [Failed] makes a result of one.
package tool
