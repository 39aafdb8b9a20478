//go:build !cgo || js || !(linux || darwin || windows)

package device

// Device is a GPU opened for computing.
type Device struct{}

// Buffer is memory of a device.
type Buffer struct{}

// Pipeline is a compiled kernel.
type Pipeline struct{}

// Group is the buffers bound to a kernel.
type Group struct{}

// Adapters returns [ErrUnavailable].
func Adapters() ([]Adapter, error) { return nil, ErrUnavailable }

// Open returns [ErrUnavailable].
func Open(Adapter) (*Device, error) { return nil, ErrUnavailable }

// Adapter describes the device.
func (d *Device) Adapter() Adapter { return Adapter{} }

// NewBuffer returns [ErrUnavailable].
func (d *Device) NewBuffer(int64, Usage) (*Buffer, error) { return nil, ErrUnavailable }

// Write returns [ErrUnavailable].
func (d *Device) Write(*Buffer, int64, []byte) error { return ErrUnavailable }

// NewPipeline returns [ErrUnavailable].
func (d *Device) NewPipeline(_, _ string, _ []Access) (*Pipeline, error) { return nil, ErrUnavailable }

// NewGroup returns [ErrUnavailable].
func (d *Device) NewGroup(*Pipeline, []View) (*Group, error) { return nil, ErrUnavailable }

// Run returns [ErrUnavailable].
func (d *Device) Run([]Command, *Buffer, []byte, bool) error { return ErrUnavailable }

// RunAhead returns [ErrUnavailable].
func (d *Device) RunAhead([]Command, *Buffer, []byte, []Command) error { return ErrUnavailable }

// RecordedAhead returns 0.
func (d *Device) RecordedAhead() int { return 0 }

// Submissions returns 0.
func (d *Device) Submissions() int { return 0 }

// Close does nothing.
func (d *Device) Close() error { return nil }

// Size returns the bytes of the buffer.
func (b *Buffer) Size() int64 { return 0 }

// Free does nothing.
func (b *Buffer) Free() {}

// Free does nothing.
func (p *Pipeline) Free() {}

// Free does nothing.
func (g *Group) Free() {}
