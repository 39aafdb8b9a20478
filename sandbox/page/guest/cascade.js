// The cascade: which declaration of an element wins, what it inherits, and what its values are
// computed to. Everything is worked out when it is asked for, and kept while nothing changes.
// Source: CSS Cascade 5, CSS Variables 1, CSSOM 9.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { document } = page;
  const g = globalThis;
  const maxText = 1 << 16; // what a value may grow to by var()
  const maxVariables = 60; // how deep variables may lead to each other

  // Layers: a tree of names in order of appearance. Inside a layer, its own rules come after those of its layers.
  const layerAt = (layer, name) => {
    for (const part of name === '' ? [null] : name.split('.')) {
      let next = part === null ? undefined : layer.layers.find((x) => x.name === part);
      if (!next) layer.layers.push((next = { name: part, layers: [], rank: 0 }));
      layer = next;
    }
    return layer;
  };
  const rank = (layer, n = 0) => {
    for (const x of layer.layers) n = rank(x, n);
    layer.rank = n;
    return n + 1;
  };

  // The rules of a tree, by what the last compound of their selectors needs.
  const buildIndex = (sheets) => {
    const index = { keys: new Map(), rest: [], slotted: [], size: 0 };
    const root = { name: null, layers: [], rank: 0 };
    const all = [];
    const { CSSStyleRule, CSSNestedDeclarations, CSSLayerBlockRule, CSSLayerStatementRule, CSSImportRule, CSSPropertyRule, CSSScopeRule, CSSGroupingRule } = page.rules;
    const enter = (rule, selectors, layer, scope) => {
      for (const selector of selectors) all.push({ rule, selector, layer, scope, order: all.length });
    };
    const walk = (rules, layer, scope) => {
      for (const rule of rules) {
        if (rule instanceof CSSStyleRule) {
          enter(rule, rule._selectors ?? [], layer, scope);
          if (/[{@]/.test(rule._.body) || rule._.rules?.length > 0) walk(rule._rules, layer, scope);
        } else if (rule instanceof CSSNestedDeclarations) {
          let around = rule.parentRule;
          while (around && !(around instanceof CSSStyleRule)) around = around.parentRule;
          if (around) enter(rule, around._selectors ?? [], layer, scope);
        } else if (rule instanceof CSSLayerStatementRule) for (const name of rule.nameList) layerAt(layer, name);
        else if (rule instanceof CSSLayerBlockRule) walk(rule._rules, layerAt(layer, rule.name), scope);
        else if (rule instanceof CSSImportRule) {
          if (rule._applies && rule.styleSheet) walk(rule.styleSheet._rules, rule.layerName === null ? layer : layerAt(layer, rule.layerName), scope);
        } else if (rule instanceof CSSPropertyRule) page.registered.set(rule.name, { syntax: rule.syntax, inherits: rule.inherits, initial: rule.initialValue ?? undefined });
        else if (rule instanceof CSSScopeRule) walk(rule._rules, layer, { start: rule.start && page.parseSelector(rule.start), end: rule.end && page.parseSelector(rule.end), outer: scope });
        else if (rule instanceof CSSGroupingRule && rule._applies) walk(rule._rules, layer, scope);
      }
    };
    for (const sheet of sheets) if (!sheet.disabled && page.mediaMatches(sheet._.media.text)) walk(sheet._rules, root, null);
    rank(root);
    for (const entry of all) {
      if (entry.selector.slotted) {
        index.slotted.push(entry);
        continue;
      }
      const keys = page.quirks ? null : page.keysOf(entry.selector);
      if (keys === null) index.rest.push(entry);
      entry.several = keys !== null && keys.length > 1;
      for (const key of new Set(keys ?? [])) {
        if (index.keys.has(key)) index.keys.get(key).push(entry);
        else index.keys.set(key, [entry]);
      }
    }
    index.size = all.length;
    return index;
  };
  const view = () => `${page.styleVersion} ${g.innerWidth} ${g.innerHeight}`;
  const indexes = new WeakMap();
  const indexOf = (root) => {
    const now = view();
    let found = indexes.get(root);
    if (!found || found.view !== now) {
      found = buildIndex([...page.sheetsOf(root), ...(root.adoptedStyleSheets ?? [])]);
      found.view = view();
      indexes.set(root, found);
    }
    return found;
  };
  const defaultSheet = new g.CSSStyleSheet();
  defaultSheet._.text = page.defaultStyles;
  const defaults = buildIndex([defaultSheet]);

  // The entries of an index that are for an element, in order of precedence.
  const inScope = (scope, el, ctx) => {
    for (let s = scope; s; s = s.outer) {
      let found = !s.start;
      for (let x = el; x; x = x[P.parentNode]?.[P.nodeType] === 1 ? x[P.parentNode] : null) {
        if (s.end && page.matchesSelector(s.end, x, ctx)) return false;
        if (s.start && page.matchesSelector(s.start, x, ctx)) {
          found = true;
          break;
        }
      }
      if (!found) return false;
    }
    return true;
  };
  const matching = (index, el, ctx, pseudo) => {
    const out = [];
    const look = (entries) => {
      if (!entries) return;
      for (const entry of entries) {
        const { selector } = entry;
        if (selector.element !== pseudo || (entry.several && out.includes(entry))) continue;
        if (page.matchesComplex(selector, selector.parts.length - 1, el, ctx) && (!entry.scope || inScope(entry.scope, el, ctx))) out.push(entry);
      }
    };
    if (index.size === 0) return out;
    const { attribute } = page;
    const id = attribute(el, 'id');
    const classes = attribute(el, 'class');
    if (id) look(index.keys.get(`#${id}`));
    if (classes) for (const c of new Set(classes.split(/[ \t\n\f\r]+/))) if (c) look(index.keys.get(`.${c}`));
    look(index.keys.get(el[P.localName].toLowerCase()));
    for (const name of el[P.attributes][P.itemsByName].keys()) look(index.keys.get(`[${name.toLowerCase()}`));
    look(index.rest);
    return out.sort((a, b) => a.layer.rank - b.layer.rank || a.selector.weight - b.selector.weight || a.order - b.order);
  };

  // Attributes that say what a style would.
  const dimension = (text) => {
    const m = /^\s*(\d+(?:\.\d+)?)(%?)/.exec(text ?? '');
    return m ? m[1] + (m[2] || 'px') : null;
  };
  const hints = (el) => {
    const out = new Map();
    const { attribute } = page;
    const name = el[P.localName];
    const set = (property, value) => value !== null && out.set(property, { value, important: false });
    const color = (text) => (text === undefined ? null : page.parseLonghand('color', /^[\da-f]{6}$/i.test(text) ? `#${text}` : text));
    if (/^(img|video|canvas|iframe|embed|object|table|td|th|col|hr|input)$/.test(name)) {
      if (name !== 'canvas' && (name !== 'input' || el.type === 'image')) {
        set('width', dimension(attribute(el, 'width')));
        if (name !== 'hr') set('height', dimension(attribute(el, 'height')));
      }
    }
    if (/^(body|table|thead|tbody|tfoot|tr|td|th)$/.test(name)) set('background-color', color(attribute(el, 'bgcolor')));
    if (name === 'body' && attribute(el, 'text')) set('color', color(attribute(el, 'text')));
    if (name === 'font') {
      set('color', color(attribute(el, 'color')));
      if (attribute(el, 'face')) set('font-family', page.parseLonghand('font-family', attribute(el, 'face')));
      const size = ['x-small', 'small', 'medium', 'large', 'x-large', 'xx-large', 'xxx-large'][+(attribute(el, 'size') ?? NaN) - 1];
      if (size) set('font-size', size);
    }
    if (name === 'table') {
      const spacing = dimension(attribute(el, 'cellspacing'));
      if (spacing) set('border-spacing', spacing);
      if (attribute(el, 'border') !== undefined) for (const side of ['top', 'right', 'bottom', 'left']) set(`border-${side}-width`, dimension(attribute(el, 'border')) ?? '1px');
    }
    if (el[P.namespaceURI] === 'http://www.w3.org/2000/svg') {
      for (const [property] of el[P.attributes][P.itemsByName]) {
        if (property === 'class' || property === 'id' || !page.properties.has(property) || (/^(width|height|x|y|r|rx|ry|cx|cy|d|transform)$/.test(property) && name !== 'svg')) continue;
        set(property, page.parseLonghand(property, attribute(el, property)));
      }
    }
    return out;
  };

  // The winners for an element: longhand → {value, from}, from being the place in `levels`.
  const shadowOf = (el) => el[P.shadowRoot] ?? null;
  const cascade = (el, pseudo) => {
    const levels = []; // [block, layer rank or null], least first
    const root = el.getRootNode();
    const shadow = root.host ? root : null;
    const ctx = { scope: null, host: root.host ?? null, shadow };
    const ua = matching(defaults, el, { scope: null }, pseudo);
    for (const { rule } of ua) levels.push({ block: rule._declarations, origin: 0, layer: 0 });
    if (!pseudo) {
      const presentational = hints(el);
      if (presentational.size > 0) levels.push({ block: presentational, origin: 1, layer: -1 });
    }
    const inner = shadowOf(el);
    if (inner) for (const { rule, layer } of matching(indexOf(inner), el, { scope: null, host: el, shadow: inner }, pseudo)) levels.push({ block: rule._declarations, origin: 1, layer: layer.rank });
    const above = el[P.parentNode]?.[P.nodeType] === 1 ? shadowOf(el[P.parentNode]) : null;
    if (above) {
      for (const { rule, layer, selector } of indexOf(above).slotted) {
        if (!pseudo && page.matchesSelector(selector.slotted, el, { scope: null })) levels.push({ block: rule._declarations, origin: 1, layer: layer.rank });
      }
    }
    for (const { rule, layer } of matching(indexOf(root.nodeType === 9 || shadow ? root : document), el, ctx, pseudo)) levels.push({ block: rule._declarations, origin: 1, layer: layer.rank });
    if (!pseudo && page.attribute(el, 'style') !== undefined) levels.push({ block: page.declarationBlock(page.styleOf(el)), origin: 1, layer: Infinity });
    const winners = new Map();
    let important = false;
    levels.forEach(({ block }, i) => {
      for (const [name, d] of block) {
        if (d.important) important = true;
        else winners.set(name, { value: d.value, from: i });
      }
    });
    if (important) {
      // Important declarations win the other way round, but for those of one origin and layer.
      const order = levels.map((level, i) => [level, i]).sort(([a, i], [b, j]) => b.origin - a.origin || (a.layer === Infinity ? 1 : b.layer === Infinity ? -1 : b.layer - a.layer) || i - j);
      for (const [{ block }, i] of order) for (const [name, d] of block) if (d.important) winners.set(name, { value: d.value, from: i });
    }
    return { winners, levels };
  };

  // Custom properties.
  const variable = /"(?:[^"\\]|\\[^])*"?|'(?:[^'\\]|\\[^])*'?|(?<![\w-])(var|env)\(/gi;
  const closing = (text, from) => {
    let depth = 1;
    for (let i = from; i < text.length; i++) {
      const c = text[i];
      if (c === '"' || c === "'") {
        const end = text.indexOf(c, i + 1);
        i = end < 0 ? text.length : end;
      } else if (c === '(') depth++;
      else if (c === ')' && --depth === 0) return i;
    }
    return text.length;
  };
  // The text with its variables replaced; null when one has no value. `get` gives null for none.
  const substitute = (text, get, depth = 0) => {
    if (depth > maxVariables) return null;
    let out = '';
    let at = 0;
    variable.lastIndex = 0;
    for (;;) {
      variable.lastIndex = at;
      let m;
      do m = variable.exec(text);
      while (m && !m[1]);
      if (!m) break;
      const from = m.index + m[0].length;
      const to = closing(text, from);
      const inner = text.slice(from, to);
      const comma = page.splitCSS(inner, ',');
      const name = comma[0].trim();
      let value = m[1].toLowerCase() === 'env' ? (/^safe-area-inset-/.test(name) ? '0px' : null) : name.startsWith('--') ? get(name) : null;
      if (value === null && comma.length > 1) value = substitute(inner.slice(inner.indexOf(',') + 1).trim(), get, depth + 1);
      if (value === null) return null;
      out += text.slice(at, m.index) + value;
      at = to + 1;
      if (out.length > maxText) return null;
    }
    out += text.slice(at);
    return out.length > maxText ? null : out;
  };
  const customOf = (record, own) => {
    const inherited = record.parent?.custom ?? null;
    const reset = inherited ? [...page.registered].filter(([name, r]) => !r.inherits && name in inherited && !own.has(name)) : [];
    if (own.size === 0 && reset.length === 0) return inherited;
    const out = Object.create(inherited);
    for (const [name, r] of reset) out[name] = r.initial ?? null;
    const path = [];
    const cyclic = new Set();
    const done = new Set();
    const get = (name) => {
      if (!own.has(name)) return name in out ? out[name] : (page.registered.get(name)?.initial ?? null);
      const at = path.indexOf(name);
      if (at >= 0) {
        for (const x of path.slice(at)) cyclic.add(x);
        return null;
      }
      if (!done.has(name)) resolve(name);
      return out[name];
    };
    const resolve = (name) => {
      const raw = own.get(name);
      const registered = page.registered.get(name);
      const above = () => (registered && !registered.inherits ? (registered.initial ?? null) : (inherited?.[name] ?? registered?.initial ?? null));
      done.add(name);
      if (/^(inherit|unset|revert|revert-layer)$/i.test(raw)) {
        out[name] = /^inherit$/i.test(raw) ? (inherited?.[name] ?? registered?.initial ?? null) : above();
        return;
      }
      if (/^initial$/i.test(raw)) {
        out[name] = registered?.initial ?? null;
        return;
      }
      path.push(name);
      const value = path.length > maxVariables ? null : /\b(var|env)\(/i.test(raw) ? substitute(raw, get) : raw;
      path.pop();
      out[name] = cyclic.has(name) ? null : value;
      if (out[name] === null && registered) out[name] = above();
    };
    for (const name of own.keys()) if (!done.has(name)) resolve(name);
    return out;
  };

  // Records: what is known of an element's style.
  const records = new WeakMap();
  const above = (el) => {
    const p = el[P.parentNode];
    if (!p) return null;
    return p[P.nodeType] === 1 ? p : (p.host ?? null);
  };
  let stamp = '';
  let stampVersion = -1;
  let stampSize = 0;
  const now = () => {
    if (stampVersion !== page.version || stampSize !== g.innerWidth * 65536 + g.innerHeight) {
      stampVersion = page.version;
      stampSize = g.innerWidth * 65536 + g.innerHeight;
      stamp = `${stampVersion} ${view()}`;
    }
    return stamp;
  };
  const make = (el, parent, pseudo) => {
    const { winners, levels } = cascade(el, pseudo);
    const record = { el, pseudo, parent, winners, levels, memo: new Map(), custom: null, stamp: now() };
    const own = new Map();
    for (const [name, { value }] of winners) if (name.startsWith('--')) own.set(name, value);
    record.custom = customOf(record, own);
    return record;
  };
  const recordOf = (el) => {
    const chain = [];
    const at = now();
    for (let x = el; x; x = above(x)) {
      const known = records.get(x);
      if (known && known.stamp === at) break;
      chain.push(x);
    }
    while (chain.length > 0) {
      const x = chain.pop();
      const up = above(x);
      records.set(x, make(x, up ? records.get(up) : null, null));
    }
    return records.get(el);
  };

  // The value that a property has on an element before it is computed: its winner with variables
  // replaced, 'inherit', or undefined for its initial value.
  const specified = (record, name) => {
    const def = page.properties.get(name);
    let winner = record.winners.get(name);
    for (let tries = 0; winner && tries < 4; tries++) {
      let { value } = winner;
      if (typeof value === 'object') {
        const text = substitute(value.text, (x) => record.custom?.[x] ?? page.registered.get(x)?.initial ?? null);
        value = text === null ? 'unset' : (page.expand(value.shorthand, text)?.find(([x]) => x === name)?.[1] ?? 'unset');
        if (typeof value === 'object') value = 'unset';
      } else if (/\b(var|env)\(/i.test(value)) {
        const text = substitute(value, (x) => record.custom?.[x] ?? page.registered.get(x)?.initial ?? null);
        value = (text === null ? null : page.parseLonghand(name, text)) ?? 'unset';
      }
      if (value === 'initial') return undefined;
      if (value === 'inherit') return 'inherit';
      if (value === 'unset') break;
      if (value !== 'revert' && value !== 'revert-layer') return value;
      winner = lower(record.levels, winner.from, name, value === 'revert-layer');
    }
    return def.inherited ? 'inherit' : undefined;
  };
  const lower = (levels, from, name, layerOnly) => {
    const { origin, layer } = levels[from];
    for (let i = from - 1; i >= 0; i--) {
      const level = levels[i];
      if (layerOnly ? level.origin === origin && level.layer === layer : level.origin === origin && origin > 0) continue;
      const d = level.block.get(name);
      if (d) return { value: d.value, from: i };
    }
    return undefined;
  };
  const initialOf = (name) => page.properties.get(name).initial;
  const internal = (record, name) => {
    const { memo } = record;
    if (memo.has(name)) return memo.get(name);
    const def = page.properties.get(name);
    const stack = [record];
    const needs = (r) => def.inherited || r.winners.get(name)?.value === 'inherit' || (r.winners.has(name) && specified(r, name) === 'inherit');
    for (let r = record; r.parent && needs(r) && !r.parent.memo.has(name); r = r.parent) stack.push(r.parent);
    while (stack.length > 0) {
      const r = stack.pop();
      if (r.memo.has(name)) continue;
      const value = specified(r, name);
      r.memo.set(name, value === 'inherit' ? (r.parent ? r.parent.memo.get(name) ?? internal(r.parent, name) : initialValue(r, name)) : page.computeValue(r, name, value ?? initialOf(name)));
    }
    return memo.get(name);
  };
  const initialValue = (r, name) => page.computeValue(r, name, initialOf(name));
  page.internalValue = internal;

  // What a script reads.
  const rawValue = (record, name) => (name.startsWith('--') ? (record.custom?.[name] ?? page.registered.get(name)?.initial ?? '') : '');
  const resolvedValue = (record, name) => {
    if (page.properties.has(name)) return page.usedValue(record, name, internal(record, name));
    if (page.shorthands.has(name)) return name === 'all' ? '' : page.collapseComputed(name, (x) => page.usedValue(record, x, internal(record, x)));
    return rawValue(record, name);
  };
  // Whether anything on the page is what a rule is for, now or under a pointer.
  page.usesRule = (rule) => {
    const text = rule.selectorText.replace(/::?(before|after|hover|focus|active)\b/g, '');
    const list = page.parseSelector(text.replace(/(^|[\s,>+~])(?=$|[\s,>+~])/g, '$1*'));
    return list === null || [...document.querySelectorAll('*')].some((el) => page.matchesSelector(list, el, { scope: null }));
  };
  // For the guest's own use: a computed value, and whether an element has a box.
  page.computedValue = (el, name) => internal(recordOf(el), name);
  page.isRendered = (el) => {
    for (let r = recordOf(el); r; r = r.parent) if (internal(r, 'display') === 'none') return false;
    return true;
  };

  const names = [...page.properties.keys()].sort();
  const made = new WeakMap();
  host.define('getComputedStyle', function getComputedStyle(el, pseudo) {
    if (!el || el[P.nodeType] !== 1) throw new TypeError("Failed to execute 'getComputedStyle' on 'Window': parameter 1 is not of type 'Element'.");
    const m = /^::?([\w-]+)(?:\([^)]*\))?$/.exec(pseudo ?? '');
    const part = m ? m[1].toLowerCase() : null;
    if (!part && made.has(el)) return made.get(el);
    let known = null;
    const record = () => {
      if (!part) return recordOf(el);
      if (!known || known.stamp !== now()) known = make(el, recordOf(el), part);
      return known;
    };
    const style = page.declaration({
      computed: {
        value: (name) => (el[P.isConnected] ? resolvedValue(record(), name) : ''),
        names: () => (el[P.isConnected] ? names : []),
      },
    });
    if (!part) made.set(el, style);
    return style;
  });
  page.window.getComputedStyle = g.getComputedStyle;
})
