// Nodes where happy-dom differs from browsers: errors by their names, data attributes, node iterators and slots.
// Source: DOM standard, 4.2.3, 4.2.4, 4.9, 6.1; HTML standard, 3.2.6.6 and 8.3.
(function (host) {
  'use strict';
  const { owner, page } = host;
  const { document } = page;
  const { PropertySymbol: P } = host.dom;
  const g = globalThis;
  const define = (on, name, get, set) => Object.defineProperty(on, name, { get, set, configurable: true, enumerable: true });
  const refuse = (name, what, on, why) => {
    throw new g.DOMException(`Failed to execute '${what}' on '${on}': ${why}`, name);
  };
  // Runs a check before a method of a class.
  const before = (cls, name, check) => {
    const on = owner(name, cls.prototype);
    const { [name]: method } = on;
    Object.defineProperty(on, name, {
      value: {
        [name](...args) {
          host.apply(check, this, args);
          return host.apply(method, this, args);
        },
      }[name],
      writable: true, configurable: true, enumerable: true,
    });
  };

  // What may not stand where.
  const isNode = (x) => x instanceof g.Node;
  const holds = (node, other) => {
    for (let at = other; at; at = at[P.parentNode] ?? (at[P.nodeType] === 11 ? at.host : null)) if (at === node) return true;
    return false;
  };
  const mayInsert = (parent, node, what) => {
    if (!isNode(node)) return;
    const inner = node[P.proxy] ?? node;
    if (holds(inner, parent[P.proxy] ?? parent)) refuse('HierarchyRequestError', what, 'Node', 'The new child element contains the parent.');
    if (parent[P.nodeType] === 9 && node[P.nodeType] === 1 && parent.documentElement && parent.documentElement !== node) refuse('HierarchyRequestError', what, 'Node', 'Only one element on document allowed.');
  };
  const missing = (what) => refuse('NotFoundError', what, 'Node', 'The node is not a child of this node.');
  before(g.Node, 'appendChild', function (node) {
    mayInsert(this, node, 'appendChild');
  });
  before(g.Node, 'insertBefore', function (node, child) {
    mayInsert(this, node, 'insertBefore');
    if (isNode(child) && child.parentNode !== (this[P.proxy] ?? this)) missing('insertBefore');
  });
  before(g.Node, 'removeChild', function (child) {
    if (isNode(child) && child.parentNode !== (this[P.proxy] ?? this)) missing('removeChild');
  });

  // Names.
  const { constructor: DOMTokenList } = document.createElement('p').classList;
  host.define('DOMTokenList', DOMTokenList);
  const badName = (what, on, name) => refuse('InvalidCharacterError', what, on, `'${name}' is not a valid name.`);
  before(g.Document, 'createElement', function (name) {
    if (!/^[a-z_:\u0080-\uffff][^\0\t\n\f\r />]*$/i.test(host.str(name))) badName('createElement', 'Document', name);
  });
  before(g.Element, 'setAttribute', function (name) {
    if (/^$|[\0\t\n\f\r />=]/.test(host.str(name))) badName('setAttribute', 'Element', name);
  });
  for (const name of ['add', 'remove', 'toggle', 'replace']) {
    before(DOMTokenList, name, function (...tokens) {
      for (const token of name === 'toggle' ? tokens.slice(0, 1) : tokens) {
        if (host.str(token) === '') refuse('SyntaxError', name, 'DOMTokenList', 'The token provided must not be empty.');
        if (/[ \t\n\f\r]/.test(host.str(token))) refuse('InvalidCharacterError', name, 'DOMTokenList', `The token provided ('${token}') contains HTML space characters, which are not valid in tokens.`);
      }
    });
  }
  before({ prototype: host.prototypeOf(g.customElements) }, 'define', function (name) {
    if (!/^[a-z][^\0\t\n\f\r />A-Z]*-[^\0\t\n\f\r />A-Z]*$/.test(host.str(name))) refuse('SyntaxError', 'define', 'CustomElementRegistry', `"${name}" is not a valid custom element name`);
  });

  // Places.
  before(g.Element, 'attachShadow', function () {
    if (!/^(article|aside|blockquote|body|div|footer|h[1-6]|header|main|nav|p|section|span)$/.test(this[P.localName]) && !this[P.localName].includes('-')) refuse('NotSupportedError', 'attachShadow', 'Element', 'This element does not support attachShadow');
  });
  before(g.Element, 'insertAdjacentElement', function (where) {
    if (!/^(beforebegin|afterbegin|beforeend|afterend)$/i.test(host.str(where))) refuse('SyntaxError', 'insertAdjacentElement', 'Element', `The value provided ('${where}') is not one of 'beforeBegin', 'afterBegin', 'beforeEnd', or 'afterEnd'.`);
  });
  const lengthOf = (node) => node.data?.length ?? node.childNodes.length;
  for (const name of ['setStart', 'setEnd']) {
    before(g.Range, name, function (node, offset) {
      if (isNode(node) && offset > lengthOf(node)) refuse('IndexSizeError', name, 'Range', `There is no child at offset ${offset}.`);
    });
  }
  for (const name of ['deleteData', 'insertData', 'replaceData', 'substringData']) {
    before(g.CharacterData, name, function (offset) {
      if (offset > this.data.length) refuse('IndexSizeError', name, 'CharacterData', `The offset ${offset} is greater than the node's length (${this.data.length}).`);
    });
  }
  for (const name of ['pushState', 'replaceState']) before({ prototype: host.prototypeOf(g.history) }, name, (state) => void g.structuredClone(state));

  // Base64 with the errors of the DOM.
  for (const name of ['atob', 'btoa']) {
    const { [name]: code } = g;
    host.define(name, {
      [name](text) {
        try {
          return code(host.str(text));
        } catch {
          return refuse('InvalidCharacterError', name, 'Window', name === 'atob' ? 'The string to be decoded is not correctly encoded.' : 'The string to be encoded contains characters outside of the Latin1 range.');
        }
      },
    }[name]);
  }

  // data-* attributes: a dash before a small letter is the letter's capital.
  const attributeOf = (key) => `data-${key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
  const keyOf = (name) => name.slice(5).replace(/-([a-z])/g, (_, c) => c.toUpperCase());
  class DOMStringMap {}
  host.tag(DOMStringMap, 'DOMStringMap');
  host.define('DOMStringMap', DOMStringMap);
  const datasets = new WeakMap();
  const datasetOf = (el) => new Proxy(new DOMStringMap(), {
    get: (target, key) => (typeof key === 'string' ? el.getAttribute(attributeOf(key)) ?? target[key] : target[key]),
    set(_, key, value) {
      if (/-[a-z]/.test(key)) refuse('SyntaxError', 'set', 'DOMStringMap', `'${key}' is not a valid property name.`);
      el.setAttribute(attributeOf(key), host.str(value));
      return true;
    },
    has: (target, key) => (typeof key === 'string' && el.hasAttribute(attributeOf(key))) || key in target,
    deleteProperty(_, key) {
      el.removeAttribute(attributeOf(key));
      return true;
    },
    ownKeys: () => el.getAttributeNames().filter((name) => /^data-[^A-Z]*$/.test(name)).map(keyOf),
    getOwnPropertyDescriptor(_, key) {
      const value = typeof key === 'string' ? el.getAttribute(attributeOf(key)) : null;
      return value === null ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
    defineProperty(_, key, { value }) {
      el.setAttribute(attributeOf(key), host.str(value));
      return true;
    },
  });
  for (const cls of [g.HTMLElement, g.SVGElement]) {
    define(owner('dataset', cls.prototype), 'dataset', function () {
      if (!datasets.has(this)) datasets.set(this, datasetOf(this));
      return datasets.get(this);
    });
  }

  // A node iterator goes on where it was, even if that place is gone.
  const last = (node) => (node.lastChild ? last(node.lastChild) : node);
  const preceding = (node) => (node.previousSibling ? last(node.previousSibling) : node.parentNode);
  const following = (node, root) => {
    if (node.firstChild) return node.firstChild;
    for (let at = node; at && at !== root; at = at.parentNode) if (at.nextSibling) return at.nextSibling;
    return null;
  };
  class NodeIterator {
    #root;
    #show;
    #filter;
    #at;
    #ahead = true; // the next node is #at itself
    #places = []; // what comes before #at and before each node around it, for when they are taken out
    constructor(root, show, filter) {
      [this.#root, this.#show, this.#filter, this.#at] = [root, show, filter, root];
    }

    get root() { return this.#root; }
    get whatToShow() { return this.#show; }
    get filter() { return this.#filter; }
    get pointerBeforeReferenceNode() { return this.#ahead; }
    get referenceNode() {
      if (!holds(this.#root, this.#at)) {
        this.#at = this.#places.find((x) => holds(this.#root, x)) ?? this.#root;
        this.#ahead = false;
      }
      return this.#at;
    }

    #accepts(node) {
      if (!((1 << (node.nodeType - 1)) & this.#show)) return false;
      const f = this.#filter;
      return !f || (typeof f === 'function' ? f(node) : f.acceptNode(node)) === 1;
    }

    #stand(node, ahead) {
      [this.#at, this.#ahead, this.#places] = [node, ahead, []];
      for (let at = node; at && at !== this.#root; at = at.parentNode) this.#places.push(preceding(at));
      return node;
    }

    nextNode() {
      for (let node = this.referenceNode, ahead = this.#ahead; ; ahead = false) {
        node = ahead ? node : following(node, this.#root);
        if (!node) return null;
        if (this.#accepts(node)) return this.#stand(node, false);
      }
    }

    previousNode() {
      for (let node = this.referenceNode, ahead = this.#ahead; ; ahead = true) {
        if (ahead) node = node === this.#root ? null : preceding(node);
        if (!node) return null;
        if (this.#accepts(node)) return this.#stand(node, true);
      }
    }

    detach() {}
  }
  host.tag(NodeIterator, 'NodeIterator');
  host.define('NodeIterator', NodeIterator);
  Object.defineProperty(owner('createNodeIterator', g.Document.prototype), 'createNodeIterator', {
    value: function createNodeIterator(root, show = 0xffffffff, filter = null) {
      if (!isNode(root)) throw new TypeError("Failed to execute 'createNodeIterator' on 'Document': parameter 1 is not of type 'Node'.");
      return new NodeIterator(root, show >>> 0, filter);
    },
    writable: true, configurable: true, enumerable: true,
  });

  // The slot that shows a node, where its tree is open.
  for (const cls of [g.Element, g.Text]) {
    define(cls.prototype, 'assignedSlot', function () {
      const root = this.parentElement?.shadowRoot;
      if (!root) return null;
      const name = this.nodeType === 1 ? this.getAttribute('slot') ?? '' : '';
      return [...root.querySelectorAll('slot')].find((s) => s.name === name) ?? null;
    });
  }
  define(g.ShadowRoot.prototype, 'nodeName', () => '#document-fragment');
})
