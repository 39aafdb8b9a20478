// Nodes as markup, documents that scripts make, and the records of what many changes at once did.
// Source: HTML standard, 13.3; DOM, 4.2.3 and 4.5.1.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const g = globalThis;
  const html = 'http://www.w3.org/1999/xhtml';

  const empty = new Set('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '));
  const raw = /^(style|script|xmp|iframe|noembed|noframes|plaintext|noscript)$/;
  const escaped = { '&': '&amp;', '\u00a0': '&nbsp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  const text = (t) => (/[&\u00a0<>]/.test(t) ? t.replace(/[&\u00a0<>]/g, (c) => escaped[c]) : t);
  const value = (t) => (/[&\u00a0<>"]/.test(t) ? t.replace(/[&\u00a0<>"]/g, (c) => escaped[c]) : t);
  const childrenOf = (node) => (node[P.localName] === 'template' && node[P.namespaceURI] === html ? node.content[P.nodeArray] : node[P.nodeArray]);
  // The markup of what is in a node. A stack instead of recursion: trees may be deeper than any call stack.
  const inner = (node, out = []) => {
    const stack = [[childrenOf(node), 0, '']];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top[1] === top[0].length) {
        out.push(top[2]);
        stack.pop();
        continue;
      }
      const child = top[0][top[1]++];
      switch (child[P.nodeType]) {
        case 1: {
          out.push(start(child));
          const name = child[P.tagName] && child[P.namespaceURI] === html ? child[P.localName] : child.nodeName;
          if (child[P.namespaceURI] === html && empty.has(name)) break;
          stack.push([childrenOf(child), 0, `</${name}>`]);
          break;
        }
        case 3: {
          const parent = child[P.parentNode];
          out.push(parent && parent[P.nodeType] === 1 && parent[P.namespaceURI] === html && raw.test(parent[P.localName]) ? child.data : text(child.data));
          break;
        }
        case 8: out.push(`<!--${child.data}-->`); break;
        case 7: out.push(`<?${child.target} ${child.data}>`); break;
        case 10: out.push(`<!DOCTYPE ${child.name}>`); break;
        default:
      }
    }
    return out;
  };
  const start = (el) => {
    let out = `<${el[P.namespaceURI] === html ? el[P.localName] : el.nodeName}`;
    const is = el[P.isValue];
    if (is && el.getAttribute('is') === null) out += ` is="${value(is)}"`;
    for (const a of el[P.attributes][P.items].values()) out += ` ${a[P.name]}="${value(a[P.value])}"`;
    return `${out}>`;
  };
  const outer = (el) => {
    const name = el[P.namespaceURI] === html ? el[P.localName] : el.nodeName;
    if (el[P.namespaceURI] === html && empty.has(name)) return start(el);
    return `${start(el)}${inner(el).join('')}</${name}>`;
  };
  const inHTML = (node) => (node[P.ownerDocument] ?? node)[P.contentType] === 'text/html';
  const getter = (cls, name, make) => {
    const on = host.owner(name, cls.prototype);
    const { get, set } = host.descriptor(on, name);
    Object.defineProperty(on, name, {
      get() {
        const node = this[P.proxy] ?? this;
        return inHTML(node) ? make(node) : host.apply(get, this, []);
      },
      set,
      configurable: true,
      enumerable: true,
    });
  };
  getter(g.Element, 'innerHTML', (el) => inner(el).join(''));
  getter(g.HTMLTemplateElement, 'innerHTML', (el) => inner(el).join(''));
  getter(g.ShadowRoot, 'innerHTML', (root) => inner(root).join(''));
  getter(g.Element, 'outerHTML', outer);
  for (const cls of [g.Element, g.ShadowRoot]) {
    Object.defineProperty(cls.prototype, 'getHTML', {
      value() {
        return inner(this).join('');
      },
      writable: true,
      configurable: true,
    });
  }

  // Many nodes that go in or out at once are one record.
  const nodes = host.owner(P.reportMutation, g.Node.prototype);
  const { [P.reportMutation]: report } = nodes;
  let quiet = null; // a node whose records are gathered
  nodes[P.reportMutation] = function (record) {
    const me = this[P.proxy] ?? this;
    if (quiet === me && record.type === 'childList') return this[P.clearCache]();
    return host.apply(report, this, [record]);
  };
  const gathered = (parent, added, removed, previousSibling, nextSibling, change) => {
    const outer = quiet;
    quiet = parent;
    let answer;
    try {
      answer = change();
    } finally {
      quiet = outer;
    }
    if (outer !== parent && (added.length > 0 || removed.length > 0)) {
      parent[P.reportMutation](new g.MutationRecord({ type: 'childList', target: parent, addedNodes: added, removedNodes: removed, previousSibling, nextSibling }));
    }
    return answer;
  };
  page.replaceAll = (parent, node) => {
    const all = parent[P.proxy] ?? parent;
    const added = node ? (node[P.nodeType] === 11 ? [...node[P.nodeArray]] : [node]) : [];
    gathered(all, added, [...all[P.nodeArray]], null, null, () => {
      while (all[P.nodeArray].length > 0) all.removeChild(all[P.nodeArray][all[P.nodeArray].length - 1]);
      if (node) all.appendChild(node);
    });
  };
  const insert = (name, reference) => {
    const { [name]: before } = nodes;
    Object.defineProperty(nodes, name, {
      value: {
        [name](node, ...more) {
          if (node?.[P.nodeType] !== 11 || node[P.nodeArray].length < 2) return host.apply(before, this, [node, ...more]);
          const me = this[P.proxy] ?? this;
          const next = reference ? (more[0] ?? null) : null;
          const previous = next ? next.previousSibling : (me[P.nodeArray].at(-1) ?? null);
          return gathered(me, [...node[P.nodeArray]], [], previous, next, () => host.apply(before, this, [node, ...more]));
        },
      }[name],
      writable: true,
      configurable: true,
      enumerable: true,
    });
  };
  insert('appendChild', false);
  insert('insertBefore', true);

  const asNode = (doc, things) => {
    const made = things.map((x) => (x?.[P.nodeType] ? x : doc.createTextNode(host.str(x))));
    if (made.length === 1) return made[0];
    const out = doc.createDocumentFragment();
    for (const node of made) out.appendChild(node);
    return out;
  };
  for (const cls of [g.Element, g.Document, g.DocumentFragment]) {
    Object.defineProperty(host.owner('replaceChildren', cls.prototype), 'replaceChildren', {
      value: function replaceChildren(...things) {
        const node = things.length > 0 ? asNode(this[P.ownerDocument] ?? this, things) : null;
        if (node?.contains?.(this)) throw new DOMException("Failed to execute 'replaceChildren': The new child element contains the parent.", 'HierarchyRequestError');
        page.replaceAll(this, node);
      },
      writable: true,
      configurable: true,
      enumerable: true,
    });
  }

  // Documents that scripts make.
  const implementation = host.prototypeOf(page.document.implementation);
  const define = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: true });
  const { createHTMLDocument, createDocument } = implementation;
  const bare = (doc) => {
    while (doc.firstChild) doc.removeChild(doc.firstChild);
    return doc;
  };
  define(implementation, 'createHTMLDocument', function (title) {
    const doc = bare(host.apply(createHTMLDocument, this, []));
    const [root, head, body] = ['html', 'head', 'body'].map((name) => doc.createElement(name));
    doc.append(this.createDocumentType('html', '', ''), root);
    root.append(head, body);
    if (title !== undefined) {
      const el = doc.createElement('title');
      el.textContent = host.str(title);
      head.append(el);
    }
    doc[P.readyState] = 'complete';
    return doc;
  });
  define(implementation, 'createDocument', function (space, name, doctype = null) {
    if (arguments.length < 2) throw new TypeError(`Failed to execute 'createDocument' on 'DOMImplementation': 2 arguments required, but only ${arguments.length} present.`);
    const doc = bare(host.apply(createDocument, this, [space, 'xml', null]));
    if (doctype) doc.appendChild(doctype);
    if (name !== null && host.str(name) !== '') doc.appendChild(doc.createElementNS(space, host.str(name)));
    return doc;
  });
  define(implementation, 'hasFeature', () => true);
})
