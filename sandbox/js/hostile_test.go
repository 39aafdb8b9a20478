package js

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/sandbox/internal/cputime"
)

// hostile reads name|program lines.
func hostile(t *testing.T, file string) [][2]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		if name, code, ok := strings.Cut(line, "|"); ok && !strings.HasPrefix(line, "#") {
			out = append(out, [2]string{name, code})
		}
	}
	return out
}

// TestHostile runs every hostile program: it must end in time, within memory,
// and the next program must not notice.
func TestHostile(t *testing.T) {
	limits := Limits{Time: 25 * time.Millisecond, Memory: 24 << 20, Output: 64 << 10}
	files := []string{"testdata/hostile.txt", "testdata/hostile_more.txt"}
	if long {
		limits.Time, limits.Memory = 300*time.Millisecond, 64<<20
	}
	t.Run("programs", func(t *testing.T) {
		for _, file := range files {
			programs := hostile(t, file)
			if len(programs) < 25 {
				t.Fatalf("%s holds %d programs", file, len(programs))
			}
			for _, p := range programs {
				t.Run(p[0], func(t *testing.T) {
					t.Parallel()
					var res *Result
					var err error
					began := time.Now()
					took := cputime.Of(func() {
						res, err = shared.Run(t.Context(), Program{Code: p[1]}, limits, Capabilities{})
					})
					if err != nil {
						t.Fatalf("Run: %v", err)
					}
					// The promise is one of wall time. What a busy machine adds to it is no fault of
					// ours, so the processor's time is held to the promise.
					wall := time.Since(began)
					if most := limits.Time + 600*time.Millisecond; took > most || wall > most+30*time.Second {
						t.Errorf("took %v of processor time and %v of wall time, want at most %v", took, wall, most)
					}
					if res.Error != nil && res.Error.Name == "SandboxError" {
						t.Errorf("the engine crashed: %v", res.Error)
					}
					t.Logf("%v ok=%v stopped=%q error=%.80v", took.Round(time.Millisecond), res.OK, res.Stopped, res.Error)
					if next := run(t, "let x = [1, 2, 3].map((n) => n * 2); console.log(x.join()); x.length"); next.Value.Display != "3" || len(next.Console) != 1 || next.Console[0].Text != "2,4,6" {
						t.Errorf("the next run gave %+v", next)
					}
				})
			}
		}
	})
	peak := memory("VmHWM:") >> 20
	t.Logf("peak resident memory %d MiB", peak)
	if most := int64(300 + 2*limits.Memory>>20); peak > most {
		t.Errorf("peak resident memory %d MiB, want at most %d", peak, most)
	}
}

// TestHostileKinds checks that the reason for a stop is the true one.
func TestHostileKinds(t *testing.T) {
	limits := Limits{Memory: 16 << 20, Output: 32 << 10, HostCalls: 2000}
	for _, c := range []struct {
		name, code string
		want       Stop
	}{
		{"loop", "for(;;);", Timeout},
		{"long built-in", "new Array(4294967295).join('')", Timeout},
		{"microtasks", "(function f(){Promise.resolve().then(f)})()", Timeout},
		{"heap", "let a=[];for(;;)a.push(new Array(1000).fill(1))", Memory},
		{"buffer", "new ArrayBuffer(1<<28)", Memory},
		{"recursion", "(function f(){f()+1})()", Stack},
		{"flood", "for(;;)console.log('x'.repeat(100))", Output},
		{"empty lines", "for(;;)console.log()", Output},
		{"flood in try", "for(;;)try{console.log('x'.repeat(100))}catch{}", Output},
		{"imports", "for(let i=0;i<" + strconv.Itoa(3000) + ";i++)await import('./x').catch(()=>{})", Output},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := limits
			limits.Time = time.Minute // so that a busy machine does not end it first
			if c.want == Timeout {
				limits.Time = 100 * time.Millisecond
			}
			res, err := shared.Run(t.Context(), Program{Code: c.code}, limits, Capabilities{})
			if err != nil {
				t.Fatal(err)
			}
			if res.Stopped != c.want || res.OK {
				t.Errorf("stopped %q (ok %v, error %v), want %q", res.Stopped, res.OK, res.Error, c.want)
			}
		})
	}
}
