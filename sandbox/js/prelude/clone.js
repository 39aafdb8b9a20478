// structuredClone, after the HTML standard, without transfer across threads.
(function (host) {
  'use strict';
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const refuse = (what) => {
    throw new DOMException(`${what} could not be cloned.`, 'DataCloneError');
  };

  const copy = (value, seen) => {
    if (typeof value === 'symbol') refuse(String(value));
    if (typeof value === 'function') refuse(`function ${value.name || '(anonymous)'}`);
    if (value === null || typeof value !== 'object') return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (result) => {
      seen.set(value, result);
      return result;
    };
    if (value instanceof Boolean || value instanceof Number || value instanceof String) return keep(Object(value.valueOf()));
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = copy(value.buffer, seen);
      return keep(new value.constructor(buffer, value.byteOffset, value instanceof DataView ? value.byteLength : value.length));
    }
    if (value instanceof Map) {
      const result = keep(new Map());
      for (const [k, v] of [...value]) result.set(copy(k, seen), copy(v, seen));
      return result;
    }
    if (value instanceof Set) {
      const result = keep(new Set());
      for (const v of [...value]) result.add(copy(v, seen));
      return result;
    }
    if (value instanceof Error) {
      const make = errors[value.name] ?? Error;
      const result = keep(new make(String(value.message)));
      Object.defineProperty(result, 'stack', { value: String(value.stack), writable: true, configurable: true });
      if ('cause' in value) Object.defineProperty(result, 'cause', { value: copy(value.cause, seen), writable: true, configurable: true });
      return result;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
      refuse(`#<${value.constructor.name}>`);
    }
    const result = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) result[key] = copy(value[key], seen);
    return result;
  };

  host.define('structuredClone', function structuredClone(value) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs an argument');
    return copy(value, new Map());
  });
})
