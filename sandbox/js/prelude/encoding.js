// TextEncoder and TextDecoder for UTF-8, UTF-16LE and Latin-1.
(function (host) {
  'use strict';
  const fromCodePoint = String.fromCodePoint;

  const bytesOf = (source) => {
    if (source === undefined) return new Uint8Array(0);
    if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source);
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    throw new TypeError('TextDecoder.decode: the input is neither an ArrayBuffer nor a view of one');
  };

  // Writes code points as UTF-8 until `limit` bytes; returns what was read and written.
  const encodeInto = (text, target, limit) => {
    let read = 0;
    let at = 0;
    while (read < text.length) {
      let cp = text.codePointAt(read);
      const units = cp > 0xffff ? 2 : 1;
      if (cp >= 0xd800 && cp <= 0xdfff) cp = 0xfffd;
      const size = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
      if (at + size > limit) break;
      if (size === 1) target[at++] = cp;
      else if (size === 2) {
        target[at++] = 0xc0 | (cp >> 6);
        target[at++] = 0x80 | (cp & 63);
      } else if (size === 3) {
        target[at++] = 0xe0 | (cp >> 12);
        target[at++] = 0x80 | ((cp >> 6) & 63);
        target[at++] = 0x80 | (cp & 63);
      } else {
        target[at++] = 0xf0 | (cp >> 18);
        target[at++] = 0x80 | ((cp >> 12) & 63);
        target[at++] = 0x80 | ((cp >> 6) & 63);
        target[at++] = 0x80 | (cp & 63);
      }
      read += units;
    }
    return { read, written: at };
  };

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      text = String(text);
      const out = new Uint8Array(text.length * 3);
      return out.slice(0, encodeInto(text, out, out.length).written);
    }
    encodeInto(text, target) {
      return encodeInto(String(text), target, target.length);
    }
  }

  const labels = {
    'utf-8': 'utf-8', utf8: 'utf-8', 'unicode-1-1-utf-8': 'utf-8',
    'utf-16': 'utf-16le', 'utf-16le': 'utf-16le',
    ascii: 'windows-1252', 'us-ascii': 'windows-1252', latin1: 'windows-1252',
    'iso-8859-1': 'windows-1252', 'windows-1252': 'windows-1252',
  };

  // Decodes UTF-8 as the Encoding Standard does. With `more`, an unfinished
  // sequence at the end is left over; otherwise it is an error.
  const decodeUtf8 = (bytes, fatal, more) => {
    let out = '';
    let i = 0;
    const bad = () => {
      if (fatal) throw new TypeError('TextDecoder.decode: the data is not valid UTF-8');
      out += '\ufffd';
    };
    while (i < bytes.length) {
      const lead = bytes[i];
      if (lead < 0x80) {
        out += fromCodePoint(lead);
        i++;
        continue;
      }
      const need = lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
      if (need === 0) {
        bad();
        i++;
        continue;
      }
      let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      let cp = lead & (0x3f >> need);
      let k = 1;
      for (; k <= need && i + k < bytes.length; k++) {
        const b = bytes[i + k];
        if (b < low || b > high) break;
        cp = (cp << 6) | (b & 63);
        low = 0x80;
        high = 0xbf;
      }
      if (k > need) out += fromCodePoint(cp);
      else if (i + k >= bytes.length && more) break;
      else bad();
      i += k;
    }
    return [out, bytes.slice(i)];
  };

  class TextDecoder {
    #rest = new Uint8Array(0);
    #begun = false;
    constructor(label = 'utf-8', options = {}) {
      const encoding = labels[String(label).trim().toLowerCase()];
      if (!encoding) throw new RangeError(`TextDecoder: the encoding "${label}" is not supported`);
      Object.defineProperties(this, {
        encoding: { value: encoding, enumerable: true },
        fatal: { value: Boolean(options.fatal), enumerable: true },
        ignoreBOM: { value: Boolean(options.ignoreBOM), enumerable: true },
      });
    }
    decode(source, { stream = false } = {}) {
      let bytes = bytesOf(source);
      if (this.#rest.length) {
        const joined = new Uint8Array(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
      }
      let out = '';
      let rest = new Uint8Array(0);
      if (this.encoding === 'utf-8') [out, rest] = decodeUtf8(bytes, this.fatal, stream);
      else if (this.encoding === 'utf-16le') {
        const whole = bytes.length & ~1;
        for (let i = 0; i < whole; i += 2) out += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
        rest = bytes.slice(whole);
      } else for (const b of bytes) out += fromCodePoint(b);
      if (!this.#begun && !this.ignoreBOM && out.charCodeAt(0) === 0xfeff) out = out.slice(1);
      this.#begun = stream && (this.#begun || out.length > 0);
      this.#rest = stream ? rest : new Uint8Array(0);
      return out;
    }
  }

  host.tag(TextEncoder, 'TextEncoder');
  host.tag(TextDecoder, 'TextDecoder');
  host.define('TextEncoder', TextEncoder);
  host.define('TextDecoder', TextDecoder);
})
