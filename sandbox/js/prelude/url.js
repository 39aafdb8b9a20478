// URL and URLSearchParams after the URL Standard. Host names are lower-cased
// ASCII; names that would need IDNA are percent-encoded instead.
(function (host) {
  'use strict';
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const special = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const isSpecial = (protocol) => Object.hasOwn(special, protocol);

  const percent = (byte) => '%' + byte.toString(16).toUpperCase().padStart(2, '0');
  // Percent-encodes everything outside printable ASCII and the characters in `set`.
  const encode = (text, set) => {
    let out = '';
    for (const ch of text) {
      if (ch > ' ' && ch <= '~' && !set.includes(ch)) out += ch;
      else for (const b of encoder.encode(ch)) out += percent(b);
    }
    return out;
  };
  const fragmentSet = '"<>`';
  const querySet = '"#<>';
  const pathSet = '"#<>?`{}^';
  const userSet = pathSet + "/:;=@[]|";

  const decodePercent = (text) => {
    if (!text.includes('%')) return text;
    const bytes = [];
    const raw = encoder.encode(text);
    for (let i = 0; i < raw.length; i++) {
      const hex = raw[i] === 37 ? String.fromCharCode(raw[i + 1], raw[i + 2]) : '';
      if (/^[0-9a-fA-F]{2}$/.test(hex)) {
        bytes.push(parseInt(hex, 16));
        i += 2;
      } else bytes.push(raw[i]);
    }
    return decoder.decode(new Uint8Array(bytes));
  };

  // An IPv4 address in any of its spellings, or undefined for a name.
  const ipv4 = (name) => {
    const parts = name.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    if (!/^(\d+|0x[0-9a-f]*)$/i.test(parts.at(-1))) return undefined;
    if (parts.length > 4) return null;
    const numbers = [];
    for (const p of parts) {
      if (p === '') return null;
      const n = /^0x/i.test(p) ? parseInt(p.slice(2) || '0', 16) : p.length > 1 && p[0] === '0' ? (/^[0-7]+$/.test(p) ? parseInt(p, 8) : NaN) : /^\d+$/.test(p) ? +p : NaN;
      if (Number.isNaN(n)) return null;
      numbers.push(n);
    }
    const last = numbers.pop();
    if (numbers.some((n) => n > 255) || last >= 256 ** (4 - numbers.length)) return null;
    let value = last;
    numbers.forEach((n, i) => { value += n * 256 ** (3 - i); });
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
  };

  const ipv6 = (text) => {
    const halves = text.split('::');
    if (halves.length > 2) return null;
    const pieces = (part) => {
      if (part === '') return [];
      const out = [];
      const list = part.split(':');
      for (const [i, p] of list.entries()) {
        if (i === list.length - 1 && p.includes('.')) {
          if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(p) || p.split('.').some((n) => +n > 255)) return null;
          const n = p.split('.').map(Number);
          out.push(n[0] * 256 + n[1], n[2] * 256 + n[3]);
        } else if (/^[0-9a-f]{1,4}$/i.test(p)) out.push(parseInt(p, 16));
        else return null;
      }
      return out;
    };
    const head = pieces(halves[0]);
    const tail = halves.length === 2 ? pieces(halves[1]) : [];
    if (!head || !tail) return null;
    const missing = 8 - head.length - tail.length;
    if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
    const all = [...head, ...Array(halves.length === 2 ? missing : 0).fill(0), ...tail];
    let best = [0, 0];
    for (let i = 0; i < 8; ) {
      let j = i;
      while (j < 8 && all[j] === 0) j++;
      if (j - i > best[1] && j - i > 1) best = [i, j - i];
      i = Math.max(j, i + 1);
    }
    const hex = all.map((n) => n.toString(16));
    if (best[1] === 0) return hex.join(':');
    return `${hex.slice(0, best[0]).join(':')}::${hex.slice(best[0] + best[1]).join(':')}`;
  };

  // The serialised host, or null when it is invalid.
  const parseHost = (text, protocol) => {
    if (text[0] === '[') {
      if (text.at(-1) !== ']') return null;
      const v6 = ipv6(text.slice(1, -1));
      return v6 === null ? null : `[${v6}]`;
    }
    if (!isSpecial(protocol)) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? null : encode(text, '');
    const name = encode(decodePercent(text).toLowerCase(), '');
    if (name === '' || /[\0-\x20"#/:<>?@[\\\]^`{|}\x7f]|%(?![0-9A-F]{2})/.test(name)) return null;
    const v4 = ipv4(name);
    return v4 === undefined ? name : v4;
  };

  const dot = (s) => /^(\.|%2e)$/i.test(s);
  const dotDot = (s) => /^(\.|%2e)(\.|%2e)$/i.test(s);
  const drive = /^[a-z][:|]$/i;

  // Splits a path into its normalised segments, starting from those of a base.
  const walkPath = (text, segments, protocol) => {
    const file = protocol === 'file:';
    const list = (isSpecial(protocol) ? text.replace(/\\/g, '/') : text).split('/');
    list.forEach((segment, i) => {
      const last = i === list.length - 1;
      if (dotDot(segment)) {
        if (!(file && segments.length === 1 && drive.test(segments[0]))) segments.pop();
        if (last) segments.push('');
      } else if (dot(segment)) {
        if (last) segments.push('');
      } else {
        if (file && segments.length === 0 && drive.test(segment)) segment = segment[0] + ':';
        segments.push(encode(segment, pathSet));
      }
    });
    return segments;
  };

  const invalid = (input) => {
    const e = new TypeError(`Invalid URL: ${input}`);
    e.code = 'ERR_INVALID_URL';
    return e;
  };

  // The record of a URL: {protocol, username, password, host, port, path | opaque, query, fragment}.
  const parse = (input, base) => {
    let rest = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const url = { protocol: '', username: '', password: '', host: null, port: '', path: [], opaque: null, query: null, fragment: null };
    const hash = rest.indexOf('#');
    if (hash >= 0) {
      url.fragment = encode(rest.slice(hash + 1), fragmentSet);
      rest = rest.slice(0, hash);
    }
    const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(rest);
    let relative = false;
    if (scheme) {
      url.protocol = scheme[1].toLowerCase() + ':';
      rest = rest.slice(scheme[0].length);
      // "http:path" is relative to a base of the same scheme.
      relative = isSpecial(url.protocol) && base !== undefined && base.protocol === url.protocol && !/^[/\\]{2}/.test(rest) && base.opaque === null;
      if (url.protocol === 'file:') relative = base !== undefined && base.protocol === 'file:' && !/^[/\\]{2}/.test(rest);
    } else {
      if (!base) return null;
      if (base.opaque !== null) {
        if (rest !== '' || hash < 0) return null;
        return { ...base, path: [...base.path], fragment: url.fragment };
      }
      url.protocol = base.protocol;
      relative = true;
    }
    const known = isSpecial(url.protocol);
    const slash = known ? /^[/\\]/ : /^\//;
    const question = rest.indexOf('?');
    if (question >= 0) {
      url.query = encode(rest.slice(question + 1), known ? querySet + "'" : querySet);
      rest = rest.slice(0, question);
    }
    const twoSlashes = known ? /^[/\\]{2}/ : /^\/\//;

    if (relative && !twoSlashes.test(rest)) {
      Object.assign(url, { username: base.username, password: base.password, host: base.host, port: base.port });
      if (rest === '') {
        url.path = [...base.path];
        if (question < 0) url.query = base.query;
      } else if (slash.test(rest)) url.path = walkPath(rest.slice(1), [], url.protocol);
      else url.path = walkPath(rest, base.path.slice(0, -1), url.protocol);
      return url;
    }
    if (known && url.protocol !== 'file:') rest = rest.replace(/^[/\\]*/, '//');
    if (!twoSlashes.test(rest)) {
      if (slash.test(rest)) url.path = walkPath(rest.slice(1), [], url.protocol);
      else if (url.protocol === 'file:') url.path = walkPath(rest, [], url.protocol);
      else url.opaque = encode(rest, '').replace(/%20/g, ' ').trimEnd();
      if (url.protocol === 'file:') url.host = '';
      return url;
    }
    rest = rest.slice(2);
    const end = rest.search(known ? /[/\\]/ : /\//);
    let authority = end < 0 ? rest : rest.slice(0, end);
    const pathText = end < 0 ? '' : rest.slice(end + 1);
    const at = authority.lastIndexOf('@');
    if (at >= 0) {
      const credentials = authority.slice(0, at);
      const colon = credentials.indexOf(':');
      url.username = encode(colon < 0 ? credentials : credentials.slice(0, colon), userSet);
      url.password = colon < 0 ? '' : encode(credentials.slice(colon + 1), userSet);
      authority = authority.slice(at + 1);
    }
    const port = /:(\d*)$/.exec(authority);
    if (port && url.protocol !== 'file:') {
      authority = authority.slice(0, port.index);
      if (+port[1] > 65535) return null;
      url.port = port[1] === '' || String(+port[1]) === special[url.protocol] ? '' : String(+port[1]);
    }
    if (authority === '' && (!known || url.protocol === 'file:')) url.host = '';
    else {
      url.host = parseHost(authority, url.protocol);
      if (url.host === null) return null;
      if (url.protocol === 'file:' && url.host === 'localhost') url.host = '';
    }
    if (authority === '' && (at >= 0 || port)) return null;
    url.path = end < 0 ? (known ? [''] : []) : walkPath(pathText, [], url.protocol);
    return url;
  };

  const pathname = (u) => (u.opaque !== null ? u.opaque : u.path.length ? '/' + u.path.join('/') : '');
  const hostText = (u) => (u.host ?? '') + (u.port === '' ? '' : ':' + u.port);
  const serialise = (u) => {
    let out = u.protocol;
    if (u.host !== null) {
      out += '//';
      if (u.username || u.password) out += u.username + (u.password ? ':' + u.password : '') + '@';
      out += hostText(u);
    } else if (u.opaque === null && u.path.length > 1 && u.path[0] === '') out += '/.';
    out += pathname(u);
    if (u.query !== null) out += '?' + u.query;
    if (u.fragment !== null) out += '#' + u.fragment;
    return out;
  };

  const formEncode = (text) => {
    let out = '';
    for (const b of encoder.encode(String(text).toWellFormed())) {
      const ch = String.fromCharCode(b);
      out += b === 32 ? '+' : /[A-Za-z0-9*\-._]/.test(ch) ? ch : percent(b);
    }
    return out;
  };
  const formParse = (text) =>
    text.split('&').filter(Boolean).map((pair) => {
      const eq = pair.indexOf('=');
      const plain = (s) => decodePercent(s.replace(/\+/g, ' '));
      return eq < 0 ? [plain(pair), ''] : [plain(pair.slice(0, eq)), plain(pair.slice(eq + 1))];
    });

  const attach = Symbol('attach');

  class URLSearchParams {
    #list = [];
    #changed = null;
    constructor(init = '') {
      if (init !== null && (typeof init === 'object' || typeof init === 'function')) {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const [...kv] = pair;
            if (kv.length !== 2) throw new TypeError('URLSearchParams: every entry must be a pair [name, value]');
            this.#list.push([String(kv[0]), String(kv[1])]);
          }
        } else for (const k of Object.keys(init)) this.#list.push([k, String(init[k])]);
      } else this.#list = formParse(String(init).replace(/^\?/, ''));
    }
    [attach](text, changed) {
      this.#list = formParse(text);
      this.#changed = changed;
    }
    #update() {
      if (this.#changed) this.#changed(this.toString());
    }
    get size() {
      return this.#list.length;
    }
    append(name, value) {
      this.#list.push([String(name), String(value)]);
      this.#update();
    }
    delete(name, value) {
      this.#list = this.#list.filter(([k, v]) => k !== String(name) || (value !== undefined && v !== String(value)));
      this.#update();
    }
    get(name) {
      return this.#list.find(([k]) => k === String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#list.filter(([k]) => k === String(name)).map(([, v]) => v);
    }
    has(name, value) {
      return this.#list.some(([k, v]) => k === String(name) && (value === undefined || v === String(value)));
    }
    set(name, value) {
      const at = this.#list.findIndex(([k]) => k === String(name));
      if (at < 0) this.#list.push([String(name), String(value)]);
      else {
        this.#list[at][1] = String(value);
        this.#list = this.#list.filter(([k], i) => i <= at || k !== String(name));
      }
      this.#update();
    }
    sort() {
      this.#list.sort(([x], [y]) => (x < y ? -1 : x > y ? 1 : 0));
      this.#update();
    }
    forEach(callback, self) {
      for (const [k, v] of this.#list) callback.call(self, v, k, this);
    }
    *entries() {
      for (let i = 0; i < this.#list.length; i++) yield [...this.#list[i]];
    }
    *keys() {
      for (let i = 0; i < this.#list.length; i++) yield this.#list[i][0];
    }
    *values() {
      for (let i = 0; i < this.#list.length; i++) yield this.#list[i][1];
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#list.map(([k, v]) => `${formEncode(k)}=${formEncode(v)}`).join('&');
    }
  }

  class URL {
    #url;
    #params = new URLSearchParams();
    constructor(input, base) {
      let parent;
      if (base !== undefined) {
        parent = parse(String(base));
        if (!parent) throw invalid(base);
      }
      const url = parse(String(input), parent);
      if (!url) throw invalid(input);
      this.#url = url;
      this.#link();
    }
    #link() {
      this.#params[attach](this.#url.query ?? '', (text) => {
        this.#url.query = text === '' ? null : text;
      });
    }
    static canParse(input, base) {
      try {
        new URL(input, base);
        return true;
      } catch {
        return false;
      }
    }
    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch {
        return null;
      }
    }
    get href() { return serialise(this.#url); }
    set href(text) {
      const url = parse(String(text));
      if (!url) throw invalid(text);
      this.#url = url;
      this.#link();
    }
    get origin() {
      const u = this.#url;
      return isSpecial(u.protocol) && u.protocol !== 'file:' ? `${u.protocol}//${hostText(u)}` : 'null';
    }
    get protocol() { return this.#url.protocol; }
    set protocol(text) {
      const m = /^([a-zA-Z][a-zA-Z0-9+.-]*):?/.exec(String(text));
      if (m && isSpecial(m[1].toLowerCase() + ':') === isSpecial(this.#url.protocol)) {
        this.#url.protocol = m[1].toLowerCase() + ':';
        if (this.#url.port === special[this.#url.protocol]) this.#url.port = '';
      }
    }
    get username() { return this.#url.username; }
    set username(text) { if (this.#url.host) this.#url.username = encode(String(text), userSet); }
    get password() { return this.#url.password; }
    set password(text) { if (this.#url.host) this.#url.password = encode(String(text), userSet); }
    get host() { return hostText(this.#url); }
    set host(text) {
      const m = /^(\[[^\]]*\]|[^:/?#\\]*)(?::(\d*))?/.exec(String(text));
      const name = m && this.#url.opaque === null ? parseHost(m[1], this.#url.protocol) : null;
      if (name === null) return;
      this.#url.host = name;
      if (m[2] !== undefined) this.port = m[2];
    }
    get hostname() { return this.#url.host ?? ''; }
    set hostname(text) {
      const name = this.#url.opaque === null ? parseHost(String(text).replace(/[/?#\\:].*$/s, ''), this.#url.protocol) : null;
      if (name !== null) this.#url.host = name;
    }
    get port() { return this.#url.port; }
    set port(text) {
      const m = /^\d*/.exec(String(text))[0];
      if (!this.#url.host || this.#url.protocol === 'file:' || +m > 65535 || (m === '' && String(text) !== '')) return;
      this.#url.port = m === '' || String(+m) === special[this.#url.protocol] ? '' : String(+m);
    }
    get pathname() { return pathname(this.#url); }
    set pathname(text) {
      if (this.#url.opaque !== null) return;
      this.#url.path = walkPath(encode(String(text), '?#').replace(/^[/\\]/, ''), [], this.#url.protocol);
    }
    get search() { return this.#url.query ? '?' + this.#url.query : ''; }
    set search(text) {
      text = String(text).replace(/^\?/, '');
      this.#url.query = text === '' ? null : encode(text, isSpecial(this.#url.protocol) ? querySet + "'" : querySet);
      this.#link();
    }
    get searchParams() { return this.#params; }
    get hash() { return this.#url.fragment ? '#' + this.#url.fragment : ''; }
    set hash(text) {
      text = String(text).replace(/^#/, '');
      this.#url.fragment = text === '' ? null : encode(text, fragmentSet);
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }

  host.tag(URL, 'URL');
  host.tag(URLSearchParams, 'URLSearchParams');
  host.define('URL', URL);
  host.define('URLSearchParams', URLSearchParams);
})
