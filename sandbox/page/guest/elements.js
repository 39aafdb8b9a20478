// Custom elements: elements that stand in the page before their class does are upgraded in
// the order of the page, each with its attributes before it is connected; an
// exception in a reaction is the page's, never its caller's.
(function (host) {
  'use strict';
  const { owner, page } = host;
  const { PropertySymbol } = host.dom;
  const { document, window: w } = page;
  const g = globalThis;
  const registry = w.customElements;
  const registryProto = host.prototypeOf(registry);
  const definitions = () => registry[PropertySymbol.registry];

  const attempt = (call) => {
    try {
      call();
    } catch (e) {
      page.uncaught(e);
    }
  };

  // The definition of an element: by its name, or by what a built-in is said to be.
  const definitionOf = (el) => {
    const all = definitions();
    if (all.size === 0) return undefined;
    const own = all.get(el.localName);
    if (own && !own.extends) return own;
    const is = el[PropertySymbol.isValue] ?? el.getAttribute('is');
    const found = is ? all.get(is) : undefined;
    return found?.extends === el.localName ? found : undefined;
  };

  const adopted = new WeakMap(); // class → adoptedCallback, as it was when it was defined
  const reaction = (el, definition, name, args) => {
    const callback = name === 'adoptedCallback' ? adopted.get(definition.elementClass) : definition.lifecycleCallbacks[name];
    if (callback) attempt(() => host.apply(callback, el, args));
  };
  const stack = host.prototypeOf(w[PropertySymbol.customElementReactionStack]);
  stack.enqueueReaction = (el, name, args = []) => {
    const definition = definitionOf(el);
    if (!definition || !(el instanceof definition.elementClass) || el[PropertySymbol.ownerDocument] !== document) return;
    if (name === 'attributeChangedCallback' && !definition.observedAttributes.has(args[0])) return;
    reaction(el, definition, name, args);
  };

  const upgrade = (el) => {
    const definition = definitionOf(el);
    if (!definition || el instanceof definition.elementClass) return;
    const cls = definition.elementClass;
    const before = host.prototypeOf(el);
    Object.setPrototypeOf(el, cls.prototype);
    cls[PropertySymbol.customElementUpgradeTarget] = el;
    try {
      new cls();
    } catch (e) {
      Object.setPrototypeOf(el, before);
      return page.uncaught(e);
    } finally {
      cls[PropertySymbol.customElementUpgradeTarget] = null;
    }
    for (const { name, value } of [...el.attributes]) {
      if (definition.observedAttributes.has(name)) reaction(el, definition, 'attributeChangedCallback', [name, null, value, null]);
    }
    if (!el.isConnected) return;
    if (el[PropertySymbol.shadowRoot]) el[PropertySymbol.shadowRoot][PropertySymbol.isConnected] = true;
    reaction(el, definition, 'connectedCallback', []);
  };
  const html = g.HTMLElement.prototype;
  owner(PropertySymbol.onCustomElementConnected, html)[PropertySymbol.onCustomElementConnected] = function () {
    upgrade(this);
  };

  // The elements below a node, with those in shadow trees, in the order of the page.
  const below = (root, selector, out = []) => {
    for (const el of root.querySelectorAll('*')) {
      if (el.matches(selector)) out.push(el);
      const shadow = el[PropertySymbol.shadowRoot];
      if (shadow) below(shadow, selector, out);
    }
    return out;
  };

  const define = registryProto.define;
  registryProto.define = function (name, cls, options) {
    name = host.str(name);
    if (typeof cls !== 'function' || !cls.prototype) throw new TypeError("Failed to execute 'define' on 'CustomElementRegistry': the second argument is not a constructor");
    const waiting = registry[PropertySymbol.callbacks].get(name);
    if (waiting) {
      // Upgrades are done below; who waits for the definition is told by happy-dom.
      const told = waiting.filter((f) => f.resolves);
      registry[PropertySymbol.callbacks].set(name, told);
    }
    adopted.set(cls, cls.prototype.adoptedCallback);
    host.apply(define, this, [name, cls, options]);
    const selector = options?.extends ? `${options.extends}[is="${name}"]` : name;
    for (const el of below(document, selector)) {
      el[PropertySymbol.customElementDefineCallback] = null;
      upgrade(el);
    }
  };
  registryProto.upgrade = (root) => {
    if (root.nodeType === 1) upgrade(root);
    for (const el of below(root, '*')) upgrade(el);
  };
  registryProto.whenDefined = (name) => {
    const found = registry.get(name);
    if (found) return Promise.resolve(found);
    if (!/^[a-z][^A-Z\s]*-[^A-Z\s]*$/.test(name)) {
      return Promise.reject(new DOMException(`Failed to execute 'whenDefined' on 'CustomElementRegistry': ${host.stringify(name)} is not a valid custom element name`, 'SyntaxError'));
    }
    return new Promise((resolve) => {
      const tell = Object.assign(() => resolve(registry.get(name)), { resolves: true });
      const callbacks = registry[PropertySymbol.callbacks];
      callbacks.set(name, [...(callbacks.get(name) ?? []), tell]);
    });
  };

  // document.createElement(name, {is}), and elements whose attribute says it.
  const create = g.Document.prototype.createElement;
  Object.defineProperty(owner('createElement', g.Document.prototype), 'createElement', {
    value: function createElement(name, options) {
      const el = host.apply(create, this, [name]);
      const is = typeof options === 'object' ? options?.is : undefined;
      if (is !== undefined) {
        el[PropertySymbol.isValue] = host.str(is);
        upgrade(el);
      }
      return el;
    },
    writable: true,
    configurable: true,
  });

  const adopt = g.Document.prototype.adoptNode;
  Object.defineProperty(owner('adoptNode', g.Document.prototype), 'adoptNode', {
    value: function adoptNode(node) {
      const from = node.ownerDocument;
      const answer = host.apply(adopt, this, [node]);
      const definition = from !== this && node.nodeType === 1 ? definitionOf(node) : undefined;
      if (definition && node instanceof definition.elementClass) reaction(node, definition, 'adoptedCallback', [from, this]);
      return answer;
    },
    writable: true,
    configurable: true,
  });
})
