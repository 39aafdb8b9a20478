// fetch, XMLHttpRequest, Request and Response over the virtual tree.
(function (host) {
  'use strict';
  const { page } = host;
  const Headers = globalThis.Headers;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  const toBytes = (body) => {
    if (body === null || body === undefined) return new Uint8Array(0);
    if (typeof body === 'string') return encoder.encode(body);
    if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
    if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
    return encoder.encode(host.str(body));
  };
  const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

  class Body {
    #bytes;
    #used = false;
    constructor(bytes) {
      this.#bytes = bytes;
    }
    get bodyUsed() {
      return this.#used;
    }
    get body() {
      return null;
    }
    #take() {
      if (this.#used) throw new TypeError('body stream already read');
      this.#used = true;
      return this.#bytes;
    }
    _peek() {
      if (this.#used) throw new TypeError('the body was already read');
      return this.#bytes;
    }
    async text() {
      return decoder.decode(this.#take());
    }
    async json() {
      return JSON.parse(decoder.decode(this.#take()));
    }
    async arrayBuffer() {
      return this.#take().slice().buffer;
    }
    async bytes() {
      return this.#take().slice();
    }
    async blob() {
      return new Blob([this.#take()], { type: this.headers.get('content-type') ?? '' });
    }
    async formData() {
      const form = new FormData();
      for (const [k, v] of new URLSearchParams(decoder.decode(this.#take()))) form.append(k, v);
      return form;
    }
  }

  class Response extends Body {
    constructor(body = null, init = {}) {
      super(toBytes(body));
      const status = init.status ?? 200;
      if (!(status >= 200 && status <= 599) && !init.internal) throw new RangeError(`Response: the status ${status} is not between 200 and 599`);
      const headers = new Headers(init.headers);
      if (typeof body === 'string' && !headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8');
      Object.assign(this, { status, statusText: init.statusText ?? '', headers, url: init.url ?? '', type: init.url ? 'basic' : 'default', redirected: false });
    }
    get ok() {
      return this.status >= 200 && this.status < 300;
    }
    clone() {
      return new Response(this._peek(), this);
    }
    static json(value, init = {}) {
      return new Response(JSON.stringify(value), { ...init, headers: { 'content-type': 'application/json', ...init.headers } });
    }
    static error() {
      return new Response(null, { status: 0, internal: true });
    }
  }

  class Request extends Body {
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : undefined;
      super(toBytes(init.body ?? from?._peek()));
      this.url = from ? from.url : page.resolve(host.str(input));
      this.method = host.str(init.method ?? from?.method ?? 'GET').toUpperCase();
      this.headers = new Headers(init.headers ?? from?.headers);
      this.signal = init.signal ?? from?.signal ?? null;
      this.mode = init.mode ?? 'cors';
      this.credentials = init.credentials ?? 'same-origin';
    }
    clone() {
      return new Request(this);
    }
  }

  // Answers a request from the tree: only GET and HEAD find something.
  const answer = (url, method) => {
    const data = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s.exec(url);
    if (data) {
      const body = /;base64/.test(data[2]) ? fromBase64(decodeURIComponent(data[3])) : encoder.encode(decodeURIComponent(data[3]));
      return { status: 200, type: data[1] || 'text/plain', bytes: body };
    }
    if (url.startsWith('blob:')) return { error: `blob URLs cannot be fetched here: ${url}` };
    if (method !== 'GET' && method !== 'HEAD') {
      const found = page.read(url, 'fetch ' + method);
      return found.error ? found : { status: 405, type: 'text/plain', bytes: encoder.encode(`${method} is not possible: this server only has files`) };
    }
    const found = page.read(url, 'fetch');
    if (found.error) return found;
    return { ...found, bytes: method === 'HEAD' ? new Uint8Array(0) : found.base64 !== undefined ? fromBase64(found.base64) : encoder.encode(found.text) };
  };
  const statusTexts = { 200: 'OK', 404: 'Not Found', 405: 'Method Not Allowed' };

  host.define('fetch', function fetch(input, init) {
    return new Promise((resolve, reject) => {
      const request = new Request(input, init);
      const abort = () => reject(request.signal.reason ?? new DOMException('The operation was aborted.', 'AbortError'));
      if (request.signal?.aborted) return abort();
      request.signal?.addEventListener('abort', abort);
      // Like a network, later: after the current script and its microtasks.
      setTimeout(() => {
        const found = answer(request.url, request.method);
        if (found.error) return reject(new TypeError(`Failed to fetch: ${found.error}`));
        resolve(new Response(found.bytes, {
          status: found.status, statusText: statusTexts[found.status], url: request.url,
          headers: { 'content-type': found.type, 'content-length': host.str(found.bytes.length) },
        }));
      }, 5);
    });
  });

  class XMLHttpRequest extends EventTarget {
    #request;
    #sent = false;
    constructor() {
      super();
      Object.assign(this, {
        readyState: 0, status: 0, statusText: '', response: '', responseText: '', responseType: '', responseURL: '', responseXML: null,
        timeout: 0, withCredentials: false, upload: new EventTarget(),
        onreadystatechange: null, onload: null, onerror: null, onloadend: null, onloadstart: null, onabort: null, ontimeout: null, onprogress: null,
      });
      this.headers = new Headers();
    }
    #emit(type) {
      const event = new ProgressEvent(type, { lengthComputable: false });
      this.dispatchEvent(event);
    }
    #state(n) {
      this.readyState = n;
      this.#emit('readystatechange');
    }
    open(method, url, async = true) {
      this.#request = { method: host.str(method).toUpperCase(), url: page.resolve(host.str(url)), async };
      this.#sent = false;
      this.#state(1);
    }
    setRequestHeader() {}
    overrideMimeType() {}
    getResponseHeader(name) {
      return this.headers.get(name);
    }
    getAllResponseHeaders() {
      return [...this.headers].map(([k, v]) => `${k}: ${v}\r\n`).join('');
    }
    abort() {
      if (this.#sent) {
        this.#sent = false;
        this.#emit('abort');
        this.#emit('loadend');
      }
      this.readyState = 0;
    }
    send() {
      if (!this.#request) throw new DOMException("The object's state must be OPENED.", 'InvalidStateError');
      this.#sent = true;
      const finish = () => {
        if (!this.#sent) return;
        this.#sent = false;
        const found = answer(this.#request.url, this.#request.method);
        if (found.error) {
          this.status = 0;
          this.#state(4);
          this.#emit('error');
          return this.#emit('loadend');
        }
        this.status = found.status;
        this.statusText = statusTexts[found.status];
        this.responseURL = this.#request.url;
        this.headers.set('content-type', found.type);
        this.#state(2);
        const text = decoder.decode(found.bytes);
        if (this.responseType === '' || this.responseType === 'text') this.response = this.responseText = text;
        else if (this.responseType === 'json') {
          try {
            this.response = JSON.parse(text);
          } catch {
            this.response = null;
          }
        } else if (this.responseType === 'arraybuffer') this.response = found.bytes.slice().buffer;
        else if (this.responseType === 'blob') this.response = new Blob([found.bytes], { type: found.type });
        else if (this.responseType === 'document') this.response = this.responseXML = new DOMParser().parseFromString(text, 'text/html');
        this.#state(3);
        this.#state(4);
        this.#emit('load');
        this.#emit('loadend');
      };
      if (this.#request.async) setTimeout(finish, 5);
      else finish();
    }
  }
  ['UNSENT', 'OPENED', 'HEADERS_RECEIVED', 'LOADING', 'DONE'].forEach((name, i) => {
    XMLHttpRequest[name] = XMLHttpRequest.prototype[name] = i;
  });

  for (const cls of [Response, Request, XMLHttpRequest]) {
    host.tag(cls, cls.name);
    host.define(cls.name, cls);
  }
  if (globalThis.navigator) Object.defineProperty(globalThis.navigator, 'sendBeacon', { value: () => false, configurable: true });
})
