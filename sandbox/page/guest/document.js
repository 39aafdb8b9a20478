// Members of the document, the window and of elements that happy-dom has not, or has wrong.
(function (host) {
  'use strict';
  const { page } = host;
  const { document } = page;
  const g = globalThis;

  const get = (on, name, getter, setter) => Object.defineProperty(on, name, { get: getter, set: setter, configurable: true, enumerable: true });
  const method = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true });
  const proto = host.owner('createElement', g.Document.prototype);

  // Collections that are always up to date; each is made once.
  const live = (name, selector) => {
    const made = new WeakMap();
    const list = (doc) => doc.querySelectorAll(selector);
    get(proto, name, function () {
      if (!made.has(this)) made.set(this, collection(() => list(this)));
      return made.get(this);
    });
  };
  const byName = (items, name) => [...items].find((el) => el.id === name || el.getAttribute('name') === name);
  const collection = (list) =>
    new Proxy(Object.create(g.HTMLCollection.prototype), {
      get(target, key) {
        const items = list();
        if (key === 'length') return items.length;
        if (key === 'item') return (i) => items[i] ?? null;
        if (key === 'namedItem') return (name) => byName(items, name) ?? null;
        if (key === Symbol.iterator) return () => [...items][Symbol.iterator]();
        if (typeof key !== 'string') return target[key];
        return /^\d+$/.test(key) ? items[key] : (byName(items, key) ?? target[key]);
      },
      has: (target, key) => (typeof key === 'string' && (/^\d+$/.test(key) ? +key < list().length : byName(list(), key) !== undefined)) || key in target,
      ownKeys: () => [...list()].map((_, i) => host.str(i)),
      getOwnPropertyDescriptor(target, key) {
        const value = typeof key === 'string' && /^\d+$/.test(key) ? list()[key] : undefined;
        return value && { value, writable: false, enumerable: true, configurable: true };
      },
    });
  page.collection = collection;
  live('images', 'img');
  live('embeds', 'embed');
  live('plugins', 'embed');
  live('anchors', 'a[name]');
  live('all', '*');

  get(proto, 'compatMode', function () {
    return page.quirkyDocuments.has(this) || (this === document && !this.doctype && page.html) ? 'BackCompat' : 'CSS1Compat';
  });
  get(proto, 'dir', function () {
    const dir = (this.documentElement?.getAttribute('dir') ?? '').toLowerCase();
    return /^(ltr|rtl|auto)$/.test(dir) ? dir : '';
  }, function (value) {
    this.documentElement?.setAttribute('dir', value);
  });
  const title = host.descriptor(host.owner('title', g.Document.prototype), 'title');
  get(host.owner('title', g.Document.prototype), 'title', function () {
    return host.apply(title.get, this, []).replace(/[ \t\n\f\r]+/g, ' ').trim();
  }, title.set);
  get(proto, 'textContent', () => null, () => {});
  get(proto, 'inputEncoding', () => 'UTF-8');
  get(proto, 'designMode', () => 'off', () => {});
  get(proto, 'lastModified', () => {
    const now = new Date();
    const two = (n) => host.str(n).padStart(2, '0');
    return `${two(now.getMonth() + 1)}/${two(now.getDate())}/${now.getFullYear()} ${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
  });
  for (const [name, attribute] of Object.entries({ bgColor: 'bgcolor', fgColor: 'text', linkColor: 'link', vlinkColor: 'vlink', alinkColor: 'alink' })) {
    get(proto, name, function () {
      return this.body?.getAttribute(attribute) ?? '';
    }, function (value) {
      this.body?.setAttribute(attribute, value);
    });
  }
  method(proto, 'execCommand', (name) => {
    page.absent(`the command ${name} of document.execCommand does nothing here`);
    return /^(copy|cut)$/i.test(name);
  });
  for (const name of ['queryCommandEnabled', 'queryCommandState', 'queryCommandSupported', 'queryCommandIndeterm']) method(proto, name, () => false);
  method(proto, 'queryCommandValue', () => '');
  method(proto, 'elementFromPoint', () => document.body);
  method(proto, 'elementsFromPoint', () => [document.body, document.documentElement]);
  method(proto, 'caretRangeFromPoint', () => null);
  method(proto, 'caretPositionFromPoint', () => null);
  method(proto, 'hasStorageAccess', async () => true);
  method(proto, 'startViewTransition', (options) => {
    const change = typeof options === 'function' ? options : options?.update;
    const done = Promise.resolve().then(() => change?.());
    return { ready: done, updateCallbackDone: done, finished: done, skipTransition() {} };
  });

  // Whole screen and pointer: allowed, at once.
  let whole = null;
  let pointer = null;
  const tell = (el, type) => setTimeout(() => (el?.isConnected ? el : document).dispatchEvent(new g.Event(type, { bubbles: true })), 0);
  for (const name of ['fullscreenElement', 'webkitFullscreenElement', 'webkitCurrentFullScreenElement']) get(proto, name, () => whole);
  for (const name of ['fullscreenEnabled', 'webkitFullscreenEnabled', 'pictureInPictureEnabled']) get(proto, name, () => name !== 'pictureInPictureEnabled');
  for (const name of ['fullscreen', 'webkitIsFullScreen']) get(proto, name, () => whole !== null);
  get(proto, 'pictureInPictureElement', () => null);
  get(proto, 'pointerLockElement', () => pointer);
  for (const name of ['requestFullscreen', 'webkitRequestFullscreen', 'webkitRequestFullScreen']) {
    method(g.Element.prototype, name, async function () {
      whole = this;
      tell(this, 'fullscreenchange');
    });
  }
  for (const name of ['exitFullscreen', 'webkitExitFullscreen', 'webkitCancelFullScreen']) {
    method(proto, name, async () => {
      if (!whole) throw new TypeError('the document is not in the state of the full screen');
      const was = whole;
      whole = null;
      tell(was, 'fullscreenchange');
    });
  }
  method(g.Element.prototype, 'requestPointerLock', async function () {
    pointer = this;
    tell(null, 'pointerlockchange');
  });
  method(proto, 'exitPointerLock', () => {
    if (pointer) tell(null, 'pointerlockchange');
    pointer = null;
  });

  // Fonts are always there, and never loaded.
  class FontFaceSet extends g.EventTarget {
    #faces = new Set();
    status = 'loaded';
    onloading = null;
    onloadingdone = null;
    onloadingerror = null;
    get ready() {
      return Promise.resolve(this);
    }
    get size() {
      return this.#faces.size;
    }
    add(face) {
      this.#faces.add(face);
      return this;
    }
    delete(face) {
      return this.#faces.delete(face);
    }
    has(face) {
      return this.#faces.has(face);
    }
    clear() {
      this.#faces.clear();
    }
    forEach(f) {
      this.#faces.forEach(f);
    }
    [Symbol.iterator]() {
      return this.#faces.values();
    }
    check() {
      return true;
    }
    async load() {
      return [];
    }
  }
  class FontFace {
    status = 'unloaded';
    constructor(family, source, descriptors = {}) {
      Object.assign(this, { family: host.str(family), style: 'normal', weight: 'normal', stretch: 'normal', display: 'auto', ...descriptors });
    }
    async load() {
      this.status = 'loaded';
      return this;
    }
    get loaded() {
      return this.load();
    }
  }
  page.interfaces({ FontFaceSet, FontFace });
  const fonts = new FontFaceSet();
  get(proto, 'fonts', () => fonts);

  // The window.
  const constants = {
    isSecureContext: true, crossOriginIsolated: false, originAgentCluster: false, length: 0, frameElement: null, external: {}, offscreenBuffering: true, status: '', closed: false,
    clientInformation: g.navigator, webkitURL: g.URL, WebKitMutationObserver: g.MutationObserver, webkitRequestAnimationFrame: g.requestAnimationFrame,
    webkitCancelAnimationFrame: g.cancelAnimationFrame,
  };
  for (const name of ['locationbar', 'menubar', 'personalbar', 'scrollbars', 'statusbar', 'toolbar']) constants[name] = { visible: true };
  for (const [name, value] of Object.entries(constants)) if (!(name in g)) host.define(name, value);
  for (const name of ['stop', 'moveTo', 'moveBy', 'resizeTo', 'resizeBy', 'focus', 'blur', 'captureEvents', 'releaseEvents']) host.define(name, () => {});
  host.define('find', () => false);
  get(g, 'origin', () => g.location.origin, (value) => host.define('origin', value));
  class VisualViewport extends g.EventTarget {
    offsetLeft = 0;
    offsetTop = 0;
    pageLeft = 0;
    pageTop = 0;
    scale = 1;
    onresize = null;
    onscroll = null;
    get width() {
      return g.innerWidth;
    }
    get height() {
      return g.innerHeight;
    }
  }
  page.interfaces({ VisualViewport });
  host.define('visualViewport', new VisualViewport());

  // Option, which happy-dom forgets, as it has Image and Audio.
  function Option(text = '', value, defaultSelected = false, selected = false) {
    if (!new.target) throw new TypeError("Failed to construct 'Option': Please use the 'new' operator");
    const el = document.createElement('option');
    if (text !== '') el.appendChild(document.createTextNode(host.str(text)));
    if (value !== undefined) el.setAttribute('value', host.str(value));
    if (defaultSelected) el.setAttribute('selected', '');
    el.selected = Boolean(selected);
    return el;
  }
  Option.prototype = g.HTMLOptionElement.prototype;
  host.define('Option', Option);

  // Attributes that are properties too.
  const words = (attribute, values, otherwise) => [
    function () {
      const value = (this.getAttribute(attribute) ?? '').toLowerCase();
      return values.includes(value) ? value : otherwise;
    },
    function (value) {
      this.setAttribute(attribute, host.str(value));
    },
  ];
  const text = (attribute) => [
    function () {
      return this.getAttribute(attribute) ?? '';
    },
    function (value) {
      this.setAttribute(attribute, host.str(value));
    },
  ];
  const aria = (attribute) => [
    function () {
      return this.getAttribute(attribute);
    },
    function (value) {
      if (value === null || value === undefined) this.removeAttribute(attribute);
      else this.setAttribute(attribute, host.str(value));
    },
  ];
  const flag = (attribute) => [
    function () {
      return this.hasAttribute(attribute);
    },
    function (value) {
      this.toggleAttribute(attribute, Boolean(value));
    },
  ];
  const reflect = (cls, table) => {
    for (const [name, pair] of Object.entries(table)) if (!(name in cls.prototype)) get(cls.prototype, name, ...pair);
  };
  const ariaNames =
    'Atomic AutoComplete Busy Checked ColCount ColIndex ColSpan Current Description Disabled Expanded HasPopup Hidden Invalid KeyShortcuts Label Level Live Modal MultiLine MultiSelectable Orientation Placeholder PosInSet Pressed ReadOnly Relevant Required RoleDescription RowCount RowIndex RowSpan Selected SetSize Sort ValueMax ValueMin ValueNow ValueText';
  reflect(g.Element, Object.fromEntries(ariaNames.split(' ').map((name) => [`aria${name}`, aria(`aria-${name.toLowerCase()}`)])));
  reflect(g.Element, { role: aria('role') });
  reflect(g.HTMLElement, {
    inputMode: words('inputmode', ['none', 'text', 'tel', 'url', 'email', 'numeric', 'decimal', 'search'], ''),
    enterKeyHint: words('enterkeyhint', ['enter', 'done', 'go', 'next', 'previous', 'search', 'send'], ''),
    autocapitalize: text('autocapitalize'), nonce: text('nonce'), autofocus: flag('autofocus'), autocorrect: text('autocorrect'),
    translate: [function () {
      return this.closest('[translate]')?.getAttribute('translate') !== 'no';
    }, function (value) {
      this.setAttribute('translate', value ? 'yes' : 'no');
    }],
    spellcheck: [function () {
      return this.closest('[spellcheck]')?.getAttribute('spellcheck') !== 'false';
    }, function (value) {
      this.setAttribute('spellcheck', host.str(Boolean(value)));
    }],
    draggable: [function () {
      const value = this.getAttribute('draggable');
      return value === 'true' || (value !== 'false' && (this.localName === 'img' || (this.localName === 'a' && this.hasAttribute('href'))));
    }, function (value) {
      this.setAttribute('draggable', host.str(Boolean(value)));
    }],
    offsetParent: [function () {
      return this.isConnected && this !== document.body && !this.hidden && this.style.display !== 'none' ? document.body : null;
    }],
  });
  for (const cls of ['Div', 'Paragraph', 'Heading', 'HR', 'Image', 'Table', 'TableRow', 'TableCell', 'TableSection', 'Input', 'IFrame']) {
    reflect(g[`HTML${cls}Element`], { align: text('align') });
  }
  for (const cls of ['Table', 'TableRow', 'TableCell', 'Body']) reflect(g[`HTML${cls}Element`], { bgColor: text('bgcolor') });
  reflect(g.HTMLTableElement, { border: text('border'), width: text('width'), cellPadding: text('cellpadding'), cellSpacing: text('cellspacing'), summary: text('summary') });
  reflect(g.HTMLTableCellElement, { width: text('width'), height: text('height'), noWrap: flag('nowrap'), vAlign: text('valign') });
  reflect(g.HTMLImageElement, { name: text('name'), border: text('border') });
  reflect(g.HTMLAnchorElement, { name: text('name') });
  reflect(g.HTMLUListElement, { type: text('type') });
  reflect(g.HTMLLIElement, { type: text('type') });
  reflect(g.HTMLLinkElement, { integrity: text('integrity') });
  reflect(g.HTMLDetailsElement, { name: text('name') });
})
