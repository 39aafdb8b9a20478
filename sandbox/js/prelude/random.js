// Math.random and crypto. Both are a generator that the host seeds at the start of
// each run, unless the `random` capability gives real randomness.
(function (host) {
  'use strict';
  // sfc32, a small fast counter generator by Chris Doty-Humphrey.
  let a = 1, b = 2, c = 3, counter = 4;
  const next = () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  host.seed = (s0, s1, s2) => {
    [a, b, c, counter] = [s0 | 0, s1 | 0, s2 | 0, 1];
    for (let i = 0; i < 12; i++) next();
  };

  const random = () => ((next() >>> 5) * 0x4000000 + (next() >>> 6)) / 0x20000000000000;
  Object.defineProperty(Math, 'random', {
    value: { random() { return random(); } }.random, writable: true, configurable: true, enumerable: false,
  });

  // With the `random` capability the host fills crypto's bytes, as hex.
  host.realRandom = false;
  const fill = (bytes) => {
    if (host.realRandom) {
      const hex = host.call('random', host.str(bytes.length));
      for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
    } else for (let i = 0; i < bytes.length; i++) bytes[i] = next() >>> 24;
    return bytes;
  };

  const integers = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
  class Crypto {
    getRandomValues(array) {
      if (!integers.some((t) => array instanceof t)) {
        throw new DOMException('crypto.getRandomValues needs an integer typed array', 'TypeMismatchError');
      }
      if (array.byteLength > 65536) {
        throw new DOMException(`crypto.getRandomValues gives at most 65536 bytes at once, not ${array.byteLength}`, 'QuotaExceededError');
      }
      fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
      return array;
    }
    randomUUID() {
      const bytes = fill(new Uint8Array(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (x) => x.toString(16).padStart(2, '0')).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    }
  }
  host.tag(Crypto, 'Crypto');
  host.define('Crypto', Crypto);
  host.define('crypto', new Crypto());
})
