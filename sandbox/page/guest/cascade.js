// getComputedStyle: the cascade of CSS over the rules of the page, by origin, importance, specificity and order, with inheritance and
// custom properties. There is no layout, so sizes that follow from it are guesses.
// Source: CSS Cascade 4, CSS Custom Properties 1, CSSOM 1, section 9.
(function (host) {
  'use strict';
  const { document, css } = host.page;
  const { inherited, initial, ofElement, wider, fontSizes, weight, lengths, calculated, color, partOf, composed, composes, declarations, matches, valid } = css;
  const g = globalThis;

  // One question, which looks everything up once.
  class Cascade {
    constructor() {
      this.rules = css.rules();
      this.winners = new Map();
      this.values = new Map();
    }

    // of returns the declarations of an element that win, by name; those of a shorthand and of its parts are both there.
    of(el) {
      let won = this.winners.get(el);
      if (won) return won;
      won = new Map();
      const put = (d, weight, order) => {
        if (!valid(d.name, d.value)) return;
        const rank = (d.important ? 1e12 : 0) + weight;
        const before = won.get(d.name);
        if (!before || rank > before.rank || (rank === before.rank && order >= before.order)) won.set(d.name, { ...d, rank, order });
      };
      let order = 0;
      for (const rule of this.rules) {
        let weight = -1;
        for (const s of rule.selectors) if (s.weight > weight && matches(el, s.text)) weight = s.weight;
        if (weight < 0) continue;
        for (const d of rule.declarations) put(d, weight, order++);
      }
      const own = el.getAttribute?.('style');
      if (own) for (const d of declarations(own)) put(d, 1e10, order++);
      this.winners.set(el, won);
      return won;
    }

    // declared is what the page says of a property of an element: its winner, taken out of a shorthand where that won.
    declared(el, name) {
      const won = this.of(el);
      let best = won.get(name);
      let from = name;
      for (const wide of wider(name)) {
        const d = won.get(wide);
        if (d && (!best || d.rank > best.rank || (d.rank === best.rank && d.order > best.order))) {
          best = d;
          from = wide;
        }
      }
      if (!best) return undefined;
      const value = this.resolved(el, best.value);
      if (value === undefined) return 'unset'; // invalid at computed-value time
      return from === name ? value : partOf(from, name, value);
    }

    // resolved puts values in place of var(); undefined where one is missing.
    resolved(el, value, depth = 0) {
      if (depth > 40 || value.length > 1e5) return undefined;
      for (let i = 0; i < 200; i++) {
        const at = value.search(/\bvar\(/i);
        if (at < 0) return value;
        let end = at + 4;
        for (let deep = 1; deep > 0 && end < value.length; end++) {
          if (value[end] === '(') deep++;
          else if (value[end] === ')') deep--;
        }
        const inside = value.slice(at + 4, end - 1);
        const comma = inside.indexOf(',');
        const name = (comma < 0 ? inside : inside.slice(0, comma)).trim();
        let found = this.custom(el, name);
        if (found === '' && comma >= 0) found = this.resolved(el, inside.slice(comma + 1).trim(), depth + 1);
        else if (found === '') return undefined;
        if (found === undefined) return undefined;
        value = value.slice(0, at) + found + value.slice(end);
        if (value.length > 1e5) return undefined;
      }
      return undefined;
    }

    // custom is the value of a custom property; empty where it is not valid, which what stands in a circle is not.
    custom(el, name) {
      for (let at = el; at && at.nodeType === 1; at = at.parentElement) {
        const d = this.of(at).get(name);
        if (!d || /^(inherit|unset|revert|revert-layer)$/i.test(d.value)) continue;
        if (/^initial$/i.test(d.value)) return '';
        const key = name + '\n';
        let running = this.values.get(at);
        if (!running) this.values.set(at, (running = new Map()));
        if (running.has(key)) return running.get(key) ?? '';
        running.set(key, null); // a circle comes back here
        const value = this.resolved(at, d.value);
        running.set(key, value ?? '');
        return value ?? '';
      }
      return '';
    }

    // value is the computed value of a property.
    value(el, name) {
      if (name.startsWith('--')) return this.custom(el, name);
      let values = this.values.get(el);
      if (!values) this.values.set(el, (values = new Map()));
      if (values.has(name)) return values.get(name);
      const made = this.compute(el, name);
      values.set(name, made);
      return made;
    }

    compute(el, name) {
      const parent = el.parentElement ?? (el.parentNode?.nodeType === 11 ? el.parentNode.host : null);
      const above = () => (parent ? this.value(parent, name) : (initial[name] ?? ''));
      let value = this.declared(el, name);
      for (let i = 0; i < 2; i++) {
        const word = value?.toLowerCase();
        if (word === 'inherit' || (word === 'unset' && inherited.has(name))) return above();
        if (word === 'initial' || word === 'unset') return this.absolute(el, parent, name, initial[name] ?? '');
        if (value !== undefined && word !== 'revert' && word !== 'revert-layer') break;
        value = ofElement(el)?.[name];
        if (value === undefined) return inherited.has(name) ? above() : this.absolute(el, parent, name, initial[name] ?? '');
      }
      return this.absolute(el, parent, name, value);
    }

    // absolute writes a value as browsers give it back.
    absolute(el, parent, name, value) {
      const size = () => (name === 'font-size' ? (parent ? parseFloat(this.value(parent, 'font-size')) : 16) : parseFloat(this.value(el, 'font-size')));
      if (name === 'font-size') value = fontSizes[value] ?? (value === 'smaller' ? '0.8333em' : value === 'larger' ? '1.2em' : value.replace(/^([\d.]+)%$/, (_, n) => `${n / 100}em`));
      if (name === 'font-weight') return weight(value, () => +(parent ? this.value(parent, name) : 400));
      if (/color$/.test(name) || name === 'fill' || name === 'stroke') {
        if (/^currentcolor$/i.test(value)) return name === 'color' ? (parent ? this.value(parent, 'color') : 'rgb(0, 0, 0)') : this.value(el, 'color');
        return color(value);
      }
      if (name === 'display' && el === document.documentElement && value === 'inline') return 'block';
      if (/^border-(top|right|bottom|left)-width$/.test(name)) {
        if (/^(none|hidden)$/.test(this.value(el, name.replace('width', 'style')))) return '0px';
        value = { thin: '1px', medium: '3px', thick: '5px' }[value] ?? value;
      }
      if (/shadow|image|background/.test(name)) value = value.replace(/#[\da-f]{3,8}\b/gi, color);
      let text = lengths(value, size, () => parseFloat(this.value(document.documentElement, 'font-size')));
      if (name === 'opacity' && /%$/.test(text)) text = `${parseFloat(text) / 100}`;
      text = text.replace(/(^|[\s(,])(-?)\.(\d)/g, '$1$20.$3');
      if (text.includes('calc(')) text = calculated(text);
      if (name === 'line-height' && /^[\d.]+$/.test(text)) return `${+(text * size()).toFixed(4)}px`;
      if (/^(width|height)$/.test(name) && text === 'auto' && el.isConnected && this.value(el, 'display') !== 'none') {
        return `${name === 'width' ? el.clientWidth : el.clientHeight}px`;
      }
      return text;
    }
  }

  const dashed = (name) => (name === 'cssFloat' ? 'float' : name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`).replace(/^(webkit|moz|ms)-/, '-$1-'));
  const names = Object.keys(initial).sort();

  let current = null;
  let stamp = '';
  const now = () => `${css.version()} ${g.innerWidth} ${g.innerHeight}`;
  const looked = (f) => {
    if (!current || stamp !== now()) current = new Cascade();
    const value = f(current);
    stamp = now(); // taking a shorthand apart counts as a change
    return value;
  };

  const refuse = () => {
    throw new g.DOMException('These styles are computed, and therefore the property is read-only.', 'NoModificationAllowedError');
  };
  const read = (el, pseudo, name) => {
    if (!el.isConnected) return '';
    return looked((c) => {
      if (pseudo) return name === 'content' ? 'none' : c.value(el, name);
      if (Object.hasOwn(composed, name) && (composes.has(name) || !c.of(el).has(name))) return composed[name]((part) => c.value(el, part));
      return c.value(el, name);
    });
  };
  const views = new WeakMap();
  const computed = (el, pseudo) => {
    const base = Object.create(g.CSSStyleDeclaration.prototype, {
      getPropertyValue: { value: (name) => read(el, pseudo, host.str(name).startsWith('--') ? host.str(name) : host.str(name).toLowerCase()) },
      getPropertyPriority: { value: () => '' },
      setProperty: { value: refuse },
      removeProperty: { value: refuse },
      item: { value: (i) => names[i] ?? '' },
      parentRule: { value: null },
    });
    return new Proxy(base, {
      get(target, key) {
        if (typeof key !== 'string') return key === Symbol.toStringTag ? 'CSSStyleDeclaration' : key === Symbol.iterator ? () => names[Symbol.iterator]() : Reflect.get(target, key, target);
        if (Object.hasOwn(target, key)) return target[key];
        if (key === 'length') return el.isConnected ? names.length : 0;
        if (key === 'cssText') return '';
        if (/^\d+$/.test(key)) return names[key];
        if (key in Object.prototype) return Reflect.get(target, key, target);
        if (!(dashed(key) in initial) && !Object.hasOwn(composed, dashed(key)) && !(key in g.CSSStyleDeclaration.prototype)) return undefined;
        return read(el, pseudo, dashed(key));
      },
      set: refuse,
      has: (target, key) => key in target || (typeof key === 'string' && dashed(key) in initial),
      ownKeys: () => names.map((_, i) => String(i)),
      getOwnPropertyDescriptor: (target, key) => (/^\d+$/.test(String(key)) && names[key] !== undefined ? { value: names[key], enumerable: true, configurable: true } : undefined),
    });
  };

  g.getComputedStyle = function getComputedStyle(el, pseudo) {
    if (!(el instanceof g.Element)) throw new TypeError("Failed to execute 'getComputedStyle' on 'Window': parameter 1 is not of type 'Element'.");
    if (pseudo) return computed(el, host.str(pseudo));
    let view = views.get(el);
    if (!view) views.set(el, (view = computed(el, '')));
    return view;
  };
  if (g.CSSStyleDeclaration && !g.CSSStyleDeclaration.prototype[Symbol.iterator]) {
    Object.defineProperty(g.CSSStyleDeclaration.prototype, Symbol.iterator, {
      value: function* values() {
        for (let i = 0; i < this.length; i++) yield this[i];
      },
      writable: true,
      configurable: true,
    });
  }
  host.tag?.(g.CSSStyleDeclaration, 'CSSStyleDeclaration');
})
