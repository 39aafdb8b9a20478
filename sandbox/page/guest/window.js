// The window: happy-dom's, with its properties on the global object, created once
// at boot. Everything the page may ask of the outside goes through host.call.
(function (host) {
  'use strict';
  const { GlobalWindow, PropertySymbol, hooks } = host.dom;
  const g = globalThis;
  const page = (host.page = { url: 'http://app.local/', html: '', handlers: new Map(), ownHandlers: new WeakMap() });

  // The prototype that has a property of its own: the class that defines it is not always
  // the one the window shows.
  host.owner = (name, proto) => {
    while (!Object.hasOwn(proto, name)) proto = host.prototypeOf(proto);
    return proto;
  };

  // Error reports. `kind` is uncaught, rejection or resource.
  page.report = (thrown, kind) => {
    host.call('error', host.stringify({ kind, ...host.describe(thrown) }));
  };

  // Keep what the prelude made better for a sandbox than happy-dom: clock, console, and so on.
  const own = new Set([
    'console', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate',
    'requestAnimationFrame', 'cancelAnimationFrame', 'queueMicrotask', 'structuredClone', 'performance', 'crypto',
    'URL', 'URLSearchParams', 'fetch', 'Response', 'Request', 'XMLHttpRequest', 'eval', 'Buffer', 'global',
  ]);

  const w = new GlobalWindow({
    url: page.url,
    width: 1280,
    height: 720,
    console: g.console,
    settings: {
      enableJavaScriptEvaluation: true,
      suppressInsecureJavaScriptEnvironmentWarning: true,
      disableJavaScriptFileLoading: true,
      disableCSSFileLoading: true,
      disableIframePageLoading: true,
      handleDisabledFileLoadingAsSuccess: true,
      errorCapture: 'tryAndCatch',
      navigator: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36' },
    },
  });
  page.window = w;

  const builtin = new Set(Object.getOwnPropertyNames(g));
  const seen = new Set();
  for (let o = w; o && o !== Object.prototype; o = host.prototypeOf(o)) {
    for (const key of host.ownKeys(o)) {
      if (key === 'constructor' || own.has(key) || seen.has(key)) continue;
      seen.add(key);
      const d = host.descriptor(o, key);
      // The language's own classes stay; the DOM's replace the prelude's.
      if (builtin.has(key) && typeof key === 'string' && d.value === g[key]) continue;
      if (builtin.has(key) && !/^(DOMException|Blob)$/.test(key)) continue;
      if (d.get || d.set) {
        Object.defineProperty(g, key, {
          get: d.get && (() => host.apply(d.get, w, [])),
          set: d.set && ((v) => host.apply(d.set, w, [v])),
          enumerable: d.enumerable,
          configurable: true,
        });
      } else {
        let value = d.value === w ? g : d.value;
        if (o !== w && typeof value === 'function' && typeof key === 'string' && /^[a-z]/.test(key)) value = value.bind(w);
        Object.defineProperty(g, key, { value, writable: true, enumerable: d.enumerable, configurable: true });
      }
    }
  }
  for (const name of ['window', 'self', 'top', 'parent', 'frames']) {
    Object.defineProperty(g, name, { value: g, writable: true, configurable: true, enumerable: true });
  }
  Object.defineProperty(g, Symbol.toStringTag, { value: 'Window', configurable: true });
  const document = (page.document = w.document);
  document[PropertySymbol.defaultView] = g;

  // happy-dom gives the window its own subclasses of some classes, and creates
  // nodes of their bases: instanceof has to know both.
  const ordinary = Function.prototype[Symbol.hasInstance];
  const accepts = (cls, also) =>
    Object.defineProperty(cls, Symbol.hasInstance, {
      value(v) {
        return host.apply(ordinary, this, [v]) || (this === cls && also(v));
      },
      configurable: true,
    });
  for (const cls of [g.Document, g.EventTarget]) {
    const base = host.prototypeOf(cls);
    accepts(cls, (v) => host.apply(ordinary, base, [v]) || (cls === g.EventTarget && v === g));
  }
  accepts(g.Window, (v) => v === g);

  // happy-dom answers null here.
  Object.defineProperty(document, 'getRootNode', { value: () => document, writable: true, configurable: true });

  // alert and its kin answer at once: nobody is there.
  host.define('alert', (text = '') => host.call('log', 'info', `alert: ${host.str(text)}`));
  host.define('confirm', (text = '') => {
    host.call('log', 'info', `confirm: ${host.str(text)} → OK`);
    return true;
  });
  host.define('prompt', (text = '', value = '') => {
    host.call('log', 'info', `prompt: ${host.str(text)} → ${host.str(value)}`);
    return value === undefined ? null : host.str(value);
  });
  host.define('print', () => {});
  host.define('scrollTo', () => {});
  host.define('scrollBy', () => {});
  host.define('scroll', () => {});

  const ErrorEvent = g.ErrorEvent;
  const position = (thrown) => {
    const frame = /^\s*at (?:.*\()?([^()]+):(\d+):(\d+)\)?$/m.exec(host.describe(thrown).stack);
    return frame ? { filename: frame[1], lineno: +frame[2], colno: +frame[3] } : {};
  };

  // An exception nobody caught: the window's error event, then the report.
  let depth = 0;
  hooks.uncaught = page.uncaught = (thrown) => {
    let handled = false;
    if (depth < 3) {
      depth++;
      try {
        const text = host.describe(thrown);
        const event = new ErrorEvent('error', {
          message: `Uncaught ${text.name === 'Uncaught' ? '' : `${text.name}: `}${text.message}`, error: thrown, cancelable: true, ...position(thrown),
        });
        w.dispatchEvent(event);
        handled = event.defaultPrevented;
      } catch (e) {
        page.report(e, 'uncaught');
      } finally {
        depth--;
      }
    }
    if (!handled) page.report(thrown, 'uncaught');
  };
  host.define('reportError', (e) => page.uncaught(e));

  class PromiseRejectionEvent extends g.Event {
    constructor(type, init) {
      super(type, init);
      this.reason = init.reason;
      this.promise = init.promise;
    }
  }
  host.define('PromiseRejectionEvent', PromiseRejectionEvent);
  host.define('onunhandledrejection', null);
  page.rejected = (reason) => {
    const event = new PromiseRejectionEvent('unhandledrejection', { reason, cancelable: true });
    try {
      w.dispatchEvent(event);
      if (typeof g.onunhandledrejection === 'function' && g.onunhandledrejection(event) === false) event.preventDefault();
    } catch (e) {
      page.uncaught(e);
    }
    if (!event.defaultPrevented) page.report(reason, 'rejection');
  };

  // A property handler answers false to cancel; window.onerror has its own arguments.
  let running; // window.event
  Object.defineProperty(g, 'event', {
    get: () => running,
    set: (value) => Object.defineProperty(g, 'event', { value, writable: true, configurable: true, enumerable: true }),
    configurable: true,
    enumerable: true,
  });
  const during = (event, call) => {
    const outer = running;
    running = event;
    try {
      return call();
    } finally {
      running = outer;
    }
  };
  hooks.callListener = (target, listener, event) => during(event, () => host.apply(listener, target, [event]));
  hooks.callHandler = (target, handler, event) => during(event, () => callHandler(target, handler, event));
  const callHandler = (target, handler, event) => {
    const isWindow = target === w;
    if (isWindow && event.type === 'error' && event instanceof ErrorEvent) {
      const answer = host.apply(handler, g, [event.message, event.filename, event.lineno, event.colno, event.error]);
      if (answer === true) event.preventDefault();
      return answer;
    }
    const answer = host.apply(handler, isWindow ? g : target[PropertySymbol.proxy] ?? target, [event]);
    if (answer === false) event.preventDefault();
    return answer;
  };

  // Attribute handlers. Those of the page's own text were compiled with their position
  // before (see load.js), each for its element; others are compiled when first needed.
  page.handlerKey = (name, code) => `${name}\0${code}`;
  hooks.attributeHandler = (element, name) => {
    const code = element.getAttribute?.(name);
    if (code === null || code === undefined || page.parsing || !/^on[a-z]+$/.test(name)) return null;
    let key = page.handlerKey(name, code);
    const own = page.ownHandlers.get(element)?.[name];
    if (own?.startsWith(key + '\0')) key = own;
    if (!page.handlers.has(key)) {
      page.handlers.set(key, null);
      // Text that a script wrote may stand in the page as it is, inside that script.
      const position = page.handlerAt(name, code);
      const file = position ? page.file : `${name} of <${element.localName}${element.id ? ` id="${element.id}"` : ''}>`;
      if (host.call('run', key, page.handlerCode(name, code, position ?? { line: 0, col: 0 }), file) === 'later') page.handlers.delete(key);
    }
    return page.handlers.get(key) ?? ignore; // null would have happy-dom try again
  };
  const ignore = () => {};

  page.navigations = [];
  hooks.navigate = (url, submits) => {
    const href = host.str(url);
    if (!submits && href === w.location.href.replace(/#.*$/s, '') + '#') return w.happyDOM.setURL(href);
    if (page.navigations.length < 20) page.navigations.push(href);
    host.call('log', 'info', `navigation to ${href} is not followed here`);
  };

  // Reads a file of the tree: {status, type, text | base64}. `kind` is what wants it;
  // the host notes what is missing.
  page.read = (url, kind) => host.parse(host.call('read', host.str(url), kind));
  page.resolve = (url) => new URL(url, document.baseURI || page.url).href;
})
