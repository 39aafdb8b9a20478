package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/exec"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// synthetic gives every tensor of a plan the same random Q4_0 blocks, or float32 numbers where it is small.
type synthetic struct {
	plan *model.Plan
	q4   []byte
	f32  []byte
}

// quantised reports whether a tensor is a matrix, or those of experts.
func quantised(t model.Tensor) bool { return len(t.Shape) >= 2 && t.Shape[len(t.Shape)-1] >= 32 }

func newSynthetic(p *model.Plan) (*synthetic, error) {
	s := &synthetic{plan: p}
	most, small := int64(0), int64(0)
	for _, t := range p.Tensors {
		if quantised(t) {
			most = max(most, t.Elements())
		} else {
			small = max(small, t.Elements())
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	s.q4 = make([]byte, most/32*18)
	for i := range s.q4 {
		s.q4[i] = byte(rng.Uint32())
	}
	for i := 0; i < len(s.q4); i += 18 {
		h := quant.FloatToHalf(float32(0.002 * (0.5 + rng.Float64())))
		s.q4[i], s.q4[i+1] = byte(h), byte(h>>8)
	}
	v := make([]float32, small)
	for i := range v {
		v[i] = float32(-0.5 - 0.5*rng.Float64())
	}
	s.f32 = make([]byte, 4*small)
	return s, quant.Quantize(s.f32, gguf.F32, v)
}

// ID implements [engine.Weights].
func (s *synthetic) ID() (engine.ID, error) { return engine.ID{}, nil }

// Tensor implements [engine.Weights].
func (s *synthetic) Tensor(name string) (engine.Tensor, error) {
	i := slices.IndexFunc(s.plan.Tensors, func(t model.Tensor) bool { return t.Name == name })
	if i < 0 {
		return engine.Tensor{}, fmt.Errorf("no tensor %s", name)
	}
	t := s.plan.Tensors[i]
	if quantised(t) {
		return engine.Tensor{Type: gguf.Q4_0, Shape: t.Shape, Size: t.Elements() / 32 * 18}, nil
	}
	return engine.Tensor{Type: gguf.F32, Shape: t.Shape, Size: 4 * t.Elements()}, nil
}

// Bytes implements [engine.Weights]: tensors of a type are all the same.
func (s *synthetic) Bytes(_ context.Context, name string, offset, n int64) ([]byte, error) {
	t, err := s.Tensor(name)
	if err != nil {
		return nil, err
	}
	if offset < 0 || n < 0 || offset > t.Size || n > t.Size-offset {
		return nil, fmt.Errorf("tensor %s: %d bytes at %d are outside its %d", name, n, offset, t.Size)
	}
	if t.Type == gguf.Q4_0 {
		return s.q4[offset : offset+n], nil
	}
	return s.f32[offset : offset+n], nil
}

// Release implements [engine.Weights].
func (s *synthetic) Release(string) {}

// load returns what is measured: the synthetic model, or the file that was named.
func (b *bench) load(ctx context.Context) (*model.Plan, engine.Weights, error) {
	if b.file == "" {
		of, ok := shapes[b.shape]
		if !ok {
			return nil, nil, fmt.Errorf("no shape %q; there are %v", b.shape, slices.Sorted(maps.Keys(shapes)))
		}
		if b.layers > 0 {
			of.layers = b.layers
		}
		p, err := of.plan(b.context)
		if err != nil {
			return nil, nil, err
		}
		w, err := newSynthetic(p)
		return p, w, err
	}
	f, err := gguf.Open(b.file)
	if err != nil {
		return nil, nil, err
	}
	md := ggufmeta.Of(f)
	for _, family := range []model.Family{dense.Family{}, qwen35.Family{}} {
		if slices.Contains(family.Info().Architectures, md.Architecture) {
			p, err := family.Plan(ctx, md)
			return p, engine.FileWeights(f), err
		}
	}
	return nil, nil, fmt.Errorf("no family plans %q", md.Architecture)
}

func (b *bench) model() error {
	ctx := context.Background()
	p, w, err := b.load(ctx)
	if err != nil {
		return err
	}
	vocab, context := p.Vocab, min(b.context, p.Context)
	be, err := exec.New(ctx, b.adapter)
	if err != nil {
		return err
	}
	defer be.Close()
	begin := time.Now()
	s, err := be.Open(ctx, engine.Config{
		Plan: p, Weights: w, Range: model.LayerRange{End: len(p.Layers)}, Embed: true, Head: true, Context: context, Ubatch: 512,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	weights, state := s.Memory()
	b.row("model", "what", "columns", "depth", "ms", "tok/s", "GB/s of weights")
	load := time.Since(begin)
	b.row("model", "load", 0, 0, load.Seconds()*1e3, 0, float64(weights)/load.Seconds()/1e9)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	fmt.Printf("weights %.2f GB, state %.2f GB, Go heap %.2f GB\n", float64(weights)/1e9, float64(state)/1e9, float64(mem.Sys)/1e9)
	forward := func(pos, n int) (time.Duration, error) {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32((i*7919 + pos) % vocab)
		}
		begin := time.Now()
		_, err := s.Forward(ctx, engine.Batch{Pos: pos, Tokens: ids, Output: engine.Output{Top: 1}})
		return time.Since(begin), err
	}
	for _, depth := range []int{0, 1024, 8192} {
		if depth+512 > context {
			continue
		}
		for s.Len() < depth {
			if _, err := forward(s.Len(), min(512, depth-s.Len())); err != nil {
				return err
			}
		}
		if _, err := s.Forward(ctx, engine.Batch{Pos: depth, Keep: []int{depth}}); err != nil {
			return err
		}
		for _, n := range []int{1, 2, 4, 8, 16, 64, 256, 512} {
			var times []time.Duration
			for began := time.Now(); time.Since(began) < 2*warm || len(times) < 3; {
				pos := s.Len()
				if pos+n > depth+512 {
					pos = depth
				}
				d, err := forward(pos, n)
				if err != nil {
					return err
				}
				if time.Since(began) > warm {
					times = append(times, d)
				}
			}
			slices.Sort(times)
			d := times[len(times)/2]
			b.row("model", "forward", n, depth, d.Seconds()*1e3, float64(n)/d.Seconds(), float64(weights)/d.Seconds()/1e9)
			if _, err := s.Forward(ctx, engine.Batch{Pos: depth}); err != nil {
				return err
			}
		}
	}
	b.row("profile", "columns", "position", "operation", "µs each", "times", "ms in all")
	for _, c := range [][2]int{{1, 1000}, {16, 1000}, {512, 1000}} {
		if c[1]+c[0] > context {
			continue
		}
		if err := b.profile(s, c[0], c[1]); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) profile(s engine.Session, n, pos int) error {
	times, err := exec.Profile(s, n, pos, max(4, 256/n))
	if err != nil {
		return err
	}
	sum, count := map[string]time.Duration{}, map[string]int{}
	var names []string
	total := time.Duration(0)
	for _, t := range times[:2] {
		b.row("profile", n, pos, t.Name, t.Time.Seconds()*1e6, 1, t.Time.Seconds()*1e3)
	}
	for _, t := range times[2:] {
		total += t.Time
		if count[t.Name] == 0 {
			names = append(names, t.Name)
		}
		sum[t.Name] += t.Time
		count[t.Name]++
	}
	slices.SortFunc(names, func(x, y string) int { return int(sum[y] - sum[x]) })
	b.row("profile", n, pos, "all one by one", total.Seconds()*1e6, len(times)-2, total.Seconds()*1e3)
	for _, name := range names {
		b.row("profile", n, pos, name, sum[name].Seconds()*1e6/float64(count[name]), count[name], sum[name].Seconds()*1e3)
	}
	return nil
}
