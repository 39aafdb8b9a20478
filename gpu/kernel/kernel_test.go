//go:build cgo && !js && (linux || darwin || windows)

package kernel

import (
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
)

// all returns a kernel of every kind, over every weight format.
func all(t *testing.T) []Kernel {
	t.Helper()
	var ks []Kernel
	for typ := range layouts {
		l, err := LayoutOf(typ)
		if err != nil {
			t.Fatal(err)
		}
		lin := Linear{Layout: l, Blocks: 16, Rows: 70, Width: 70, Lanes: 16}
		full := lin
		full.Bias, full.Residual = true, true
		ks = append(ks, lin.Matvec(1), full.Matvec(8), lin.Matmul(), full.Matmul(), lin.Embed(500, 1.5), lin.Glu(1), lin.Glu(8))
		ex := Experts{Layout: l, Blocks: 16, Rows: 70, First: 3, Count: 5, All: 9, Used: 2, Shared: true, Lanes: 16}
		half := ex
		half.Rows, half.Shared = 64, false
		ks = append(ks, ex.Matvec(), half.Glu(), ex.Matmul())
	}
	for kind := range maps {
		k, _ := Map(kind, 100, 0.5)
		ks = append(ks, k)
	}
	att := Attention{Heads: 6, KVHeads: 2, Key: 33, Value: 31, Window: 40, Scale: 0.1}
	one, ok := att.Fit(1, 16<<10)
	if !ok {
		t.Fatal("small heads do not fit")
	}
	many, _ := att.Fit(100, 48<<10)
	return append(ks, one.Kernel(true), one.Kernel(false), many.Kernel(true), many.Kernel(false), one.Merge(), KVAppend(2, 33),
		Norm{Size: 100, Groups: 2, Weight: true, Eps: 1e-6}.Kernel(), Norm{Size: 10, Groups: 2, Gain: 0.5}.Kernel(),
		Norm{Size: 100, Groups: 2, Weight: true, Add: true}.Kernel(), Slice(2, 8, 1, 4, 8), Rope(2, 8, 6, true), Rope(2, 8, 6, false),
		ShortConv(70, 4, false), ShortConv(70, 4, true), GluOf(64), ExpertGroups(9, 2), Route(9, 2, true, 1.5), Route(300, 8, false, 1), Combine(2, 70), GateRows(70), Concat(3, 5),
		Norm{Size: 16, Groups: 2, Weight: true, Gate: true}.Kernel(), Norm{Size: 16, Groups: 2, Weight: true, Turn: 8}.Kernel(), Delta{KeyHeads: 1, Heads: 2, Key: 33, Value: 40}.Kernel(), Top(5000, true), Top(320, false),
		LogSumExp(5000, true), LogSumExp(2, false))
}

// TestCompile compiles every kernel, in the smallest limits of WebGPU.
func TestCompile(t *testing.T) {
	as, err := device.Adapters()
	if err != nil {
		t.Fatal(err)
	}
	if len(as) == 0 {
		t.Skip("SKIPPED: no WebGPU adapter; install mesa-vulkan-drivers to run this test")
	}
	d, err := device.Open(as[0])
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, k := range all(t) {
		p, err := d.NewPipeline(k.Name, k.Code, k.Bindings)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		p.Free()
	}
	if _, ok := Map(model.Linear, 1, 1); ok {
		t.Error("Linear is a map")
	}
	if _, err := LayoutOf(gguf.I32); err == nil {
		t.Error("weights of type I32 have a layout")
	}
}
