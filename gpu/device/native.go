//go:build cgo && !js && (linux || darwin || windows)

package device

/*
#cgo CFLAGS: -O2 -Wall -fexceptions
#cgo linux LDFLAGS: -ldl -lm
#include "shim.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	_ "github.com/cogentcore/webgpu/wgpu" // links the library that the shim calls

	"github.com/pooled/pooled/core/engine"
)

var (
	listing sync.Mutex
	listed  []Adapter
	// idle are closed devices by adapter, kept for the next [Open]. wgpu-native 0.19 numbers devices and queues apart and
	// takes a submission for one of a foreign device when the numbers differ, which they do once a device has outlived its
	// queue. Releasing neither keeps them equal.
	idle = map[int][]*C.pg_device{}
)

// Adapters lists the adapters of Vulkan, Metal and DX12; never of OpenGL. An empty list is no error.
func Adapters() ([]Adapter, error) {
	listing.Lock()
	defer listing.Unlock()
	if listed != nil {
		return append([]Adapter(nil), listed...), nil
	}
	var raw [32]C.pg_adapter
	n := min(int(C.pg_adapters(&raw[0], C.size_t(len(raw)))), len(raw))
	listed = make([]Adapter, 0, n)
	for i := range n {
		listed = append(listed, describe(&raw[i], i))
	}
	return append([]Adapter(nil), listed...), nil
}

func describe(raw *C.pg_adapter, index int) Adapter {
	a := Adapter{
		Name: C.GoString(&raw.name[0]), Driver: C.GoString(&raw.driver[0]), Kind: Kind(min(raw._type, C.uint32_t(Unknown))),
		API: map[C.uint32_t]string{4: "DX12", 5: "Metal", 6: "Vulkan"}[raw.backend],
		Limits: Limits{
			Buffer: askFor(uint64(raw.max_buffer), mostBuffer), Binding: askFor(uint64(raw.max_binding), mostBinding),
			Shared: int(raw.shared_bytes), Threads: int(raw.invocations), Groups: int(raw.groups),
		},
		index: index,
	}
	a.Software = a.Kind == CPU
	for _, s := range []string{"llvmpipe", "lavapipe", "swiftshader", "basic render"} {
		if strings.Contains(strings.ToLower(a.Name+" "+a.Driver), s) {
			a.Software, a.Kind = true, CPU
		}
	}
	a.Memory = memory(a)
	return a
}

// Device is a GPU opened for computing.
type Device struct {
	mu      sync.Mutex
	d       *C.pg_device
	adapter Adapter
	pending int // bytes written since the queue was last known to be empty
	submits int
	hits    int            // submissions of what was recorded ahead
	ahead   []C.pg_command // what is recorded, or nothing
	next    []C.pg_command
	cmds    []C.pg_command
	live    map[freer]struct{}
	closed  bool
}

// freer is what a device owns.
type freer interface{ free() }

// Buffer is memory of a device.
type Buffer struct {
	dev  *Device
	b    C.WGPUBuffer
	size int64
}

// Pipeline is a compiled kernel.
type Pipeline struct {
	dev      *Device
	p        C.pg_pipeline
	label    string
	bindings int
}

// Group is the buffers bound to a kernel.
type Group struct {
	dev *Device
	g   C.WGPUBindGroup
}

// Open opens an adapter with its own limits.
//
// Errors: [ErrUnavailable], or why the driver refused.
func Open(a Adapter) (*Device, error) {
	if _, err := Adapters(); err != nil {
		return nil, err
	}
	listing.Lock()
	defer listing.Unlock()
	if n := len(idle[a.index]); n > 0 {
		d := idle[a.index][n-1]
		idle[a.index] = idle[a.index][:n-1]
		return &Device{d: d, adapter: a, live: map[freer]struct{}{}}, nil
	}
	var msg [512]C.char
	var raw C.pg_adapter
	want := listed[a.index].Limits
	d := C.pg_open(C.size_t(a.index), C.uint64_t(want.Buffer), C.uint64_t(want.Binding), &raw, &msg[0], C.size_t(len(msg)))
	if d == nil {
		return nil, fmt.Errorf("webgpu: opening %s: %s", a.Name, C.GoString(&msg[0]))
	}
	return &Device{d: d, adapter: describe(&raw, a.index), live: map[freer]struct{}{}}, nil
}

// Adapter describes the device; its limits are those that were granted.
func (d *Device) Adapter() Adapter { return d.adapter }

// do runs f under the lock and turns what the device complains of into an error.
func (d *Device) do(doing string, f func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("webgpu: %s: %w", doing, engine.ErrClosed)
	}
	f()
	code, msg := d.d.code, ""
	if code == C.PG_OK {
		return nil
	}
	msg = C.GoString(&d.d.message[0])
	d.d.code = C.PG_OK
	switch {
	case code == C.PG_LOST:
		return fmt.Errorf("webgpu: %s: %w (%s)", doing, engine.ErrDeviceLost, msg)
	case code == C.PG_MEMORY || strings.Contains(msg, "out of memory") || strings.Contains(msg, "Not enough memory"):
		return fmt.Errorf("webgpu: %s: %w (%s)", doing, engine.ErrOutOfMemory, msg)
	}
	return &InvalidError{Doing: doing, Message: msg}
}

// NewBuffer allocates size bytes, rounded up to a multiple of 16, set to zero.
//
// Errors: [engine.ErrOutOfMemory], [engine.ErrDeviceLost].
func (d *Device) NewBuffer(size int64, u Usage) (*Buffer, error) {
	size = (max(size, 1) + 15) &^ 15
	doing := fmt.Sprintf("allocating %d bytes", size)
	if size > d.adapter.Limits.Buffer {
		return nil, fmt.Errorf("webgpu: %s: %w: a buffer has at most %d", doing, engine.ErrOutOfMemory, d.adapter.Limits.Buffer)
	}
	b := &Buffer{dev: d, size: size}
	err := d.do(doing, func() {
		if b.b = C.pg_buffer(d.d, C.uint64_t(size), C.uint32_t(u)); b.b != nil {
			d.live[b] = struct{}{}
		}
	})
	if err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// Size returns the bytes of the buffer.
func (b *Buffer) Size() int64 { return b.size }

// Free gives the memory back; the buffer must not be in a pass that is running.
func (b *Buffer) Free() {
	if b != nil {
		_ = b.dev.do("freeing a buffer", b.free)
	}
}

func (b *Buffer) free() {
	if b.b != nil {
		b.dev.forget()
		C.pg_buffer_free(b.dev.d, b.b)
		b.b = nil
		delete(b.dev.live, b)
	}
}

// writesInFlight bounds the staging memory that uploads take inside the driver.
const writesInFlight = 64 << 20

// Write copies data to b at off; both off and the length are multiples of 4. Passes that run later see it.
//
// Errors: [engine.ErrOutOfMemory], [engine.ErrDeviceLost].
func (d *Device) Write(b *Buffer, off int64, data []byte) error {
	for len(data) > 0 {
		part := data[:min(len(data), writesInFlight)]
		err := d.do("uploading", func() {
			C.pg_write(d.d, b.b, C.uint64_t(off), unsafe.Pointer(&part[0]), C.size_t(len(part)))
			if d.pending += len(part); d.pending >= writesInFlight {
				d.ahead = d.ahead[:0]
				C.pg_run(d.d, nil, 0, nil, 0, nil, 1)
				d.pending = 0
			}
		})
		if err != nil {
			return err
		}
		off, data = off+int64(len(part)), data[len(part):]
	}
	return nil
}

// NewPipeline compiles a WGSL kernel whose entry point is main and whose bindings are numbered from 0 in group 0.
//
// Errors: [*InvalidError] with the compiler's message, [engine.ErrDeviceLost].
func (d *Device) NewPipeline(label, code string, bindings []Access) (*Pipeline, error) {
	if len(bindings) > 32 {
		return nil, &InvalidError{Doing: "compiling " + label, Message: "more than 32 bindings"}
	}
	cl, cc := C.CString(label), C.CString(code)
	defer C.free(unsafe.Pointer(cl))
	defer C.free(unsafe.Pointer(cc))
	types := make([]C.uint32_t, len(bindings)+1)
	for i, b := range bindings {
		types[i] = C.uint32_t(b)
	}
	p := &Pipeline{dev: d, label: label, bindings: len(bindings)}
	err := d.do("compiling "+label, func() {
		C.pg_pipeline_new(d.d, cl, cc, &types[0], C.size_t(len(bindings)), &p.p)
		d.live[p] = struct{}{}
	})
	if err != nil {
		p.Free()
		return nil, err
	}
	return p, nil
}

// Free gives the pipeline back.
func (p *Pipeline) Free() {
	if p != nil {
		_ = p.dev.do("freeing a pipeline", p.free)
	}
}

func (p *Pipeline) free() {
	p.dev.forget()
	C.pg_pipeline_free(p.dev.d, p.p)
	p.p = C.pg_pipeline{}
	delete(p.dev.live, p)
}

// NewGroup binds views to the bindings of p, in order.
//
// Errors: [*InvalidError], [engine.ErrDeviceLost].
func (d *Device) NewGroup(p *Pipeline, views []View) (*Group, error) {
	doing := "binding " + p.label
	if len(views) != p.bindings {
		return nil, &InvalidError{Doing: doing, Message: fmt.Sprintf("%d buffers for %d bindings", len(views), p.bindings)}
	}
	raw := make([]C.pg_view, len(views)+1)
	for i, v := range views {
		if v.Buffer == nil || v.Offset < 0 || v.Size < 1 || v.Size > v.Buffer.size-v.Offset || v.Offset%Align != 0 {
			return nil, &InvalidError{Doing: doing, Message: fmt.Sprintf("binding %d: bytes [%d, %d+%d) are not in the buffer", i, v.Offset, v.Offset, v.Size)}
		}
		raw[i] = C.pg_view{buffer: v.Buffer.b, offset: C.uint64_t(v.Offset), size: C.uint64_t(v.Size)}
	}
	g := &Group{dev: d}
	err := d.do(doing, func() {
		if g.g = C.pg_group(d.d, p.p.layout, &raw[0], C.size_t(len(views))); g.g != nil {
			d.live[g] = struct{}{}
		}
	})
	if err != nil {
		g.Free()
		return nil, err
	}
	return g, nil
}

// Free gives the group back.
func (g *Group) Free() {
	if g != nil {
		_ = g.dev.do("freeing a group", g.free)
	}
}

func (g *Group) free() {
	if g.g != nil {
		g.dev.forget()
		C.pg_group_free(g.dev.d, g.g)
		g.g = nil
		delete(g.dev.live, g)
	}
}

// Submissions returns how often [Device.Run] has submitted.
func (d *Device) Submissions() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.submits
}

// Run submits commands in order, at once, and, with a buffer to read, waits and copies its first len(out) bytes to out. Without
// one it returns once submitted, or waits for the end when wait is set.
//
// Errors: [*InvalidError], [engine.ErrDeviceLost], [engine.ErrOutOfMemory].
func (d *Device) Run(commands []Command, read *Buffer, out []byte, wait bool) error {
	if read != nil && int64(len(out)) > read.size {
		return &InvalidError{Doing: "running", Message: "more to read than the buffer holds"}
	}
	return d.do("running", func() {
		d.cmds = raw(d.cmds, commands)
		var from C.WGPUBuffer
		var to unsafe.Pointer
		if read != nil && len(out) > 0 {
			from, to = read.b, unsafe.Pointer(&out[0])
		} else {
			out = nil
		}
		d.ahead = d.ahead[:0]
		d.submits++
		C.pg_run(d.d, unsafe.SliceData(d.cmds), C.size_t(len(d.cmds)), from, C.size_t(len(out)), to, C.int(bit(wait)))
		if wait || to != nil {
			d.pending = 0
		}
	})
}

// RunAhead is [Device.Run] with a buffer to read, for passes that follow each other: while the device works it records
// next, and a following RunAhead of just these commands only has to submit.
//
// Errors: as [Device.Run].
func (d *Device) RunAhead(commands []Command, read *Buffer, out []byte, next []Command) error {
	if read == nil || len(out) == 0 || int64(len(out)) > read.size {
		return &InvalidError{Doing: "running", Message: "nothing to read, or more than the buffer holds"}
	}
	return d.do("running", func() {
		d.cmds, d.next = raw(d.cmds, commands), raw(d.next, next)
		ready := len(d.ahead) > 0 && slices.Equal(d.ahead, d.cmds)
		if ready {
			d.hits++
		}
		d.submits++
		C.pg_step(d.d, unsafe.SliceData(d.cmds), C.size_t(len(d.cmds)), C.int(bit(ready)), read.b, C.size_t(len(out)),
			unsafe.Pointer(&out[0]), unsafe.SliceData(d.next), C.size_t(len(d.next)))
		d.ahead, d.next = d.next, d.ahead
		d.pending = 0
	})
}

// RecordedAhead returns how many submissions had been recorded ahead.
func (d *Device) RecordedAhead() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hits
}

// forget drops what was recorded ahead, since something it may use is about to be freed.
func (d *Device) forget() {
	d.ahead = d.ahead[:0]
	C.pg_forget(d.d)
}

func raw(to []C.pg_command, commands []Command) []C.pg_command {
	to = to[:0]
	for i := range commands {
		to = append(to, commands[i].raw())
	}
	return to
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *Command) raw() C.pg_command {
	switch c.Op {
	case Copy:
		return C.pg_command{
			kind: C.PG_COPY, a: unsafe.Pointer(c.From.Buffer.b), b: unsafe.Pointer(c.To.Buffer.b),
			x: C.uint64_t(c.From.Offset), y: C.uint64_t(c.To.Offset), z: C.uint64_t(c.To.Size),
		}
	case Clear:
		return C.pg_command{kind: C.PG_CLEAR, a: unsafe.Pointer(c.To.Buffer.b), x: C.uint64_t(c.To.Offset), z: C.uint64_t(c.To.Size)}
	}
	return C.pg_command{
		kind: C.PG_DISPATCH, a: unsafe.Pointer(c.Pipeline.p.pipeline), b: unsafe.Pointer(c.Group.g),
		x: C.uint64_t(c.Grid[0]), y: C.uint64_t(c.Grid[1]), z: C.uint64_t(c.Grid[2]),
	}
}

// Close waits for what is running and frees everything the device owns.
func (d *Device) Close() error {
	err := d.do("closing", func() { C.pg_run(d.d, nil, 0, nil, 0, nil, 1) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for f := range d.live {
		f.free()
	}
	if d.d.lost != 0 { // what the driver left behind is not touched again
		return nil
	}
	C.pg_run(d.d, nil, 0, nil, 0, nil, 1) // lets the driver see that the memory is free
	listing.Lock()
	defer listing.Unlock()
	if d.d.lost == 0 {
		d.d.code = C.PG_OK
		idle[d.adapter.index] = append(idle[d.adapter.index], d.d)
	}
	return err
}
