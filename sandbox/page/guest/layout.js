// There is no layout, but sizes of zero send chart and game code astray. Boxes get a
// plausible size: what their style says, else the width of what they stand in and a
// line's height for each child. Positions are all zero.
(function (host) {
  'use strict';
  const { page } = host;
  const { document } = page;
  const line = 20;
  const deepest = 50;

  const pixels = (text) => (/^\d+(\.\d+)?(px)?$/.test(text ?? '') ? parseFloat(text) : undefined);
  const replaced = { canvas: [300, 150], img: [0, 0], video: [300, 150], iframe: [300, 150], svg: [300, 150] };
  const attribute = (el, name, i) => (replaced[el.localName] ? (pixels(el.getAttribute(name)) ?? replaced[el.localName][i]) : undefined);
  const value = (el, name) => page.computedValue(el, name);
  const sum = (el, whole, ...names) => names.reduce((n, name) => n + (page.percentOf(value(el, name), whole) || 0), 0);
  const edges = (el, whole, a, b) => sum(el, whole, `padding-${a}`, `padding-${b}`, `border-${a}-width`, `border-${b}-width`);
  const sides = { width: ['left', 'right'], height: ['top', 'bottom'] };

  // The box's own size from style, with its edges; undefined when style does not say.
  const styled = (el, name, whole) => {
    const text = value(el, name);
    if (/^[a-z-]+(\(.*[a-z-]+\))?$/.test(text) && !/\d/.test(text)) return undefined;
    if (/%/.test(text) && whole === undefined) return undefined;
    const n = page.percentOf(text, whole);
    if (Number.isNaN(n)) return undefined;
    return Math.max(0, n) + (value(el, 'box-sizing') === 'border-box' ? 0 : edges(el, whole ?? 0, ...sides[name]));
  };
  const limited = (el, name, n, whole) => {
    const limit = (x) => {
      const text = value(el, x);
      const m = /\d/.test(text) && (whole !== undefined || !/%/.test(text)) ? page.percentOf(text, whole) : NaN;
      return Number.isNaN(m) ? undefined : m + (value(el, 'box-sizing') === 'border-box' ? 0 : edges(el, whole ?? 0, ...sides[name]));
    };
    return Math.max(limit(`min-${name}`) ?? 0, Math.min(n, limit(`max-${name}`) ?? Infinity));
  };
  const parentOf = (el) => el.parentElement ?? el.getRootNode().host ?? null;
  const containing = (el, depth = 0) => {
    const parent = parentOf(el);
    if (!parent || depth > deepest || value(el, 'position') === 'fixed') return globalThis.innerWidth;
    const whole = width(parent, depth + 1);
    return Math.max(0, whole - edges(parent, whole, 'left', 'right'));
  };
  const width = (el, depth = 0) => {
    const whole = containing(el, depth);
    const own = styled(el, 'width', whole) ?? attribute(el, 'width', 0);
    if (own !== undefined) return limited(el, 'width', own, whole);
    const text = () => (el.textContent || el.value || '').length * 8 + 16;
    const fits = /^inline/.test(value(el, 'display')) || /^(fit|min|max)-content$/.test(value(el, 'width'));
    if (fits) return limited(el, 'width', Math.min(whole, text()), whole);
    return limited(el, 'width', Math.max(0, whole - sum(el, whole, 'margin-left', 'margin-right')), whole);
  };
  const height = (el, depth = 0) => {
    if (el === document.documentElement || el === document.body) return globalThis.innerHeight;
    const parent = parentOf(el);
    const whole = parent && depth < deepest && /%/.test(value(el, 'height')) && (parent === document.body || /[\d]/.test(value(parent, 'height'))) ? height(parent, depth + 1) : undefined;
    const own = styled(el, 'height', whole) ?? attribute(el, 'height', 1);
    if (own !== undefined) return limited(el, 'height', own, whole);
    return limited(el, 'height', Math.max(el.textContent || el.localName === 'input' ? 1 : 0, el.childElementCount) * line, whole);
  };
  page.containingWidth = containing;
  page.contentSize = (el, name) => {
    const n = name === 'width' ? width(el) : height(el);
    return value(el, 'box-sizing') === 'border-box' ? n : Math.max(0, n - edges(el, containing(el), ...sides[name]));
  };
  const shown = (el) => el.isConnected && page.isRendered(el);

  const owner = (name) => host.owner(name, globalThis.HTMLElement.prototype);
  const within = (el, name) => (name === 'width' ? width(el) : height(el)) - sum(el, 0, ...sides[name].map((side) => `border-${side}-width`));
  const root = (el, name) => el === document.documentElement || (page.quirks && el === document.body) ? (name === 'width' ? globalThis.innerWidth : globalThis.innerHeight) : undefined;
  const getters = (sizes) => {
    for (const name of host.keys(sizes)) {
      Object.defineProperty(owner(name), name, {
        get() {
          return shown(this) ? Math.round(sizes[name](this)) : 0;
        },
        configurable: true,
      });
    }
  };
  getters({
    clientWidth: (el) => root(el, 'width') ?? within(el, 'width'), clientHeight: (el) => root(el, 'height') ?? within(el, 'height'),
    scrollWidth: (el) => root(el, 'width') ?? within(el, 'width'), scrollHeight: (el) => root(el, 'height') ?? within(el, 'height'),
    offsetWidth: (el) => width(el), offsetHeight: (el) => height(el),
  });
  Object.defineProperty(owner('getBoundingClientRect'), 'getBoundingClientRect', {
    value: function getBoundingClientRect() {
      return shown(this) ? new globalThis.DOMRect(0, 0, width(this), height(this)) : new globalThis.DOMRect(0, 0, 0, 0);
    },
    writable: true,
    configurable: true,
  });

  // XPath finds nothing: libraries that only look for extras with it still work.
  class XPathEvaluator {
    createExpression() {
      return { evaluate: () => ({ iterateNext: () => null, snapshotLength: 0, snapshotItem: () => null }) };
    }
  }
  host.define('XPathEvaluator', XPathEvaluator);
})
