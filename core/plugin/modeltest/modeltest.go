// Package modeltest is the conformance suite of model families: what every implementation of [model.Family] must do,
// in process or behind a plugin, whatever model it plans.
//
// A family is run on the metadata of files that it says it can plan, and then on broken forms of them: without a key,
// with a key of another type or size, without a tensor, with a tensor of another shape. Each must give an error or a
// plan that passes every check, and never a panic. Then come tensors and keys that the family may not know, and other numbers:
// each must be refused or change the plan, so that nothing that a file asks for is left out in silence.
//
//	for _, r := range modeltest.Run(ctx, family, files) {
//		t.Run(r.Name, func(t *testing.T) { if r.Err != nil { t.Error(r.Err) } })
//	}
package modeltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pooled/pooled/core/model"
)

// Result is the outcome of one requirement.
type Result struct {
	// Name says what is required, and of which file.
	Name string
	// Err is nil when it holds.
	Err error
}

// Run holds f against every requirement, on the metadata of files that f says it can plan; without files only those
// requirements are checked that need none.
func Run(ctx context.Context, f model.Family, files []File) []Result {
	results := []Result{
		{"info is complete and constant", checkInfo(f)},
		{"an architecture that is not its own is refused", checkForeign(ctx, f)},
		{"a file without keys is refused", checkEmpty(ctx, f)},
	}
	for _, file := range files {
		s := &suite{ctx: ctx, family: f}
		for _, c := range []struct {
			name string
			run  func() error
		}{
			{"is planned", s.plans},
			{"gives the same plan every time, at once, too", s.repeats},
			{"is left unchanged", s.keeps},
			{"without a key, or with a bad one, is planned or refused", s.keys},
			{"without a tensor, or with a bad one, is refused", s.tensors},
			{"with a tensor that the family does not know is refused", s.strangers},
			{"with a key that asks for other arithmetic is refused or planned in another way", s.arithmetic},
			{"with another fraction under any of its keys is refused or planned in another way", s.fractions},
		} {
			s.md = clone(file.Metadata)
			results = append(results, Result{file.Name + " " + c.name, c.run()})
		}
	}
	return results
}

// Failed returns the first error among results, or nil.
func Failed(results []Result) error {
	for _, r := range results {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Name, r.Err)
		}
	}
	return nil
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

func checkInfo(f model.Family) error {
	info := f.Info()
	switch {
	case !validName.MatchString(info.Name):
		return fmt.Errorf("the name %q has other than lower-case letters, digits and dashes", info.Name)
	case len(info.Architectures) == 0:
		return errors.New("it lists no architecture")
	case info.Contract < 1 || info.Contract > model.ContractVersion:
		return fmt.Errorf("it was written for contract %d; this Pooled has %d", info.Contract, model.ContractVersion)
	}
	seen := map[string]bool{}
	for _, a := range info.Architectures {
		if a == "" || seen[a] {
			return fmt.Errorf("the architecture %q is empty or listed twice", a)
		}
		seen[a] = true
	}
	if again := f.Info(); !reflect.DeepEqual(info, again) {
		return fmt.Errorf("it changed from %v to %v", info, again)
	}
	return nil
}

func checkForeign(ctx context.Context, f model.Family) error {
	if p, err := plan(ctx, f, &model.Metadata{Architecture: "no-such-architecture"}); err == nil {
		return fmt.Errorf("got a plan of %d layers, want an error", len(p.Layers))
	} else if errors.Is(err, model.ErrFault) {
		return err
	}
	return nil
}

func checkEmpty(ctx context.Context, f model.Family) error {
	for _, a := range f.Info().Architectures {
		if p, err := plan(ctx, f, &model.Metadata{Architecture: a}); err == nil {
			return fmt.Errorf("architecture %s: got a plan of %d layers, want an error", a, len(p.Layers))
		} else if errors.Is(err, model.ErrFault) {
			return fmt.Errorf("architecture %s: %w", a, err)
		}
	}
	return nil
}

// suite holds a family against one file.
type suite struct {
	ctx    context.Context
	family model.Family
	md     *model.Metadata
}

func (s *suite) plans() error {
	p, err := plan(s.ctx, s.family, s.md)
	if err != nil {
		return err
	}
	if p.Family != s.family.Info().Name || p.Architecture != s.md.Architecture {
		return fmt.Errorf("the plan says family %q and architecture %q, want %q and %q",
			p.Family, p.Architecture, s.family.Info().Name, s.md.Architecture)
	}
	return accept(p, s.md)
}

func (s *suite) repeats() error {
	want, err := plan(s.ctx, s.family, s.md)
	if err != nil {
		return err
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		md := clone(s.md)
		wg.Go(func() {
			got, err := plan(s.ctx, s.family, md)
			if err == nil && !reflect.DeepEqual(got, want) {
				err = errors.New("two calls gave different plans")
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *suite) keeps() error {
	before := clone(s.md)
	if _, err := plan(s.ctx, s.family, s.md); err != nil {
		return err
	}
	if !reflect.DeepEqual(before, s.md) {
		return errors.New("the family changed the metadata")
	}
	return nil
}

func (s *suite) keys() error {
	for _, key := range slices.Sorted(maps.Keys(s.md.Values)) {
		if !strings.HasPrefix(key, s.md.Architecture+".") {
			continue
		}
		md := clone(s.md)
		delete(md.Values, key)
		if err := s.survives(md); err != nil {
			return fmt.Errorf("without %s: %w", key, err)
		}
		for _, v := range []any{int64(-1), int64(0), int64(math.MaxInt64), math.NaN(), math.Inf(1), -1e300, "x", true, []int64{}, []bool{}, []bool{true}} {
			md.Values[key] = v
			if err := s.survives(md); err != nil {
				return fmt.Errorf("with %s = %v: %w", key, v, err)
			}
		}
	}
	return nil
}

// survives requires an error, or a plan that fits the file.
func (s *suite) survives(md *model.Metadata) error {
	p, err := plan(s.ctx, s.family, md)
	if errors.Is(err, model.ErrFault) || s.ctx.Err() != nil {
		return err
	}
	if err != nil {
		return nil
	}
	return accept(p, md)
}

func (s *suite) tensors() error {
	p, err := plan(s.ctx, s.family, s.md)
	if err != nil {
		return err
	}
	// The first and the last few stand for all: layers repeat.
	ts := p.Tensors
	if len(ts) > 48 {
		ts = append(slices.Clone(ts[:24]), ts[len(ts)-24:]...)
	}
	for _, t := range ts {
		md := clone(s.md)
		delete(md.Tensors, t.Name)
		if err := s.survives(md); err != nil {
			return fmt.Errorf("without %s: %w", t.Name, err)
		}
		for _, shape := range [][]int{nil, {0}, {-1, 7}, {math.MaxInt, math.MaxInt}, append([]int{3}, t.Shape...)} {
			md.Tensors[t.Name] = model.TensorInfo{Type: "F32", Shape: shape}
			if err := s.survives(md); err != nil {
				return fmt.Errorf("with %s of shape %v: %w", t.Name, shape, err)
			}
		}
	}
	return nil
}

// strangers puts tensors beside those of the plan that a model of another architecture would have there.
func (s *suite) strangers() error {
	p, err := plan(s.ctx, s.family, s.md)
	if err != nil {
		return err
	}
	names := []string{"no_such_tensor.weight"}
	for _, t := range p.Tensors {
		if base, ok := strings.CutSuffix(t.Name, ".weight"); ok && len(names) < 24 {
			names = append(names, base+".bias")
		}
	}
	for _, name := range names {
		if _, ok := s.md.Tensors[name]; ok {
			continue
		}
		md := clone(s.md)
		size := 1
		if w, ok := md.Tensors[strings.TrimSuffix(name, ".bias")+".weight"]; ok && len(w.Shape) > 0 {
			size = w.Shape[0]
		}
		md.Tensors[name] = model.TensorInfo{Type: "F32", Shape: []int{size}}
		p, err := plan(s.ctx, s.family, md)
		switch {
		case errors.Is(err, model.ErrFault), s.ctx.Err() != nil:
			return err
		case err == nil && !slices.ContainsFunc(p.Tensors, func(t model.Tensor) bool { return t.Name == name }):
			return fmt.Errorf("with the tensor %s it is planned as if that were not there, and answers would be wrong: refuse what the plan does not use", name)
		}
	}
	return nil
}

// arithmetic sets keys that ask for something else to be computed.
func (s *suite) arithmetic() error {
	before, err := plan(s.ctx, s.family, s.md)
	if err != nil {
		return err
	}
	for _, a := range model.Arithmetic {
		md := clone(s.md)
		key := md.Key(a.Key)
		if md.Values[key] != nil {
			continue
		}
		md.Values[key] = a.Value
		p, err := plan(s.ctx, s.family, md)
		switch {
		case errors.Is(err, model.ErrFault), s.ctx.Err() != nil:
			return err
		case err == nil && reflect.DeepEqual(p, before):
			return fmt.Errorf("%s = %v changes nothing, and answers would be wrong: refuse the keys that the family does not compute", key, a.Value)
		}
	}
	return nil
}

// fractions changes the numbers of the file that are no whole ones: whatever they are, they are part of the arithmetic.
func (s *suite) fractions() error {
	before, err := plan(s.ctx, s.family, clone(s.md))
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(s.md.Values)) {
		x, ok := s.md.Values[key].(float64)
		if !ok || x == 0 || !strings.HasPrefix(key, s.md.Architecture+".") {
			continue
		}
		md := clone(s.md)
		md.Values[key] = x * 1.5
		p, err := plan(s.ctx, s.family, md)
		switch {
		case errors.Is(err, model.ErrFault), s.ctx.Err() != nil:
			return err
		case err == nil && reflect.DeepEqual(p, before):
			return fmt.Errorf("%s = %v gives the same plan as %v: read the key, or refuse it", key, x*1.5, x)
		}
	}
	return nil
}

// accept runs the checks that Pooled runs before it uses a plan.
func accept(p *model.Plan, md *model.Metadata) error {
	if _, err := p.Check(); err != nil {
		return err
	}
	return p.CheckFile(md)
}

// plan calls the family. A panic, like every fault that a plugin's host finds, becomes an error that wraps
// [model.ErrFault].
func plan(ctx context.Context, f model.Family, md *model.Metadata) (p *model.Plan, err error) {
	fault := func(err error) error { return &model.FaultError{Family: f.Info().Name, Err: err} }
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fault(fmt.Errorf("it panicked: %v", v))
		}
	}()
	p, err = f.Plan(ctx, md)
	if err == nil && p == nil {
		err = fault(errors.New("it returned neither a plan nor an error"))
	}
	return p, err
}

// clone copies md as deep as a family could change it.
func clone(md *model.Metadata) *model.Metadata {
	c := &model.Metadata{Architecture: md.Architecture, Values: maps.Clone(md.Values), Tensors: maps.Clone(md.Tensors)}
	for key, v := range c.Values {
		switch x := v.(type) {
		case []int64:
			c.Values[key] = slices.Clone(x)
		case []float64:
			c.Values[key] = slices.Clone(x)
		case []bool:
			c.Values[key] = slices.Clone(x)
		case []string:
			c.Values[key] = slices.Clone(x)
		}
	}
	for name, t := range c.Tensors {
		t.Shape = slices.Clone(t.Shape)
		c.Tensors[name] = t
	}
	return c
}
