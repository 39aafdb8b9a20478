// Frames: they hold a document that can be read and written, and run nothing.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const g = globalThis;
  const { document } = page;
  const frame = host.owner('contentDocument', g.HTMLIFrameElement.prototype);
  const above = host.prototypeOf(frame);
  const define = (on, name, get) => Object.defineProperty(on, name, { get, configurable: true, enumerable: true });

  const held = new WeakMap(); // frame → {document, window}
  const text = (el) => {
    const inline = el.getAttribute('srcdoc');
    if (inline !== null) return inline;
    const src = el.getAttribute('src') ?? '';
    if (src === '' || src === 'about:blank') return '';
    let url;
    try {
      url = page.resolve(src);
    } catch {
      return '';
    }
    if (/^(about|javascript|blob):/.test(url)) return '';
    page.absent(`frames show nothing and run nothing here: ${src}`);
    if (new URL(url).origin !== page.origin) return null;
    const found = page.read(url, 'frame');
    return found.text ?? '';
  };
  const load = (el) => {
    const markup = text(el);
    held.delete(el);
    if (markup !== null) {
      const doc = markup === '' ? document.implementation.createHTMLDocument('') : new g.DOMParser().parseFromString(markup, 'text/html');
      const window = new g.EventTarget();
      Object.assign(window, {
        document: doc, parent: g, top: g, frameElement: el, closed: false, length: 0, name: el.getAttribute('name') ?? '', location: { href: 'about:blank', reload() {}, replace() {} },
        postMessage() {}, focus() {}, blur() {}, print() {}, close() {}, stop() {}, getComputedStyle: g.getComputedStyle, setTimeout: g.setTimeout, clearTimeout: g.clearTimeout,
        navigator: g.navigator, console: g.console,
      });
      window.window = window.self = window;
      held.set(el, { document: doc, window });
    }
    setTimeout(() => el[P.isConnected] && el.dispatchEvent(new g.Event('load')), 0);
  };
  const hooks = {
    [P.connectedToDocument]: (el) => load(el),
    [P.disconnectedFromDocument]: (el) => held.delete(el),
    [P.onSetAttribute]: (el, a) => el[P.isConnected] && /^(src|srcdoc)$/.test(a[P.name]) && load(el),
    [P.onRemoveAttribute]: (el, a) => el[P.isConnected] && a && /^(src|srcdoc)$/.test(a[P.name]) && load(el),
  };
  for (const key of host.ownKeys(hooks)) {
    Object.defineProperty(frame, key, {
      value(...args) {
        host.apply(above[key], this, args);
        if (this[P.ownerDocument] === document && !page.parsing) hooks[key](this, ...args);
      },
      writable: true,
      configurable: true,
    });
  }
  define(frame, 'contentDocument', function () {
    return held.get(this)?.document ?? null;
  });
  // A frame of another origin has a window that tells nothing.
  const foreign = Object.freeze({ postMessage() {}, focus() {}, blur() {}, close() {}, closed: false, length: 0, parent: g, top: g });
  define(frame, 'contentWindow', function () {
    return this[P.isConnected] ? (held.get(this)?.window ?? foreign) : null;
  });
  define(frame, 'getSVGDocument', () => () => null);
})
