// Package wasmtool runs sets of tools that are WebAssembly modules: JSON in, JSON out, with no process of their own and
// nothing of the machine within reach.
//
// # The module
//
// A module exports its memory and three functions:
//
//	pooled_alloc(n i32) i32          room for n bytes, which Pooled fills before the next call
//	pooled_info() i64                what the set is
//	pooled_call(ptr i32, n i32) i64  calls a tool
//
// A result is the address of n bytes of JSON in the upper half and n in the lower half. Info is
//
//	{"name": "words", "contract": 2, "tools": [{"name": "count_words", "description": "…", "class": "read",
//	 "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
//	 "roles": {"path": "path", "brief": ["path"]}}]}
//
// where "does", "roles" (path, content, old, new, brief), "reports" and the set's "prompt", a list of lines, are [tool.Spec]'s
// and [tool.Info]'s; a module of contract 1 has none of them. A call is {"tool": "count_words", "arguments": {"path": "a.txt"}, "dry_run": false}, answered by
// {"text": "42", "is_error": false, "diff": "", "data": null, "health": null}, where only the text must be; a health is
// {"page": "index.html", "problems": [], "url": ""}. Arguments fit the schema.
//
// If it exports _initialize that is called first. It may import, from the module "pooled":
//
//	read_file(path i32, pathLen i32, to i32, toLen i32) i64   a file of the project
//	list_files(to i32, toLen i32) i64                         the paths of all files, each ended by a newline
//
// Both return the size of the whole, and write it when it fits into toLen bytes; read_file returns -1 for a path that is
// no file of the project. And it may import wasi_snapshot_preview1, as compilers like to: there are random bytes, a clock
// that advances a millisecond whenever it is asked, and output that is kept for error messages; everything else fails.
//
// # Limits
//
// Every call runs in a fresh instance, within [Options] of memory and time; one that exceeds them, or traps, is an error
// and leaves nothing behind.
package wasmtool
