package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/exec"
	"github.com/pooled/pooled/gpu/kernel"
	"github.com/pooled/pooled/gpu/optest"
)

// check runs the table of operations.
func (b *bench) check() error {
	be, err := exec.New(context.Background(), b.adapter)
	if err != nil {
		return err
	}
	defer be.Close()
	b.row("check", "case", "result")
	failed := 0
	cases := optest.Cases()
	for _, c := range cases {
		if errs := c.Check(context.Background(), be); len(errs) > 0 {
			failed++
			b.row("check", c.Name, fmt.Sprint(errs))
		}
	}
	b.row("check", "failed", fmt.Sprintf("%d of %d", failed, len(cases)))
	return nil
}

// lab is a device with what kernels are tried on.
type lab struct {
	*device.Device
	step device.View
}

func (b *bench) lab() (*lab, error) {
	d, err := device.Open(b.adapter)
	if err != nil {
		return nil, err
	}
	l := &lab{Device: d}
	l.step, err = l.buffer(256)
	return l, err
}

func (l *lab) buffer(n int64) (device.View, error) {
	buf, err := l.NewBuffer(n, device.Storage|device.Uniform|device.CopyTo|device.CopyFrom)
	return device.View{Buffer: buf, Size: n}, err
}

// noise fills a buffer with bits that are small numbers in every format in use.
func (l *lab) noise(v device.View) error {
	rng := rand.New(rand.NewPCG(3, 3))
	b := make([]byte, min(v.Size, 4<<20)&^3)
	for i := range b {
		b[i] = byte(rng.Uint32()) & 0x2f
	}
	for at := int64(0); at < v.Size; at += int64(len(b)) {
		if err := l.Write(v.Buffer, at, b[:min(int64(len(b)), v.Size-at)&^3]); err != nil {
			return err
		}
	}
	return nil
}

// warm is how long commands run before they are measured: an idle GPU takes a while to raise its clock, up to six times.
const warm = 300 * time.Millisecond

// time returns the best time of commands on a GPU that is warm.
func (l *lab) time(cmds []device.Command) (time.Duration, error) {
	best := time.Hour
	for began, i := time.Now(), 0; i < 5; {
		begin := time.Now()
		if err := l.Run(cmds, nil, nil, true); err != nil {
			return 0, err
		}
		if end := time.Now(); end.Sub(began) > warm {
			best = min(best, end.Sub(begin))
			i++
		}
	}
	return best, nil
}

func (b *bench) copy() error {
	l, err := b.lab()
	if err != nil {
		return err
	}
	defer l.Close()
	const n = 512 << 20
	size := min(int64(n), b.adapter.Limits.Buffer)
	x, err := l.buffer(size)
	if err != nil {
		return err
	}
	y, err := l.buffer(size)
	if err != nil {
		return err
	}
	if err := l.setStep(1, 0); err != nil {
		return err
	}
	b.row("copy", "what", "GB/s read and written")
	cmds := make([]device.Command, 20)
	for i := range cmds {
		cmds[i] = device.Command{Op: device.Copy, From: x, To: y}
	}
	d, err := l.time(cmds)
	if err != nil {
		return err
	}
	gbs := func(d time.Duration) float64 { return 2 * float64(size) / d.Seconds() / 1e9 }
	command := gbs(d / time.Duration(len(cmds)))
	b.row("copy", "command", command)
	k, _ := kernel.Map(model.SiLU, int(size/4), 0)
	if d, err = l.try(k, kernel.Elements(int(size/4)), 20, [][]device.View{{l.step, x, y}}); err != nil {
		return err
	}
	b.row("copy", "kernel", gbs(d))
	b.copyGBs = max(command, gbs(d))
	begin := time.Now()
	if err := l.noise(x); err != nil {
		return err
	}
	if err := l.Run(nil, nil, nil, true); err != nil {
		return err
	}
	b.row("copy", "upload GB/s", float64(size)/time.Since(begin).Seconds()/1e9)
	return nil
}

// matrices are copies of one matrix, together larger than any cache.
func (l *lab) matrices(lay kernel.Layout, rows, blocks, copies int) ([][]device.View, int64, error) {
	var all [][]device.View
	sum := int64(0)
	for range copies {
		var planes []device.View
		sum = 0
		for _, n := range lay.Planes(rows, blocks) {
			v, err := l.buffer(n)
			if err != nil {
				return nil, 0, err
			}
			if err := l.noise(v); err != nil {
				return nil, 0, err
			}
			planes = append(planes, v)
			sum += n
		}
		all = append(all, planes)
	}
	return all, sum, nil
}

func (l *lab) setStep(n, pos int) error {
	return l.Write(l.step.Buffer, 0, kernel.Step{Columns: n, Pos: pos}.Append(nil))
}

// try binds a kernel to every set of views in turn and returns the time of one dispatch.
func (l *lab) try(k kernel.Kernel, grid [3]uint32, repeat int, sets [][]device.View) (time.Duration, error) {
	p, err := l.NewPipeline(k.Name, k.Code, k.Bindings)
	if err != nil {
		return 0, err
	}
	defer p.Free()
	var cmds []device.Command
	var groups []*device.Group
	for _, views := range sets {
		g, err := l.NewGroup(p, views)
		if err != nil {
			return 0, err
		}
		defer g.Free()
		groups = append(groups, g)
	}
	for i := range repeat {
		cmds = append(cmds, device.Command{Op: device.Dispatch, Pipeline: p, Group: groups[i%len(groups)], Grid: grid})
	}
	d, err := l.time(cmds)
	return d / time.Duration(repeat), err
}

func (b *bench) gemv() error {
	l, err := b.lab()
	if err != nil {
		return err
	}
	defer l.Close()
	b.row("gemv", "type", "in", "out", "columns", "µs", "GB/s of weights", "% of copy")
	for _, c := range []struct {
		t       gguf.Type
		in, out int
		columns []int
	}{
		{gguf.Q4_0, 5120, 17408, []int{1, 2, 4, 8}},
		{gguf.Q4_0, 17408, 5120, []int{1, 2, 4, 8}},
		{gguf.Q4_0, 5120, 10240, []int{1}},
		{gguf.Q4_0, 5120, 1024, []int{1}},
		{gguf.Q4_0, 5120, 248320, []int{1}},
		{gguf.Q4_1, 5120, 17408, []int{1}},
		{gguf.Q5_0, 5120, 17408, []int{1}},
		{gguf.Q5_1, 5120, 17408, []int{1}},
		{gguf.Q8_0, 5120, 17408, []int{1, 4, 8}},
		{gguf.Q4_K, 5120, 17408, []int{1, 4, 8}},
		{gguf.Q5_K, 5120, 17408, []int{1}},
		{gguf.Q6_K, 5120, 17408, []int{1, 4, 8}},
		{gguf.F16, 5120, 17408, []int{1, 4, 8}},
		{gguf.BF16, 5120, 17408, []int{1}},
		{gguf.F32, 5120, 17408, []int{1}},
	} {
		if err := b.gemvOf(l, c.t, c.in, c.out, c.columns); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) gemvOf(l *lab, t gguf.Type, in, out int, columns []int) error {
	lay, err := kernel.LayoutOf(t)
	if err != nil {
		return err
	}
	blocks := in / 32
	one := int64(0)
	for _, n := range lay.Planes(out, blocks) {
		one += n
	}
	copies := int(max(2, (1<<30)/one))
	mats, size, err := l.matrices(lay, out, blocks, copies)
	if err != nil {
		return err
	}
	defer func() {
		for _, m := range mats {
			for _, v := range m {
				v.Buffer.Free()
			}
		}
	}()
	x, err := l.buffer(int64(in) * 4 * 16)
	if err != nil {
		return err
	}
	defer x.Buffer.Free()
	y, err := l.buffer(int64(out) * 4 * 16)
	if err != nil {
		return err
	}
	defer y.Buffer.Free()
	lin := kernel.Linear{Layout: lay, Blocks: blocks, Rows: out, Width: out, Lanes: kernel.Lanes(blocks)}
	var sets [][]device.View
	for _, m := range mats {
		sets = append(sets, append([]device.View{l.step, x, y}, m...))
	}
	for _, n := range columns {
		if err := l.setStep(n, 0); err != nil {
			return err
		}
		d, err := l.try(lin.Matvec(n), lin.MatvecGrid(n, n), max(64, 4*copies), sets)
		if err != nil {
			return err
		}
		gbs := float64(size) / d.Seconds() / 1e9
		b.row("gemv", t, in, out, n, d.Seconds()*1e6, gbs, 100*gbs/max(b.copyGBs, 1))
	}
	return nil
}

func (b *bench) gemm() error {
	l, err := b.lab()
	if err != nil {
		return err
	}
	defer l.Close()
	b.row("gemm", "type", "in", "out", "columns", "kernel", "µs", "TFLOP/s")
	for _, t := range []gguf.Type{gguf.Q4_0, gguf.Q4_K, gguf.Q6_K, gguf.F16} {
		lay, err := kernel.LayoutOf(t)
		if err != nil {
			return err
		}
		for _, s := range [][2]int{{5120, 17408}, {17408, 5120}} {
			in, out := s[0], s[1]
			mats, _, err := l.matrices(lay, out, in/32, 1)
			if err != nil {
				return err
			}
			x, err := l.buffer(int64(in) * 4 * 512)
			if err != nil {
				return err
			}
			y, err := l.buffer(int64(out) * 4 * 512)
			if err != nil {
				return err
			}
			for _, n := range []int{16, 32, 64, 128, 256, 512} {
				if err := l.setStep(n, 0); err != nil {
					return err
				}
				lin := kernel.Linear{Layout: lay, Blocks: in / 32, Rows: out, Width: out, Lanes: kernel.Lanes(in / 32)}
				views := [][]device.View{append([]device.View{l.step, x, y}, mats[0]...)}
				report := func(name string, k kernel.Kernel, grid [3]uint32) error {
					d, err := l.try(k, grid, 10, views)
					if err == nil {
						b.row("gemm", t, in, out, n, name, d.Seconds()*1e6, 2*float64(in)*float64(out)*float64(n)/d.Seconds()/1e12)
					}
					return err
				}
				if err := report("matmul", lin.Matmul(), lin.MatmulGrid(n)); err != nil {
					return err
				}
				if n <= 64 && t == gguf.Q4_0 {
					if err := report("matvec", lin.Matvec(8), lin.MatvecGrid(n, 8)); err != nil {
						return err
					}
				}
			}
			for _, v := range append(mats[0], x, y) {
				v.Buffer.Free()
			}
		}
	}
	return nil
}

func (b *bench) attention() error {
	l, err := b.lab()
	if err != nil {
		return err
	}
	defer l.Close()
	b.row("attention", "columns", "context", "split", "rows", "µs", "cache GB/s", "TFLOP/s")
	a := kernel.Attention{Heads: 24, KVHeads: 4, Key: 256, Value: 256, Scale: 1.0 / 16}
	const most, columns = 131072 + 512, 256
	var views []device.View
	for _, n := range []int64{
		columns * 24 * 256 * 4, most * kernel.KVRow(4, 256), most * kernel.KVRow(4, 256), columns * 24 * 256 * 4,
		a.PartBytes(8, a.Segments(0, most)),
	} {
		v, err := l.buffer(n)
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	for _, n := range []int{1, 4, 8, 16, 64, 256} {
		for _, ctx := range []int{512, 4096, 32768, 131072} {
			fit, _ := a.Fit(n, b.adapter.Limits.Shared)
			if err := l.setStep(n, ctx); err != nil {
				return err
			}
			for _, split := range []bool{true, false} {
				if split && n > 8 || n > 16 && ctx > 32768 {
					continue
				}
				y := views[3]
				if split {
					y = views[4]
				}
				d, err := l.try(fit.Kernel(split), fit.Grid(ctx, n, split), 4, [][]device.View{{l.step, views[0], views[1], views[2], y}})
				if err != nil {
					return err
				}
				cache := float64(ctx) * float64(2*kernel.KVRow(4, 256))
				b.row("attention", n, ctx, split, fit.Rows, d.Seconds()*1e6, cache/d.Seconds()/1e9,
					4*float64(n)*float64(ctx)*24*256/d.Seconds()/1e12)
			}
		}
	}
	return nil
}

// small measures what a dispatch costs that has hardly anything to do but wait for the one before.
func (b *bench) small() error {
	l, err := b.lab()
	if err != nil {
		return err
	}
	defer l.Close()
	x, err := l.buffer(5120 * 4)
	if err != nil {
		return err
	}
	y, err := l.buffer(5120 * 4)
	if err != nil {
		return err
	}
	if err := l.setStep(1, 0); err != nil {
		return err
	}
	b.row("small", "what", "µs")
	k, _ := kernel.Map(model.SiLU, 5120, 0)
	d, err := l.try(k, kernel.Elements(5120), 1000, [][]device.View{{l.step, x, y}, {l.step, y, x}})
	if err != nil {
		return err
	}
	b.row("small", "dependent dispatch", d.Seconds()*1e6)
	read, err := l.NewBuffer(16, device.MapRead|device.CopyTo)
	if err != nil {
		return err
	}
	out := make([]byte, 16)
	best := time.Hour
	for range 200 {
		begin := time.Now()
		err := l.Run([]device.Command{{Op: device.Copy, From: x, To: device.View{Buffer: read, Size: 16}}}, read, out, true)
		if err != nil {
			return err
		}
		best = min(best, time.Since(begin))
	}
	b.row("small", "submit and read back", best.Seconds()*1e6)
	return nil
}
