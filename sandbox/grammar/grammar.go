// Package grammar computes token masks in a WebAssembly sandbox: it implements core/grammar's Engine with the guest of
// sandbox/guest (llguidance).
//
// One guest holds one vocabulary and every matcher for it. Grammars may come from anywhere: their size and the work of a step
// are bounded by the guest, its memory and time by the host. A guest that ends at a limit is given up with its matchers, and
// the next grammar starts a fresh one.
package grammar

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/sandbox/guest"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

const (
	// maxMemory bounds a guest's memory, in bytes; a vocabulary of 150,000 tokens takes about 90 MB.
	maxMemory = 768 << 20
	// maxForced bounds a text that the guest has encoded, which no clock of its own covers. Units: bytes.
	maxForced = 256 << 10
	// maxReason bounds what a refusal says. Units: bytes.
	maxReason = 2000
	// defaultTimeout bounds one call by the wall clock; a large schema takes tens of milliseconds.
	defaultTimeout = 10 * time.Second
)

// Options of New; the zero value is usable.
type Options struct {
	// Cache keeps compiled code between runs; nil keeps it in memory.
	Cache *wasmhost.Cache
	// Timeout bounds one call; 0 means ten seconds.
	Timeout time.Duration
}

// Host makes engines. It compiles its guest when the first engine is opened, twice: the checks that let a call be stopped make
// reading a vocabulary five times slower, and that work is bounded by its size. So a guest without checks reads it, and one
// with checks takes over its memory for the grammars, which may be anything.
//
// Owns: Close releases the guest; the engines must be closed before. Safe for concurrent use.
type Host struct {
	options Options

	mu      sync.Mutex
	checked *wasmhost.Program
	quick   *wasmhost.Program
}

// New returns a host.
func New(o Options) *Host {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Host{options: o}
}

// compiled returns the guest with checks and the one without.
func (h *Host) compiled(ctx context.Context) (checked, quick *wasmhost.Program, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	config := wasmhost.Config{
		Name: "grammar", Wasm: guest.Grammar, MaxMemory: maxMemory, Cache: h.options.Cache,
		Host: []wasmhost.HostFunc{{Module: "pooled", Name: "encode", Params: 4, Call: encode}},
	}
	if h.checked == nil {
		if h.checked, err = wasmhost.Compile(ctx, config); err != nil {
			return nil, nil, err
		}
	}
	if h.quick == nil {
		config.Uninterruptible = true
		if h.quick, err = wasmhost.Compile(ctx, config); err != nil {
			return nil, nil, err
		}
	}
	return h.checked, h.quick, nil
}

// Close releases the guest.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, p := range []*wasmhost.Program{h.checked, h.quick} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	h.checked, h.quick = nil, nil
	return errors.Join(errs...)
}

// encoderKey finds the tokenizer of a call in its context.
type encoderKey struct{}

// encode is the guest's function to encode text as the model's tokenizer does.
func encode(ctx context.Context, m api.Memory, args []uint32) uint32 {
	const failed = ^uint32(0)
	t, _ := ctx.Value(encoderKey{}).(*tokenizer.Tokenizer)
	if t == nil || args[1] > maxForced || ctx.Err() != nil {
		return failed
	}
	text, ok := m.Read(args[0], args[1])
	if !ok {
		return failed
	}
	ids := t.EncodeParts([]tokenizer.Part{{Text: string(text)}})
	if len(ids) > int(args[3]) {
		return failed
	}
	out, ok := m.Read(args[2], 4*uint32(len(ids)))
	if !ok {
		return failed
	}
	for i, id := range ids {
		binary.LittleEndian.PutUint32(out[4*i:], uint32(id))
	}
	return uint32(len(ids))
}

// Engine implements grammar.Engine.
type Engine struct {
	host *Host
	tok  *tokenizer.Tokenizer

	mu     sync.Mutex
	guest  *instance
	closed bool
}

// instance is a guest with a vocabulary.
type instance struct {
	*wasmhost.Instance
	mask wasmhost.Buffer
}

// Open reads a tokenizer's vocabulary, which takes seconds for a large one. It is made for grammar.NewCache.
func (h *Host) Open(ctx context.Context, t *tokenizer.Tokenizer) (grammar.Engine, error) {
	e := &Engine{host: h, tok: t}
	if err := e.start(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// start makes a guest.
func (e *Engine) start(ctx context.Context) error {
	checked, quick, err := e.host.compiled(ctx)
	if err != nil {
		return err
	}
	reader, err := quick.Instance(ctx)
	if err != nil {
		return err
	}
	mask, err := load(ctx, reader, e.tok)
	if err != nil {
		return errors.Join(err, reader.Close())
	}
	i, err := checked.Instance(ctx)
	if err != nil {
		return errors.Join(err, reader.Close())
	}
	if err := errors.Join(i.CopyFrom(reader), reader.Close()); err != nil {
		return errors.Join(err, i.Close())
	}
	e.guest = &instance{Instance: i, mask: mask}
	return nil
}

// load hands a vocabulary to a guest and returns its buffer for masks.
func load(ctx context.Context, i *wasmhost.Instance, t *tokenizer.Tokenizer) (mask wasmhost.Buffer, err error) {
	ctx = context.WithValue(ctx, encoderKey{}, t)
	b, err := i.Write(ctx, vocabulary(t))
	if err != nil {
		return mask, err
	}
	code, err := i.Call(ctx, "init", uint64(b.Ptr), uint64(b.Len))
	if err != nil {
		return mask, err
	}
	if int32(code) < 0 {
		reason, err := i.Reason(ctx, maxReason)
		return mask, errors.Join(fmt.Errorf("grammar engine: %s", reason), err)
	}
	if err := i.Free(ctx, b); err != nil {
		return mask, err
	}
	return i.Alloc(ctx, 4*words(t))
}

// words returns how many 32-bit words a mask has.
func words(t *tokenizer.Tokenizer) int { return (t.Size() + 31) / 32 }

// vocabulary returns a tokenizer's tokens in the guest's form (see sandbox/guest/grammar/src/vocabulary.rs).
func vocabulary(t *tokenizer.Tokenizer) []byte {
	const special = 1 << 31
	n := t.Size()
	var ends []uint32
	for id := range int32(n) {
		if t.IsEOG(id) {
			ends = append(ends, uint32(id))
		}
	}
	if eos := t.Vocab().EOS; eos >= 0 && int(eos) < n && len(ends) == 0 {
		ends = append(ends, uint32(eos))
	}
	out := make([]byte, 0, 12*n)
	number := func(x uint32) { out = binary.LittleEndian.AppendUint32(out, x) }
	number(uint32(n))
	number(uint32(len(ends)))
	for _, id := range ends {
		number(id)
	}
	number(1)
	for id := range int32(n) {
		text, flag := t.Bytes(id), uint32(0)
		if t.IsControl(id) {
			text, flag = []byte(t.Decode([]int32{id}, true)), special
		}
		number(uint32(len(text)) | flag)
		out = append(out, text...)
	}
	return out
}

// Matcher implements grammar.Engine.
func (e *Engine) Matcher(ctx context.Context, g grammar.Grammar) (grammar.Matcher, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, grammar.ErrClosed
	}
	if e.guest.Broken() {
		_ = e.guest.Close()
		if err := e.start(ctx); err != nil {
			return nil, err
		}
	}
	limited, cancel := e.limit(ctx)
	defer cancel()
	id, reason, err := e.guest.startMatcher(limited, g)
	if err != nil {
		return nil, limits(err)
	}
	if reason == "" {
		return &Matcher{engine: e, guest: e.guest, id: id}, nil
	}
	if g.Kind != grammar.KindSchema {
		return nil, &grammar.GrammarError{Reason: reason}
	}
	return nil, &grammar.SchemaError{Path: e.locate(limited, g, reason), Reason: explain(reason)}
}

// locate returns the pointer of the keyword for which the guest refuses a schema; empty when that cannot be found out in time.
func (e *Engine) locate(ctx context.Context, g grammar.Grammar, reason string) string {
	if strings.Contains(reason, "schema too large") { // which is of no one keyword
		return ""
	}
	var failure error
	path := grammar.Locate(g, func(part grammar.Grammar) bool {
		if failure != nil {
			return true
		}
		id, refusal, err := e.guest.startMatcher(ctx, part)
		if err == nil && refusal == "" {
			_, err = e.guest.Call(ctx, "free_matcher", id)
		}
		failure = err
		return refusal == ""
	})
	if failure != nil {
		return ""
	}
	return path
}

// explain puts the guest's reasons into the words of one who writes schemas.
func explain(reason string) string {
	if strings.HasPrefix(reason, "oneOf constraints are not supported") {
		return "the alternatives may overlap, and that only one is met cannot be enforced; use anyOf, or require a property in each that has a const of its own"
	}
	reason, _, _ = strings.Cut(reason, "\n")
	return reason
}

// startMatcher starts a matcher; the reason says why the guest refuses the grammar.
func (i *instance) startMatcher(ctx context.Context, g grammar.Grammar) (id uint64, reason string, err error) {
	b, err := i.Write(ctx, []byte(g.Text))
	if err != nil {
		return 0, "", err
	}
	result, err := i.Call(ctx, "start", uint64(b.Ptr), uint64(b.Len), uint64(g.Kind))
	if err != nil {
		return 0, "", err
	}
	if int32(result) < 0 {
		if reason, err = i.Reason(ctx, maxReason); err != nil {
			return 0, "", err
		}
		reason = strings.TrimSpace(reason)
		if reason == "" {
			reason = "the engine refuses it"
		}
	}
	return uint64(uint32(result)), reason, i.Free(ctx, b)
}

// limit returns the context of a call into the guest.
func (e *Engine) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, encoderKey{}, e.tok), e.host.options.Timeout)
}

// limits turns a guest that was stopped into ErrLimit.
func limits(err error) error {
	for _, limit := range []error{wasmhost.ErrTime, wasmhost.ErrMemory, wasmhost.ErrStack} {
		if errors.Is(err, limit) {
			return fmt.Errorf("%w: %w", grammar.ErrLimit, err)
		}
	}
	return err
}

// Close implements grammar.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return e.guest.Close()
}
