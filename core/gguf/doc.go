// Package gguf reads and writes GGUF model files: typed metadata and tensors in ggml's block formats.
//
// A file is, little-endian throughout:
//
//	"GGUF" | version u32 (2 or 3) | tensor count u64 | metadata count u64
//	metadata: key string | kind u32 | value             (a string is a u64 length and that many bytes)
//	tensors:  name string | dims u32 | dims × u64 | type u32 | offset u64
//	padding to general.alignment, then the tensor data; offsets count from its start and are aligned
//
// [Open] maps the file and every further part of a split model; nothing is read but the header, and every number in the
// header is checked against the size of the file before it is used. A bad file gives a [FormatError] that names the field
// and the byte offset; no input makes the reader panic or allocate more than a small multiple of the header's own size.
//
// Version 1 and big-endian files are refused by name. [Writer] produces version 3.
//
// Source: the GGUF specification, ggml/docs/gguf.md.
package gguf
