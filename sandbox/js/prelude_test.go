package js

import (
	"strings"
	"testing"
)

// TestPrelude evaluates expressions of the prelude against what Node 20 and
// Chromium answer.
func TestPrelude(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"new URL('../a b?x=1#y', 'http://Ex.com:80/p/q/r').href", "http://ex.com/p/a%20b?x=1#y"},
		{"new URL('//b.org/%7Ex/../z', 'https://a.org').href", "https://b.org/z"},
		{"new URL('HTTP://user:pa ss@[::1]:8080/').href", "http://user:pa%20ss@[::1]:8080/"},
		{"new URL('http://0x7f.1/').hostname", "127.0.0.1"},
		{"new URL('mailto:a@b.c').pathname", "a@b.c"},
		{"new URL('data:text/plain,hi').protocol", "data:"},
		{"new URL('file:///C:/a/../b').href", "file:///C:/b"},
		{"new URL('http://[1:2::3:0:0:0]/').host", "[1:2:0:0:3::]"},
		{"new URL('?q', 'http://a.b/c?d#e').href", "http://a.b/c?q"},
		{"URL.canParse('nope') + ',' + URL.canParse('x', 'http://a')", "false,true"},
		{"try { new URL('nope') } catch (e) { e.name + ': ' + e.message }", "TypeError: Invalid URL: nope"},
		{"const u = new URL('http://a.b/?x=1'); u.searchParams.append('y', 'ä &'); u.href", "http://a.b/?x=1&y=%C3%A4+%26"},
		{"const u = new URL('http://a.b/c'); u.port = '99'; u.hash = 'h'; u.pathname = 'd e'; u.protocol = 'https'; u.href", "https://a.b:99/d%20e#h"},
		{"new URLSearchParams('a=1&b=2&a=3').getAll('a').join()", "1,3"},
		{"new URLSearchParams({q: 'a b', r: '+'}).toString()", "q=a+b&r=%2B"},
		{"[...new URLSearchParams('b=2&a=1')].join(';')", "b,2;a,1"},
		{"new TextEncoder().encode('aé€😀').join()", "97,195,169,226,130,172,240,159,152,128"},
		{"new TextEncoder().encode('\\ud800').join()", "239,191,189"},
		{"new TextDecoder().decode(new Uint8Array([0xef,0xbb,0xbf,0xe2,0x82,0xac,0xff,0x41]))", "€\ufffdA"},
		{"new TextDecoder().decode(new Uint8Array([0xe2,0x82]))", "\ufffd"},
		{"const d = new TextDecoder(); d.decode(new Uint8Array([0xe2,0x82]), {stream: true}) + d.decode(new Uint8Array([0xac]))", "€"},
		{"try { new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([0xff])) } catch (e) { e.name }", "TypeError"},
		{"btoa('hello') + atob('aGVsbG8=')", "aGVsbG8=hello"},
		{"const o = {d: new Date(5), m: new Map([[1, {x: /a/g}]]), s: new Set([1])}; o.self = o; const c = structuredClone(o); [c !== o, c.self === c, c.d.getTime(), c.m.get(1).x.flags, c.s.size].join()", "true,true,5,g,1"},
		{"try { structuredClone(() => {}) } catch (e) { e.name }", "DataCloneError"},
		{"structuredClone(new RangeError('x')) instanceof RangeError", "true"},
		{"(1234567.891).toLocaleString()", "1,234,567.891"},
		{"(0.256).toLocaleString('en-US', {style: 'percent'})", "26%"},
		{"(1234.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'})", "$1,234.50"},
		{"(-5).toLocaleString('en-US', {style: 'currency', currency: 'EUR'})", "-€5.00"},
		{"new Intl.NumberFormat('en', {maximumFractionDigits: 1}).format(1.25)", "1.3"},
		{"new Intl.NumberFormat('en', {notation: 'compact'}).format(1534)", "1.5K"},
		{"new Intl.NumberFormat('en', {minimumFractionDigits: 2}).format(3)", "3.00"},
		{"new Date(0).toLocaleDateString()", "1/1/1970"},
		{"new Date(0).toLocaleDateString('en-US', {weekday: 'long', year: 'numeric', month: 'long', day: 'numeric'})", "Thursday, January 1, 1970"},
		{"new Date(0).toLocaleTimeString('en-US', {hour: '2-digit', minute: '2-digit', hour12: false})", "00:00"},
		{"new Date(45e6).toLocaleTimeString()", "12:30:00\u202fPM"},
		{"['b', 'a', 'C', 'ä'].sort((x, y) => x.localeCompare(y)).join()", "a,ä,b,C"},
		{"['x10', 'x9'].sort(new Intl.Collator('en', {numeric: true}).compare).join()", "x9,x10"},
		{"new Intl.PluralRules('en', {type: 'ordinal'}).select(22)", "two"},
		{"new Intl.ListFormat('en').format(['a', 'b', 'c'])", "a, b, and c"},
		{"new Intl.RelativeTimeFormat('en', {numeric: 'auto'}).format(-1, 'day')", "yesterday"},
		{"[...new Intl.Segmenter('en', {granularity: 'word'}).segment('Hi you')].filter((s) => s.isWordLike).length", "2"},
		{"Intl.DateTimeFormat().resolvedOptions().timeZone", "UTC"},
		{"typeof queueMicrotask + typeof performance.now()", "functionnumber"},
		{"const a = []; setTimeout(() => a.push(2), 10); setTimeout(() => a.push(1), 5); const id = setTimeout(() => a.push(9), 1); clearTimeout(id); await new Promise((r) => setTimeout(r, 20)); a.join()", "1,2"},
		{"const a = []; setTimeout(() => a.push('t')); queueMicrotask(() => a.push('m')); a.push('s'); await new Promise((r) => setTimeout(r)); a.join()", "s,m,t"},
		{"let n = 0; const id = setInterval(() => { if (++n === 3) clearInterval(id) }, 10); await new Promise((r) => setTimeout(r, 100)); n", "3"},
		{"await new Promise((r) => setTimeout((a, b) => r(a + b), 1, 2, 3))", "5"},
		{"new Set(Array.from({length: 1000}, Math.random)).size > 990 && Array.from({length: 1000}, Math.random).every((x) => x >= 0 && x < 1)", "true"},
		{"/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", "true"},
		{"try { crypto.getRandomValues(new Uint8Array(70000)) } catch (e) { e.name }", "QuotaExceededError"},
	} {
		res := run(t, c.code)
		if res.Error != nil || res.Value.Display != c.want {
			t.Errorf("%s\n got %q (%v)\nwant %q", c.code, res.Value.Display, res.Error, c.want)
		}
	}
}

func TestConsole(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"console.log('a', 1, {b: [true]}, null, undefined)", "log: a 1 { b: [ true ] } null undefined"},
		{"console.log('%s is %d and %o %% %c!', 'x', 4.5, {a: 1}, 'css')", "log: x is 4.5 and { a: 1 } % !"},
		{"console.log('%s')", "log: %s"},
		{"console.info('i'); console.warn('w'); console.error('e'); console.debug('d')", "info: i|warn: w|error: e|debug: d"},
		{"console.group('g'); console.log('a\\nb'); console.groupEnd(); console.log('c')", "log: g|log:   a\n  b|log: c"},
		{"console.count(); console.count('x'); console.count(); console.countReset(); console.count()", "log: default: 1|log: x: 1|log: default: 2|log: default: 1"},
		{"console.assert(true, 'no'); console.assert(1 > 2, 'math %d', 3)", "error: Assertion failed: math 3"},
		{"console.time('t'); await new Promise((r) => setTimeout(r, 250)); console.timeEnd('t')", "log: t: 250ms"},
		{"console.timeEnd('never')", `warn: console: there is no timer "never"`},
		{"console.table([{a: 1}])", "log: ┌─────────┬───┐\n│ (index) │ a │\n├─────────┼───┤\n│ 0       │ 1 │\n└─────────┴───┘"},
		{"console.log(new Error('x').message, [new Error('y')].length)", "log: x 1"},
		{"console.log({f() {}, g: class A {}, s: Symbol('q'), [Symbol('k')]: 1})", "log: { f: [Function: f], g: [class A], s: Symbol(q), [Symbol(k)]: 1 }"},
		{"console.log([undefined, , null], Array(3), [[[[[[1]]]]]])", "log: [ undefined, <1 empty item>, null ] [ <3 empty items> ] [ [ [ [ [ [Array] ] ] ] ] ]"},
		{"console.log('it\\'s', [\"it's\"], ['\\n'])", `log: it's [ "it's" ] [ '\n' ]`},
		{"console.log(Object.create(null), new (class extends Map {})())", "log: [Object: null prototype] {} Map(0) {}"},
	} {
		res := run(t, c.code)
		var got []string
		for _, l := range res.Console {
			got = append(got, l.Level+": "+l.Text)
		}
		if g := strings.Join(got, "|"); g != c.want {
			t.Errorf("%s\n got %q (%v)\nwant %q", c.code, g, res.Error, c.want)
		}
	}
}
