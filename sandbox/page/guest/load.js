// Loading a document the way a browser does: nodes appear in source order, a
// classic script runs when its end tag is reached, deferred scripts and modules after
// the last node, then DOMContentLoaded and load.
//
// The host parses the text (see markup.go); its nodes are replayed into the
// document. The host drives: each `step` runs up to the next piece of code that
// only the host can evaluate with its file name and line.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol, hooks } = host.dom;
  const { document, window: w } = page;
  const Event = globalThis.Event;

  const scriptKind = (el) => {
    if (el.localName !== 'script') return 'none';
    const type = (el.getAttribute('type') ?? '').trim().toLowerCase();
    if (type === 'module' || type === 'importmap') return type;
    if (type === '' || /^(text|application)\/(x-)?(java|ecma|j)script/.test(type)) return el.hasAttribute('nomodule') ? 'none' : 'classic';
    return 'none';
  };

  // Offsets in the page's text, found in document order.
  const lineAt = (offset) => {
    const before = page.html.slice(0, offset);
    const line = before.split('\n').length - 1;
    return { line, col: offset - before.lastIndexOf('\n') - 1 };
  };
  let cursor = 0;
  const locate = (code) => {
    const at = code ? page.html.indexOf(code, cursor) : -1;
    if (at < 0) return { line: 0, col: 0 };
    cursor = at + code.length;
    return lineAt(at);
  };
  // Code moved to its line and column in the file, so that errors point there.
  // A prefix goes to the end of the line before, if there is one.
  const placed = (code, { line, col }, prefix = '', suffix = '') => {
    if (line > 0) return '\n'.repeat(line - 1) + prefix + '\n' + ' '.repeat(col) + code + suffix;
    return prefix + ' '.repeat(Math.max(0, col - prefix.length)) + code + suffix;
  };

  const started = new WeakSet(); // scripts that ran, or will
  // Scripts inserted by scripts: inline ones run at once, those with a src later, modules
  // as soon as the host has a turn.
  const inserted = [];
  const later = [];
  let current = null;

  const fileName = (url) => {
    const u = new URL(url);
    return u.origin === page.origin ? decodeURIComponent(u.pathname.slice(1)) : url;
  };

  // The step that runs one script element; undefined when there is nothing to run.
  const scriptStep = (el, position) => {
    const kind = scriptKind(el);
    const src = el.getAttribute('src');
    if (kind === 'importmap') {
      try {
        page.importMap(el.textContent);
      } catch (e) {
        page.uncaught(e);
      }
      return undefined;
    }
    let code = el.textContent;
    let file = page.file;
    if (src !== null) {
      let url;
      try {
        url = page.resolve(src);
      } catch {
        url = src;
      }
      const found = src === '' ? { error: 'an empty src' } : page.read(url, 'script');
      if (found.error || found.status !== 200) {
        later.push(() => void el.dispatchEvent(new Event('error')));
        return undefined;
      }
      code = found.text ?? '';
      file = fileName(url);
    } else {
      if (!code.trim()) return undefined;
      code = placed(code, position ?? { line: 0, col: 0 });
      if (!position) file = `${page.file}, inserted script`;
    }
    current = el;
    document[PropertySymbol.currentScript] = kind === 'classic' ? el : null;
    return { code, file, module: kind === 'module' };
  };
  page.ran = () => {
    document[PropertySymbol.currentScript] = null;
    const el = current;
    current = null;
    if (el && el.getAttribute('src') !== null) el.dispatchEvent(new Event('load'));
  };

  // happy-dom tells of every script that enters the document. The loader's own
  // are known; others were inserted by a script.
  let loading = null;
  hooks.script = (el) => {
    if (el === loading || started.has(el) || !el.isConnected || el.ownerDocument !== document) return;
    if (el[PropertySymbol.disableEvaluation] || scriptKind(el) === 'none') return;
    if (el.getAttribute('src') === null && !el.textContent.trim()) return;
    started.add(el);
    if (el.getAttribute('src') !== null) later.push(() => scriptStep(el));
    else if (scriptKind(el) !== 'classic' || !runNow(el)) inserted.push(() => scriptStep(el));
  };
  const runNow = (el) => {
    const [outer, outerScript] = [current, document[PropertySymbol.currentScript]];
    const step = scriptStep(el);
    const done = !step || host.call('run', '', step.code, step.file) !== 'later';
    current = outer;
    document[PropertySymbol.currentScript] = outerScript;
    return done;
  };

  hooks.styleSheet = (el, href) => {
    if (!el.isConnected || el.ownerDocument !== document || el[PropertySymbol.disableEvaluation]) return;
    const url = page.resolve(href);
    if (page.sheets.get(el) === url) return;
    page.sheets.set(el, url);
    const found = page.read(url, 'stylesheet');
    const ok = !found.error && found.status === 200;
    if (ok) {
      const sheet = new globalThis.CSSStyleSheet();
      Object.assign(sheet._, { owner: el, href: url, text: found.text ?? '', constructed: false, media: { text: el.getAttribute('media') ?? '' } });
      el[PropertySymbol.sheet] = sheet;
      document[PropertySymbol.clearComputedStyleCache]();
    }
    setTimeout(() => el.dispatchEvent(new Event(ok ? 'load' : 'error')), 0);
  };
  page.sheets = new WeakMap();

  hooks.image = (el, url) => {
    if (el.ownerDocument !== document) return;
    const found = page.read(url, 'image');
    const ok = !found.error && found.status === 200;
    el[PropertySymbol.complete] = true;
    if (ok) {
      el[PropertySymbol.naturalWidth] = found.width || 1;
      el[PropertySymbol.naturalHeight] = found.height || 1;
    }
    setTimeout(() => el.dispatchEvent(new Event(ok ? 'load' : 'error')), 0);
  };

  // Pictures that a style uses are asked for, so that missing ones are told.
  const backgrounds = () => {
    const ask = (text) => {
      for (const [, , url] of text.matchAll(/url\(\s*(["']?)(.*?)\1\s*\)/g)) {
        if (url && !/^(data:|#)/.test(url)) page.read(page.resolve(url), 'image');
      }
    };
    for (const sheet of document.styleSheets) {
      if (!sheet._.text.includes('url(')) continue;
      for (const rule of sheet.cssRules) {
        if (rule.selectorText && rule._.body.includes('url(') && page.usesRule(rule)) ask(rule.cssText);
      }
    }
    for (const el of document.querySelectorAll('[style*="url("]')) ask(el.getAttribute('style'));
  };

  // Elements with an id are properties of the window, unless something else is: for as long as they are on the page.
  const ids = document[PropertySymbol.elementIdMap];
  const { set: enter, delete: leave } = ids;
  const ours = new Map(); // id → the getter that was made for it
  ids.set = function (id, entry) {
    if (id && !(id in globalThis)) {
      const get = () => document.getElementById(id) ?? undefined;
      ours.set(id, get);
      Object.defineProperty(globalThis, id, {
        get,
        set: (value) => Object.defineProperty(globalThis, id, { value, writable: true, configurable: true, enumerable: true }),
        configurable: true,
        enumerable: false,
      });
    }
    return host.apply(enter, ids, [id, entry]);
  };
  ids.delete = function (id) {
    const get = ours.get(id);
    if (ours.delete(id) && host.descriptor(globalThis, id)?.get === get) delete globalThis[id];
    return host.apply(leave, ids, [id]);
  };
  // Forms and pictures with a name are properties of the document and of the window.
  const named = (el) => {
    const name = /^(form|img|iframe|embed|object)$/.test(el.localName) ? el.getAttribute('name') : '';
    if (!name) return;
    const get = () => [...document.getElementsByName(name)].find((x) => x.localName === el.localName);
    for (const on of [document, globalThis]) {
      if (name in on) continue;
      Object.defineProperty(on, name, {
        get,
        set: (value) => Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: true }),
        configurable: true,
        enumerable: false,
      });
    }
  };

  const pairs = (list) => {
    const out = [];
    for (let i = 0; i < list.length; i += 2) out.push([list[i], list[i + 1]]);
    return out;
  };

  // Inline handlers of the page's own text, to be compiled in place by the host.
  const handlerSteps = (nodes, steps = []) => {
    for (const node of nodes) {
      if (typeof node === 'string' || node[0][0] === '!') continue;
      for (const [name, value] of pairs(node[1])) {
        if (!/^on[a-z]+$/.test(name) || !value.trim()) continue;
        const position = handlerAt(name, value, true) ?? { line: 0, col: 0 };
        const key = `${page.handlerKey(name, value)}\0${position.line}:${position.col}`;
        node.handlers = { ...node.handlers, [name]: key };
        if (page.handlers.has(key)) continue;
        page.handlers.set(key, null);
        steps.push({ handler: key, code: page.handlerCode(name, value, position), file: page.file });
      }
      handlerSteps(node.slice(2), steps);
    }
    return steps;
  };
  // As in a browser, names in a handler are looked up in the element, its form and the document first.
  page.handlerCode = (name, value, position) =>
    placed(value, position, `(function ${name}(event) { with (document) with (this.form ?? {}) with (this) {`, /\/\/|<!--|-->/.test(value) ? '\n}})' : '}})');
  // Where the value of an attribute stands in the text, as it may be written; `next` goes
  // through the text in order.
  let handlerCursor = 0;
  const handlerAt = (page.handlerAt = (name, value, next = false) => {
    for (const text of [value, value.replace(/&/g, '&amp;'), value.replace(/"/g, '&quot;')]) {
      for (const quote of ['="', "='", '=']) {
        const at = page.html.indexOf(name + quote + text, next ? handlerCursor : 0);
        if (at < 0) continue;
        if (next) handlerCursor = at + 1;
        return lineAt(at + name.length + quote.length);
      }
    }
    return undefined;
  });

  const phase = (state) => {
    document[PropertySymbol.readyState] = state;
    document.dispatchEvent(new Event('readystatechange'));
  };

  const namespaces = { svg: 'http://www.w3.org/2000/svg', math: 'http://www.w3.org/1998/Math/MathML' };
  const create = (node, owner = document) => {
    const [space, name] = node[0].split(' ');
    let el;
    try {
      el = name ? owner.createElementNS(namespaces[space], name) : owner.createElement(space);
    } catch {
      // A name that a parser takes and createElement does not, such as <a"b>.
      el = owner.createElement('unknown');
    }
    if (node.handlers) page.ownHandlers.set(el, node.handlers);
    for (const [key, value] of pairs(node[1])) {
      try {
        el.setAttribute(key, value);
      } catch {}
    }
    return el;
  };
  // Everything below a node at once; `live` scripts run when they enter the document.
  const build = (page.build = (nodes, to, live = false) => {
    for (const node of nodes) {
      if (typeof node === 'string') to.appendChild(document.createTextNode(node));
      else if (node[0] === '!') to.appendChild(document.createComment(node[1]));
      else if (node[0] === '!doctype') {
        if (to.nodeType === 9) to.appendChild(to.implementation.createDocumentType(node[1], '', ''));
      } else {
        const el = create(node, to.nodeType === 9 ? to : to.ownerDocument);
        if (!live) started.add(el);
        build(node.slice(2), el.localName === 'template' ? el.content : el, live);
        to.appendChild(el);
      }
    }
  });

  function* replay(nodes, to, deferred) {
    for (const node of nodes) {
      if (typeof node === 'string') {
        to.appendChild(document.createTextNode(node));
        continue;
      }
      if (node[0] === '!') {
        to.appendChild(document.createComment(node[1]));
        continue;
      }
      if (node[0] === '!doctype') {
        to.appendChild(document.implementation.createDocumentType(node[1], '', ''));
        continue;
      }
      if (node[0] === '!script') {
        const el = create(['script', node[1]]);
        started.add(el);
        el.textContent = node.slice(2).join('');
        host.call('log', 'warn', `${page.file}:${lineAt(page.html.lastIndexOf('<script')).line + 1}: this <script> has no </script>, so it does not run`);
        to.appendChild(el);
        continue;
      }
      const el = create(node);
      named(el);
      const kind = scriptKind(el);
      if (kind === 'none') {
        if (el.localName === 'style') build(node.slice(2), el);
        to.appendChild(el);
        if (el.localName === 'template') build(node.slice(2), el.content);
        else if (el.localName !== 'style') yield* replay(node.slice(2), el, deferred);
        continue;
      }
      const text = node.slice(2).join('');
      const position = el.getAttribute('src') === null ? locate(text) : undefined;
      loading = el;
      started.add(el);
      el.textContent = text;
      to.appendChild(el);
      loading = null;
      const wait = kind === 'module' || (el.getAttribute('src') !== null && (el.hasAttribute('defer') || el.hasAttribute('async')));
      if (wait) deferred.push([el, position]);
      else {
        const step = scriptStep(el, position);
        if (step) yield step;
      }
    }
  }

  // The nodes of a DOM, for text that the host's parser refuses.
  const fromDOM = (page.fromDOM = (parent) =>
    [...parent.childNodes].flatMap((n) => {
      if (n.nodeType === 3) return [n.data];
      if (n.nodeType !== 1) return [];
      return [[n.localName, [...n.attributes].flatMap((a) => [a.name, a.value]), ...fromDOM(n.content ?? n)]];
    }));

  function* load() {
    phase('loading');
    let nodes = page.nodes;
    page.nodes = null;
    page.quirks = Boolean(nodes) && !nodes.some((node) => node[0] === '!doctype');
    if (!nodes) {
      page.parsing = true;
      nodes = fromDOM(new globalThis.DOMParser().parseFromString(page.html, 'text/html'));
      page.parsing = false;
    }
    yield* handlerSteps(nodes);
    while (document.firstChild) document.removeChild(document.firstChild);
    const deferred = [];
    yield* replay(nodes, document, deferred);
    phase('interactive');
    for (const [el, position] of deferred) {
      const step = scriptStep(el, position);
      if (step) yield step;
    }
    document.dispatchEvent(new Event('DOMContentLoaded', { bubbles: true }));
    yield { jobs: true };
    backgrounds();
    phase('complete');
    const event = new Event('load');
    w.dispatchEvent(event);
    yield { jobs: true };
  }

  let steps = null;
  host.ops.load = (json) => {
    const o = host.parse(json);
    page.html = o.html;
    page.file = o.file;
    page.nodes = o.nodes;
    page.url = o.url;
    page.origin = new URL(o.url).origin;
    w.happyDOM.setURL(o.url);
    for (const [store, items] of [[w.localStorage, o.localStorage], [w.sessionStorage, o.sessionStorage]]) {
      store.clear();
      for (const [k, v] of Object.entries(items ?? {})) store.setItem(k, v);
    }
    steps = load();
  };

  // The next piece of code as JSON, or '' when there is none for now.
  host.ops.step = () => {
    while (inserted.length > 0) {
      const step = inserted.shift()();
      if (step) return host.stringify(step);
    }
    if (steps) {
      const { value, done } = steps.next();
      if (!done) return host.stringify(value);
      steps = null;
    }
    while (later.length > 0) {
      const step = later.shift()();
      if (step) return host.stringify(step);
    }
    return '';
  };
  host.ops.ran = () => page.ran();
  host.ops.uncaught = (thrown) => page.uncaught(thrown);
  host.ops.rejected = (reason) => page.rejected(reason);

  // Receives [key, function]: a compiled handler.
  let handlerKey = '';
  host.ops.handlerKey = (key) => {
    handlerKey = key;
  };
  host.ops.handler = (compiled) => void page.handlers.set(handlerKey, compiled);

  // Import maps: {imports: {name: url}}; the host applies them.
  page.importMap = (text) => {
    const map = host.parse(text);
    const out = {};
    for (const [name, target] of Object.entries(map.imports ?? {})) out[name] = page.resolve(host.str(target));
    host.call('importmap', host.stringify(out));
  };
})
