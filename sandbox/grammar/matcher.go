package grammar

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/pooled/pooled/core/grammar"
)

// Matcher implements grammar.Matcher.
type Matcher struct {
	engine *Engine
	guest  *instance // the guest that knows id; the engine may have another one by now
	id     uint64
	closed bool
}

// call runs a function of the guest on this matcher; then reads what it left behind, while the engine is locked.
func (m *Matcher) call(function string, then func(ctx context.Context, result int32) error, args ...uint64) (int32, error) {
	m.engine.mu.Lock()
	defer m.engine.mu.Unlock()
	if m.closed || m.engine.closed || m.guest.Broken() {
		return 0, grammar.ErrClosed
	}
	ctx, cancel := m.engine.limit(context.Background())
	defer cancel()
	result, err := m.guest.Call(ctx, function, append([]uint64{m.id}, args...)...)
	if err != nil {
		return 0, limits(err)
	}
	if int32(result) < 0 {
		reason, err := m.guest.Reason(ctx, maxReason)
		if err != nil {
			return 0, limits(err)
		}
		return 0, fmt.Errorf("%w: %s", grammar.ErrLimit, reason)
	}
	if then != nil {
		return int32(result), then(ctx, int32(result))
	}
	return int32(result), nil
}

// Mask implements grammar.Matcher.
func (m *Matcher) Mask(dst []uint32) error {
	n := words(m.engine.tok)
	if len(dst) < n {
		return fmt.Errorf("grammar: a mask of %d words is too short for %d tokens", len(dst), m.engine.tok.Size())
	}
	clear(dst)
	_, err := m.call("mask", func(_ context.Context, written int32) error {
		view, err := m.guest.View(m.guest.mask)
		if err != nil {
			return err
		}
		for i := range min(int(written), n) {
			dst[i] = binary.LittleEndian.Uint32(view[4*i:])
		}
		return nil
	}, uint64(m.guest.mask.Ptr), uint64(n))
	if rest := m.engine.tok.Size() % 32; rest != 0 {
		dst[n-1] &= 1<<rest - 1
	}
	return err
}

// Accept implements grammar.Matcher.
func (m *Matcher) Accept(id int32) error {
	if id < 0 || int(id) >= m.engine.tok.Size() {
		return fmt.Errorf("token %d: %w", id, grammar.ErrNotAllowed)
	}
	taken, err := m.call("consume", nil, uint64(uint32(id)))
	if err == nil && taken == 0 {
		return fmt.Errorf("token %d: %w", id, grammar.ErrNotAllowed)
	}
	return err
}

// FastForward implements grammar.Matcher.
func (m *Matcher) FastForward() ([]int32, error) {
	var out []int32
	_, err := m.call("ff_tokens", func(ctx context.Context, n int32) error {
		if n == 0 {
			return nil
		}
		text, err := m.guest.Result(ctx)
		if err != nil {
			return err
		}
		for i := range min(int(n), len(text)/4) {
			id := int32(binary.LittleEndian.Uint32([]byte(text[4*i : 4*i+4])))
			if id < 0 || int(id) >= m.engine.tok.Size() {
				return fmt.Errorf("token %d: %w", id, grammar.ErrNotAllowed)
			}
			out = append(out, id)
		}
		return nil
	})
	return out, err
}

// Accepting implements grammar.Matcher.
func (m *Matcher) Accepting() bool {
	yes, err := m.call("is_accepting", nil)
	return err == nil && yes == 1
}

// Stopped implements grammar.Matcher. A matcher whose engine has failed is stopped.
func (m *Matcher) Stopped() bool {
	yes, err := m.call("is_stopped", nil)
	return err != nil || yes == 1
}

// Close implements grammar.Matcher.
func (m *Matcher) Close() error {
	m.engine.mu.Lock()
	defer m.engine.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	if m.engine.closed || m.guest.Broken() {
		return nil
	}
	ctx, cancel := m.engine.limit(context.Background())
	defer cancel()
	_, err := m.guest.Call(ctx, "free_matcher", m.id)
	return err
}
