// Observers of what is seen and how large it is. Nothing is laid out: what is rendered counts as seen, once, as
// when a page is opened; nothing scrolls or changes its size after that.
// Source: Intersection Observer, 2.2; Resize Observer, 2.
(function (host) {
  'use strict';
  const { page } = host;
  const g = globalThis;
  const seenAs = { IntersectionObserver: 'IntersectionObserverEntry', ResizeObserver: 'ResizeObserverEntry' };

  // An observer that tells of each target once, after the scripts that run now.
  const observer = (name, entryOf) => class {
    #callback;
    #targets = new Set();
    #records = [];
    #timer = null;
    constructor(callback) {
      if (typeof callback !== 'function') throw new TypeError(`Failed to construct '${name}': parameter 1 is not of type 'Function'.`);
      this.#callback = callback;
    }

    observe(target) {
      if (!(target instanceof g.Element)) throw new TypeError(`Failed to execute 'observe' on '${name}': parameter 1 is not of type 'Element'.`);
      if (this.#targets.has(target)) return;
      this.#targets.add(target);
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        for (const t of this.#targets) if (!this.#told.has(t)) this.#tell(t);
        const records = this.takeRecords();
        if (records.length > 0) this.#callback.call(this, records, this);
      }, 0);
    }

    #told = new WeakSet();
    #tell(target) {
      this.#told.add(target);
      const entry = entryOf(target);
      if (entry) this.#records.push(Object.assign(Object.create(g[seenAs[name]]?.prototype ?? Object.prototype), entry));
    }

    unobserve(target) {
      this.#targets.delete(target);
      this.#told.delete(target);
    }

    disconnect() {
      this.#targets.clear();
      this.#told = new WeakSet();
      this.#records = [];
    }

    takeRecords() {
      return this.#records.splice(0);
    }
  };

  const rendered = (el) => el.isConnected && page.isRendered(el);
  const seen = observer('IntersectionObserver', (target) => {
    const shown = rendered(target);
    const rect = target.getBoundingClientRect();
    return {
      target, isIntersecting: shown, intersectionRatio: shown ? 1 : 0, boundingClientRect: rect,
      intersectionRect: shown ? rect : new g.DOMRectReadOnly(), rootBounds: new g.DOMRectReadOnly(0, 0, g.innerWidth, g.innerHeight), time: performance.now(),
    };
  });
  class IntersectionObserver extends seen {
    #root;
    #margin;
    #thresholds;
    constructor(callback, { root = null, rootMargin = '0px', threshold = 0 } = {}) {
      super(callback);
      const list = [threshold].flat().map(Number);
      if (list.some((t) => !(t >= 0 && t <= 1))) throw new RangeError("Failed to construct 'IntersectionObserver': Threshold values must be numbers between 0 and 1");
      const sides = host.str(rootMargin).trim().split(/\s+/).filter(Boolean);
      if (sides.length > 4 || sides.some((s) => !/^[+-]?[\d.]+(px|%)$|^0$/.test(s))) throw new g.DOMException("Failed to construct 'IntersectionObserver': rootMargin must be specified in pixels or percent.", 'SyntaxError');
      const [top = '0px', right = top, bottom = top, left = right] = sides;
      this.#root = root;
      this.#margin = [top, right, bottom, left].join(' ');
      this.#thresholds = Object.freeze((list.length === 0 ? [0] : list).sort((a, b) => a - b));
    }

    get root() { return this.#root; }
    get rootMargin() { return this.#margin; }
    get thresholds() { return this.#thresholds; }
  }

  const sized = observer('ResizeObserver', (target) => {
    if (!rendered(target)) return null;
    const rect = target.getBoundingClientRect();
    const box = () => Object.freeze([{ inlineSize: rect.width, blockSize: rect.height }]);
    return { target, contentRect: new g.DOMRectReadOnly(0, 0, rect.width, rect.height), borderBoxSize: box(), contentBoxSize: box(), devicePixelContentBoxSize: box() };
  });
  class ResizeObserver extends sized {}
  // No browser has anything to report here: there are no deprecated features and no interventions.
  class ReportingObserver {
    observe() {}
    disconnect() {}
    takeRecords() {
      return [];
    }
  }
  for (const cls of [IntersectionObserver, ResizeObserver, ReportingObserver]) {
    host.tag(cls, cls.name);
    host.define(cls.name, cls);
  }
})
