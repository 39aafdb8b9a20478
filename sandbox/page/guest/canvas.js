// A 2D canvas that draws nothing and remembers what it was asked to draw.
(function (host) {
  'use strict';
  const { page } = host;
  const keep = 60; // calls remembered per canvas, the latest

  const short = (v) => {
    if (typeof v === 'number') return host.str(Math.round(v * 100) / 100);
    if (typeof v === 'string') return host.stringify(v.length > 60 ? v.slice(0, 60) + '…' : v);
    if (v !== null && typeof v === 'object') return v.localName ? `<${v.localName}>` : v.constructor?.name ?? 'object';
    return host.str(v);
  };

  const state = {
    fillStyle: '#000000', strokeStyle: '#000000', lineWidth: 1, lineCap: 'butt', lineJoin: 'miter', miterLimit: 10, lineDashOffset: 0,
    font: '10px sans-serif', textAlign: 'start', textBaseline: 'alphabetic', direction: 'ltr', globalAlpha: 1,
    globalCompositeOperation: 'source-over', imageSmoothingEnabled: true, imageSmoothingQuality: 'low', filter: 'none',
    shadowBlur: 0, shadowColor: 'rgba(0, 0, 0, 0)', shadowOffsetX: 0, shadowOffsetY: 0, letterSpacing: '0px', wordSpacing: '0px', fontKerning: 'auto',
  };
  // Methods that leave marks; their text says with what style.
  const paint = {
    fillRect: 'fillStyle', strokeRect: 'strokeStyle', fillText: 'fillStyle', strokeText: 'strokeStyle', fill: 'fillStyle', stroke: 'strokeStyle',
    clearRect: '', drawImage: '', putImageData: '',
  };
  const path = ['beginPath', 'closePath', 'moveTo', 'lineTo', 'arc', 'arcTo', 'ellipse', 'rect', 'roundRect', 'quadraticCurveTo', 'bezierCurveTo', 'clip'];
  const silent = ['translate', 'rotate', 'scale', 'transform', 'setTransform', 'resetTransform', 'setLineDash', 'drawFocusIfNeeded'];

  const finite = (method, args) => {
    for (const a of args) if (typeof a === 'number' && !Number.isFinite(a)) return false;
    return true;
  };

  class CanvasGradient {
    addColorStop(offset, color) {
      if (!(offset >= 0 && offset <= 1)) throw new DOMException(`addColorStop: the offset ${offset} is not between 0 and 1`, 'IndexSizeError');
      void color;
    }
  }
  class CanvasPattern {
    setTransform() {}
  }
  class TextMetrics {}
  class Path2D {
    addPath() {}
  }
  for (const name of path) if (name !== 'beginPath' && name !== 'clip') Path2D.prototype[name] = () => {};

  class CanvasRenderingContext2D {
    #stack = [];
    #log;
    constructor(canvas, log) {
      Object.defineProperty(this, 'canvas', { value: canvas, enumerable: true });
      Object.assign(this, state);
      this.#log = log;
    }
    _record(method, args) {
      const log = this.#log;
      log.calls++;
      log.ops[method] = (log.ops[method] ?? 0) + 1;
      const style = paint[method];
      if (style === undefined) return;
      const text = `${method}(${args.map(short).join(', ')})${style ? ` ${short(this[style])}` : ''}${method.endsWith('Text') ? ` ${this.font}` : ''}`;
      log.last.push(text);
      if (log.last.length > keep) log.last.shift();
    }
    save() {
      this.#stack.push(Object.fromEntries(host.keys(state).map((k) => [k, this[k]])));
      if (this.#stack.length > 1000) this.#stack.shift();
    }
    restore() {
      Object.assign(this, this.#stack.pop());
    }
    reset() {
      this.#stack = [];
      Object.assign(this, state);
    }
    measureText(text) {
      const size = parseFloat(/([\d.]+)px/.exec(this.font)?.[1] ?? '10');
      const width = host.str(text).length * size * 0.5;
      return Object.assign(new TextMetrics(), {
        width, actualBoundingBoxLeft: 0, actualBoundingBoxRight: width, actualBoundingBoxAscent: size * 0.7, actualBoundingBoxDescent: size * 0.2,
        fontBoundingBoxAscent: size * 0.9, fontBoundingBoxDescent: size * 0.2,
      });
    }
    createLinearGradient() {
      return new CanvasGradient();
    }
    createRadialGradient() {
      return new CanvasGradient();
    }
    createConicGradient() {
      return new CanvasGradient();
    }
    createPattern() {
      return new CanvasPattern();
    }
    createImageData(width, height) {
      if (typeof width === 'object') ({ width, height } = width);
      return imageData(width, height);
    }
    getImageData(x, y, width, height) {
      return imageData(width, height);
    }
    getTransform() {
      return new DOMMatrix();
    }
    getLineDash() {
      return [];
    }
    getContextAttributes() {
      return { alpha: true, colorSpace: 'srgb', desynchronized: false, willReadFrequently: false };
    }
    isPointInPath() {
      return false;
    }
    isPointInStroke() {
      return false;
    }
  }
  const imageData = (width, height) => {
    width = Math.abs(Math.trunc(width));
    height = Math.abs(Math.trunc(height));
    if (!width || !height) throw new DOMException('the width and height of image data must not be zero', 'IndexSizeError');
    return new ImageData(new Uint8ClampedArray(width * height * 4), width, height);
  };
  for (const name of [...host.keys(paint), ...path, ...silent]) {
    const least = { fillRect: 4, strokeRect: 4, clearRect: 4, fillText: 3, strokeText: 3, drawImage: 3, moveTo: 2, lineTo: 2, arc: 5, rect: 4 }[name] ?? 0;
    Object.defineProperty(CanvasRenderingContext2D.prototype, name, {
      value: {
        [name](...args) {
          if (args.length < least) {
            throw new TypeError(`Failed to execute '${name}' on 'CanvasRenderingContext2D': ${least} arguments required, but only ${args.length} present.`);
          }
          if (name === 'arc' && args[2] < 0) {
            throw new DOMException(`Failed to execute 'arc' on 'CanvasRenderingContext2D': The radius provided (${args[2]}) is negative.`, 'IndexSizeError');
          }
          if (name === 'drawImage' && (args[0] === null || typeof args[0] !== 'object')) {
            throw new TypeError("Failed to execute 'drawImage' on 'CanvasRenderingContext2D': The provided value is not an image.");
          }
          // A browser ignores calls with NaN or infinite coordinates.
          if (finite(name, args)) this._record(name, args);
        },
      }[name],
      writable: true,
      configurable: true,
    });
  }

  class DOMMatrix {
    constructor() {
      Object.assign(this, { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0, is2D: true, isIdentity: true });
    }
  }

  const contexts = new WeakMap();
  const logs = new Map(); // canvas → log, in order of first use
  const canvas = globalThis.HTMLCanvasElement.prototype;
  Object.defineProperty(canvas, 'getContext', {
    value: function getContext(type) {
      if (type !== '2d') return null;
      if (!contexts.has(this)) {
        const log = { calls: 0, ops: {}, last: [] };
        if (logs.size < 20) logs.set(this, log);
        contexts.set(this, new CanvasRenderingContext2D(this, log));
      }
      return contexts.get(this);
    },
    writable: true,
    configurable: true,
  });
  const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  canvas.toDataURL = () => pixel;
  canvas.toBlob = function toBlob(callback) {
    setTimeout(() => callback(new Blob([])), 0);
  };

  page.canvasLog = (el) => logs.get(el);
  page.canvases = () => [...logs].map(([el, log]) => ({ id: el.id, width: el.width, height: el.height, calls: log.calls, ops: log.ops, last: log.last }));
  for (const cls of [CanvasRenderingContext2D, CanvasGradient, CanvasPattern, TextMetrics, Path2D, DOMMatrix]) {
    host.tag(cls, cls.name);
    host.define(cls.name, cls);
  }
})
