// Where happy-dom differs from what browsers do and pages notice.
(function (host) {
  'use strict';
  const { hooks } = host.dom;
  const g = globalThis;
  const { owner } = host;
  const getter = (proto, name, get) => Object.defineProperty(proto, name, { ...host.descriptor(proto, name), get, configurable: true });

  // An element as text is its class, not its markup.
  const tagged = Object.prototype.toString;
  Object.defineProperty(owner('toString', g.Element.prototype), 'toString', {
    value: function toString() {
      return /^(a|area)$/.test(this.localName) ? this.href : host.apply(tagged, this, []);
    },
    writable: true,
    configurable: true,
  });

  getter(owner('rowIndex', g.HTMLTableRowElement.prototype), 'rowIndex', function rowIndex() {
    return [...(this.closest('table')?.rows ?? [])].indexOf(this);
  });
  getter(owner('insertRow', g.HTMLTableSectionElement.prototype), 'rows', function rows() {
    return this.querySelectorAll(':scope > tr');
  });

  // Text may be any value: 0 is "0", only null is nothing.
  const node = owner('textContent', g.Element.prototype);
  const text = host.descriptor(node, 'textContent');
  Object.defineProperty(node, 'textContent', {
    ...text,
    set(value) {
      host.apply(text.set, this, [value === null || value === undefined ? '' : host.str(value)]);
    },
  });

  // #f00 reads back as rgb(255, 0, 0).
  hooks.hexColor = (color) => {
    const hex = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.exec(color)?.[1];
    if (!hex) return color;
    const parts = hex.length < 6 ? [...hex].map((c) => c + c) : hex.match(/../g);
    const [r, gr, b, a] = parts.map((p) => parseInt(p, 16));
    return a === undefined || a === 255 ? `rgb(${r}, ${gr}, ${b})` : `rgba(${r}, ${gr}, ${b}, ${+(a / 255).toFixed(3)})`;
  };

  // The numbers that some of the names of a DOMException had before names.
  // Source: Web IDL, 3.14.1.
  const codes = `INDEX_SIZE DOMSTRING_SIZE HIERARCHY_REQUEST WRONG_DOCUMENT INVALID_CHARACTER NO_DATA_ALLOWED NO_MODIFICATION_ALLOWED
    NOT_FOUND NOT_SUPPORTED INUSE_ATTRIBUTE INVALID_STATE SYNTAX INVALID_MODIFICATION NAMESPACE INVALID_ACCESS VALIDATION TYPE_MISMATCH
    SECURITY NETWORK ABORT URL_MISMATCH QUOTA_EXCEEDED TIMEOUT INVALID_NODE_TYPE DATA_CLONE`.split(/\s+/);
  const numbers = new Map(codes.map((name, i) => [`${name.replaceAll('_', '').toLowerCase()}error`, i + 1]));
  for (const name of ['domstringsize', 'nodataallowed', 'validation']) numbers.delete(`${name}error`); // numbers without a name
  getter(g.DOMException.prototype, 'code', function code() {
    return numbers.get(host.str(this.name).toLowerCase()) ?? 0;
  });
  codes.forEach((name, i) => {
    for (const at of [g.DOMException, g.DOMException.prototype]) Object.defineProperty(at, `${name}_ERR`, { value: i + 1, enumerable: true });
  });

  // Names that attribute handlers find in the window, although elements have them too.
  const unscopables = (...names) => ({
    value: Object.assign(Object.create(null), Object.fromEntries(names.map((n) => [n, true]))), configurable: true,
  });
  Object.defineProperty(g.Element.prototype, Symbol.unscopables,
    unscopables('append', 'prepend', 'replaceChildren', 'before', 'after', 'remove', 'replaceWith', 'slot'));
  Object.defineProperty(g.Document.prototype, Symbol.unscopables, unscopables('append', 'prepend', 'replaceChildren'));
})
