package wasmhost_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pooled/pooled/sandbox/guest"
	"github.com/pooled/pooled/sandbox/wasmhost"
	"github.com/tetratelabs/wazero"
)

var cache = wasmhost.NewCache()

// compile returns the template guest, whose templates can do anything that a guest may try.
func compile(t *testing.T, memory uint64) *wasmhost.Program {
	t.Helper()
	p, err := wasmhost.Compile(context.Background(), wasmhost.Config{Name: "test", Wasm: guest.Template, MaxMemory: memory, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestInterpreter(t *testing.T) {
	p, err := wasmhost.Compile(context.Background(), wasmhost.Config{Name: "test", Wasm: guest.Template, MaxMemory: 8 << 20, Interpreter: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	i, err := p.Instance(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := render(context.Background(), i, `{{ 1 + 1 }}`); got != "2" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// render runs a template in an instance without bounds of its own.
func render(ctx context.Context, i *wasmhost.Instance, template string) (string, error) {
	a, err := i.Write(ctx, []byte(template))
	if err != nil {
		return "", err
	}
	b, err := i.Write(ctx, []byte(`{}`))
	if err != nil {
		return "", err
	}
	if _, err := i.Call(ctx, "render", uint64(a.Ptr), uint64(a.Len), uint64(b.Ptr), uint64(b.Len), 1<<31-1, 1<<62); err != nil {
		return "", err
	}
	return i.Result(ctx)
}

func TestLimits(t *testing.T) {
	p := compile(t, 8<<20)
	for _, c := range []struct {
		name, template string
		want           error
	}{
		{"memory", `{{ 'x' * 100000000 }}`, wasmhost.ErrMemory},
		{"time", `{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}`, wasmhost.ErrTime},
	} {
		i, err := p.Instance(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		text, err := render(ctx, i, c.template)
		cancel()
		var call *wasmhost.CallError
		if !errors.Is(err, c.want) || !errors.As(err, &call) || call.Guest != "test" {
			t.Errorf("%s: got %q, %v; want %v", c.name, text, err, c.want)
		}
		if !i.Broken() {
			t.Errorf("%s: the instance is not broken", c.name)
		}
		if _, err := i.Call(context.Background(), "result_len"); !errors.Is(err, wasmhost.ErrClosed) {
			t.Errorf("%s: a call afterwards gives %v, want ErrClosed", c.name, err)
		}
		_ = i.Close()
	}
}

// TestStack runs a function that calls itself without end.
func TestStack(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x05\x01\x01f\x00\x00\x0a\x06\x01\x04\x00\x10\x00\x0b")
	p, err := wasmhost.Compile(t.Context(), wasmhost.Config{Name: "test", Wasm: module, MaxMemory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	i, err := p.Instance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Call(t.Context(), "f"); !errors.Is(err, wasmhost.ErrStack) || !i.Broken() {
		t.Errorf("got %v, want ErrStack", err)
	}
}

func TestCancelled(t *testing.T) {
	i, err := compile(t, 8<<20).Instance(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := render(ctx, i, `{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestNoSuchFunction(t *testing.T) {
	i, err := compile(t, 8<<20).Instance(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Call(context.Background(), "nope"); !errors.Is(err, wasmhost.ErrTrap) {
		t.Errorf("got %v, want ErrTrap", err)
	}
	if _, err := i.View(wasmhost.Buffer{Ptr: 1 << 31, Len: 1 << 30}); !errors.Is(err, wasmhost.ErrTrap) {
		t.Errorf("a view outside the memory: got %v, want ErrTrap", err)
	}
}

func TestCopyFrom(t *testing.T) {
	p := compile(t, 8<<20)
	a, err := p.Instance(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := render(context.Background(), a, `{{ 'x' * 2000000 }}`); err != nil {
		t.Fatal(err)
	}
	b, err := p.Instance(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CopyFrom(a); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Result(context.Background()); len(got) != 2_000_000 || err != nil {
		t.Errorf("the copy has a result of %d bytes, %v", len(got), err)
	}
	if got, err := render(context.Background(), b, `{{ 1 + 1 }}`); got != "2" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestPool(t *testing.T) {
	p := compile(t, 8<<20)
	pool := wasmhost.NewPool(p, 1)
	a, err := pool.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := pool.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second instance of one: got %v", err)
	}
	pool.Put(a, 8<<20)
	b, err := pool.Get(context.Background())
	if err != nil || b != a {
		t.Errorf("got another instance (%v), want the idle one", err)
	}
	pool.Put(b, 0) // too large to keep
	c, err := pool.Get(context.Background())
	if err != nil || c == a {
		t.Errorf("got the same instance (%v), want a fresh one", err)
	}
	_, _ = c.Call(context.Background(), "nope")
	_, _ = render(context.Background(), c, `{{ 'x' * 100000000 }}`)
	pool.Put(c, 8<<20)
	if d, err := pool.Get(context.Background()); err != nil || d == c {
		t.Errorf("got the broken instance (%v), want a fresh one", err)
	} else {
		pool.Put(d, 8<<20)
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if _, err := pool.Get(context.Background()); !errors.Is(err, wasmhost.ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
}

func TestCacheFolder(t *testing.T) {
	dir := t.TempDir() + "/a/wasm"
	c, err := wasmhost.OpenCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, want 0700", info.Mode().Perm())
	}
	for _, mode := range []os.FileMode{0o770, 0o707, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := wasmhost.OpenCache(dir); !errors.Is(err, wasmhost.ErrCacheNotPrivate) {
			t.Errorf("with mode %v: got %v, want ErrCacheNotPrivate", mode, err)
		}
	}
	link := t.TempDir() + "/link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := wasmhost.OpenCache(link); !errors.Is(err, wasmhost.ErrCacheNotPrivate) {
		t.Errorf("a symbolic link: got %v, want ErrCacheNotPrivate", err)
	}
}

// TestCacheFails takes the folder of a cache away, as a full disk or another program would: compiling goes on without it.
func TestCacheFails(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b")
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := wasmhost.OpenCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, m, err := wasmhost.Build(t.Context(), c, wazero.NewRuntimeConfigCompiler(), nil, module)
		if err != nil || m == nil {
			t.Fatalf("got %v, %v", m, err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := wasmhost.Build(t.Context(), c, wazero.NewRuntimeConfigCompiler(), nil, module[:12]); err == nil {
		t.Error("a broken module compiles")
	}
}
