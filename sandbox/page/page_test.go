package page

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pooled/pooled/sandbox/js"
)

func TestProbe(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	eng, err := js.NewRuntime(ctx, js.RuntimeOptions{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close(context.Background())
	for range 2 {
		t0 := time.Now()
		_, err = NewRuntime(ctx, eng)
		t.Log(time.Since(t0), err)
	}
	rt, err := NewRuntime(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(rt.image.Size())
	files := fstest.MapFS{
		"index.html": {Data: []byte(`<!DOCTYPE html>
<html><head><title>Hi</title><link rel="stylesheet" href="s.css"><script>
 document.getElementById('n').textContent='x';
</script></head><body>
<h1 class="big">Hello</h1><p id="n">0</p><p class="hid">secret</p>
<button id="add" onclick="add()">Add</button><button onclick="nope()">Bad</button>
<form id="f"><input name="q" value="a"><button>Go</button></form><canvas id="c"></canvas><img src="x.png">
<script>
let n = 0;
function add() { n++; document.getElementById('n').textContent = n; localStorage.setItem('n', n); }
document.getElementById('f').onsubmit = function (e) { console.log('submit', this.q.value); return false; };
const c = document.getElementById('c').getContext('2d'); c.fillStyle='red'; c.fillRect(1,2,3,4);
setTimeout(() => { document.title = 'Later'; fetch('d.json').then(r => r.json()).then(d => console.log(d)); undefinedThing; }, 100);
</script><script type="module" src="m.js"></script></body></html>`)},
		"s.css": {Data: []byte(".hid{display:none}")}, "d.json": {Data: []byte(`{"a":1}`)},
		"m.js": {Data: []byte("import {x} from './lib/x.js';\nconsole.log('module', x, document.readyState);\nimport('./nope.js');")}, "lib/x.js": {Data: []byte("export const x = 5")},
	}
	for i := range 3 {
		t0 := time.Now()
		p, err := rt.Open(ctx, files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Log("open", time.Since(t0))
		if i == 2 {
			for _, a := range []string{"click:#add", "click:Add", "click:Bad", "type:[name=q]=hey", "key:Enter", "click:#zzz"} {
				ac, err := ParseAction(a)
				t.Log(a, err, p.Do(ctx, ac))
			}
			t0 = time.Now()
			r := p.Report()
			t.Logf("%v ok=%v title=%q url=%s stopped=%q missing=%q\ntext:\n%s\ndom:\n%s\n%q %v %v", time.Since(t0), r.OK, r.Title, r.URL, r.Stopped, r.Missing, r.Text, r.DOM, r.Console, r.LocalStorage, r.Canvases)
			for _, e := range r.Errors {
				t.Logf("%s %s %s | %q", e.Kind, e.Where(), e.Error.Error(), e.Stack)
			}
		}
		p.Close()
	}
}
