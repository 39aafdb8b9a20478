package device

import "errors"

// ErrUnavailable is returned by a build that has no WebGPU.
var ErrUnavailable = errors.New("no WebGPU in this build")
