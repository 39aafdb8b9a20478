// What a person would see of the page: title, text, and an outline of the DOM.
(function (host) {
  'use strict';
  const { page } = host;
  const { document } = page;
  const maxText = 20000;
  const maxNodes = 3000;

  const skipped = new Set(['script', 'style', 'template', 'noscript', 'head', 'link', 'meta', 'title', 'datalist']);
  const block = /^(address|article|aside|blockquote|body|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|html|li|main|nav|ol|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul)$/;

  // Elements that are asked whether they are hidden: a page of a hundred thousand would take too long.
  const maxAsked = 5000;
  let asked = 0;
  const hidden = (el) => {
    if (asked++ > maxAsked) return el.hidden;
    return page.computedValue(el, 'display') === 'none' || page.computedValue(el, 'visibility') !== 'visible';
  };

  const fieldText = (el) => {
    if (el.localName === 'select') return el.options[el.selectedIndex]?.text ?? '';
    if (/^(checkbox|radio|hidden|password)$/.test(el.type)) return '';
    return el.value || el.placeholder || '';
  };

  page.text = () => {
    asked = 0;
    let out = '';
    const line = () => {
      out = out.replace(/[ \t]+$/, '');
      if (out && !out.endsWith('\n')) out += '\n';
    };
    const walk = (node) => {
      for (const child of node.childNodes) {
        if (out.length > maxText) return;
        if (child.nodeType === 3) {
          const text = node.localName === 'pre' ? child.data : child.data.replace(/\s+/g, ' ');
          out += /\s$/.test(out) || out === '' ? text.replace(/^ /, '') : text;
        } else if (child.nodeType === 1 && !skipped.has(child.localName) && !hidden(child)) {
          const name = child.localName;
          if (name === 'br') {
            out += '\n';
            continue;
          }
          if (block.test(name)) line();
          if (name === 'input' || name === 'textarea' || name === 'select') out += fieldText(child);
          else if (name === 'img') out += child.alt;
          else walk(child.shadowRoot ?? child);
          if (block.test(name)) line();
          else if (name === 'td' || name === 'th') out += '\t';
          else if (/^(button|input|select|textarea|label|option)$/.test(name)) out += ' ';
        }
      }
    };
    if (document.body) walk(document.body);
    return out.replace(/\n{3,}/g, '\n\n').trim().slice(0, maxText);
  };

  const shown = ['id', 'class', 'type', 'name', 'href', 'src', 'role', 'placeholder', 'for', 'style', 'open', 'disabled', 'hidden'];
  const attributes = (el) => {
    let out = '';
    for (const name of shown) {
      if (el.hasAttribute(name)) {
        const value = el.getAttribute(name);
        if (value === '' && (name === 'class' || name === 'style')) continue;
        out += value === '' ? ` ${name}` : ` ${name}="${value.length > 120 ? value.slice(0, 120) + '…' : value}"`;
      }
    }
    for (const { name, value } of el.attributes) if (/^(data-|aria-)/.test(name)) out += ` ${name}="${value.slice(0, 60)}"`;
    if (/^(input|textarea|select)$/.test(el.localName)) {
      if (el.value !== '') out += ` value=${host.stringify(el.value.slice(0, 120))}`;
      if (el.checked) out += ' checked';
    }
    return out;
  };

  page.outline = () => {
    let nodes = 0;
    const lines = [];
    const walk = (node, depth) => {
      for (const child of node.childNodes) {
        if (nodes >= maxNodes) return;
        const pad = '  '.repeat(Math.min(depth, 40));
        if (child.nodeType === 3) {
          const text = child.data.replace(/\s+/g, ' ').trim();
          if (text) {
            nodes++;
            lines.push(pad + (text.length > 300 ? text.slice(0, 300) + '…' : text));
          }
        } else if (child.nodeType === 1 && !/^(script|style|template|head|title|meta|link)$/.test(child.localName)) {
          nodes++;
          let head = `<${child.localName}${attributes(child)}>`;
          const log = child.localName === 'canvas' && page.canvasLog(child);
          if (log) head += ` drew ${Object.entries(log.ops).map(([op, n]) => `${op}×${n}`).join(' ') || 'nothing'}`;
          const inner = child.shadowRoot ?? child;
          const only = inner.childNodes.length === 1 && inner.firstChild.nodeType === 3 ? inner.firstChild.data.replace(/\s+/g, ' ').trim() : '';
          if (only && only.length <= 80) lines.push(`${pad}${head} ${only}`);
          else {
            lines.push(pad + head);
            walk(inner, depth + 1);
          }
        }
      }
    };
    if (document.body) {
      lines.push(`<body${attributes(document.body)}>`);
      walk(document.body, 1);
    }
    if (nodes >= maxNodes) lines.push('… more nodes');
    return lines.join('\n');
  };

  // A node in the console.
  host.nodeText = (v) => {
    if (typeof v.nodeType !== 'number' || typeof v.nodeName !== 'string') return '';
    if (v.nodeType === 1) return v.outerHTML.length > 200 ? v.outerHTML.slice(0, 200) + '…' : v.outerHTML;
    if (v.nodeType === 3) return `#text ${host.stringify(v.data)}`;
    return v.nodeName;
  };

  const stored = (store) => {
    const out = {};
    for (let i = 0; i < Math.min(store.length, 200); i++) out[store.key(i)] = store.getItem(store.key(i));
    return out;
  };
  host.ops.view = () =>
    host.stringify({
      title: document.title, text: page.text(), dom: page.outline(), url: globalThis.location.href, canvases: page.canvases(),
      navigations: page.navigations, localStorage: stored(globalThis.localStorage), sessionStorage: stored(globalThis.sessionStorage),
    });
})
