// There is no layout, but sizes of zero send chart and game code astray. Boxes
// get a plausible size: from style and attributes, else the parent's width and a line's
// height. Positions are all zero.
(function (host) {
  'use strict';
  const { document } = host.page;
  const line = 20;

  const pixels = (text) => (/^\d+(\.\d+)?(px)?$/.test(text ?? '') ? parseFloat(text) : undefined);
  const replaced = { canvas: [300, 150], img: [0, 0], video: [300, 150], iframe: [300, 150], svg: [300, 150] };
  const attribute = (el, name, i) => (replaced[el.localName] ? (pixels(el.getAttribute(name)) ?? replaced[el.localName][i]) : undefined);
  const inline = /^(a|b|i|em|strong|span|label|small|code|button|input|select|sub|sup|kbd|mark)$/;

  const width = (el, depth = 0) => {
    if (!el || el === document.documentElement || depth > 50) return globalThis.innerWidth;
    const own = pixels(el.style?.width) ?? attribute(el, 'width', 0);
    if (own !== undefined) return own;
    if (/^100(vw|%)$/.test(el.style?.width ?? '') || !inline.test(el.localName)) return width(el.parentElement, depth + 1);
    return Math.min(width(el.parentElement, depth + 1), (el.textContent || el.value || '').length * 8 + 16);
  };
  const height = (el) => {
    if (el === document.documentElement || el === document.body) return globalThis.innerHeight;
    const own = pixels(el.style?.height) ?? attribute(el, 'height', 1);
    if (own !== undefined) return own;
    if (el.style?.height === '100vh') return globalThis.innerHeight;
    return Math.max(el.textContent || el.localName === 'input' ? 1 : 0, el.childElementCount) * line;
  };
  const shown = (el) => el.isConnected && el.style?.display !== 'none' && !el.hidden;

  const owner = (name) => host.owner(name, globalThis.HTMLElement.prototype);
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
    clientWidth: width, clientHeight: height, scrollWidth: width, scrollHeight: height, offsetWidth: width, offsetHeight: height,
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
