// Media queries, @supports, and the media lists of sheets.
// Source: Media Queries 4, CSS Conditional 3, CSSOM View.
(function (host) {
  'use strict';
  const { page } = host;
  const g = globalThis;
  const { splitCSS: split } = page;

  const px = (text) => {
    const m = /^([+-]?[\d.]+)([a-z]*)$/i.exec(page.absoluteLengths(text.trim(), (unit) => ({ em: 16, rem: 16, ch: 8, ex: 8, vw: g.innerWidth / 100, vh: g.innerHeight / 100 })[unit]));
    return m ? +m[1] : NaN;
  };
  const ratio = (text) => {
    const [a, b = 1] = text.split('/').map(Number);
    return a / b;
  };
  const dots = (text) => {
    const m = /^([\d.]+)(dppx|x|dpi|dpcm)$/i.exec(text.trim());
    return m ? +m[1] / { dppx: 1, x: 1, dpi: 96, dpcm: 96 / 2.54 }[m[2].toLowerCase()] : NaN;
  };
  const ranges = {
    width: [() => g.innerWidth, px], height: [() => g.innerHeight, px], 'inline-size': [() => g.innerWidth, px], 'block-size': [() => g.innerHeight, px],
    'device-width': [() => g.screen.width, px], 'device-height': [() => g.screen.height, px],
    'aspect-ratio': [() => g.innerWidth / g.innerHeight, ratio], 'device-aspect-ratio': [() => g.screen.width / g.screen.height, ratio],
    resolution: [() => g.devicePixelRatio, dots], color: [() => 8, Number], 'color-index': [() => 0, Number], monochrome: [() => 0, Number],
    '-webkit-device-pixel-ratio': [() => g.devicePixelRatio, Number],
  };
  const discrete = {
    orientation: () => (g.innerWidth > g.innerHeight ? 'landscape' : 'portrait'), 'prefers-color-scheme': () => 'light', 'prefers-reduced-motion': () => 'no-preference',
    'prefers-contrast': () => 'no-preference', 'prefers-reduced-transparency': () => 'no-preference', 'prefers-reduced-data': () => 'no-preference',
    'forced-colors': () => 'none', 'inverted-colors': () => 'none', hover: () => 'hover', 'any-hover': () => 'hover', pointer: () => 'fine', 'any-pointer': () => 'fine',
    scripting: () => 'enabled', update: () => 'fast', 'overflow-block': () => 'scroll', 'overflow-inline': () => 'scroll', 'display-mode': () => 'browser',
    grid: () => '0', 'color-gamut': () => 'srgb', 'dynamic-range': () => 'standard', 'video-dynamic-range': () => 'standard', orientationLock: () => 'none',
    '-webkit-transform-3d': () => '1',
  };
  const none = /^(none|no-preference|0|initial)$/;
  const compare = { '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b, '=': (a, b) => a === b };
  const flip = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '=': '=' };
  const near = (a, b) => Math.abs(a - b) < 1e-6;

  // true, false, or null where it cannot be told, which is as good as false but stays so under “not”.
  const feature = (text, own = ranges) => {
    const t = text.trim().toLowerCase();
    const colon = /^([a-z0-9-]+)\s*:\s*([^]+)$/.exec(t);
    if (colon) {
      const [, name, value] = colon;
      const limit = /^(-webkit-)?(min|max)-(.+)$/.exec(name);
      const key = limit ? (limit[1] ?? '') + limit[3] : name;
      if (Object.hasOwn(own, key)) {
        const [have, parse] = own[key];
        const want = parse(value);
        if (Number.isNaN(want)) return null;
        return limit ? (limit[2] === 'min' ? have() >= want : have() <= want) : near(have(), want);
      }
      if (limit || !Object.hasOwn(discrete, name)) return null;
      return discrete[name]() === value || (/gamut$/.test(name) && value === 'srgb');
    }
    const range = /^(.+?)\s*(<=|>=|<|>|=)\s*(.+?)(?:\s*(<=|>=|<|>)\s*(.+))?$/.exec(t);
    if (range) {
      let [, a, op, b, op2, c] = range;
      if (c === undefined && Object.hasOwn(own, b)) [a, op, b] = [b, flip[op], a];
      if (c !== undefined) {
        if (!Object.hasOwn(own, b)) return null;
        const [have, parse] = own[b];
        return compare[flip[op]](have(), parse(a)) && compare[op2](have(), parse(c));
      }
      if (!Object.hasOwn(own, a)) return null;
      const [have, parse] = own[a];
      return Number.isNaN(parse(b)) ? null : op === '=' ? near(have(), parse(b)) : compare[op](have(), parse(b));
    }
    if (Object.hasOwn(own, t)) return own[t][0]() !== 0;
    if (Object.hasOwn(discrete, t)) return !none.test(discrete[t]());
    return null;
  };
  // A condition of and, or and not over what `leaf` tells of a bracket's content.
  const condition = (text, leaf, depth = 0) => {
    const tokens = split(text, ' ');
    if (tokens.length === 0 || depth > 32) return null;
    const one = (t) => {
      if (t === undefined || !t.endsWith(')')) return null;
      if (!t.startsWith('(')) return leaf(t, true);
      const inner = t.slice(1, -1).trim();
      return /^(\(|not\b|selector\(|style\()/i.test(inner) || /\)\s*(and|or)\s/i.test(inner) ? condition(inner, leaf, depth + 1) : leaf(inner, false);
    };
    if (/^not$/i.test(tokens[0])) {
      const v = tokens.length === 2 ? one(tokens[1]) : null;
      return v === null ? null : !v;
    }
    let value = one(tokens[0]);
    for (let i = 1; i < tokens.length; i += 2) {
      const op = tokens[i].toLowerCase();
      const next = one(tokens[i + 1]);
      if (op === 'and') value = value === false || next === false ? false : value === null || next === null ? null : true;
      else if (op === 'or') value = value || next || (value === null || next === null ? null : false);
      else return null;
    }
    return value;
  };
  const media = (text) => {
    const t = text.trim();
    if (t === '') return true;
    const m = /^(?:(not|only)\s+)?([a-z-]+)(?:\s+and\s+([^]+))?$/i.exec(t);
    if (m && !/^(not|only|and|or)$/i.test(m[2]) && !t.startsWith('(')) {
      const type = m[2].toLowerCase();
      const rest = m[3] === undefined ? true : condition(m[3], (inner) => feature(inner));
      const value = (type === 'all' || type === 'screen') && rest === true;
      return m[1]?.toLowerCase() === 'not' ? rest !== null && !value : value;
    }
    return condition(t, (inner) => feature(inner)) === true;
  };
  page.mediaMatches = (text) => (text.trim() === '' ? true : split(page.withoutComments(text), ',').some(media));
  // How a query is written back.
  page.mediaText = (text) =>
    split(page.withoutComments(text), ',').filter((x) => x !== '').map((query) => {
      const t = query.replace(/\s+/g, ' ').replace(/\s*:\s*/g, ': ').replace(/\(\s+/g, '(').replace(/\s+\)/g, ')').toLowerCase().trim();
      return t.replace(/\s*(<=|>=|<|>|=)\s*/g, ' $1 ').replace(/^all and (?=\()/, '');
    }).join(', ');

  page.supports = (text) =>
    condition(text, (inner, call) => {
      if (call) {
        const f = /^([a-z-]+)\(([^]*)\)$/i.exec(inner);
        if (f?.[1].toLowerCase() === 'selector') return page.parseSelector(f[2]) !== null;
        return /^font-(tech|format)$/i.test(f?.[1] ?? '') ? true : null;
      }
      const colon = inner.indexOf(':');
      if (colon < 0) return null;
      const name = inner.slice(0, colon).trim();
      return supportsDeclaration(name, inner.slice(colon + 1).replace(/!\s*important\s*$/i, ''));
    }) === true;
  const supportsDeclaration = (name, value) => name.startsWith('--') || page.expand(page.propertyName(name), value) !== null;
  // A size query against the page's width: there is no layout that knows a container's.
  page.containerMatches = (text) => condition(text.replace(/^\s*(?!not\b)[\w-]+(?=\s|$)/, '').trim() || '(width)', (inner, call) => (call ? null : feature(inner))) === true;

  const css = g.CSS ?? {};
  css.supports = (name, value) => (value === undefined ? page.supports(host.str(name)) || page.supports(`(${host.str(name)})`) : supportsDeclaration(host.str(name), host.str(value)));
  page.registered = new Map();
  css.registerProperty = ({ name, syntax = '*', inherits, initialValue }) => {
    if (!host.str(name).startsWith('--')) throw new DOMException(`Failed to execute 'registerProperty' on 'CSS': Custom property names must start with '--'.`, 'SyntaxError');
    if (page.registered.has(name)) throw new DOMException(`Failed to execute 'registerProperty' on 'CSS': The name provided has already been registered.`, 'InvalidModificationError');
    page.registered.set(name, { syntax, inherits: Boolean(inherits), initial: initialValue });
    page.styleChanged();
  };
  for (const unit of ['px', 'em', 'rem', 'vw', 'vh', 'deg', 's', 'ms', 'percent', 'number', 'fr']) css[unit] ??= (value) => ({ value, unit, toString: () => `${value}${unit === 'percent' ? '%' : unit === 'number' ? '' : unit}` });
  host.define('CSS', css);

  // matchMedia: the answer follows the size of the window.
  class MediaQueryList extends g.EventTarget {
    #text;
    #was;
    onchange = null;
    constructor(text) {
      super();
      this.#text = text;
      this.#was = this.matches;
      page.window.addEventListener('resize', () => this.#look());
    }
    get media() {
      return page.mediaText(this.#text);
    }
    get matches() {
      return page.mediaMatches(this.#text);
    }
    #look() {
      if (this.matches === this.#was) return;
      this.#was = this.matches;
      this.dispatchEvent(new g.MediaQueryListEvent('change', { media: this.media, matches: this.#was }));
    }
    addListener(f) {
      if (f) this.addEventListener('change', f);
    }
    removeListener(f) {
      if (f) this.removeEventListener('change', f);
    }
  }
  host.tag(MediaQueryList, 'MediaQueryList');
  host.define('MediaQueryList', MediaQueryList);
  host.define('matchMedia', function matchMedia(text) {
    if (arguments.length === 0) throw new TypeError("Failed to execute 'matchMedia' on 'Window': 1 argument required, but only 0 present.");
    return new MediaQueryList(host.str(text));
  });
})
