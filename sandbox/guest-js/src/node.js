// The Node built-ins that happy-dom imports, as far as a page without a network
// and a file system needs them.

// Buffer: bytes with text conversions.
const binary = (bytes) => {
  let out = '';
  for (const b of bytes) out += String.fromCharCode(b);
  return out;
};
export class Buffer extends Uint8Array {
  static from(source, encoding, length) {
    if (typeof source === 'string') {
      if (encoding === 'base64') return Buffer.from(Uint8Array.from(atob(source.replace(/\s+/g, '')), (c) => c.charCodeAt(0)));
      if (encoding === 'latin1' || encoding === 'binary') return Buffer.from(Uint8Array.from(source, (c) => c.charCodeAt(0)));
      return Buffer.from(new TextEncoder().encode(source));
    }
    if (source instanceof ArrayBuffer) return new Buffer(source, encoding, length);
    const out = new Buffer(source.length);
    out.set(source);
    return out;
  }
  static alloc(size) {
    return new Buffer(size);
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  static concat(list, total = list.reduce((n, b) => n + b.length, 0)) {
    const out = new Buffer(total);
    let at = 0;
    for (const b of list) {
      out.set(b.subarray(0, Math.max(0, total - at)), at);
      at += b.length;
    }
    return out;
  }
  toString(encoding) {
    if (encoding === 'base64') return btoa(binary(this));
    if (encoding === 'latin1' || encoding === 'binary') return binary(this);
    if (encoding === 'hex') return Array.from(this, (b) => b.toString(16).padStart(2, '0')).join('');
    return new TextDecoder().decode(this);
  }
}

// Streams exist as names only: the page guest has its own fetch and Response.
export class ReadableStream {}
export class WritableStream {}
export class TransformStream {}
export class Readable {}
export class Writable {}
export class Transform {}
export const pipeline = () => {};

export const webcrypto = globalThis.crypto;
export const URL = globalThis.URL;
export const URLSearchParams = globalThis.URLSearchParams;
export const TextEncoder = globalThis.TextEncoder;
export const TextDecoder = globalThis.TextDecoder;
export const domainToASCII = (name) => name;
export const isIP = () => 0;
export class PerformanceObserver {
  observe() {}
  disconnect() {}
}
export class PerformanceEntry {}
export class PerformanceObserverEntryList {}
export const isContext = () => false;
export const createContext = (x) => x;
export class Script {
  constructor(code) {
    this.code = code;
  }
  runInContext() {
    return (0, eval)(this.code);
  }
}
export const promises = {};
export const join = (...parts) => parts.join('/');
export const resolve = join;
export class WebSocketServer {}
export { Buffer as Blob };
export default {
  Buffer, ReadableStream, WritableStream, TransformStream, Readable, Writable, Transform, pipeline, webcrypto, URL, URLSearchParams,
  TextEncoder, TextDecoder, isIP, PerformanceObserver, PerformanceEntry, isContext, createContext, Script, promises, join, resolve,
  randomUUID: () => globalThis.crypto.randomUUID(),
};
