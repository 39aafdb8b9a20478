//go:build cgo && !js && (linux || darwin || windows)

package device

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pooled/pooled/core/engine"
)

// open opens the first adapter, or skips loudly where the machine has none.
func open(t *testing.T) *Device {
	t.Helper()
	as, err := Adapters()
	if err != nil {
		t.Fatal(err)
	}
	if len(as) == 0 {
		t.Skip("SKIPPED: no WebGPU adapter; install mesa-vulkan-drivers to run this test")
	}
	d, err := Open(as[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

const addOne = `
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&x)) { x[id.x] += 1u; }
}`

func TestRun(t *testing.T) {
	d := open(t)
	a := d.Adapter()
	t.Logf("%s, %s, %s, %v, software %v, %+v", a.Name, a.API, a.Driver, a.Kind, a.Software, a.Limits)
	p := must(d.NewPipeline("add one", addOne, []Access{ReadWrite}))
	buf := must(d.NewBuffer(1024, Storage|CopyFrom|CopyTo))
	read := must(d.NewBuffer(1024, MapRead|CopyTo))
	view := View{Buffer: buf, Size: 1024}
	g := must(d.NewGroup(p, []View{view}))
	in := make([]byte, 1024)
	for i := range 256 {
		binary.LittleEndian.PutUint32(in[4*i:], uint32(i*i))
	}
	if err := d.Write(buf, 0, in); err != nil {
		t.Fatal(err)
	}
	step := Command{Op: Dispatch, Pipeline: p, Group: g, Grid: [3]uint32{4, 1, 1}}
	out := make([]byte, 1024)
	const times = 1000 // several pieces
	cmds := append(slices.Repeat([]Command{step}, times), Command{Op: Copy, From: view, To: View{Buffer: read, Size: 1024}})
	err := d.Run(cmds, read, out, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 256 {
		if got, want := binary.LittleEndian.Uint32(out[4*i:]), uint32(i*i+times); got != want {
			t.Fatalf("word %d is %d, want %d", i, got, want)
		}
	}
	err = d.Run([]Command{{Op: Clear, To: view}, {Op: Copy, From: view, To: View{Buffer: read, Size: 1024}}}, read, out, true)
	if err != nil || !bytes.Equal(out, make([]byte, 1024)) {
		t.Fatalf("clearing: %v, %v", err, out[:8])
	}
	g.Free()
	p.Free()
	buf.Free()
	read.Free()
}

// TestMapWithCollector maps while the collector runs, which wgpu's own MapAsync does not survive.
func TestMapWithCollector(t *testing.T) {
	d := open(t)
	buf := must(d.NewBuffer(64, Storage|CopyFrom|CopyTo))
	read := must(d.NewBuffer(64, MapRead|CopyTo))
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			runtime.GC()
		}
	}()
	out, in := make([]byte, 64), make([]byte, 64)
	for i := range 300 {
		in[0] = byte(i)
		err := d.Write(buf, 0, in)
		if err == nil {
			err = d.Run([]Command{{Op: Copy, From: View{Buffer: buf}, To: View{Buffer: read, Size: 64}}}, read, out, true)
		}
		if err != nil || out[0] != byte(i) {
			t.Fatalf("run %d: %v, got %d", i, err, out[0])
		}
	}
	stop.Store(true)
	<-done
}

func TestErrorsAreValues(t *testing.T) {
	d := open(t)
	var invalid *InvalidError
	_, err := d.NewPipeline("broken", "fn main( {", []Access{ReadWrite})
	if !errors.As(err, &invalid) || invalid.Message == "" {
		t.Errorf("a broken shader: %v, want an InvalidError with a message", err)
	}
	_, err = d.NewPipeline("mismatch", addOne, []Access{UniformRead})
	if !errors.As(err, &invalid) {
		t.Errorf("a wrong layout: %v, want an InvalidError", err)
	}
	p := must(d.NewPipeline("add one", addOne, []Access{ReadWrite}))
	buf := must(d.NewBuffer(1024, Storage|CopyTo))
	for name, v := range map[string]View{
		"past the end": {Buffer: buf, Offset: 512, Size: 1024}, "unaligned": {Buffer: buf, Offset: 8, Size: 8},
		"empty": {Buffer: buf}, "negative": {Buffer: buf, Offset: -256, Size: 4}, "none": {Size: 4},
	} {
		if _, err := d.NewGroup(p, []View{v}); !errors.As(err, &invalid) {
			t.Errorf("a view that is %s: %v, want an InvalidError", name, err)
		}
	}
	if _, err := d.NewBuffer(1<<50, Storage); !errors.Is(err, engine.ErrOutOfMemory) {
		t.Errorf("a buffer of 2^50 bytes: %v, want out of memory", err)
	}
	if err := d.Write(buf, 1022, make([]byte, 8)); err == nil {
		t.Error("writing past the end: no error")
	}
	// The device goes on after all of it.
	read := must(d.NewBuffer(1024, MapRead|CopyTo))
	if err := d.Run(nil, read, make([]byte, 16), true); err != nil {
		t.Error(err)
	}
}

func TestPanicOfTheLibraryIsAnError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux can hook the unwinder")
	}
	d := open(t)
	other := open(t)
	buf := must(d.NewBuffer(64, MapRead|CopyTo))
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread's count of panics is off afterwards: let it end
		done <- d.misuse(buf)
	}()
	if err := <-done; !errors.Is(err, engine.ErrDeviceLost) {
		t.Errorf("a panic of wgpu-native: %v, want a lost device", err)
	}
	if _, err := d.NewBuffer(64, Storage); !errors.Is(err, engine.ErrDeviceLost) {
		t.Errorf("afterwards: %v, want a lost device", err)
	}
	if _, err := other.NewBuffer(64, Storage); err != nil {
		t.Errorf("another device: %v, want none of it", err)
	}
}

func TestClosed(t *testing.T) {
	d := open(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewBuffer(64, Storage); !errors.Is(err, engine.ErrClosed) || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a buffer of a closed device: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
