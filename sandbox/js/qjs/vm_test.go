package qjs

import (
	"context"
	"errors"
	"testing"
	"time"
)

func openTest(t testing.TB) *Engine {
	t.Helper()
	e, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

var testOptions = Options{Memory: 64 << 20, Stack: 256 << 10}

func TestProbe(t *testing.T) {
	e := openTest(t)
	v, err := e.New(t.Context(), testOptions, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(len(s.Memory))
	for range 5 {
		t0 := time.Now()
		v, err := e.Restore(t.Context(), s, testOptions, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := v.Eval("String(1+1)", "a.js", 0)
		t.Log(v.Text(h), err, time.Since(t0))
		v.Close()
	}
	t0 := time.Now()
	h, err := v.Eval("function fib(n){return n<2?n:fib(n-1)+fib(n-2)}; String(fib(27))", "a.js", 0)
	t.Log(v.Text(h), err, time.Since(t0))
	t0 = time.Now()
	h, err = v.Eval("let s=0; for(let i=0;i<5e6;i++) s=(s*31+i)|0; let a=[];for(let i=0;i<3e5;i++)a.push((i*7919)%300007+'x'); a.sort(); String(s)", "a.js", 0)
	t.Log(v.Text(h), err, time.Since(t0))
	h, err = v.Eval("await 1; 7", "a.js", EvalAsync)
	v.RunJobs()
	r, _ := v.Result(h)
	g, _ := v.Eval("(x)=>JSON.stringify(x)", "a", 0)
	j, err := v.Call(g, r)
	t.Log(v.State(h), v.Text(j), err)

	stop := errors.New("stop")
	t0 = time.Now()
	v2, _ := e.New(t.Context(), testOptions, Hooks{Tick: func() error {
		if time.Since(t0) > 500*time.Millisecond {
			return stop
		}
		return nil
	}})
	_, err = v2.Eval("new Array(4294967295).join('')", "a", 0)
	t.Log(err, errors.Is(err, stop), time.Since(t0))
	v2.Close()
}
