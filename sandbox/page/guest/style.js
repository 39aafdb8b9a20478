// Declarations: element.style, the style of a rule, and what getComputedStyle gives.
// Source: CSSOM, 6.6.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const g = globalThis;

  // Declarations in text: [name, value, important], in order.
  page.parseDeclarations = (text) => {
    const out = [];
    for (const piece of page.splitCSS(page.withoutComments(text), ';')) {
      const colon = piece.indexOf(':');
      if (colon < 1) continue;
      const raw = piece.slice(0, colon).trim();
      let value = piece.slice(colon + 1).trim();
      const important = /\s*!\s*important\s*$/i.exec(value);
      if (important) value = value.slice(0, important.index);
      if (/^(--[^\s]*|-?[a-z][\w-]*)$/i.test(raw)) out.push([page.propertyName(raw), value, Boolean(important)]);
    }
    return out;
  };

  // A block: longhand → {value, important}, in order of declaration.
  const put = (block, name, value, important) => {
    const found = page.expand(name, value);
    if (!found) return false;
    for (const [longhand, v] of found) {
      block.delete(longhand);
      block.set(longhand, { value: v, important });
    }
    return true;
  };
  page.parseBlock = (text) => {
    const block = new Map();
    for (const [name, value, important] of page.parseDeclarations(text)) {
      if (important || !isImportant(block, name)) put(block, name, value, important);
    }
    return block;
  };
  const isImportant = (block, name) => {
    const longhands = page.shorthands.get(name);
    return longhands ? longhands.every((x) => block.get(x)?.important) && longhands.length > 0 : Boolean(block.get(name)?.important);
  };

  const textOf = (value) => (typeof value === 'object' ? '' : value);
  const valueIn = (block, name) => {
    if (!page.shorthands.has(name)) return textOf(block.get(name)?.value ?? '');
    const longhands = page.shorthands.get(name);
    const first = block.get(longhands[0]);
    if (!first || longhands.some((x) => block.get(x)?.important !== first.important)) return '';
    return page.collapse(name, (x) => block.get(x)?.value);
  };
  // Shorthands that stand for many come first.
  const order = [...page.shorthands.keys()].filter((name) => name !== 'all' && !/-(block|inline)$/.test(name)).sort((a, b) => page.shorthands.get(b).length - page.shorthands.get(a).length);
  const holding = new Map(); // longhand → shorthands
  for (const name of order) for (const longhand of page.shorthands.get(name)) holding.set(longhand, [...(holding.get(longhand) ?? []), name]);
  page.blockText = (block) => {
    const done = new Set();
    const out = [];
    for (const [name, { value, important }] of block) {
      if (done.has(name)) continue;
      const end = important ? ' !important;' : ';';
      let whole = '';
      for (const shorthand of holding.get(name) ?? []) {
        const longhands = page.shorthands.get(shorthand);
        if (longhands.some((x) => done.has(x) || block.get(x)?.important !== important)) continue;
        whole = page.collapse(shorthand, (x) => block.get(x)?.value);
        if (whole === '') continue;
        for (const x of longhands) done.add(x);
        out.push(`${shorthand}: ${whole}${end}`);
        break;
      }
      if (whole === '') out.push(`${name}: ${textOf(value)}${end}`);
    }
    return out.join(' ');
  };

  const states = new WeakMap(); // declaration → {block, element | rule | computed, text}
  const readOnly = (name) => {
    throw new DOMException(`Failed to execute 'setProperty' on 'CSSStyleDeclaration': These styles are computed, and therefore the '${name}' property is read-only.`, 'NoModificationAllowedError');
  };
  const blockOf = (s) => {
    if (s.element) {
      const text = page.attribute(s.element, 'style') ?? '';
      if (text !== s.text) {
        s.text = text;
        s.block = page.parseBlock(text);
      }
    }
    return s.block;
  };
  const changed = (s) => {
    if (s.element) {
      s.text = page.blockText(s.block);
      s.element.setAttribute('style', s.text);
    } else s.rule?._changed();
  };
  const set = (self, name, value, important) => {
    const s = states.get(self);
    if (s.computed) readOnly(name);
    const known = page.propertyName(name);
    if (!known.startsWith('--') && !page.properties.has(known) && !page.shorthands.has(known)) return;
    const text = value === null || value === undefined ? '' : host.str(value).trim();
    if (text === '' && !(known.startsWith('--') && value !== '' && value !== null && value !== undefined)) return void remove(self, name);
    const block = blockOf(s);
    const found = page.expand(known, text);
    if (!found) return;
    let any = false;
    for (const [longhand, v] of found) {
      const old = block.get(longhand);
      if (old && old.value === v && old.important === important) continue;
      any = true;
      if (old) Object.assign(old, { value: v, important });
      else block.set(longhand, { value: v, important });
    }
    if (any) changed(s);
  };
  const remove = (self, name) => {
    const s = states.get(self);
    if (s.computed) readOnly(name);
    const known = page.propertyName(name);
    const block = blockOf(s);
    const before = page.shorthands.has(known) ? '' : valueIn(block, known);
    let any = false;
    for (const x of page.shorthands.get(known) ?? [known]) any = block.delete(x) || any;
    if (any) changed(s);
    return before;
  };
  const read = (self, name) => {
    const s = states.get(self);
    const known = page.propertyName(name);
    return s.computed ? s.computed.value(known) : valueIn(blockOf(s), known);
  };
  const names = (self) => {
    const s = states.get(self);
    return s.computed ? s.computed.names() : [...blockOf(s).keys()];
  };

  class CSSStyleDeclaration {
    constructor(key, state) {
      if (key !== states) throw new TypeError("Failed to construct 'CSSStyleDeclaration': Illegal constructor");
      states.set(this, state);
    }
    get cssText() {
      const s = states.get(this);
      return s.computed ? '' : page.blockText(blockOf(s));
    }
    set cssText(text) {
      const s = states.get(this);
      if (s.computed) readOnly('cssText');
      s.block = page.parseBlock(host.str(text));
      changed(s);
    }
    get length() {
      return names(this).length;
    }
    get parentRule() {
      return states.get(this).rule ?? null;
    }
    item(i) {
      return names(this)[i] ?? '';
    }
    getPropertyValue(name) {
      return read(this, host.str(name));
    }
    getPropertyPriority(name) {
      const s = states.get(this);
      return !s.computed && isImportant(blockOf(s), page.propertyName(host.str(name))) ? 'important' : '';
    }
    setProperty(name, value, priority = '') {
      if (arguments.length < 2) throw new TypeError(`Failed to execute 'setProperty' on 'CSSStyleDeclaration': 2 arguments required, but only ${arguments.length} present.`);
      const p = host.str(priority ?? '').toLowerCase();
      if (p === '' || p === 'important') set(this, host.str(name), value, p !== '');
    }
    removeProperty(name) {
      return remove(this, host.str(name));
    }
    [Symbol.iterator]() {
      return names(this)[Symbol.iterator]();
    }
  }
  host.tag(CSSStyleDeclaration, 'CSSStyleDeclaration');
  const proto = CSSStyleDeclaration.prototype;
  const accessor = (key, name) =>
    Object.defineProperty(proto, key, {
      get() {
        return read(this, name);
      },
      set(value) {
        set(this, name, value, false);
      },
      configurable: true,
      enumerable: true,
    });
  const camel = (name) => name.replace(/-([a-z])/g, (_, c) => c.toUpperCase());
  for (const name of [...page.properties.keys(), ...page.shorthands.keys(), ...page.propertyAliases.keys()]) {
    accessor(name, name);
    if (name.startsWith('-webkit-')) {
      accessor(camel(name.slice(1)), name);
      accessor(camel(name), name);
    } else if (name.includes('-')) accessor(camel(name), name);
  }
  accessor('cssFloat', 'float');
  // Places: style[0] is a name.
  for (let i = 0; i < 420; i++) {
    Object.defineProperty(proto, i, {
      get() {
        return names(this)[i];
      },
      configurable: true,
      enumerable: false,
    });
  }
  page.declaration = (state) => new CSSStyleDeclaration(states, state);
  page.declarationBlock = (declaration) => blockOf(states.get(declaration));
  host.define('CSSStyleDeclaration', CSSStyleDeclaration);
  page.window.CSSStyleDeclaration = CSSStyleDeclaration;

  const own = Symbol('style');
  page.styleOf = (el) => (el[own] ??= page.declaration({ element: el, block: new Map(), text: '' }));
  for (const cls of [g.HTMLElement, g.SVGElement]) {
    const on = host.owner('style', cls.prototype);
    Object.defineProperty(on, 'style', {
      get() {
        return page.styleOf(this[P.proxy] ?? this);
      },
      set(text) {
        page.styleOf(this[P.proxy] ?? this).cssText = text;
      },
      configurable: true,
      enumerable: true,
    });
  }
})
