package engine

// The names of the backends; see [Device].
const (
	CPU    = "cpu"
	WebGPU = "webgpu"
)
