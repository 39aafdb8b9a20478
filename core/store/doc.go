// Package store keeps the models of this machine: one folder of GGUF files, and the way files get into it.
//
// The folder holds nothing but models that passed every check:
//
//	NAME.gguf                      a model in one file
//	NAME-00001-of-00003.gguf …     a split model
//	.meta/NAME.json                where it came from, sizes, SHA-256
//	.pull/NAME/                    an unfinished pull: FILE.part and FILE.part.json, or whole parts of a split model
//	.lock/NAME                     held while NAME is pulled or removed
//
// A file NAME.gguf, in whatever case, that somebody drops into the folder is a model like any other. Elsewhere a model is told
// by its content. Names may be of any script; two that differ in case or in how letters are composed are one.
//
// A pull downloads into .pull, resumes what it finds there, checks size and SHA-256, opens the result as GGUF and only then
// renames it into the folder. Everything that a server says is untrusted: names, sizes, ranges and bodies are checked, and
// nothing is written outside the folder. Halves are joined only where the server says that both are of one file, by a strong tag,
// a date or the sum of the whole; what cannot be resumed is not left behind. The token goes to the hub's own scheme, host and
// port, and no server learns which address led to it.
package store
