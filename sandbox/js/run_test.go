package js

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestRunValues(t *testing.T) {
	for _, c := range []struct{ name, code, display, json string }{
		{"number", "6 * 7", "42", "42"},
		{"string is bare", "'a' + 'b'", "ab", `"ab"`},
		{"nested string is quoted", "['a']", "[ 'a' ]", `["a"]`},
		{"object", "({a: 1, 'b c': [1, {d: null}]})", "{ a: 1, 'b c': [ 1, { d: null } ] }", `{"a":1,"b c":[1,{"d":null}]}`},
		{"undefined", "let x = 1", "undefined", ""},
		{"function", "function f() {}; f", "[Function: f]", ""},
		{"map", "new Map([[1, 'a']])", "Map(1) { 1 => 'a' }", "{}"},
		{"set", "new Set([1, 2])", "Set(2) { 1, 2 }", "{}"},
		{"class instance", "class P { constructor() { this.x = 1 } }; new P()", "P { x: 1 }", `{"x":1}`},
		{"bigint", "10n ** 20n", "100000000000000000000n", ""},
		{"negative zero", "-0", "-0", "0"},
		{"cycle", "const a = {}; a.a = a; a", "{ a: [Circular *1] }", ""},
		{"date", "new Date(0)", "1970-01-01T00:00:00.000Z", `"1970-01-01T00:00:00.000Z"`},
		{"typed array", "new Uint8Array([1, 2])", "Uint8Array(2) [ 1, 2 ]", `{"0":1,"1":2}`},
		{"sparse", "[1, , 3]", "[ 1, <1 empty item>, 3 ]", "[1,null,3]"},
		{"getter is not called", "({get x() { throw 1 }})", "{ x: [Getter] }", ""},
		{"await", "await Promise.resolve(5)", "5", "5"},
		{"await a timer", "await new Promise((r) => setTimeout(() => r('late'), 3600e3 - 1))", "late", `"late"`},
		{"last statement is a block", "if (true) { 7 }", "7", "7"},
		{"virtual time", "const t = Date.now(); await new Promise((r) => setTimeout(r, 90e3)); Math.round((Date.now() - t) / 1000)", "90", "90"},
		{"busy wait ends", "const t = Date.now(); while (Date.now() - t < 200); 'done'", "done", `"done"`},
		{"start date", "new Date().toISOString().slice(0, 10)", "2025-01-01", `"2025-01-01"`},
		{"global this", "var g = 1; globalThis.g", "1", "1"},
		{"nothing leaks in", "[typeof process, typeof require, typeof host, typeof fetch, typeof std]", "[ 'undefined', 'undefined', 'undefined', 'undefined', 'undefined' ]", `["undefined","undefined","undefined","undefined","undefined"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := run(t, c.code)
			if res.Error != nil || !res.OK {
				t.Fatalf("error %v, stopped %q", res.Error, res.Stopped)
			}
			if res.Value.Display != c.display || string(res.Value.JSON) != c.json {
				t.Errorf("got %s and %s, want %s and %s", res.Value.Display, res.Value.JSON, c.display, c.json)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	for _, c := range []struct{ name, code, err, where string }{
		{"reference", "\n  nope()", "ReferenceError: nope is not defined", "script.js:2:3"},
		{"syntax", "let a = 1;\nlet b = ;", "SyntaxError: unexpected token in expression: ';'", "script.js:2:9"},
		{"thrown", "function f() {\n  throw new TypeError('bad')\n}\nf()", "TypeError: bad", "script.js:2:13"},
		{"thrown value", "throw {a: 1}", "Uncaught: { a: 1 }", ""},
		{"in a timer", "setTimeout(() => {\n null.x }, 5)", "TypeError: cannot read property 'x' of null", "script.js:2:2"},
		{"rejection", "Promise.reject(new RangeError('no'));\n1", "RangeError: no", "script.js:1:20"},
		{"rejection handled later", "const p = Promise.reject(1); await null; p.catch(() => {}); throw new Error('other')", "Error: other", "script.js:1:71"},
		{"cause", "throw new Error('a', {cause: new Error('b')})", "Error: a (cause: Error: b)", "script.js:1:34"},
		{"aggregate", "await Promise.any([Promise.reject(1), Promise.reject(2)])", "AggregateError: 1; 2", ""},
		{"await forever", "await new Promise(() => {})", "Error: the program waits at top level for a promise that nothing will settle", ""},
		{"a thrown SyntaxError is not a module", "// import x from 'y'\nimport('z').catch(() => {}); JSON.parse('{')", "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)", ""},
		{"custom name", "class E extends Error { name = 'Mine' }; throw new E('x')", "Mine: x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := run(t, c.code)
			if res.Error == nil || res.OK || res.Stopped != None {
				t.Fatalf("error %v, ok %v, stopped %q", res.Error, res.OK, res.Stopped)
			}
			if res.Error.Error() != c.err {
				t.Errorf("got %q, want %q", res.Error.Error(), c.err)
			}
			if c.where != "" && res.Error.Where() != c.where {
				t.Errorf("at %q, want %q; stack %q", res.Error.Where(), c.where, res.Error.Stack)
			}
			if strings.Contains(res.Error.Stack, "pooled:") {
				t.Errorf("the stack shows the prelude: %q", res.Error.Stack)
			}
		})
	}
}

func TestModules(t *testing.T) {
	files := fstest.MapFS{
		"a.js":            {Data: []byte("import { b } from './lib/b.js';\nexport const a = b + 1;\nexport default 'def'")},
		"lib/b.js":        {Data: []byte("import data from '../data.json';\nexport const b = data.n")},
		"data.json":       {Data: []byte(`{"n": 41, "__proto__": {"x": 1}}`)},
		"lib/err.js":      {Data: []byte("\nexport const x = 1;\nnull.y;")},
		"loop1.js":        {Data: []byte("import { two } from './loop2.js'; export const one = 1; export const get = () => two")},
		"loop2.js":        {Data: []byte("import { one } from './loop1.js'; export const two = 2; export const get = () => one")},
		"tla.js":          {Data: []byte("export const v = await new Promise((r) => setTimeout(() => r(9), 10))")},
		"lib/index.js":    {Data: []byte("export default 1")},
		"bad.json":        {Data: []byte("{nope")},
		"side/effects.js": {Data: []byte("console.log('side')")},
		"lib/where.js":    {Data: []byte("export default import.meta.url")},
	}
	for _, c := range []struct{ name, code, value, err string }{
		{"default export", "import { a } from './a.js';\nexport default a", "42", ""},
		{"named exports", "import d, { a } from './a.js'; export { a, d }", "{ a: 42, d: 'def' }", ""},
		{"dynamic in a script", "const m = await import('./a.js'); m.a", "42", ""},
		{"absolute path", "import { b } from '/lib/b.js'; export default b", "41", ""},
		{"cycle", "import { get } from './loop1.js'; export default get()", "2", ""},
		{"top-level await", "import { v } from './tla.js'; export default v", "9", ""},
		{"own address", "import w from './lib/where.js'; export default w + ' ' + import.meta.url", "file:///lib/where.js file:///main.js", ""},
		{"no exports", "import './side/effects.js'", "undefined", ""},
		{"last expression after imports", "// top\nimport d, { a as x } from './a.js'\nimport * as ns from \"./lib/b.js\";\n/* c */ import './side/effects.js'\nimport data from './data.json' with { type: 'json' };\n[d, x, ns.b, data.n].join()", "def,42,41,41", ""},
		{"imports over lines keep positions", "import {\n  a,\n} from './a.js';\nnull.x", "", "cannot read property"},
		{"missing name in a script", "import { zzz } from './a.js'; 1", "", "./a.js has no export named zzz"},
		{"imports and exports", "import { a } from './a.js'; export const two = a * 2", "{ two: 84 }", ""},
		{"a word that begins with import", "importantly = 3; importantly", "3", ""},
		{"missing", "import './gone.js'", "", "cannot import gone.js: there is no such file"},
		{"hint", "import './a'", "", "did you mean a.js?"},
		{"hint for a folder", "import './lib'", "", "did you mean lib/index.js?"},
		{"bare", "import 'lodash'", "", `cannot import "lodash"`},
		{"outside", "import '../../etc/passwd'", "", "outside the file tree"},
		{"outside from the root", "await import('/../etc/passwd')", "", "cannot import etc/passwd"},
		{"address", "import 'https://x.example/a.js'", "", "only files of the tree"},
		{"error in a module", "import './lib/err.js'", "", "cannot read property 'y' of null"},
		{"bad json", "import x from './bad.json'; x", "", "Expected property name"},
		{"missing export", "import { zzz } from './a.js'", "", "zzz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := shared.Run(t.Context(), Program{Code: c.code, Filename: "main.js", Files: files}, Limits{}, Capabilities{})
			if err != nil {
				t.Fatal(err)
			}
			if c.err == "" {
				if res.Error != nil || res.Value.Display != c.value {
					t.Errorf("got %q and error %v, want %q", res.Value.Display, res.Error, c.value)
				}
				return
			}
			if res.Error == nil || !strings.Contains(res.Error.Error(), c.err) {
				t.Errorf("got error %v, want %q", res.Error, c.err)
			}
		})
	}
	res, err := shared.Run(t.Context(), Program{Code: "import './lib/err.js'", Files: files}, Limits{}, Capabilities{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Error.Where(), "lib/err.js:3:1"; got != want {
		t.Errorf("error at %s, want %s", got, want)
	}
}

func TestImportsKeepLines(t *testing.T) {
	const code = "import {\n  a,\n  b as c,\n} from './m.js'; import x from \"./x.js\"\nlast"
	out, ok := dynamicImports(code)
	if !ok || strings.Count(out, "\n") != strings.Count(code, "\n") || !strings.HasSuffix(out, "\nlast") {
		t.Errorf("got %q, %v", out, ok)
	}
	for _, code := range []string{"1", "export const a = 1", "let a; import './x.js'", "import { 'a b' as c } from './x.js'", "import.meta.url", "import('./x.js')"} {
		if out, ok := dynamicImports(code); ok {
			t.Errorf("%q became %q", code, out)
		}
	}
}

func TestCapabilities(t *testing.T) {
	if _, err := ParseCapabilities([]string{"clock", "net"}); !errors.Is(err, ErrCapability) || !strings.Contains(err.Error(), "clock, random") {
		t.Errorf("unknown capability: %v", err)
	}
	both, err := ParseCapabilities([]string{"clock", "random"})
	if err != nil || both != (Capabilities{Clock: true, Random: true}) {
		t.Errorf("got %+v, %v", both, err)
	}
	value := func(code string, c Capabilities) string {
		t.Helper()
		res, err := shared.Run(t.Context(), Program{Code: code}, Limits{}, c)
		if err != nil || !res.OK {
			t.Fatalf("%v %+v", err, res)
		}
		return res.Value.Display
	}
	const draw = "[Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint32Array(2)).join()].join()"
	if a, b := value(draw, Capabilities{}), value(draw, Capabilities{}); a != b {
		t.Errorf("ungranted randomness differs: %s and %s", a, b)
	}
	if a, b := value(draw, Capabilities{Random: true}), value(draw, Capabilities{Random: true}); a == b {
		t.Errorf("granted randomness repeats: %s", a)
	}
	year := time.Now().UTC().Format("2006")
	if got := value("new Date().getUTCFullYear()", Capabilities{Clock: true}); got != year {
		t.Errorf("granted clock shows %s, want %s", got, year)
	}
	began := time.Now()
	value("await new Promise((r) => setTimeout(r, 60)); 1", Capabilities{Clock: true})
	if took := time.Since(began); took < 55*time.Millisecond {
		t.Errorf("a real timer of 60 ms took %v", took)
	}
	res, err := shared.Run(t.Context(), Program{Code: "setTimeout(() => {}, 60e3)"}, Limits{Time: 50 * time.Millisecond}, Capabilities{Clock: true})
	if err != nil || res.Stopped != Timeout {
		t.Errorf("a real wait beyond the limit: %v, stopped %q", err, res.Stopped)
	}
}

func TestTimersAreBounded(t *testing.T) {
	res, err := shared.Run(t.Context(), Program{Code: "let n = 0; setInterval(() => n++, 1000); setTimeout(() => console.log(n), 59.5 * 60e3)"}, Limits{}, Capabilities{})
	if err != nil || !res.OK {
		t.Fatalf("%v %+v", err, res)
	}
	if len(res.Console) != 2 || res.Console[0].Text != "3570" || res.Console[1].Level != "warn" {
		t.Errorf("console %v", res.Console)
	}
}

func TestConsoleStreams(t *testing.T) {
	var lines []Line
	_, err := shared.Run(t.Context(), Program{
		Code:    "console.log('a'); console.warn('b'); throw 1",
		Console: func(l Line) { lines = append(lines, l) },
	}, Limits{}, Capabilities{})
	if err != nil || len(lines) != 2 || lines[1] != (Line{"warn", "b"}) {
		t.Errorf("got %v, %v", lines, err)
	}
}

func TestCancel(t *testing.T) {
	for _, code := range []string{"for(;;);", "new Array(4294967295).join('')", "await new Promise(()=>{ for(;;); })"} {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
		began := time.Now()
		_, err := shared.Run(ctx, Program{Code: code}, Limits{}, Capabilities{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 300*time.Millisecond {
			t.Errorf("%s: %v after %v", code, err, time.Since(began))
		}
		cancel()
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for _, l := range []Limits{{Memory: 1}, {Memory: 4 << 30}, {Memory: -1}, {Stack: 1 << 20}, {Time: -1}, {Output: -1}} {
		if _, err := shared.Run(t.Context(), Program{}, l, Capabilities{}); !errors.Is(err, ErrLimits) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	res, err := shared.Run(t.Context(), Program{Code: "1"}, Limits{Memory: MinMemory}, Capabilities{})
	if err != nil || !res.OK {
		t.Errorf("the least memory: %v %+v", err, res)
	}
}
