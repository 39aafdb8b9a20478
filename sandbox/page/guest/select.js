// Selectors: the one engine behind querySelector, matches, closest and style sheets.
// A list is parsed once into tests of elements, and kept by its text.
// Source: Selectors 4; HTML standard, 4.16.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { document } = page;
  const g = globalThis;
  const html = 'http://www.w3.org/1999/xhtml';
  const maxDepth = 40; // :is(:not(:is(…))); more is no selector
  const maxKept = 2000; // parsed lists

  class Invalid extends Error {}
  const fail = (text) => {
    throw new Invalid(text);
  };

  // What happens to the tree: everything that is remembered of it is dropped when this moves.
  page.version = 0;
  const nodes = host.owner(P.clearCache, g.Node.prototype);
  const clearCache = nodes[P.clearCache];
  nodes[P.clearCache] = function () {
    page.version++;
    host.apply(clearCache, this, []);
  };

  const parentOf = (el) => {
    const p = el[P.parentNode];
    return p && p[P.nodeType] === 1 ? p : null;
  };
  const siblingsOf = (el) => el[P.parentNode]?.[P.elementArray] ?? [el];
  const attribute = (el, name) => el[P.attributes][P.itemsByName].get(name)?.[0][P.value];
  const isHTML = (el) => el[P.namespaceURI] === html;
  page.attribute = attribute;
  page.siblingsOf = siblingsOf;

  // The place of each child among its siblings, kept while nothing changes.
  const places = { version: -1, of: new WeakMap() };
  page.placeOf = (el) => {
    if (places.version !== page.version) {
      places.version = page.version;
      places.of = new WeakMap();
    }
    const all = siblingsOf(el);
    let found = places.of.get(all);
    if (!found) places.of.set(all, (found = new Map(all.map((x, i) => [x, i]))));
    return found.get(el) ?? all.indexOf(el);
  };

  // The same among those of its type: [place from 1, how many].
  const typed = { version: -1, of: new WeakMap() };
  const placeOfType = (el) => {
    if (typed.version !== page.version) {
      typed.version = page.version;
      typed.of = new WeakMap();
    }
    const all = siblingsOf(el);
    let found = typed.of.get(all);
    if (!found) {
      const counts = new Map();
      found = { counts, places: new Map() };
      for (const x of all) {
        const key = `${x[P.localName]} ${x[P.namespaceURI]}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        found.places.set(x, counts.get(key));
      }
      typed.of.set(all, found);
    }
    return [found.places.get(el) ?? 1, found.counts.get(`${el[P.localName]} ${el[P.namespaceURI]}`) ?? 1];
  };

  // Text.
  const name = /(?:\\(?:[\da-fA-F]{1,6}(?:\r\n|[ \t\n\f\r])?|[^\n\f\r\da-fA-F]|$)|[\w\-\u0080-\uffff])+/y;
  const unescape = (text) =>
    text.includes('\\')
      ? text.replace(/\\(?:([\da-fA-F]{1,6})(?:\r\n|[ \t\n\f\r])?|(\r\n|[\n\f\r])|([^])|$)/g, (_, hex, line, c) => {
          if (line) return '';
          if (c !== undefined) return c;
          if (hex === undefined) return '\ufffd';
          const code = parseInt(hex, 16);
          return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : host.fromCodePoint(code);
        })
      : text;
  host.fromCodePoint = String.fromCodePoint;
  page.unescapeCSS = unescape;
  page.withoutComments = (text, instead = ' ') =>
    text.includes('/*') ? text.replace(/("(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')|\/\*[^]*?(?:\*\/|$)/g, (_, quoted) => quoted ?? instead) : text;
  const clean = (text) => page.withoutComments(text.replace(/\0/g, '\ufffd'), '');

  class Reader {
    constructor(text, options) {
      this.text = text;
      this.at = 0;
      this.depth = 0;
      this.hasDepth = 0;
      Object.assign(this, options);
    }
    get more() {
      return this.at < this.text.length;
    }
    peek(n = 0) {
      return this.text[this.at + n];
    }
    space() {
      const from = this.at;
      while (this.at < this.text.length && ' \t\n\r\f'.includes(this.text[this.at])) this.at++;
      return this.at > from;
    }
    take(c) {
      if (this.text[this.at] !== c) return false;
      this.at++;
      return true;
    }
    // A name as written; `start` wants one that may start an identifier.
    name(start = true) {
      name.lastIndex = this.at;
      const found = name.exec(this.text)?.[0];
      if (found === undefined || (start && /^(-?\d|-$)/.test(found))) return undefined;
      this.at += found.length;
      return unescape(found);
    }
    ident() {
      return this.name() ?? fail('a name is expected');
    }
    string() {
      const quote = this.text[this.at];
      const from = ++this.at;
      for (; this.at < this.text.length; this.at++) {
        const c = this.text[this.at];
        if (c === quote) return unescape(this.text.slice(from, this.at++));
        if (c === '\\') this.at++;
        else if (c === '\n') fail('a string ends');
      }
      return unescape(this.text.slice(from)); // the end of the text closes it
    }
    // What stands up to the closing bracket, which is taken.
    argument() {
      const from = this.at;
      let open = 1;
      for (; this.at < this.text.length; this.at++) {
        const c = this.text[this.at];
        if (c === '\\') this.at++;
        else if (c === '"' || c === "'") {
          this.string();
          this.at--;
        } else if (c === '(' || c === '[') open++;
        else if (c === ')' || c === ']') {
          if (--open === 0) return this.text.slice(from, this.at++);
        }
      }
      return this.text.slice(from);
    }
  }

  // Specificity as one number: ids, classes, types.
  const ID = 1 << 20;
  const CLASS = 1 << 10;
  const TYPE = 1;

  const same = (a, b) => a === b || (page.quirks && a.toLowerCase() === b.toLowerCase());
  const classTest = (wanted) => (el) => {
    const text = attribute(el, 'class');
    if (text === undefined || text.length < wanted.length) return false;
    if (text === wanted) return true;
    if (page.quirks ? !text.toLowerCase().includes(wanted.toLowerCase()) : !text.includes(wanted)) return false;
    for (const c of text.split(/[ \t\n\f\r]+/)) if (same(c, wanted)) return true;
    return false;
  };

  // Attributes whose values have no case in HTML.
  const caseless = new Set(
    'accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink'.split(' '),
  );
  const operators = {
    '=': (v, w) => v === w,
    '~=': (v, w) => w !== '' && !/\s/.test(w) && v.split(/[ \t\n\f\r]+/).includes(w),
    '|=': (v, w) => v === w || v.startsWith(w + '-'),
    '^=': (v, w) => w !== '' && v.startsWith(w),
    '$=': (v, w) => w !== '' && v.endsWith(w),
    '*=': (v, w) => w !== '' && v.includes(w),
  };
  const attributeTest = (r, part) => {
    r.space();
    let any = false;
    if (r.take('*')) {
      if (!r.take('|')) fail('[*] names no attribute');
      any = true;
    } else if (r.peek() === '|' && r.peek(1) !== '=') r.at++;
    let key = r.ident();
    if (r.peek() === '|' && r.peek(1) !== '=') fail(`the namespace ${key} is not declared`);
    r.space();
    const lower = key.toLowerCase();
    if (!any) part.keys ??= [`[${lower}`];
    const get = (el) => {
      const v = attribute(el, lower) ?? (isHTML(el) ? undefined : attribute(el, key));
      if (v !== undefined || isHTML(el)) return v;
      for (const [have, [a]] of el[P.attributes][P.itemsByName]) if (have.toLowerCase() === lower) return a[P.value];
      return undefined;
    };
    // The values of the attribute: those of its name, or of its local name in any namespace.
    const values = (el) => {
      if (!any) {
        const v = get(el);
        return v === undefined ? [] : [v];
      }
      return [...el[P.attributes][P.items].values()].filter((a) => a[P.localName] === (isHTML(el) ? lower : key)).map((a) => a[P.value]);
    };
    if (r.take(']') || !r.more) {
      if (any) return (el) => values(el).length > 0;
      return (el) => get(el) !== undefined;
    }
    const op = /[~|^$*]?=/y;
    op.lastIndex = r.at;
    const sign = op.exec(r.text)?.[0] ?? fail('an operator is expected');
    r.at += sign.length;
    r.space();
    const wanted = r.peek() === '"' || r.peek() === "'" ? r.string() : r.ident();
    r.space();
    let flag = '';
    if (r.more && r.peek() !== ']') {
      flag = r.ident().toLowerCase();
      if (flag !== 'i' && flag !== 's') fail(`the flag ${flag} is unknown`);
      r.space();
    }
    if (r.more && !r.take(']')) fail('] is expected');
    const compare = operators[sign];
    const folded = wanted.toLowerCase();
    const fold = (el) => flag === 'i' || (flag === '' && caseless.has(lower) && isHTML(el));
    return (el) => {
      for (const v of values(el)) if (fold(el) ? compare(v.toLowerCase(), folded) : compare(v, wanted)) return true;
      return false;
    };
  };

  // Matching, from the last compound to the first.
  const stepUp = (el, ctx) => {
    if (el === ctx.host) return null; // a shadow tree sees nothing around its host
    const p = el[P.parentNode];
    if (!p) return null;
    if (p[P.nodeType] === 1) return p;
    return ctx.host && p === ctx.shadow ? ctx.host : null;
  };
  const compound = (part, el, ctx) => {
    if (el === ctx.host && !part.host) return false;
    for (const test of part.tests) if (!test(el, ctx)) return false;
    return true;
  };
  const from = (c, i, el, ctx) => {
    if (!compound(c.parts[i], el, ctx)) return false;
    if (i === 0) return true;
    if (el === ctx.host) return false;
    switch (c.combinators[i - 1]) {
      case ' ':
        for (let p = stepUp(el, ctx); p; p = stepUp(p, ctx)) if (from(c, i - 1, p, ctx)) return true;
        return false;
      case '>': {
        const p = stepUp(el, ctx);
        return p !== null && from(c, i - 1, p, ctx);
      }
      case '+': {
        const at = page.placeOf(el);
        return at > 0 && from(c, i - 1, siblingsOf(el)[at - 1], ctx);
      }
      default:
        for (let at = page.placeOf(el) - 1; at >= 0; at--) if (from(c, i - 1, siblingsOf(el)[at], ctx)) return true;
        return false;
    }
  };
  const matchesComplex = (c, el, ctx) => !c.element && from(c, c.parts.length - 1, el, ctx);
  const matchesList = (list, el, ctx) => {
    for (const c of list) if (matchesComplex(c, el, ctx)) return true;
    return false;
  };
  const highest = (list) => list.reduce((most, c) => Math.max(most, c.weight), 0);

  // :has: the candidates are what the first combinator leads to, and below.
  const below = function* (el) {
    for (const child of el[P.elementArray]) {
      yield child;
      yield* below(child);
    }
  };
  const relativeTest = (list) => (el, outer) => {
    for (const c of list) {
      const ctx = { ...outer, anchor: el, host: null };
      const lead = c.combinators[0];
      const sideways = lead === '+' || lead === '~';
      const deep = c.combinators.some((x) => x === ' ') || (sideways ? c.combinators.includes('>') : c.combinators.length > 1);
      if (!sideways) {
        for (const x of deep ? below(el) : el[P.elementArray]) if (matchesComplex(c, x, ctx)) return true;
        continue;
      }
      const all = siblingsOf(el);
      for (let at = page.placeOf(el) + 1; at < all.length; at++) {
        if (matchesComplex(c, all[at], ctx)) return true;
        if (deep) for (const x of below(all[at])) if (matchesComplex(c, x, ctx)) return true;
        if (lead === '+' && c.combinators.length === 1) break;
      }
    }
    return false;
  };

  // An+B, as [A, B].
  const steps = (text) => {
    const t = text.trim().toLowerCase();
    if (t === 'even') return [2, 0];
    if (t === 'odd') return [2, 1];
    const m = /^([+-]?\d*)n(?:\s*([+-])\s*(\d+))?$/.exec(t);
    if (m) return [m[1] === '' || m[1] === '+' ? 1 : m[1] === '-' ? -1 : +m[1], m[3] ? +(m[2] + m[3]) : 0];
    if (/^[+-]?\d+$/.test(t)) return [0, +t];
    return fail(`${text} is no An+B`);
  };
  const counts = ([a, b], n) => (a === 0 ? n === b : (n - b) % a === 0 && (n - b) / a >= 0);
  const nth = (r, argument, last, ofType) => {
    const [, text, of] = /^(.*?)\sof(?![\w-])([^]*)$/is.exec(argument) ?? [null, argument];
    const step = steps(text);
    if (of !== undefined && ofType) fail('“of” does not go with a type');
    const list = of === undefined ? null : r.nested(of).list;
    const test = (el, ctx) => {
      const all = siblingsOf(el);
      const at = page.placeOf(el);
      if (ofType) {
        const [place, count] = placeOfType(el);
        return counts(step, last ? count - place + 1 : place);
      }
      if (!list) return counts(step, last ? all.length - at : at + 1);
      const counted = (x) => matchesList(list, x, ctx);
      if (!counted(el)) return false;
      let n = 0;
      if (last) for (let i = at; i < all.length; i++) n += counted(all[i]) ? 1 : 0;
      else for (let i = at; i >= 0; i--) n += counted(all[i]) ? 1 : 0;
      return counts(step, n);
    };
    return { test, weight: CLASS + (list ? highest(list) : 0) };
  };

  const empty = (el) => el[P.nodeArray].every((n) => n[P.nodeType] === 8 || n[P.nodeType] === 7 || ((n[P.nodeType] === 3 || n[P.nodeType] === 4) && n.data === ''));
  const isRoot = (el) => el[P.parentNode]?.[P.nodeType] === 9;
  const focused = () => {
    const el = document[P.activeElement];
    return el && el[P.isConnected] ? el : null;
  };
  const contains = (el, inner) => {
    for (let x = inner; x; x = x[P.parentNode] ?? x.host) if (x === el) return true;
    return false;
  };
  const linked = (el) =>
    /^(a|area)$/.test(el[P.localName]) && (attribute(el, 'href') !== undefined || (!isHTML(el) && attribute(el, 'xlink:href') !== undefined));
  const target = () => {
    const id = g.location.hash.slice(1);
    if (id === '') return null;
    let decoded = id;
    try {
      decoded = decodeURIComponent(id);
    } catch {}
    return document.getElementById(id) ?? document.getElementById(decoded) ?? [...document.getElementsByTagName('a')].find((a) => a.getAttribute('name') === decoded) ?? null;
  };
  const languageOf = (el) => {
    for (let x = el; x; x = parentOf(x)) {
      const lang = attribute(x, 'lang') ?? attribute(x, 'xml:lang');
      if (lang !== undefined) return lang;
    }
    return '';
  };
  const speaks = (lang, range) => {
    if (range === '') return lang === '';
    if (lang === '') return false;
    const [have, want] = [lang.toLowerCase().split('-'), range.toLowerCase().split('-')];
    if (want[0] !== '*' && want[0] !== have[0]) return false;
    let i = 1;
    for (const part of want.slice(1)) {
      if (part === '*') continue;
      while (i < have.length && have[i] !== part && have[i].length > 1) i++;
      if (have[i] !== part) return false;
      i++;
    }
    return true;
  };
  const strong = (text) => {
    const m = /[A-Za-z\u00c0-\u02b8\u0300-\u0590\u0900-\u1fff\u2c00-\ud7ff\uf900-\ufaff]|([\u0591-\u07ff\ufb1d-\ufdff\ufe70-\ufefc])/.exec(text);
    return m ? (m[1] ? 'rtl' : 'ltr') : null;
  };
  page.directionOf = (el) => {
    for (let x = el; x; x = parentOf(x) ?? (x[P.parentNode]?.host || null)) {
      const dir = (attribute(x, 'dir') ?? '').toLowerCase();
      if (dir === 'ltr' || dir === 'rtl') return dir;
      const field = /^(input|textarea)$/.test(x[P.localName]);
      if (dir === 'auto' || x[P.localName] === 'bdi') return strong(field ? x.value : x.textContent) ?? 'ltr';
      if (x[P.localName] === 'input' && x.type === 'tel') return 'ltr';
    }
    return 'ltr';
  };

  const form = (what) => (el) => page.forms[what](el);
  const simple = {
    root: isRoot,
    scope: (el, ctx) => (ctx.scope ? el === ctx.scope : isRoot(el)),
    empty,
    'first-child': (el) => page.placeOf(el) === 0,
    'last-child': (el) => page.placeOf(el) === siblingsOf(el).length - 1,
    'only-child': (el) => siblingsOf(el).length === 1,
    'first-of-type': (el) => placeOfType(el)[0] === 1,
    'last-of-type': (el) => placeOfType(el)[0] === placeOfType(el)[1],
    'only-of-type': (el) => placeOfType(el)[1] === 1,
    link: linked,
    'any-link': linked,
    visited: () => false,
    target: (el) => el === target(),
    'target-within': (el) => contains(el, target()),
    hover: (el) => contains(el, page.hovered),
    active: () => false,
    focus: (el) => el === focused(),
    'focus-within': (el) => contains(el, focused()),
    'focus-visible': (el) => el === focused() && (page.focusedByPointer !== el || page.forms.isTextual(el)),
    defined: (el) => !el[P.localName].includes('-') || !isHTML(el) || el.constructor !== g.HTMLElement,
    fullscreen: (el) => el === document.fullscreenElement,
    modal: (el) => page.modals.has(el) && attribute(el, 'open') !== undefined,
    'popover-open': (el) => page.popovers.has(el) && el[P.isConnected],
    open: (el) => /^(details|dialog)$/.test(el[P.localName]) && attribute(el, 'open') !== undefined,
    autofill: () => false,
    '-webkit-autofill': () => false,
    'picture-in-picture': () => false,
    playing: (el) => el.paused === false,
    paused: (el) => el.paused === true,
    muted: (el) => el.muted === true,
    seeking: () => false,
    buffering: () => false,
    stalled: () => false,
  };
  for (const what of [
    'checked', 'indeterminate', 'default', 'disabled', 'enabled', 'required', 'optional', 'valid', 'invalid', 'user-valid', 'user-invalid',
    'in-range', 'out-of-range', 'read-only', 'read-write', 'placeholder-shown',
  ]) simple[what] = form(what);
  const volatile = /^(checked|indeterminate|.*valid|in-range|out-of-range|placeholder-shown|hover|focus.*|target.*|modal|popover-open|playing|paused|muted|dir|fullscreen|open|default|state|empty)$/;
  const oldElements = new Set(['before', 'after', 'first-line', 'first-letter']);
  const elements = new Set([
    ...oldElements, 'selection', 'placeholder', 'marker', 'backdrop', 'file-selector-button', 'cue', 'target-text', 'spelling-error', 'grammar-error',
    'details-content', 'view-transition', 'search-text', 'checkmark', 'picker-icon', 'scroll-marker', 'scroll-marker-group', 'column',
  ]);
  const elementFunctions = new Set(['slotted', 'part', 'highlight', 'view-transition-group', 'view-transition-image-pair', 'view-transition-old', 'view-transition-new', 'picker', 'cue', 'scroll-button']);

  const functions = {
    is: (r, argument) => {
      const { list } = r.nested(argument, { forgiving: true, elementless: true });
      const keys = list.flatMap((c) => page.keysOf(c) ?? [null]);
      return { test: (el, ctx) => matchesList(list, el, ctx), weight: highest(list), host: list.some((c) => c.parts[0].host), keys: keys.includes(null) || keys.length > 20 ? null : keys };
    },
    where: (r, argument) => ({ ...functions.is(r, argument), weight: 0 }),
    not: (r, argument) => {
      const { list } = r.nested(argument, { elementless: true });
      return { test: (el, ctx) => !matchesList(list, el, ctx), weight: highest(list) };
    },
    has: (r, argument) => {
      if (r.hasDepth > 0) fail(':has() in :has()');
      const { list } = r.nested(argument, { relative: true, hasDepth: 1, elementless: true });
      return { test: relativeTest(list), weight: highest(list) };
    },
    'nth-child': (r, argument) => nth(r, argument, false, false),
    'nth-last-child': (r, argument) => nth(r, argument, true, false),
    'nth-of-type': (r, argument) => nth(r, argument, false, true),
    'nth-last-of-type': (r, argument) => nth(r, argument, true, true),
    lang: (r, argument) => {
      const ranges = argument.split(',').map((x) => {
        const t = x.trim();
        const quoted = /^(["'])([^]*)\1$/.exec(t);
        if (!quoted && !/^\*?[\w\-\\*\u0080-\uffff]+$/.test(t)) fail(`:lang(${argument})`);
        return unescape(quoted ? quoted[2] : t);
      });
      return { test: (el) => ranges.some((range) => speaks(languageOf(el), range)), weight: CLASS };
    },
    dir: (r, argument) => {
      const dir = argument.trim().toLowerCase();
      if (!/^[a-z-]+$/.test(dir)) fail(`:dir(${argument})`);
      return { test: (el) => page.directionOf(el) === dir, weight: CLASS };
    },
    state: (r, argument) => ({ test: (el) => page.customStates?.get(el)?.has(argument.trim()) ?? false, weight: CLASS }),
    host: (r, argument) => {
      const { list } = r.nested(argument);
      return { test: (el, ctx) => el === ctx.host && matchesList(list, el, { scope: ctx.scope }), weight: CLASS + highest(list), host: true };
    },
    'host-context': (r, argument) => {
      const { list } = r.nested(argument);
      const test = (el, ctx) => {
        if (el !== ctx.host) return false;
        for (let x = el; x; x = parentOf(x)) if (matchesList(list, x, {})) return true;
        return false;
      };
      return { test, weight: CLASS + highest(list), host: true };
    },
  };
  functions['-webkit-any'] = functions.is;

  Object.assign(Reader.prototype, {
    nested(text, options = {}) {
      if (this.depth >= maxDepth) fail('too many selectors in each other');
      const inner = new Reader(text, { depth: this.depth + 1, hasDepth: this.hasDepth, nest: this.nest, seen: this.seen, ...options });
      inner.depth = this.depth + 1;
      inner.hasDepth = options.hasDepth ?? this.hasDepth;
      return { list: inner.list() };
    },
    pseudo(c, part) {
      if (this.take(':')) return this.element(c);
      const key = this.ident().toLowerCase();
      if (oldElements.has(key) && this.peek() !== '(') return this.setElement(c, key);
      if (volatile.test(key)) this.seen.volatile = true;
      if (this.take('(')) {
        if (!Object.hasOwn(functions, key)) fail(`:${key}() is unknown`);
        const found = functions[key](this, this.argument());
        part.tests.push(found.test);
        if (found.host) part.hosts++;
        part.keys ??= found.keys ?? null;
        c.weight += found.weight;
        return undefined;
      }
      if (key === 'host') {
        part.hosts++;
        part.tests.push((el, ctx) => el === ctx.host);
      } else if (Object.hasOwn(simple, key)) part.tests.push(simple[key]);
      else fail(`:${key} is unknown`);
      c.weight += CLASS;
      return undefined;
    },
    element(c) {
      const key = this.ident().toLowerCase();
      if (this.take('(')) {
        if (!elementFunctions.has(key)) fail(`::${key}() is unknown`);
        const argument = this.argument();
        if (key === 'slotted') c.slotted = this.nested(argument).list;
        return this.setElement(c, key);
      }
      if (!elements.has(key) && !key.startsWith('-webkit-')) fail(`::${key} is unknown`);
      return this.setElement(c, key);
    },
    setElement(c, key) {
      if (this.elementless) fail('an element that is none in :is() or its kin');
      c.element = key;
      c.weight += TYPE;
    },
    compound(c) {
      const part = { tests: [], host: false, hosts: 0, key: null, keys: null };
      const from = this.at;
      if (this.peek() === '&') {
        this.at++;
        const parent = this.nest ?? null;
        part.tests.push(parent ? (el, ctx) => matchesList(parent, el, ctx) : simple.scope);
        if (parent?.some((x) => x.parts.at(-1).host)) part.hosts++;
        c.weight += parent ? highest(parent) : 0;
      }
      this.type(part, c);
      for (;;) {
        const ch = this.peek();
        if (c.element && ch !== ':' && ch !== undefined && ch !== ',' && !' \t\n\r\f>+~'.includes(ch)) fail('behind an element that is none');
        if (ch === '#') {
          this.at++;
          const id = this.ident();
          part.tests.push((el) => {
            const have = attribute(el, 'id');
            return have !== undefined && same(have, id);
          });
          part.key = '#' + id;
          c.weight += ID;
        } else if (ch === '.') {
          this.at++;
          const cls = this.ident();
          part.tests.push(classTest(cls));
          if (!part.key?.startsWith('#')) part.key = '.' + cls;
          c.weight += CLASS;
        } else if (ch === '[') {
          this.at++;
          part.tests.push(attributeTest(this, part));
          c.weight += CLASS;
        } else if (ch === ':') {
          this.at++;
          this.pseudo(c, part);
        } else if (ch === '&' && this.at > from) {
          this.at++;
          const parent = this.nest ?? null;
          part.tests.push(parent ? (el, ctx) => matchesList(parent, el, ctx) : simple.scope);
          c.weight += parent ? highest(parent) : 0;
        } else break;
      }
      if (this.at === from) fail('a selector is expected');
      part.host = part.hosts > 0 && part.hosts === part.tests.length; // seen from its tree a host is nothing but :host
      return part;
    },
    type(part, c) {
      const from = this.at;
      let space; // undefined: any; '': none
      let local = this.take('*') ? '*' : this.peek() === '|' ? '' : this.name();
      if (local === undefined) return;
      if (this.peek() === '|' && this.peek(1) !== '|') {
        this.at++;
        if (local !== '' && local !== '*') fail(`the namespace ${local} is not declared`);
        space = local === '' ? '' : undefined;
        local = this.take('*') ? '*' : this.ident();
      } else if (local === '') fail('a name is expected');
      if (space === '') part.tests.push((el) => !el[P.namespaceURI]);
      if (local !== '*') {
        const lower = local.toLowerCase();
        // As browsers do in a page: <linearGradient> goes by lineargradient too.
        part.tests.push((el) => el[P.localName] === lower || (!isHTML(el) && el[P.localName].toLowerCase() === lower));
        part.key = lower;
        c.weight += TYPE;
      } else if (this.at > from) part.tests.push(() => true);
    },
    complex() {
      const c = { parts: [], combinators: [], weight: 0, element: null, slotted: null };
      this.space();
      let lead = null;
      if (this.relative || this.nest !== undefined) {
        const ch = this.peek();
        if (ch === '>' || ch === '+' || ch === '~') {
          this.at++;
          this.space();
          lead = ch;
        }
      }
      const start = this.at;
      for (;;) {
        c.parts.push(this.compound(c));
        const spaced = this.space();
        const ch = this.peek();
        if (ch === undefined || ch === ',') break;
        if (c.element) fail('behind an element that is none');
        if (ch === '>' || ch === '+' || ch === '~') {
          this.at++;
          this.space();
          c.combinators.push(ch);
        } else if (spaced) c.combinators.push(' ');
        else fail(`${ch} is not expected`);
      }
      if (this.relative) {
        c.parts.unshift({ tests: [(el, ctx) => el === ctx.anchor], host: false, key: null });
        c.combinators.unshift(lead ?? ' ');
      } else if (this.nest !== undefined && this.depth === 0 && (lead || !/&/.test(this.text.slice(start, this.at)))) {
        const parent = this.nest;
        c.parts.unshift({ tests: [(el, ctx) => matchesList(parent, el, ctx)], host: parent.some((x) => x.parts.at(-1).host), key: null });
        c.combinators.unshift(lead ?? ' ');
        c.weight += highest(parent);
      }
      return c;
    },
    list() {
      const out = [];
      if (this.forgiving) {
        for (const piece of split(this.text)) {
          try {
            out.push(...this.nested(piece, { elementless: true }).list);
          } catch (e) {
            if (!(e instanceof Invalid)) throw e;
          }
        }
        return out;
      }
      do out.push(this.complex());
      while (this.take(','));
      if (this.more) fail(`${this.peek()} is not expected`);
      return out;
    },
  });
  const split = (text) => {
    const out = [];
    const r = new Reader(text);
    let from = 0;
    while (r.more) {
      const c = r.peek();
      if (c === '"' || c === "'") {
        r.string();
        continue;
      }
      r.at++;
      if (c === '\\') r.at++;
      else if (c === '(' || c === '[') r.argument();
      else if (c === ',') {
        out.push(text.slice(from, r.at - 1));
        from = r.at;
      }
    }
    out.push(text.slice(from));
    return out.filter((x) => x.trim() !== '');
  };

  // Parses a list; null when it is no selector. `nest` is the list that & stands for.
  const kept = new Map();
  page.parseSelector = (text, nest) => {
    let found = nest ? undefined : kept.get(text);
    if (found !== undefined) return found;
    const seen = { volatile: false };
    try {
      found = new Reader(clean(text), { nest, seen }).list();
      found.volatile = seen.volatile;
    } catch (e) {
      if (!(e instanceof Invalid)) throw e;
      found = null;
    }
    if (!nest) {
      if (kept.size >= maxKept) kept.clear();
      kept.set(text, found);
    }
    return found;
  };
  // What an element must have to match, one of these: '#id', '.class', a type, or '[' and an attribute. null: nothing.
  page.keysOf = (c) => {
    const { key, keys } = c.parts[c.parts.length - 1];
    return key === null ? keys : [key];
  };
  page.matchesComplex = from;
  page.matchesSelector = matchesList;

  // The methods of nodes.
  const parsed = (node, method, selector) => {
    const text = host.str(selector);
    const found = page.parseSelector(text);
    if (!found) {
      const kind = node[P.nodeType] === 9 ? 'Document' : node[P.nodeType] === 11 ? 'DocumentFragment' : 'Element';
      throw new DOMException(`Failed to execute '${method}' on '${kind}': '${text}' is not a valid selector.`, 'SyntaxError');
    }
    return found;
  };
  const contextOf = (node) => {
    if (node[P.nodeType] !== 11) return { scope: node[P.nodeType] === 1 ? node : null };
    return { scope: null, host: node.host ?? null, shadow: node };
  };
  const walk = (node, list, ctx, out, first) => {
    // A stack of lists and places: trees that scripts make may be deeper than any call stack.
    const stack = [[node[P.elementArray], 0]];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top[1] >= top[0].length) {
        stack.pop();
        continue;
      }
      const el = top[0][top[1]++];
      if (matchesList(list, el, ctx)) {
        out.push(el);
        if (first) return;
      }
      if (el[P.elementArray].length > 0) stack.push([el[P.elementArray], 0]);
    }
  };
  // What the document was asked, kept while nothing changes.
  const asked = { version: -1, answers: new Map() };
  const find = (node, list, text, first) => {
    const keep = node === document && !list.volatile;
    if (keep && asked.version !== page.version) {
      asked.version = page.version;
      asked.answers.clear();
    }
    const key = (first ? '1' : '*') + text;
    const known = keep ? asked.answers.get(key) : undefined;
    if (known) return known;
    const out = [];
    const only = list.length === 1 && list[0].parts.length === 1 && !list[0].element ? list[0] : null;
    if (only && first && only.parts[0].tests.length === 1 && only.parts[0].key?.[0] === '#' && node[P.nodeType] === 9 && !page.quirks) {
      const el = node.getElementById(only.parts[0].key.slice(1));
      if (el) out.push(el);
    } else walk(node, list, contextOf(node), out, first);
    if (keep) {
      if (asked.answers.size > 500) asked.answers.clear();
      asked.answers.set(key, out);
    }
    return out;
  };
  const need = (args, method, kind) => {
    if (args.length === 0) throw new TypeError(`Failed to execute '${method}' on '${kind}': 1 argument required, but only 0 present.`);
  };
  const provide = (cls, kind, methods) => {
    for (const key of host.keys(methods)) {
      const proto = host.owner(key, cls.prototype);
      const { [key]: f } = methods;
      Object.defineProperty(proto, key, {
        value: {
          [key](...args) {
            need(args, key, kind);
            return f(this[P.proxy] ?? this, args[0]); // forms and selects are behind proxies
          },
        }[key],
        writable: true, configurable: true, enumerable: true,
      });
    }
  };
  const query = {
    querySelector: (node, selector) => find(node, parsed(node, 'querySelector', selector), host.str(selector), true)[0] ?? null,
    querySelectorAll: (node, selector) =>
      new g.NodeList(P.illegalConstructor, [...find(node, parsed(node, 'querySelectorAll', selector), host.str(selector), false)]),
  };
  const rootContext = (el) => {
    const root = el.getRootNode();
    return { scope: el, host: root.host ?? null, shadow: root.host ? root : null };
  };
  provide(g.Element, 'Element', {
    ...query,
    matches: (el, selector) => matchesList(parsed(el, 'matches', selector), el, rootContext(el)),
    closest: (el, selector) => {
      const list = parsed(el, 'closest', selector);
      const ctx = rootContext(el);
      for (let x = el; x; x = parentOf(x)) if (matchesList(list, x, ctx)) return x;
      return null;
    },
  });
  Object.defineProperty(g.Element.prototype, 'webkitMatchesSelector', { value: g.Element.prototype.matches, writable: true, configurable: true });
  provide(g.Document, 'Document', query);
  provide(g.DocumentFragment, 'DocumentFragment', query);
})
