// Package template renders chat templates in a WebAssembly sandbox: it implements chat.Renderer with the guest of
// sandbox/guest (jinja2 as transformers sets it up).
//
// A template comes from a model file, so it is untrusted code. It reaches nothing but its input; its instructions, the
// bytes it copies, its memory and its time are bounded, and a rendering that ends at a limit takes its instance with it.
//
// Compiling the guest takes about a second, once per machine: the result is kept in a cache folder. Until the first
// compilation is done an interpreter renders, so the first prompt does not wait for it.
package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/sandbox/guest"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

// Bounds of one rendering.
const (
	// defaultTimeout is generous: a rendering takes about a millisecond, but the first one is interpreted, maybe on a busy
	// machine. What a template computes is bounded besides.
	defaultTimeout = 10 * time.Second
	// maxMemory bounds a guest's memory, in bytes.
	maxMemory = 64 << 20
	// keepMemory is the most that an idle instance may hold, in bytes.
	keepMemory = 16 << 20
	// fuel bounds the virtual machine's instructions; a long conversation needs about 200 a message.
	fuel = 5_000_000
	// work bounds the bytes that built-in operations read and write.
	work = 1 << 30
	// maxMessage bounds what a template says when it refuses, in bytes; a template may make it as long as its memory.
	maxMessage = 8 << 10
	// patience is how long the first rendering waits for native code before it is interpreted.
	patience = 60 * time.Millisecond
)

// Options of New; the zero value is usable.
type Options struct {
	// Cache keeps compiled code between runs; nil keeps it in memory.
	Cache *wasmhost.Cache
	// Timeout bounds one rendering, by the wall clock; 0 means ten seconds.
	Timeout time.Duration
	// Instances bounds how many renderings run at once; 0 means one per processor.
	Instances int
}

// Renderer renders chat templates.
//
// Owns: Close waits for the compilation and releases everything; no rendering may be running. Safe for concurrent use.
type Renderer struct {
	options Options
	done    chan struct{} // closed when native is ready or has failed
	native  engine
	failure error

	slowOnce sync.Once
	slow     engine
	slowErr  error
}

// engine is a compiled guest with its instances.
type engine struct {
	program *wasmhost.Program
	pool    *wasmhost.Pool
}

// New returns a renderer and starts to compile its guest in the background.
func New(o Options) *Renderer {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Instances <= 0 {
		o.Instances = runtime.GOMAXPROCS(0)
	}
	r := &Renderer{options: o, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.native, r.failure = r.compile(false)
	}()
	return r
}

func (r *Renderer) compile(interpreter bool) (engine, error) {
	p, err := wasmhost.Compile(context.Background(), wasmhost.Config{
		Name: "template", Wasm: guest.Template, MaxMemory: maxMemory, Cache: r.options.Cache, Interpreter: interpreter,
	})
	if err != nil {
		return engine{}, err
	}
	return engine{program: p, pool: wasmhost.NewPool(p, r.options.Instances)}, nil
}

// ready returns the engine for the next rendering.
func (r *Renderer) ready(ctx context.Context) (engine, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.done:
		return r.native, r.failure
	case <-timer.C:
	case <-ctx.Done():
		return engine{}, ctx.Err()
	}
	r.slowOnce.Do(func() { r.slow, r.slowErr = r.compile(true) })
	return r.slow, r.slowErr
}

// Warm waits until native code is ready.
func (r *Renderer) Warm(ctx context.Context) error {
	select {
	case <-r.done:
		return r.failure
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Render implements chat.Renderer.
func (r *Renderer) Render(ctx context.Context, req chat.RenderRequest) (string, error) {
	e, err := r.ready(ctx)
	if err != nil {
		return "", err
	}
	instance, err := e.pool.Get(ctx)
	if err != nil {
		return "", err
	}
	defer e.pool.Put(instance, keepMemory)
	limited, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	text, err := render(limited, instance, req)
	if err != nil {
		return "", explain(ctx, err, r.options.Timeout)
	}
	return text, nil
}

func render(ctx context.Context, i *wasmhost.Instance, req chat.RenderRequest) (string, error) {
	template, err := i.Write(ctx, []byte(req.Template))
	if err != nil {
		return "", err
	}
	input, err := i.Write(ctx, req.Input)
	if err != nil {
		return "", err
	}
	failed, err := i.Call(ctx, "render", uint64(template.Ptr), uint64(template.Len), uint64(input.Ptr), uint64(input.Len), fuel, work)
	if err != nil {
		return "", err
	}
	text, err := i.Result(ctx)
	if err != nil {
		return "", err
	}
	if err := errors.Join(i.Free(ctx, template), i.Free(ctx, input)); err != nil {
		return "", err
	}
	if failed == 0 {
		return text, nil
	}
	var f chat.TemplateError
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return "", fmt.Errorf("template guest: %w: its error is not JSON", wasmhost.ErrTrap)
	}
	if len(f.Message) > maxMessage {
		f.Message = strings.ToValidUTF8(f.Message[:maxMessage], "") + "…"
	}
	return "", &f
}

// explain turns a guest that was stopped into an error about its template.
func explain(ctx context.Context, err error, timeout time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	limit := ""
	switch {
	case errors.Is(err, wasmhost.ErrTime):
		limit = fmt.Sprintf("it did not end within %v", timeout)
	case errors.Is(err, wasmhost.ErrMemory):
		limit = fmt.Sprintf("it needs more than %d MiB of memory", maxMemory>>20)
	case errors.Is(err, wasmhost.ErrStack):
		limit = "it is nested too deeply"
	default:
		return err
	}
	return &chat.TemplateError{Kind: chat.KindLimit, Message: limit}
}

// Close implements io.Closer.
func (r *Renderer) Close() error {
	<-r.done
	var errs []error
	for _, e := range []engine{r.native, r.slow} {
		if e.program != nil {
			errs = append(errs, e.pool.Close(), e.program.Close())
		}
	}
	return errors.Join(errs...)
}
