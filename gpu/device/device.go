// Package device is the thin layer over WebGPU: adapters, buffers, pipelines and passes. It is the only importer of wgpu.
//
// Everything that can go wrong on a device is an error value: a shader that does not compile, memory that runs out, a
// device that is lost. A build without cgo has the same interface and no adapters ([ErrUnavailable]).
//
// Owns: a [Device] owns its buffers, pipelines and groups; each can be freed before, and none may be used after
// [Device.Close]. A Device is safe for concurrent use; a pass holds it until it is done.
package device

import "fmt"

// Kind says what sort of adapter it is.
type Kind uint8

// The kinds.
const (
	Discrete Kind = iota
	Integrated
	CPU
	Unknown
)

func (k Kind) String() string {
	return [...]string{"discrete GPU", "integrated GPU", "software", "unknown"}[min(k, Unknown)]
}

// Adapter describes a GPU, or what stands in for one.
type Adapter struct {
	// Name is the adapter's own name.
	Name string
	// API is "Vulkan", "Metal" or "DX12"; Driver says which driver serves it.
	API, Driver string
	Kind        Kind
	// Software marks an adapter that computes on the CPU: right for tests, useless for people.
	Software bool
	// Memory is the device memory in bytes, or 0 where the system does not say.
	Memory int64
	Limits Limits

	index int
}

// Index is the adapter's place in the list of [Adapters], which tells equal ones apart.
func (a Adapter) Index() int { return a.index }

// Limits are what a device allows.
type Limits struct {
	// Buffer and Binding are the greatest bytes of a buffer and of the part of one that a kernel sees.
	Buffer, Binding int64
	// Shared is the bytes of workgroup memory, Threads the threads of a workgroup, Groups the workgroups in one dimension.
	Shared, Threads, Groups int
}

// What is asked for at most. An adapter without a limit of its own reports the largest number there is, which in a request
// stands for "not said" and would get the default of 256 MiB.
const (
	mostBuffer  = 1 << 40
	mostBinding = 1<<32 - Align
)

// askFor is the limit to ask for where an adapter reports one: never more than most, in whole words.
func askFor(reported uint64, most int64) int64 { return int64(min(reported, uint64(most))) &^ 15 }

// Usage says what a buffer is for.
type Usage uint32

// The usages, with WebGPU's numbers.
const (
	MapRead  Usage = 0x1
	CopyFrom Usage = 0x4
	CopyTo   Usage = 0x8
	Uniform  Usage = 0x40
	Storage  Usage = 0x80
)

// Access says how a kernel sees a binding.
type Access uint8

// The ways, with wgpu-native's numbers.
const (
	UniformRead Access = iota + 1
	ReadWrite
	Read
)

// View is a part of a buffer, bound to a kernel. Offset must be a multiple of [Align].
type View struct {
	Buffer       *Buffer
	Offset, Size int64
}

// Align is what the offset of a [View] must be a multiple of.
const Align = 256

// Op is what a [Command] does.
type Op uint8

// The operations.
const (
	Dispatch Op = iota
	Copy
	Clear
)

// Command is one step of a pass.
type Command struct {
	Op Op
	// Pipeline, Group and Grid are those of a dispatch.
	Pipeline *Pipeline
	Group    *Group
	Grid     [3]uint32
	// From and To are the parts that a copy reads and writes; a clear writes zeros to To. Offsets and sizes are
	// multiples of 4.
	From, To View
}

// InvalidError is a use of the device that it refused: a shader that does not compile, a binding out of range.
type InvalidError struct {
	// Doing says what was asked for.
	Doing string
	// Message is the driver's own.
	Message string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("webgpu: %s: %s", e.Doing, e.Message) }
