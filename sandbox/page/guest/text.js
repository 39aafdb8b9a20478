// innerText and outerText: the text as it is rendered, and text that becomes nodes.
// Source: HTML standard, 3.2.7.
(function (host) {
  'use strict';
  const g = globalThis;
  const { owner, page } = host;

  const unseen = new Set(['script', 'style', 'template', 'noscript', 'title', 'head', 'textarea', 'input', 'audio', 'video', 'canvas', 'iframe', 'img', 'object', 'progress', 'meter', 'defs', 'desc', 'metadata']);
  const blocks = /^(block|flex|grid|table|list-item|flow-root|table-caption)$/;

  // Text that keeps its line breaks, but not its spaces, is broken up here.
  const pieces = (text, { keep, breaks, change }) => {
    if (!breaks) return [{ text, keep, change }];
    return text.split('\n').flatMap((line, i) => [...(i > 0 ? ['\n'] : []), { text: line.replace(/^[ \t]+|[ \t]+$/g, ''), keep: false, change }]);
  };
  // What is gathered: texts, and numbers of line breaks that are needed at least.
  const gather = (node, styles, out) => {
    for (const child of node.childNodes) {
      if (child.nodeType === 3) {
        if (styles.visible) out.push(...pieces(child.data, styles));
      } else if (child.nodeType === 1) element(child, out);
    }
  };
  const stylesOf = (el) => {
    const value = (name) => page.computedValue(el, name);
    return { display: value('display'), visible: value('visibility') === 'visible', keep: /^(preserve$|preserve-spaces|break)/.test(value('white-space-collapse')), breaks: value('white-space-collapse') === 'preserve-breaks', change: value('text-transform') };
  };
  const element = (el, out) => {
    const name = el.localName;
    if (unseen.has(name)) return;
    const styles = stylesOf(el);
    if (styles.display === 'none') return;
    if (name === 'br') return void out.push('\n');
    const lone = name === 'text' && el.namespaceURI !== 'http://www.w3.org/1999/xhtml';
    const break_ = name === 'p' ? 2 : lone || blocks.test(styles.display) || /^(option|optgroup)$/.test(name) ? 1 : 0;
    if (break_) out.push(break_);
    if (name === 'details' && !el.open) {
      const summary = [...el.children].find((x) => x.localName === 'summary');
      if (summary) element(summary, out);
    } else gather(el, styles, out);
    if (/^table-cell$/.test(styles.display) && el.nextElementSibling) out.push('\t');
    if (/^table-row$/.test(styles.display) && rowAfter(el)) out.push('\n');
    if (break_) out.push(break_);
  };
  const rowAfter = (row) => row.nextElementSibling || row.parentElement?.nextElementSibling?.firstElementChild;

  const changed = { uppercase: (t) => t.toUpperCase(), lowercase: (t) => t.toLowerCase(), capitalize: (t) => t.replace(/(^|[\s-])\p{L}/gu, (c) => c.toUpperCase()) };
  const join = (items) => {
    let out = '';
    let breaks = 0;
    let space = false; // a space that waits for text behind it
    for (const item of items) {
      if (typeof item === 'number') {
        breaks = Math.max(breaks, item);
        space = false;
        continue;
      }
      if (typeof item === 'string') {
        if (breaks && out) out += '\n'.repeat(breaks);
        breaks = 0;
        space = false;
        out += item;
        continue;
      }
      let { text } = item;
      if (!item.keep) text = text.replace(/[ \t\n\r\f]+/g, ' ');
      text = Object.hasOwn(changed, item.change) ? changed[item.change](text) : text;
      if (!item.keep) {
        const fresh = breaks > 0 || out === '' || /[\n\t]$/.test(out);
        if (text.startsWith(' ')) {
          space = space || !fresh;
          text = text.slice(1);
        }
        if (text === '') continue;
        if (breaks && out) out += '\n'.repeat(breaks);
        if (space && !(breaks && out)) out += ' ';
        breaks = 0;
        space = text.endsWith(' ');
        out += space ? text.slice(0, -1) : text;
      } else if (text !== '') {
        if (breaks && out) out += '\n'.repeat(breaks);
        else if (space) out += ' ';
        breaks = 0;
        space = false;
        out += text;
      }
    }
    return out;
  };

  const read = (el) => {
    if (el.localName === 'textarea' && el.isConnected) return '';
    if (!el.isConnected || unseen.has(el.localName) || !page.isRendered(el)) return el.textContent;
    const out = [];
    if (el.localName === 'details') element(el, out);
    else gather(el, stylesOf(el), out);
    return join(out);
  };
  const nodes = (text, document) => {
    const out = document.createDocumentFragment();
    host.str(text === null ? '' : text).split(/\r\n|\n|\r/).forEach((line, i) => {
      if (i > 0) out.appendChild(document.createElement('br'));
      if (line !== '') out.appendChild(document.createTextNode(line));
    });
    return out;
  };

  const proto = owner('innerText', g.HTMLElement.prototype);
  Object.defineProperty(proto, 'innerText', {
    get() {
      return read(this);
    },
    set(text) {
      this.replaceChildren(nodes(text, this.ownerDocument));
    },
    configurable: true,
    enumerable: true,
  });
  Object.defineProperty(proto, 'outerText', {
    get() {
      return read(this);
    },
    set(text) {
      if (!this.parentNode) throw new DOMException('outerText: the element has no parent', 'NoModificationAllowedError');
      const made = nodes(text, this.ownerDocument);
      if (!made.firstChild) made.appendChild(this.ownerDocument.createTextNode(''));
      const [before, first, last, after] = [this.previousSibling, made.firstChild, made.lastChild, this.nextSibling];
      this.replaceWith(made);
      if (last.nodeType === 3 && after?.nodeType === 3) {
        last.data += after.data;
        after.remove();
      }
      if (first.nodeType === 3 && before?.nodeType === 3) {
        before.data += first.data;
        first.remove();
      }
    },
    configurable: true,
    enumerable: true,
  });
})
