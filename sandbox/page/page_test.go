package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pooled/pooled/sandbox/internal/cputime"
	"github.com/pooled/pooled/sandbox/js"
)

// shared is the runtime of all tests here: what one page does to it would show in another.
var shared *Runtime

func TestMain(m *testing.M) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "pooled-page-test")
	var engine *js.Runtime
	if err == nil {
		engine, err = js.NewRuntime(ctx, js.RuntimeOptions{CacheDir: dir})
	}
	if err == nil {
		shared, err = NewRuntime(ctx, engine)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = engine.Close(ctx)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// site is a tree of files given as name, text, name, text.
func site(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

// visit opens a page, does the actions, and reports.
func visit(t testing.TB, files fstest.MapFS, actions ...string) *Report {
	t.Helper()
	p, err := shared.Open(t.Context(), files, Options{Limits: js.Limits{Time: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, text := range actions {
		a, err := ParseAction(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Do(t.Context(), a); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return p.Report()
}

// summary is a report in one string: errors, missing files, console.
func summary(r *Report) string {
	var out []string
	for _, e := range r.Errors {
		out = append(out, fmt.Sprintf("%s %s %s", e.Kind, e.Where(), e.Error.Error()))
	}
	for _, m := range r.Missing {
		out = append(out, "missing "+m)
	}
	for _, l := range r.Console {
		out = append(out, l.Level+" "+l.Text)
	}
	return strings.Join(out, "\n")
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   fstest.MapFS
		actions []string
		text    string
		log     string
	}{
		{
			name: "counter",
			files: site("index.html", `<h1>Counter</h1><p id="n">0</p><button id="add" onclick="count()">Add</button>
<script>let n = 0; function count() { document.querySelector('#n').textContent = ++n; }</script>`),
			actions: []string{"click:#add", "click:Add"},
			text:    "Counter\n2\nAdd",
		},
		{
			name: "a script in the head runs before the body",
			files: site("index.html", `<!DOCTYPE html><html><head>
<script>console.log(document.readyState, document.body === null);
document.getElementById('late').textContent = 'x';</script></head>
<body><p id="late">here</p></body></html>`),
			text: "here",
			log:  "uncaught index.html:3:10 TypeError: cannot set property 'textContent' of null\nlog loading true",
		},
		{
			name: "order of scripts and events",
			files: site("index.html", `<head><script src="a.js"></script><script src="d.js" defer></script><script type="module" src="m.js"></script></head>
<body><script>console.log('inline'); document.addEventListener('DOMContentLoaded', () => console.log('ready')); addEventListener('load', () => console.log('load', document.readyState));</script></body>`,
				"a.js", "console.log('a', document.currentScript.src)", "d.js", "console.log('deferred', document.readyState)", "m.js", "console.log('module', document.currentScript)"),
			log: "log a http://app.local/a.js\nlog inline\nlog deferred interactive\nlog module null\nlog ready\nlog load complete",
		},
		{
			name: "modules",
			files: site("index.html", "<p id=out></p>\n<script type=importmap>{\"imports\": {\"lib\": \"./vendor/lib.js\", \"pkg/\": \"/vendor/\"}}</script>\n<script type=module>\nimport { x } from './src/x.js';\nimport lib from 'lib';\nimport data from './data.json' with { type: 'json' };\nimport 'pkg/side.js';\nout.textContent = x + lib + data.n;\n</script>",
				"src/x.js", "export { x } from './y.js'", "src/y.js", "export const x = 'x'", "vendor/lib.js", "export default 'lib'", "vendor/side.js", "console.log('side')", "data.json", `{"n": 7}`),
			text: "xlib7",
			log:  "log side",
		},
		{
			name: "module errors",
			files: site("index.html", "\n<script type=module>\nimport './gone.js'\n</script><script type=module>\n  nope\n</script><script type=module src=m.js></script>",
				"m.js", "import x from 'react'"),
			log: "uncaught  Error: cannot import gone.js: there is no such file\nuncaught index.html:5:3 ReferenceError: nope is not defined\nuncaught  Error: cannot import \"react\": a name without ./ needs an import map, and there are no packages here\nmissing gone.js",
		},
		{
			name: "forms",
			files: site("index.html", `<form id="f"><input name="who" required><select name="s"><option>a<option value="bb">b</select><input type="checkbox" name="c"><textarea name="t"></textarea><button>Send</button></form>
<script>f.addEventListener('submit', (e) => { e.preventDefault(); console.log(JSON.stringify(Object.fromEntries(new FormData(e.target)))); });
document.querySelector('input').addEventListener('change', (e) => console.log('change', e.target.value));
document.querySelector('select').onchange = function () { console.log('select', this.value); };</script>`),
			actions: []string{"click:Send", "type:[name=who]=Ada", "type:select=b", "click:[name=c]", "type:[name=t]=x", "click:Send"},
			log:     "info the form is not submitted: <input name=\"who\">: Please fill out this field.\nlog change Ada\nlog select bb\nlog {\"who\":\"Ada\",\"s\":\"bb\",\"c\":\"on\",\"t\":\"x\"}",
		},
		{
			name:    "enter submits, false cancels",
			files:   site("index.html", `<form onsubmit="console.log('sent', this.q.value, event.type); return false"><input name="q"></form>`),
			actions: []string{"type:[name=q]=hi", "key:Enter"},
			log:     "log sent hi submit",
		},
		{
			name: "keys",
			files: site("index.html", `<script>addEventListener('keydown', (e) => console.log(e.key, e.code, e.keyCode));
document.addEventListener('keyup', (e) => console.log('up', e.key));</script>`),
			actions: []string{"key:ArrowLeft", "key:a"},
			log:     "log ArrowLeft ArrowLeft 37\nlog up ArrowLeft\nlog a KeyA 65\nlog up a",
		},
		{
			name: "storage, fetch, XHR, styles",
			files: site("index.html", `<link rel="stylesheet" href="s.css"><p id="p" class="gone">hidden</p><p>shown</p>
<script>localStorage.setItem('k', 'v'); sessionStorage.s = 1;
fetch('./d.json').then((r) => r.json()).then((d) => console.log(d.a, getComputedStyle(p).display));
fetch('none.txt').then((r) => console.log(r.status, r.ok));
fetch('https://api.example/x').catch((e) => console.log(e.name, e.message));
fetch('d.json', {method: 'POST', body: '{}'}).then((r) => console.log(r.status));
const x = new XMLHttpRequest(); x.onload = () => console.log('xhr', x.status, x.responseText); x.open('GET', '/t.txt'); x.send();
console.log(localStorage.getItem('k'), localStorage.length);</script>`,
				"s.css", ".gone { display: none }", "d.json", `{"a": 1}`, "t.txt", "text"),
			text: "shown",
			log:  "missing none.txt\nmissing https://api.example/x\nlog v 1\nlog 1 none\nlog 404 false\nlog TypeError Failed to fetch: there is no network here: https://api.example/x\nlog 405\nlog xhr 200 text",
		},
		{
			name: "errors know their line",
			files: site("index.html", "<button id=a onclick=\"alpha()\">A</button>\n<button id=b\n  onclick='let x = 1; x.y.z'>B</button><script src=\"js/app.js\"></script>\n<script>\n\nsetTimeout(() => { later() }, 10);\nPromise.reject(new Error('unheard'));\n</script>",
				"js/app.js", "\n\nfunction alpha() {\n  beta();\n}\n"),
			actions: []string{"click:#a", "click:#b"},
			log:     "rejection index.html:7:20 Error: unheard\nuncaught index.html:6:20 ReferenceError: later is not defined\nuncaught js/app.js:4:3 ReferenceError: beta is not defined\nuncaught index.html:3:23 TypeError: cannot read property 'z' of undefined",
		},
		{
			name:  "syntax error in one script spares the next",
			files: site("index.html", "<script>\nlet = = 3;\n</script><script>console.log('next')</script>"),
			log:   "uncaught index.html:2:7 SyntaxError: unexpected token in expression: '='\nlog next",
		},
		{
			name: "error events",
			files: site("index.html", `<script>window.onerror = (m, f, l, c, e) => { console.log(m, f, l, e instanceof TypeError); return true; };
addEventListener('unhandledrejection', (e) => { console.log('unhandled', e.reason.message); e.preventDefault(); });
Promise.reject(new Error('r'));
null.x;</script>`),
			log: "log Uncaught TypeError: cannot read property 'x' of null index.html 4 true\nlog unhandled r",
		},
		{
			name: "missing files",
			files: site("index.html", `<link rel=stylesheet href=no.css><script src=no.js onerror="console.log('script error')"></script><img src="img/no.png" onerror="this.alt='fallback'">
<script>const i = new Image(); i.onload = () => console.log(i.naturalWidth); i.src = 'p.gif';</script>`,
				"p.gif", "GIF89a\x07\x00\x05\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"),
			text: "fallback",
			log:  "missing no.css\nmissing no.js\nmissing img/no.png\nlog script error\nlog 7",
		},
		{
			name: "inserted scripts and named elements",
			files: site("index.html", `<div id="box"></div><script>
box.innerHTML = '<script>console.log("never")<\/script><b onclick="console.log(1, this.id)" id="bold">x</b>';
const s = document.createElement('script'); s.src = 'x.js'; s.onload = () => console.log('loaded', window.fromX); document.head.append(s);
const t = document.createElement('script'); t.textContent = 'console.log("inline inserted")'; document.body.append(t);</script>`,
				"x.js", "window.fromX = 1"),
			actions: []string{"click:#bold"},
			text:    "x",
			log:     "log inline inserted\nlog loaded 1\nlog 1 bold",
		},
		{
			name: "time",
			files: site("index.html", `<p id=t></p><script>let n = 0; const step = (ms) => { n++; if (n < 5) requestAnimationFrame(step); else t.textContent = Math.round(ms); };
requestAnimationFrame(step); setTimeout(() => console.log('late'), 5000);</script>`),
			actions: []string{"wait:4s"},
			text:    "83",
			log:     "log late",
		},
		{
			name: "canvas",
			files: site("index.html", `<canvas id="c" width="200" height="100"></canvas><script>
const g = document.getElementById('c').getContext('2d'); g.fillStyle = '#f00'; g.fillRect(0, 0, 10.126, 10); g.font = '20px Arial'; g.fillText('Score: 3', 5, 20);
g.beginPath(); g.arc(50, 50, 5, 0, 7); g.fill(); console.log(g.measureText('abcd').width, g.canvas.width, g.fillStyle); g.fillRect(1);</script>`),
			log: "uncaught index.html:3:123 TypeError: Failed to execute 'fillRect' on 'CanvasRenderingContext2D': 4 arguments required, but only 1 present.\nlog 40 200 #f00",
		},
		{
			name: "markup as browsers read it",
			files: site("index.html", `<title>a<b</title><p>one<p>two<table><tr><td>x</table><textarea><b>raw</b></textarea><svg viewBox="0 0 1 1"><circle r=1></svg>
<script>if (1<<2 > 3 && 2<3) console.log('</div>', '<!-- no', document.title, document.querySelectorAll('p').length, document.querySelector('tbody') !== null, document.querySelector('circle').namespaceURI, document.querySelector('svg').getAttribute('viewBox'))</script><!-- <script>never()</script> --><br></br><a"b>odd</a"b>`),
			log: "log </div> <!-- no a<b 2 true http://www.w3.org/2000/svg 0 0 1 1",
		},
		{
			name:  "classes of the window",
			files: site("index.html", "<svg id=s></svg><script>const e = document.createElement('div'); class Mine extends EventTarget {}\nconsole.log([document instanceof Document, document instanceof Node, e instanceof HTMLElement, e instanceof EventTarget, s instanceof SVGElement, window instanceof Window, new Mine() instanceof Mine, new Mine() instanceof EventTarget].every(Boolean), e instanceof Mine, e instanceof Document, window === self && self === top, this === window)</script>"),
			log:   "log true false false true true",
		},
		{
			name: "sizes are plausible",
			files: site("index.html", `<canvas id="c" width="320" height="200"></canvas><div id="d" style="width: 50px"><p id="p">x</p></div>
<script>console.log(innerWidth, c.clientWidth, c.getBoundingClientRect().height, p.offsetWidth, document.createElement('p').offsetWidth, document.body.clientHeight)</script>`),
			log: "log 1280 320 200 50 0 720",
		},
		{
			name: "custom elements and templates",
			files: site("index.html", `<script>customElements.define('x-hi', class extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<p>Hi ' + this.getAttribute('name') + '</p>'; } });</script>
<x-hi name="Ada"></x-hi><template id="t"><i>from template</i></template><script>document.body.append(t.content.cloneNode(true));</script>`),
			text: "Hi Ada\nfrom template",
		},
		{
			name:    "dialogs and navigation",
			files:   site("index.html", `<script>alert('hey'); console.log(confirm('sure?'), prompt('name?', 'Bo'));</script><a href="other.html">go</a><a href="#part" id="h">part</a><script>addEventListener('hashchange', () => console.log(location.hash))</script>`),
			actions: []string{"click:go", "click:#h"},
			text:    "gopart",
			log:     "info alert: hey\ninfo confirm: sure? → OK\ninfo prompt: name? → Bo\nlog true Bo\ninfo navigation to http://app.local/other.html is not followed here\nlog #part",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := visit(t, c.files, c.actions...)
			if got := summary(r); got != c.log {
				t.Errorf("report\n%s\nwant\n%s", got, c.log)
			}
			if c.text != "" && r.Text != c.text {
				t.Errorf("text %q, want %q", r.Text, c.text)
			}
			if r.Stopped != js.None {
				t.Errorf("stopped %q", r.Stopped)
			}
		})
	}
}

func TestReport(t *testing.T) {
	p, err := shared.Open(t.Context(), site("sub/app.html", `<title>Hello</title><main class="m"><h1>Hi</h1><input id="i" value="v"><canvas id="c"></canvas></main>
<script>document.title += ' ' + localStorage.getItem('a') + location.pathname; localStorage.b = 2; document.querySelector('canvas').getContext('2d').fillRect(0, 0, 1, 1); for (let i = 0; i < 5; i++) setTimeout(() => nope(), 1);</script>`),
		Options{Entry: "sub/app.html", LocalStorage: map[string]string{"a": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := p.Report()
	if r.OK || r.Title != "Hello 1/sub/app.html" || r.URL != "http://app.local/sub/app.html" {
		t.Errorf("ok %v, title %q, url %q", r.OK, r.Title, r.URL)
	}
	const dom = `<body>
  <main class="m">
    <h1> Hi
    <input id="i" value="v">
    <canvas id="c"> drew fillRect×1`
	if r.DOM != dom {
		t.Errorf("dom\n%s\nwant\n%s", r.DOM, dom)
	}
	if len(r.Errors) != 1 || r.Repeats != 4 {
		t.Errorf("%d errors and %d repeats, want 1 and 4", len(r.Errors), r.Repeats)
	}
	if r.LocalStorage["b"] != "2" || len(r.Canvases) != 1 || r.Canvases[0].Ops["fillRect"] != 1 {
		t.Errorf("storage %v, canvases %v", r.LocalStorage, r.Canvases)
	}
	if clean := visit(t, site("index.html", "<p>fine</p>")); !clean.OK {
		t.Errorf("a clean page is not ok: %s", summary(clean))
	}
}

func TestActionErrors(t *testing.T) {
	p, err := shared.Open(t.Context(), site("index.html", "<button disabled id=d>x</button><p id=p>y</p>"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, text := range []string{"click:#none", "click:#d", "type:#p=x", "click:[[", "submit:#none"} {
		a, err := ParseAction(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Do(t.Context(), a); !errors.Is(err, ErrAction) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "click", "click:", "fly:#x", "type:#x", "wait:soon", "wait:-5s", "wait:9h"} {
		if _, err := ParseAction(text); !errors.Is(err, ErrAction) {
			t.Errorf("ParseAction(%q): %v", text, err)
		}
	}
	a, err := ParseAction(`type:input[name="a=b"]=c=d`)
	if err != nil || a.Target != `input[name="a=b"]` || a.Text != "c=d" {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := shared.Open(t.Context(), site(), Options{}); !errors.Is(err, ErrEntry) {
		t.Errorf("no entry: %v", err)
	}
}

// TestHostilePages must end in time, say why, and leave the next page alone.
func TestHostilePages(t *testing.T) {
	limits := js.Limits{Time: 150 * time.Millisecond, Memory: 32 << 20, Output: 64 << 10}
	const either js.Stop = "any" // which limit ends it depends on the machine
	for _, c := range []struct {
		name, html string
		want       js.Stop
	}{
		{"loop", "<script>for(;;);</script>", js.Timeout},
		{"loop in a catch", "<script>for(;;)try{for(;;);}catch{}</script>", js.Timeout},
		{"built-in", "<script>new Array(4294967295).join('')</script>", js.Timeout},
		{"microtasks", "<script>(function f(){Promise.resolve().then(f)})()</script>", js.Timeout},
		{"loop in an event", "<script>addEventListener('load',()=>{for(;;);})</script>", js.Timeout},
		{"loop in a mutation observer", "<script>new MutationObserver(()=>{document.body.append('x')}).observe(document.documentElement,{childList:true,subtree:true});document.documentElement.append('y')</script>", js.Timeout},
		{"loop in onerror", "<script>onerror=()=>{for(;;);};null.x</script>", js.Timeout},
		{"throw in onerror", "<script>onerror=()=>{throw 1};null.x</script>", js.None},
		{"heap", "<script>let a=[];for(;;)a.push(new ArrayBuffer(1<<20))</script>", js.Memory},
		{"dom flood", "<script>for(;;)document.body.append(document.createElement('div'))</script>", either},
		{"text flood", "<script>for(;;)document.write('<p>x</p>')</script>", either},
		{"attribute flood", "<script>for(let i=0;;i++)document.documentElement.setAttribute('a'+i,'x')</script>", either},
		{"console flood", "<script>for(;;)console.log('x'.repeat(100))</script>", js.Output},
		{"fetch flood", "<script>for(;;)fetch('x')</script>", either},
		{"scripts that insert scripts", "<script>window.f=()=>{const s=document.createElement('script');s.textContent='f()';document.body.append(s)};addEventListener('load',f)</script>", js.Timeout},
		{"timers", "<script>(function f(){setTimeout(f,0);setTimeout(f,0)})()</script>", js.Timeout},
		{"frames", "<script>(function f(){requestAnimationFrame(f);for(let i=0;i<1e4;i++);})()</script>", js.None},
		{"deep nesting", strings.Repeat("<div>", 20000), either},
		{"deep inline", strings.Repeat("<b>", 5000) + "x", either},
		{"wide", strings.Repeat("<p>x</p>", 20000), either},
		{"attributes", "<p " + strings.Repeat("a=b ", 50000) + ">", either},
		{"many handlers", strings.Repeat(`<b onclick="x()">y</b>`, 3000), either},
		{"entities", strings.Repeat("&amp;&#x1F600;&nonsense;", 20000), either},
		{"unclosed", "<script>for(", js.None},
		{"unclosed comment", "<!-- " + strings.Repeat("x", 100000), js.None},
		{"css", "<style>" + strings.Repeat("a{b:c}", 20000) + "</style><p>x</p>", either},
		{"css evil", "<style>" + strings.Repeat("@media{", 5000) + "</style><p>x</p>", either},
		{"selector", "<script>document.querySelector(':not('.repeat(5000)+'a'+')'.repeat(5000))</script>", either},
		{"delete everything", "<script>for(const k of Reflect.ownKeys(globalThis))try{delete globalThis[k]}catch{}</script>", js.None},
		{"break the DOM", "<script>for(const k of Object.getOwnPropertyNames(Node.prototype))try{Node.prototype[k]=null}catch{}</script><p>x</p>", js.None},
		{"break the array", "<script>Array.prototype.push=Array.prototype.map=Array.prototype[Symbol.iterator]=()=>{throw 1}</script><p>x</p>", either},
		{"break the object", "<script>Object.prototype.get=Object.prototype.set=Object.prototype.value=7;Object.defineProperty=()=>{throw 1}</script><p>x</p>", either},
		{"title getter", "<script>Object.defineProperty(document,'title',{get(){for(;;);}})</script>", either},
		{"childNodes getter", "<script>Object.defineProperty(Node.prototype,'childNodes',{get(){for(;;);}})</script><p>x</p>", either},
		{"import itself", "<script type=module>await import('./index.html?'+Math.random()).catch(()=>{});for(;;)await import('./x'+Math.random()).catch(()=>{})</script>", either},
		{"markup flood", "<body><script>for(;;)document.body.innerHTML+='<b>x</b>'</script>", either},
		{"large markup", "<body><script>for(;;)document.body.innerHTML='<b>x'.repeat(60000)</script>", either},
		{"deep markup", "<body><script>for(;;)document.body.innerHTML='<div>'.repeat(40000)</script>", either},
		{"written scripts", "<script>f=()=>document.write('<script>f()<\\/script>');f()</script>", either},
		{"handlers that make handlers", "<body><script>f=()=>{const b=document.createElement('b');b.setAttribute('onclick','f()//'+Math.random());document.body.append(b);b.click()};f()</script>", js.None},
		{"a script in a script in a catch", "<body><script>f=()=>{for(;;)try{const s=document.createElement('script');s.textContent='f()';document.body.append(s)}catch{}};f()</script>", js.Timeout},
		{"a script that fills memory, in a script", "<body><script>const s=document.createElement('script');s.textContent='let a=[];for(;;)a.push(new ArrayBuffer(1<<20))';try{document.body.append(s)}catch{};for(;;);</script>", either},
		{"worker, socket, frame", "<iframe src=index.html></iframe><script>try{new Worker('x.js')}catch{};try{new WebSocket('ws://x')}catch{};open('http://x');location='http://y'</script>", js.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limits, most := limits, limits.Time+600*time.Millisecond
			if c.want != either && c.want != js.Timeout {
				limits.Time = time.Minute // so that a busy machine does not end it first
				most = 5 * time.Second
			}
			var p *Page
			var r *Report
			var err error
			// Processor time: a busy machine adds to the wall time what is no fault of ours.
			took := cputime.Of(func() { p, err = shared.Open(t.Context(), site("index.html", c.html), Options{Limits: limits}) })
			if err != nil {
				t.Fatal(err)
			}
			if took > most {
				t.Errorf("loading took %v, want at most %v", took, most)
			}
			looked := cputime.Of(func() { r = p.Report() })
			p.Close()
			if most := viewTime + 600*time.Millisecond; looked > most {
				t.Errorf("looking at the page took %v, want at most %v", looked, most)
			}
			if c.want != either && r.Stopped != c.want {
				t.Errorf("stopped %q, want %q; %.300s", r.Stopped, c.want, summary(r))
			}
			for _, e := range r.Errors {
				if e.Name == "SandboxError" {
					t.Errorf("the engine crashed: %v", e.Error.Error())
				}
			}
			t.Logf("%v %q %.200q", took.Round(time.Millisecond), r.Stopped, summary(r))
			if next := visit(t, site("index.html", "<p id=a>1</p><script>a.textContent = [1, 2].map((x) => x * 2)</script>")); next.Text != "2,4" || !next.OK {
				t.Errorf("the next page shows %q, %s", next.Text, summary(next))
			}
		})
	}
}

func TestTreeIsConfined(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/secret.txt", []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/app", 0o700); err != nil {
		t.Fatal(err)
	}
	page := `<script>const seen = [];
for (const u of ['../secret.txt', '/../secret.txt', '%2e%2e/secret.txt', '..%2fsecret.txt', 'file:///etc/passwd', 'link.txt', '//app.local:81/x', 'http://app.local@evil.example/']) {
  const x = new XMLHttpRequest(); try { x.open('GET', u, false); x.send(); seen.push(x.status + x.responseText); } catch (e) { seen.push(e.name); } }
console.log(seen.join('|').includes('secret') && !seen.join('|').includes('no file') || seen.some((s) => s.includes('root:')));</script>`
	if err := os.WriteFile(dir+"/app/index.html", []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret.txt", dir+"/app/link.txt"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	root, err := os.OpenRoot(dir + "/app")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	p, err := shared.Open(t.Context(), root.FS(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if r := p.Report(); len(r.Console) != 1 || r.Console[0].Text != "false" {
		t.Errorf("the page read outside its tree: %s", summary(r))
	}
}

func TestSeedsDiffer(t *testing.T) {
	files := site("index.html", "<script>console.log(Math.random(), performance.now() < 1000)</script>")
	draw := func(c js.Capabilities) string {
		p, err := shared.Open(t.Context(), files, Options{Capabilities: c, Settle: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return summary(p.Report())
	}
	if a, b := draw(js.Capabilities{}), draw(js.Capabilities{}); a != b || !strings.HasSuffix(a, "true") {
		t.Errorf("without a grant: %q and %q", a, b)
	}
	if a, b := draw(js.Capabilities{Random: true}), draw(js.Capabilities{Random: true}); a == b {
		t.Errorf("granted randomness repeats: %q", a)
	}
}

func BenchmarkOpen(b *testing.B) {
	files := site("index.html", "<p id=a>1</p><script>a.textContent = 2</script>")
	for b.Loop() {
		p, err := shared.Open(b.Context(), files, Options{})
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}
