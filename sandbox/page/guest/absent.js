// What a browser has and nobody can have here: sound, camera, places, other processes, a
// network. Each answers as the standard says it answers where it is refused or silent, and the
// console says once what cannot be had: a page that uses it is not wrong.
(function (host) {
  'use strict';
  const { page } = host;
  const g = globalThis;

  const told = new Set();
  page.absent = (text) => {
    if (told.has(text) || told.size > 50) return;
    told.add(text);
    host.call('log', 'info', text);
  };
  const refuse = (name, text) => Promise.reject(new DOMException(text, name));

  // Classes by name, with the tags that browsers give them.
  page.interfaces = (classes) => {
    for (const [name, cls] of Object.entries(classes)) {
      host.tag(cls, name);
      if (!Object.hasOwn(g, name)) host.define(name, cls);
    }
  };
  // A global that is made when it is first asked for.
  page.lazy = (names, make) => {
    let made;
    for (const name of names) {
      if (Object.hasOwn(g, name)) continue;
      Object.defineProperty(g, name, {
        get: () => (made ??= make())[name],
        set: (value) => Object.defineProperty(g, name, { value, writable: true, configurable: true }),
        configurable: true,
        enumerable: false,
      });
    }
  };
  // Handlers that are properties: target.onX is called with event X.
  page.target = class extends g.EventTarget {
    _tell(type, extra = {}) {
      const event = Object.assign(new g.Event(type), extra);
      this.dispatchEvent(event);
      return event;
    }
  };
  const Target = page.target;

  // Talking, and being heard.
  page.lazy(['speechSynthesis', 'SpeechSynthesis', 'SpeechSynthesisUtterance', 'SpeechRecognition', 'webkitSpeechRecognition'], () => {
    class SpeechSynthesisUtterance extends Target {
      constructor(text = '') {
        super();
        Object.assign(this, { text: host.str(text), lang: '', voice: null, volume: 1, rate: 1, pitch: 1, onstart: null, onend: null, onerror: null, onboundary: null, onpause: null, onresume: null, onmark: null });
      }
    }
    class SpeechSynthesis extends Target {
      #queue = [];
      paused = false;
      onvoiceschanged = null;
      get speaking() {
        return this.#queue.length > 0;
      }
      get pending() {
        return this.#queue.length > 1;
      }
      getVoices() {
        return [];
      }
      speak(said) {
        if (!(said instanceof SpeechSynthesisUtterance)) throw new TypeError("Failed to execute 'speak' on 'SpeechSynthesis': parameter 1 is not of type 'SpeechSynthesisUtterance'.");
        page.absent('speech is not heard here');
        this.#queue.push(said);
        if (this.#queue.length === 1) this.#next();
      }
      #next() {
        const [said] = this.#queue;
        if (!said) return;
        said._tell('start', { elapsedTime: 0 });
        setTimeout(() => {
          if (this.#queue[0] !== said) return;
          this.#queue.shift();
          said._tell('end', { elapsedTime: 0.1 });
          this.#next();
        }, 100);
      }
      cancel() {
        this.#queue = [];
      }
      pause() {
        this.paused = true;
      }
      resume() {
        this.paused = false;
      }
    }
    class SpeechRecognition extends Target {
      lang = '';
      continuous = false;
      interimResults = false;
      maxAlternatives = 1;
      start() {
        page.absent('nothing is heard here: speech recognition ends at once');
        setTimeout(() => {
          this._tell('error', { error: 'not-allowed', message: '' });
          this._tell('end');
        }, 0);
      }
      stop() {}
      abort() {}
    }
    for (const [name, cls] of Object.entries({ SpeechSynthesisUtterance, SpeechSynthesis, SpeechRecognition })) host.tag(cls, name);
    return { SpeechSynthesis, SpeechSynthesisUtterance, SpeechRecognition, webkitSpeechRecognition: SpeechRecognition, speechSynthesis: new SpeechSynthesis() };
  });

  // Notices, other threads, other machines.
  page.lazy(['Notification'], () => {
    class Notification extends Target {
      static permission = 'denied';
      static maxActions = 2;
      static requestPermission(callback) {
        page.absent('notifications are refused here');
        callback?.('denied');
        return Promise.resolve('denied');
      }
      constructor(title, options = {}) {
        super();
        Object.assign(this, { title: host.str(title), body: '', tag: '', icon: '', data: null, onclick: null, onclose: null, onerror: null, onshow: null, ...options });
        page.absent('notifications are refused here');
        setTimeout(() => this._tell('error'), 0);
      }
      close() {}
    }
    host.tag(Notification, 'Notification');
    return { Notification };
  });
  page.lazy(['Worker', 'SharedWorker'], () => {
    class Worker extends Target {
      onmessage = null;
      onerror = null;
      onmessageerror = null;
      constructor(url) {
        super();
        if (arguments.length === 0) throw new TypeError("Failed to construct 'Worker': 1 argument required, but only 0 present.");
        page.absent(`workers do not run here: ${host.str(url)}`);
      }
      postMessage() {}
      terminate() {}
    }
    class SharedWorker extends Target {
      constructor(url) {
        super();
        page.absent(`workers do not run here: ${host.str(url)}`);
        this.port = new g.MessageChannel().port1;
      }
    }
    host.tag(Worker, 'Worker');
    host.tag(SharedWorker, 'SharedWorker');
    return { Worker, SharedWorker };
  });
  const connection = (name, states, schemes) => {
    const cls = class extends Target {
      constructor(url) {
        super();
        let at;
        try {
          at = new URL(host.str(url), g.location.href);
        } catch {}
        if (!at || !schemes.test(at.protocol)) throw new DOMException(`Failed to construct '${name}': The URL '${host.str(url)}' is invalid.`, 'SyntaxError');
        Object.assign(this, {
          url: at.href, readyState: 0, bufferedAmount: 0, extensions: '', protocol: '', binaryType: 'blob', withCredentials: false,
          onopen: null, onmessage: null, onerror: null, onclose: null,
        });
        page.absent(`there is no network here: ${name} ${at.href}`);
        setTimeout(() => this._fail(), 5);
      }
      _fail() {
        if (this.readyState === this.constructor.CLOSED) return;
        this.readyState = this.constructor.CLOSED;
        this._tell('error');
        if (name === 'WebSocket') this.dispatchEvent(new g.CloseEvent('close', { code: 1006, reason: '', wasClean: false }));
      }
      send() {
        if (this.readyState === 0) throw new DOMException(`Failed to execute 'send' on '${name}': Still in CONNECTING state.`, 'InvalidStateError');
      }
      close() {
        if (this.readyState === 0) setTimeout(() => this._fail(), 0);
      }
    };
    Object.defineProperty(cls, 'name', { value: name, configurable: true });
    states.forEach((state, i) => {
      cls[state] = cls.prototype[state] = i;
    });
    host.tag(cls, name);
    host.define(name, cls);
  };
  connection('WebSocket', ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'], /^(wss?|https?):$/);
  connection('EventSource', ['CONNECTING', 'OPEN', 'CLOSED'], /^https?:$/);

  // The navigator.
  const { navigator } = g;
  const add = (name, value) => Object.defineProperty(navigator, name, { value, configurable: true, enumerable: true, writable: true });
  const provide = (table) => {
    for (const [name, value] of Object.entries(table)) add(name, value);
  };
  const denied = (what) => (ok, failed) => {
    page.absent(`the place is not known here: ${what} is refused`);
    const error = { code: 1, message: 'User denied Geolocation', PERMISSION_DENIED: 1, POSITION_UNAVAILABLE: 2, TIMEOUT: 3 };
    if (failed) setTimeout(() => failed(error), 0);
  };
  let watches = 0;
  provide({
    geolocation: {
      getCurrentPosition: denied('getCurrentPosition'),
      watchPosition(ok, failed) {
        denied('watchPosition')(ok, failed);
        return ++watches;
      },
      clearWatch() {},
    },
    mediaDevices: Object.assign(new Target(), {
      getUserMedia(what = {}) {
        if (!what.audio && !what.video) return Promise.reject(new TypeError("Failed to execute 'getUserMedia' on 'MediaDevices': At least one of audio and video must be requested"));
        page.absent('there is no camera and no microphone here');
        return refuse('NotFoundError', 'Requested device not found');
      },
      getDisplayMedia() {
        page.absent('there is no screen to record here');
        return refuse('NotAllowedError', 'Permission denied');
      },
      enumerateDevices: async () => [],
      getSupportedConstraints: () => ({}),
      ondevicechange: null,
    }),
    getUserMedia(what, ok, failed) {
      page.absent('there is no camera and no microphone here');
      setTimeout(() => failed?.(new DOMException('Requested device not found', 'NotFoundError')), 0);
    },
    vibrate: () => true,
    getGamepads: () => [null, null, null, null],
    getBattery: async () => Object.assign(new Target(), { charging: true, chargingTime: 0, dischargingTime: Infinity, level: 1, onlevelchange: null, onchargingchange: null }),
    canShare: () => false,
    share() {
      page.absent('nothing can be shared here');
      return refuse('AbortError', 'Share canceled');
    },
    javaEnabled: () => false,
    deviceMemory: 8,
    pdfViewerEnabled: true,
    connection: Object.assign(new Target(), { effectiveType: '4g', downlink: 10, rtt: 50, saveData: false, onchange: null }),
    userActivation: { hasBeenActive: true, isActive: true },
    storage: { estimate: async () => ({ quota: 1 << 30, usage: 0 }), persist: async () => false, persisted: async () => false },
    wakeLock: { request: async (type = 'screen') => Object.assign(new Target(), { type, released: false, onrelease: null, async release() { this.released = true; } }) },
    mediaSession: { metadata: null, playbackState: 'none', setActionHandler() {}, setPositionState() {} },
    setAppBadge: async () => {},
    clearAppBadge: async () => {},
    requestMIDIAccess: () => refuse('NotAllowedError', 'Permission denied'),
    registerProtocolHandler() {},
  });
  const registration = Object.assign(new Target(), {
    scope: '', active: null, installing: null, waiting: null, update: async () => {}, unregister: async () => true, showNotification: async () => {}, onupdatefound: null,
  });
  add('serviceWorker', Object.assign(new Target(), {
    controller: null,
    oncontrollerchange: null,
    onmessage: null,
    ready: new Promise(() => {}),
    async register(url, options) {
      page.absent(`service workers do not run here: ${host.str(url)}`);
      return Object.assign(registration, { scope: page.resolve(options?.scope ?? './') });
    },
    getRegistration: async () => undefined,
    getRegistrations: async () => [],
    startMessages() {},
  }));
})
