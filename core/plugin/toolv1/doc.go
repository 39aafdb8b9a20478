// Package toolv1 is the contract of tools on the wire, versions 1 and 2: the messages and the service of tool.proto, and a
// client and a server that turn them into a [tool.Set].
//
// Everything that arrives is untrusted: lengths are bounded while parts arrive, and what a set says about itself is
// checked.
package toolv1

//go:generate protoc -I ../../.. --go_out=../../.. --go_opt=paths=source_relative --go-grpc_out=../../.. --go-grpc_opt=paths=source_relative core/plugin/toolv1/tool.proto

// Versions of the contract that this package speaks: the newest and the one before it.
const (
	Version1 = 1
	Version2 = 2
)

// MaxMessage bounds a message in bytes, in both directions; part is how much of something long one message carries. The
// answer of Info alone may be larger: see MaxInfo.
const (
	MaxMessage = 512 << 10
	MaxInfo    = 2 << 20
	part       = 256 << 10
)
