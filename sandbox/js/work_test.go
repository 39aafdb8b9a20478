package js

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pooled/pooled/sandbox/internal/cputime"
)

// costs runs f and returns what it took of the host: processor time, and memory that was allocated in all, whenever it was
// given back. Neither hangs on how busy the machine is.
func costs(f func()) (time.Duration, int64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took := cputime.Of(f)
	runtime.ReadMemStats(&after)
	return took, int64(after.TotalAlloc - before.TotalAlloc)
}

// TestHostCosts gives the host work that grows with what the program hands over: it must stay within the program's own
// limits of time, and within a memory that does not grow.
func TestHostCosts(t *testing.T) {
	const mib = 1 << 20
	files := fstest.MapFS{
		"bad.js":  {Data: []byte("(" + strings.Repeat(" ", 8*mib-2))},
		"big.js":  {Data: []byte(strings.Repeat(" ", 9*mib))},
		"pipe.js": {},
	}
	for _, c := range []struct {
		name, code string
		time       time.Duration
		want       Stop
		memory     int64 // of the host
	}{
		{"rejections that are heard late", "const all = []; for (let i = 0; i < 200000; i++) all.push(Promise.reject(i)); for (const p of all) p.catch(() => {}); all.length", 20 * time.Second, None, 256 * mib},
		{"the last one first", "const all = []; for (let i = 0; i < 50000; i++) all.push(Promise.reject(i)); for (const p of all.reverse()) p.catch(() => {}); all.length", 20 * time.Second, None, 256 * mib},
		{"one after the other", "for (let i = 0; i < 50000; i++) Promise.reject(i).catch(() => {}); 1", 20 * time.Second, None, 256 * mib},
		{"more than are kept", "globalThis.all = []; for (let i = 0; i < 400000; i++) all.push(Promise.reject(i)); 1", 20 * time.Second, Memory, 256 * mib},
		{"a long message", "throw new Error('x'.repeat(40 << 20))", 20 * time.Second, None, 8 * mib},
		{"a long name", "const e = new Error(); e.name = 'x'.repeat(40 << 20); throw e", 20 * time.Second, None, 8 * mib},
		{"a long stack", "const e = new Error(); e.stack = '  at x (y:1:1)\\n'.repeat(4 << 20); throw e", 20 * time.Second, None, 8 * mib},
		{"a long text thrown", "throw 'x'.repeat(40 << 20)", 20 * time.Second, None, 8 * mib},
		{"a long cause", "throw new Error('x', { cause: new Error('y'.repeat(40 << 20)) })", 20 * time.Second, None, 8 * mib},
		{"long parts", "throw new AggregateError(Array(5).fill(new Error('y'.repeat(20 << 20))))", 20 * time.Second, None, 8 * mib},
		{"long rejections", "const x = 'x'.repeat(40 << 20); for (let i = 0; i < 1000; i++) Promise.reject(new Error(x)); 1", 20 * time.Second, None, 8 * mib},
		{"a long line", "console.log('x'.repeat(40 << 20))", 20 * time.Second, Output, 8 * mib},
		{"long lines", "for (;;) try { console.log('x'.repeat(10 << 20)) } catch {}", 20 * time.Second, Output, 32 * mib},
		{"a long result", "'x'.repeat(40 << 20)", 20 * time.Second, Output, 8 * mib},
		{"a module that is read again and again", "for (;;) await import('./bad.js').catch(() => {})", 100 * time.Millisecond, Timeout, 2048 * mib},
		{"a module that is too large", "for (let i = 0; i < 100; i++) await import('./big.js').catch(() => {})", 20 * time.Second, None, 8 * mib},
		{"modules that are not there", "for (;;) await import('./' + 'x'.repeat(15000) + '.js').catch(() => {})", 100 * time.Millisecond, "", 1024 * mib},
		{"the clock", "for (;;) Date.now()", 100 * time.Millisecond, Timeout, 8 * mib},
		{"promises without code", "const p = Promise.resolve(); function f() { for (let i = 0; i < 1000; i++) p.then(f) } f()", 100 * time.Millisecond, "", 256 * mib},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := Limits{Time: c.time, Memory: 512 << 20} // tests of what is resident come first, by the names of their files
			if c.want != Timeout && c.time > time.Second {
				limits.Time *= 3 // the limit is of wall time, and a busy machine gives a test little of it
			}
			var res *Result
			var err error
			took, allocated := costs(func() {
				res, err = shared.Run(t.Context(), Program{Code: c.code, Files: files}, limits, Capabilities{})
			})
			if err != nil {
				t.Fatal(err)
			}
			if most := c.time + 600*time.Millisecond; took > most {
				t.Errorf("it took %v of processor time, want at most %v", took, most)
			}
			if allocated > c.memory {
				t.Errorf("the host allocated %d MiB, want at most %d", allocated/mib, c.memory/mib)
			}
			if c.want != "" && res.Stopped != c.want || res.Error != nil && res.Error.Name == "SandboxError" {
				t.Errorf("stopped %q (%.200v), want %q", res.Stopped, res.Error, c.want)
			}
			if e := res.Error; e != nil && len(e.Name)+len(e.Message)+len(e.Stack) > 32<<10 {
				t.Errorf("an error of %d + %d + %d bytes", len(e.Name), len(e.Message), len(e.Stack))
			}
			t.Logf("%v, %d KiB, stopped %q", took.Round(time.Millisecond), allocated>>10, res.Stopped)
		})
	}
}

// TestRejectionsWithoutMemory rejects until there is no memory for the handles that tell of it.
func TestRejectionsWithoutMemory(t *testing.T) {
	for _, code := range []string{
		"const all = []; for (let i = 0; i < 200000; i++) all.push(Promise.reject(i)); for (const p of all) p.catch(() => {}); all.length",
		"for (;;) Promise.reject(1)",
	} {
		for _, memory := range []int64{8 << 20, 20 << 20, 48 << 20} {
			res, err := shared.Run(t.Context(), Program{Code: code}, Limits{Time: time.Minute, Memory: memory}, Capabilities{})
			if err != nil || res.Stopped != Memory {
				t.Errorf("%d MiB: stopped %q, error %v, %v; want memory", memory>>20, res.Stopped, res.Error, err)
			}
		}
	}
}

func TestErrorsAreBounded(t *testing.T) {
	e := Error{Name: strings.Repeat("n", 1<<20), Message: strings.Repeat("é", 1<<20), Stack: strings.Repeat("s", 1<<20)}
	e.Bound()
	if len(e.Name) > maxErrorName+3 || len(e.Message) > maxErrorMessage+3 || len(e.Stack) > maxErrorStack+3 || !strings.HasSuffix(e.Message, "é…") {
		t.Errorf("got %d, %d and %d bytes", len(e.Name), len(e.Message), len(e.Stack))
	}
	short := Error{Name: "n", Message: "m", Stack: "s"}
	if got := short; got != short {
		t.Errorf("got %+v", got)
	}
	var x *Error
	if !errors.As(error(&short), &x) {
		t.Error("it is no error")
	}
}
