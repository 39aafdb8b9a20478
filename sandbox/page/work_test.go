package page

import (
	"encoding/base64"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/sandbox/internal/cputime"
	"github.com/pooled/pooled/sandbox/js"
)

// TestHostCosts gives the host work that grows with what the page hands over: it must stay within the page's own limits of
// time, and within a memory that does not grow.
func TestHostCosts(t *testing.T) {
	const mib = 1 << 20
	picture := strings.Repeat("\xff", 15*mib)
	for _, c := range []struct {
		name, script string
		time         time.Duration
		want         js.Stop
		memory       int64 // what the host allocates in all
	}{
		{"rejections that are heard late", "const all = []; for (let i = 0; i < 50000; i++) all.push(Promise.reject(i)); for (const p of all) p.catch(() => {});", 20 * time.Second, js.None, 256 * mib},
		{"rejections that nobody hears", "for (let i = 0; i < 1e6; i++) Promise.reject(i);", 2 * time.Second, "", 1024 * mib},
		{"long messages", "const x = 'x'.repeat(20 << 20); for (let i = 0; i < 50; i++) setTimeout(() => { throw new Error(i + x) }, i);", 20 * time.Second, js.None, 64 * mib},
		{"long rejections", "const x = 'x'.repeat(20 << 20); for (let i = 0; i < 50; i++) Promise.reject(i + x);", 20 * time.Second, "", 64 * mib},
		{"long errors, told", "const x = 'x'.repeat(20 << 20); for (let i = 0; i < 50; i++) reportError(i + x);", 20 * time.Second, js.None, 64 * mib},
		{"long addresses", "const x = 'x'.repeat(8 << 10); for (let i = 0; i < 250; i++) fetch('http://example.com/' + i + x).catch(() => {});", 20 * time.Second, "", 64 * mib},
		{"markup, again and again", "const x = '<b><i>'.repeat(200) + 'x<p>'.repeat(50000); for (;;) document.createElement('div').innerHTML = x", 500 * time.Millisecond, js.Timeout, 4096 * mib},
		{"a large file, again and again", "for (;;) { const r = new XMLHttpRequest(); r.open('GET', 'large.bin', false); r.send() }", 500 * time.Millisecond, "", 4096 * mib},
		{"a picture, again and again", "for (;;) new Image().src = 'large.bin'", 500 * time.Millisecond, js.Timeout, 4096 * mib},
		{"modules that wait", "for (let i = 0; i < 5000; i++) { const s = document.createElement('script'); s.type = 'module'; s.textContent = 'await new Promise(() => {})'; document.head.append(s) }", 500 * time.Millisecond, "", 512 * mib},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := site("index.html", "<script>"+c.script+"</script>", "large.bin", picture)
			var r *Report
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			took := cputime.Of(func() {
				p, err := shared.Open(t.Context(), files, Options{Limits: js.Limits{Time: c.time}})
				if err != nil {
					t.Error(err)
					return
				}
				defer p.Close()
				r = p.Report()
			})
			runtime.ReadMemStats(&after)
			if r == nil {
				return
			}
			// The report has two seconds of its own.
			if most := c.time + viewTime + time.Second; took > most {
				t.Errorf("it took %v of processor time, want at most %v", took, most)
			}
			allocated := int64(after.TotalAlloc - before.TotalAlloc)
			if allocated > c.memory {
				t.Errorf("the host allocated %d MiB, want at most %d", allocated/mib, c.memory/mib)
			}
			if c.want != "" && r.Stopped != c.want {
				t.Errorf("stopped %q, want %q", r.Stopped, c.want)
			}
			kept := 0
			for _, e := range r.Errors {
				kept += len(e.Name) + len(e.Message) + len(e.Stack)
				if e.Name == "SandboxError" {
					t.Errorf("the engine crashed: %s", e.Message)
				}
			}
			for _, m := range r.Missing {
				kept += len(m)
			}
			if most := maxErrors*(32<<10) + maxMissing*maxAddress; kept > most || len(r.Errors) > maxErrors+1 {
				t.Errorf("%d errors and addresses of %d bytes are kept", len(r.Errors), kept)
			}
			t.Logf("%v, %d KiB, stopped %q, %d errors", took.Round(time.Millisecond), allocated>>10, r.Stopped, len(r.Errors))
		})
	}
}

func TestTreeIsBounded(t *testing.T) {
	tr := &tree{fs: site()}
	large := `{"a":"` + strings.Repeat("x", maxImportMap) + `"}`
	if err := tr.setImportMap(large); err == nil || tr.importMap != nil {
		t.Errorf("a large import map: %v, %d names", err, len(tr.importMap))
	}
	for range 3 {
		for _, address := range []string{"http://example.com/" + strings.Repeat("x", 1<<20), strings.Repeat("é", 1<<20), "data:" + strings.Repeat("x", 1<<20)} {
			if got := len(tr.read(address, "script")); got > 2*maxAddress {
				t.Errorf("an answer of %d bytes", got)
			}
		}
	}
	if len(tr.missing) != 2 || len(tr.missing[0]) > maxAddress+3 {
		t.Errorf("%d addresses are missing, the first has %d bytes", len(tr.missing), len(tr.missing[0]))
	}
}

// TestModulesInDataURLs imports what stands in the address itself, however long it is.
func TestModulesInDataURLs(t *testing.T) {
	address := func(code string) string {
		return "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(code))
	}
	inner := address("export let n = 0; export const next = () => ++n;" + strings.Repeat(" ", 40<<10))
	outer := address("import { next } from '" + inner + "'; next(); export default next;")
	r := visit(t, site("index.html", `<p id="a"></p><script type="module">import next from '`+outer+`'; import { n } from '`+inner+`';
import data from 'data:application/json,%7B%22x%22%3A5%7D' with { type: 'json' }; next(); a.textContent = n + ' ' + data.x;
const no = await import('data:text/javascript,import%20"./x.js"').catch((e) => e.message); a.textContent += ' ' + no;</script>`))
	if want := `2 5 cannot import "./x.js": a module from a data URL lies in no folder`; r.Text != want || !r.OK {
		t.Errorf("got %q, want %q; missing %q, errors %v", r.Text, want, r.Missing, r.Errors)
	}
	tr := &tree{fs: site()}
	if _, err := tr.keep("data:," + strings.Repeat("x", maxInline+1)); err == nil || tr.inlined != 0 {
		t.Errorf("more than is kept: %v, %d bytes", err, tr.inlined)
	}
}

// TestDataURLs loads what stands in the address itself, as an exported page does.
func TestDataURLs(t *testing.T) {
	r := visit(t, site("index.html", `<link rel="stylesheet" href="data:text/css,%23a%7Bdisplay%3Anone%7D"><p id="a">hidden</p><p id="b"></p>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAC"><script src="data:text/javascript;base64,Yi50ZXh0Q29udGVudCA9ICc8L3NjcmlwdD4n"></script>`))
	if !r.OK || r.Text != "</script>" {
		t.Errorf("got %q, missing %q, errors %v", r.Text, r.Missing, r.Errors)
	}
}
