// Markup that scripts write (innerHTML and its kin, document.write) goes through the
// host's parser, which knows what may stand in a table and how browsers mend the rest.
(function (host) {
  'use strict';
  const { owner, page } = host;
  const { PropertySymbol } = host.dom;
  const { document } = page;
  const g = globalThis;

  const contexts = { 'http://www.w3.org/2000/svg': 'svg ', 'http://www.w3.org/1998/Math/MathML': 'math ' };
  // The nodes of the text, as content of the element; null when they are too many for the host.
  const parse = (context, text) => {
    if (!/[<&\0\r]/.test(text)) return text === '' ? [] : [text];
    const answer = host.call('parse', (contexts[context.namespaceURI] ?? '') + (context.localName ?? 'div'), text);
    return answer === '' ? null : host.parse(answer);
  };
  const fragment = (context, text) => {
    const nodes = parse(context, text);
    if (!nodes) return null;
    const out = document.createDocumentFragment();
    page.build(nodes, out);
    return out;
  };

  const setter = (cls, content) => {
    const proto = owner('innerHTML', cls.prototype);
    const { get, set } = host.descriptor(proto, 'innerHTML');
    Object.defineProperty(proto, 'innerHTML', {
      get,
      set(html) {
        const text = html === null ? '' : host.str(html);
        const made = this.ownerDocument === document ? fragment(this, text) : null;
        if (!made) return host.apply(set, this, [text]);
        page.replaceAll(content(this), made);
      },
      configurable: true,
      enumerable: true,
    });
  };
  setter(g.Element, (el) => el);
  setter(g.HTMLTemplateElement, (el) => el.content);
  setter(g.ShadowRoot, (root) => root);

  // outerHTML: markup in the place of the element, in the context of its parent.
  const outer = owner('outerHTML', g.Element.prototype);
  const outerHTML = host.descriptor(outer, 'outerHTML');
  Object.defineProperty(outer, 'outerHTML', {
    get: outerHTML.get,
    set(html) {
      const parent = this.parentNode;
      if (!parent) return;
      if (parent.nodeType === 9) throw new DOMException('outerHTML: the element is the document\'s own', 'NoModificationAllowedError');
      const text = html === null ? '' : host.str(html);
      const made = fragment(parent.nodeType === 1 ? parent : document.body, text);
      if (made) this.replaceWith(made);
      else host.apply(outerHTML.set, this, [text]);
    },
    configurable: true,
    enumerable: true,
  });

  const rangeProto = owner('createContextualFragment', g.Range.prototype);
  const contextual = rangeProto.createContextualFragment;
  Object.defineProperty(rangeProto, 'createContextualFragment', {
    value: function createContextualFragment(html) {
      let context = this.startContainer;
      if (context.nodeType !== 1) context = context.parentElement;
      if (!context || context.localName === 'html') context = document.body;
      // Scripts of such a fragment run when they are put into the page.
      const nodes = parse(context, host.str(html));
      if (!nodes) return host.apply(contextual, this, [html]);
      const out = document.createDocumentFragment();
      page.build(nodes, out, true);
      return out;
    },
    writable: true,
    configurable: true,
  });

  const quirky = (page.quirkyDocuments = new WeakSet());
  const parserProto = owner('parseFromString', g.DOMParser.prototype);
  const fromString = parserProto.parseFromString;
  const parseDocument = (html) => {
    const answer = host.call('parseDocument', html);
    if (answer === '') return null;
    const out = document.implementation.createHTMLDocument('');
    while (out.firstChild) out.removeChild(out.firstChild);
    const nodes = host.parse(answer);
    page.build(nodes, out);
    if (!nodes.some((node) => node[0] === '!doctype')) quirky.add(out);
    return out;
  };
  Object.defineProperty(parserProto, 'parseFromString', {
    value: function parseFromString(text, type) {
      if (!/^(text\/(html|xml)|application\/(xml|xhtml\+xml)|image\/svg\+xml)$/.test(type)) {
        throw new TypeError(`Failed to execute 'parseFromString' on 'DOMParser': The provided value '${host.str(type)}' is not a valid enum value of type SupportedType.`);
      }
      const made = type === 'text/html' ? parseDocument(host.str(text)) : null;
      if (made) return made;
      // happy-dom's XML parser knows no CDATA sections.
      const plain = host.str(text).replace(/<!\[CDATA\[([^]*?)\]\]>/g, (_, t) => t.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'));
      const out = host.apply(fromString, this, [type === 'text/html' ? text : plain, type]);
      if (type !== 'text/html') out[PropertySymbol.contentType] = type;
      return out;
    },
    writable: true,
    configurable: true,
  });

  for (const [cls, content] of [[g.Element, (el) => (el.localName === 'template' ? el.content : el)], [g.ShadowRoot, (root) => root]]) {
    Object.defineProperty(cls.prototype, 'setHTMLUnsafe', {
      value: function setHTMLUnsafe(html) {
        content(this).innerHTML = html;
      },
      writable: true,
      configurable: true,
    });
  }
  g.Document.parseHTMLUnsafe = (html) => new g.DOMParser().parseFromString(html, 'text/html');

  const elementProto = owner('insertAdjacentHTML', g.Element.prototype);
  Object.defineProperty(elementProto, 'insertAdjacentHTML', {
    value: function insertAdjacentHTML(position, html) {
      const where = host.str(position).toLowerCase();
      if (!/^(beforebegin|afterbegin|beforeend|afterend)$/.test(where)) {
        throw new DOMException(`insertAdjacentHTML: ${host.stringify(position)} is no position`, 'SyntaxError');
      }
      const outside = where === 'beforebegin' || where === 'afterend';
      const parent = outside ? this.parentElement : this;
      if (!parent) throw new DOMException('insertAdjacentHTML: the element has no parent', 'NoModificationAllowedError');
      let made = fragment(parent, host.str(html));
      if (!made) {
        const box = document.createElement('template');
        box.innerHTML = html;
        made = box.content;
      }
      if (where === 'beforebegin') this.before(made);
      else if (where === 'afterbegin') this.prepend(made);
      else if (where === 'beforeend') this.append(made);
      else this.after(made);
    },
    writable: true,
    configurable: true,
  });

  // document.write while the page loads puts nodes where the parser is: behind the
  // script that writes. What one script writes in pieces is one text.
  const afterLoad = document.write.bind(document);
  let written = { script: null, text: '', nodes: [] };
  const write = (...parts) => {
    const script = document.currentScript;
    if (document.readyState !== 'loading' || !script?.parentNode) return afterLoad(parts.join(''));
    if (written.script !== script) written = { script, text: '', nodes: [] };
    let text = parts.map(host.str).join('');
    const whole = written.text + text;
    if (/<script/i.test(whole)) written = { script, text: '', nodes: [] };
    else {
      written.text = text = whole;
      for (const node of written.nodes) node.remove();
    }
    const parent = script.parentNode;
    const before = parent.childNodes.length;
    page.build(parse(parent, text) ?? [], parent, true);
    written.nodes = [...parent.childNodes].slice(before);
  };
  Object.defineProperty(document, 'write', { value: write, writable: true, configurable: true });
  Object.defineProperty(document, 'writeln', { value: (...parts) => write(...parts, '\n'), writable: true, configurable: true });
})
