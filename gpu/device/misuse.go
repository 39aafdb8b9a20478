//go:build cgo && !js && (linux || darwin || windows)

package device

// #include "shim.h"
import "C"

// misuse makes wgpu-native panic, for the test that this is an error.
func (d *Device) misuse(b *Buffer) error {
	return d.do("misusing", func() { C.pg_misuse(d.d, b.b) })
}
