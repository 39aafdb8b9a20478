package qjs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	guestjs "github.com/pooled/pooled/sandbox/guest-js"
	"github.com/pooled/pooled/sandbox/wasmhost"
	"github.com/tetratelabs/wazero"
)

var shared *Engine

func TestMain(m *testing.M) {
	ctx := context.Background()
	var err error
	if shared, err = Open(ctx, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = shared.Close(ctx)
	os.Exit(code)
}

var testOptions = Options{Memory: 16 << 20, Stack: 256 << 10}

func newVM(t testing.TB, h Hooks) *VM {
	t.Helper()
	v, err := shared.New(t.Context(), testOptions, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// text evaluates code that yields a string.
func text(t testing.TB, v *VM, code string) string {
	t.Helper()
	h, err := v.Eval(code, "test.js", EvalScript)
	if err != nil {
		t.Fatalf("Eval(%q): %v", code, err)
	}
	defer v.Free(h)
	s, err := v.Text(h)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEval(t *testing.T) {
	v := newVM(t, Hooks{})
	if got := text(t, v, "String(6 * 7) + '\\0é😀'"); got != "42\x00é😀" {
		t.Errorf("got %q", got)
	}
	_, err := v.Eval("throw 1", "test.js", EvalScript)
	var x *Exception
	if !errors.As(err, &x) {
		t.Fatalf("throw: %v", err)
	}
	v.Free(x.Value)
	p, err := v.Eval("await 1; 'later'", "test.js", EvalAsync)
	if err != nil || v.State(p) != Pending {
		t.Fatalf("async: %v, state %d", err, v.State(p))
	}
	if err := v.RunJobs(); err != nil || v.State(p) != Fulfilled {
		t.Errorf("after the jobs: %v, state %d", err, v.State(p))
	}
}

func TestHostCalls(t *testing.T) {
	var got []string
	v := newVM(t, Hooks{Call: func(name string, args []string) (string, error) {
		got = append(got, name+"("+strings.Join(args, "|")+")")
		if len(args) == 2 {
			return "", errors.New("two are too many")
		}
		return "answer", nil
	}})
	f, err := v.HostFunction("ask")
	if err != nil {
		t.Fatal(err)
	}
	use, err := v.Eval(`(ask) => {
		const out = [ask('a')];
		for (const args of [['b', 'c'], [1], [{ toString() { throw 1 } }], Array(17).fill('x')]) {
			try { out.push(ask(...args)) } catch (e) { out.push(e.message) }
		}
		return out.join(';');
	}`, "test.js", EvalScript)
	if err != nil {
		t.Fatal(err)
	}
	h, err := v.Call(use, f)
	if err != nil {
		t.Fatal(err)
	}
	const want = "answer;two are too many;host calls take up to 16 strings;host calls take up to 16 strings;host calls take up to 16 strings"
	if s, err := v.Text(h); err != nil || s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	if s := strings.Join(got, ","); s != "ask(a),ask(b|c)" {
		t.Errorf("the host saw %q", s)
	}
}

// TestTrapInHostCall ends a guest from within nested host calls: the host, the
// engine and other machines carry on.
func TestTrapInHostCall(t *testing.T) {
	other := newVM(t, Hooks{})
	stop := errors.New("enough")
	for _, c := range []struct {
		name  string
		hooks func(*VM) Hooks
	}{
		{"panic in a host function", func(*VM) Hooks {
			return Hooks{Call: func(string, []string) (string, error) { panic(stop) }}
		}},
		{"answer that does not fit", func(*VM) Hooks {
			return Hooks{Call: func(string, []string) (string, error) { return strings.Repeat("x", 64<<20), nil }}
		}},
		{"trap while answering", func(v *VM) Hooks {
			n := 0
			return Hooks{
				Call: func(string, []string) (string, error) { return "a", nil },
				Tick: func() error {
					if n++; n > 3 {
						return stop
					}
					return nil
				},
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVM(t, Hooks{})
			v.hooks = c.hooks(v)
			f, err := v.HostFunction("ask")
			if err != nil {
				t.Fatal(err)
			}
			use, err := v.Eval("(ask) => { for (;;) { ask('a'); new Array(1e5).fill(1).sort() } }", "test.js", EvalScript)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.Call(use, f); err == nil {
				t.Error("the call returned without an error")
			}
			_ = v.Err()
			if got := text(t, other, "'alive'"); got != "alive" {
				t.Errorf("another machine answers %q", got)
			}
		})
	}
}

func TestNestedTrapKillsTheMachine(t *testing.T) {
	v := newVM(t, Hooks{})
	v.hooks.Call = func(string, []string) (string, error) {
		// A hook must not call the machine; one that does and traps must not
		// corrupt it either.
		v.hooks.Tick = func() error { return errors.New("now") }
		v.call("qjs_run_gc")
		return "unreachable?", nil
	}
	f, err := v.HostFunction("ask")
	if err != nil {
		t.Fatal(err)
	}
	use, err := v.Eval("(ask) => { let a = []; for (let i = 0; i < 3e4; i++) a.push({a}); ask('x'); for (;;); }", "test.js", EvalScript)
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Call(use, f)
	var trap *Trap
	if !errors.As(err, &trap) {
		t.Fatalf("got %v, want a trap", err)
	}
	if _, err := v.Eval("1", "test.js", EvalScript); !errors.As(err, &trap) {
		t.Errorf("a dead machine answers %v", err)
	}
}

func TestTickEndsLongBuiltins(t *testing.T) {
	stop := errors.New("time is up")
	for _, code := range []string{
		"new Array(4294967295).join('')", "for(;;);", "let a = new Uint8Array(8e6); for (;;) a.copyWithin(1, 0)",
		"let x = 3n; for (;;) x *= x", "Array.prototype.indexOf.call({length: 2**53 - 1}, 1)",
	} {
		began := time.Now()
		v := newVM(t, Hooks{Tick: func() error {
			if time.Since(began) > 50*time.Millisecond {
				return stop
			}
			return nil
		}})
		_, err := v.Eval(code, "test.js", EvalScript)
		if took := time.Since(began); !errors.Is(err, stop) || took > 400*time.Millisecond {
			t.Errorf("%s: %v after %v", code, err, took)
		}
	}
}

func TestInterruptIsUncatchable(t *testing.T) {
	v := newVM(t, Hooks{Interrupt: func() bool { return true }})
	_, err := v.Eval("for (;;) { try { for (;;); } catch {} }", "test.js", EvalScript)
	var x *Exception
	if !errors.As(err, &x) || !v.Uncatchable(x.Value) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryIsCapped(t *testing.T) {
	v := newVM(t, Hooks{})
	if _, err := v.Eval("let a = []; for (;;) a.push(new Array(1000).fill(0))", "test.js", EvalScript); err == nil {
		t.Error("an endless list was held")
	}
	if size, most := v.MemorySize(), testOptions.Memory+headroom; size > most {
		t.Errorf("linear memory of %d bytes, cap %d", size, most)
	}
	if _, err := shared.New(t.Context(), Options{Memory: 3 << 30}, Hooks{}); !errors.Is(err, ErrMemory) {
		t.Errorf("a limit of 3 GiB: %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	v := newVM(t, Hooks{})
	text(t, v, "var state = 'kept'; var f = () => ++n; var n = 1; ''")
	s, err := v.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	text(t, v, "state = 'changed'")
	for range 3 {
		w, err := shared.Restore(t.Context(), s, testOptions, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, w, "state + f()"); got != "kept2" {
			t.Errorf("restored machine answers %q", got)
		}
		w.Close()
	}
	if _, err := shared.Restore(t.Context(), &Snapshot{Memory: make([]byte, 32<<20)}, testOptions, Hooks{}); !errors.Is(err, ErrMemory) {
		t.Errorf("a snapshot over the limit: %v", err)
	}
}

func TestReusedMemoryIsClean(t *testing.T) {
	const secret = "sensitive-4711-text"
	v, err := shared.New(t.Context(), testOptions, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	text(t, v, "var s = '"+secret+"'.repeat(1000)")
	v.Close()
	for range poolKeep + 1 {
		w := newVM(t, Hooks{})
		b, _ := w.mem.Read(0, w.mem.Size())
		if strings.Contains(string(b), secret) {
			t.Fatal("the memory of an earlier machine shows")
		}
		if _, ok := w.mem.Grow(64); ok {
			if b, _ = w.mem.Read(0, w.mem.Size()); strings.Contains(string(b), secret) {
				t.Fatal("the memory of an earlier machine shows after growth")
			}
		}
	}
}

func TestRejections(t *testing.T) {
	open := 0
	var v *VM
	v = newVM(t, Hooks{Reject: func(promise, reason Handle, handled bool) {
		if handled {
			open--
		} else {
			open++
		}
		v.Free(promise)
		v.Free(reason)
	}})
	text(t, v, "var p = Promise.reject(1); Promise.reject(2); ''")
	if err := v.RunJobs(); err != nil || open != 2 {
		t.Errorf("%v, %d open rejections, want 2", err, open)
	}
	text(t, v, "p.catch(() => {}); ''")
	if err := v.RunJobs(); err != nil || open != 1 {
		t.Errorf("%v, %d open rejections, want 1", err, open)
	}
}

func TestMeterRefusesNonsense(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("\x00asm\x01\x00\x00\x00"), []byte("\x00asm\x01\x00\x00\x00\x0a\x02\x01\x00"), guestjs.QuickJS[:1000], guestjs.QuickJS[:300000]} {
		if _, err := meter(b); !errors.Is(err, ErrModule) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

func TestMeterGrowth(t *testing.T) {
	out, err := meter(guestjs.QuickJS)
	if err != nil {
		t.Fatal(err)
	}
	growth := float64(len(out)) / float64(len(guestjs.QuickJS))
	if growth < 1.01 || growth > 1.25 {
		t.Errorf("metering made the module %.2f times as large", growth)
	}
}

func FuzzMeter(f *testing.F) {
	f.Add(guestjs.QuickJS[:2048])
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x02\x05\x01\x00\x00\x00\x00\x06\x01\x00\x0a\x06\x01\x04\x00\x03\x40\x0b"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = meter(b) })
}

// BenchmarkKill compares the three ways to stop a guest: none, ours, and
// wazero's own; see the package comment.
func BenchmarkKill(b *testing.B) {
	metered, err := meter(guestjs.QuickJS)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		wasm   []byte
		config wazero.RuntimeConfig
	}{
		{"none", guestjs.QuickJS, wazero.NewRuntimeConfig()},
		{"metered", metered, wazero.NewRuntimeConfig()},
		{"CloseOnContextDone", guestjs.QuickJS, wazero.NewRuntimeConfig().WithCloseOnContextDone(true)},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			e := &Engine{pool: &pool{}}
			e.runtime, e.module, err = wasmhost.Build(ctx, nil, c.config, func(r wazero.Runtime) error { return link(ctx, r) }, c.wasm)
			if err != nil {
				b.Fatal(err)
			}
			v, err := e.New(ctx, testOptions, Hooks{})
			if err != nil {
				b.Fatal(err)
			}
			text(b, v, "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }; ''")
			for b.Loop() {
				text(b, v, "{ fib(24); let a = []; for (let i = 0; i < 2e4; i++) a.push((i * 7919) % 10007); a.sort((x, y) => x - y); String(a.map((x) => 'k' + x).join('').replace(/k1/g, '').length) }")
			}
			_ = e.Close(ctx)
		})
	}
}
