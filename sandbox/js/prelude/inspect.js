// Values as text, in the manner of Node's util.inspect: what console prints
// and what a program's result looks like.
(function (host) {
  'use strict';
  const maxDepth = 4;
  const maxItems = 100;
  const maxString = 10000;
  const lineWidth = 76;

  const quote = (s) => {
    const cut = s.length > maxString;
    if (cut) s = s.slice(0, maxString);
    const q = !s.includes("'") ? "'" : !s.includes('"') ? '"' : !s.includes('`') ? '`' : "'";
    let out = q;
    for (const ch of s) {
      if (ch === q || ch === '\\') out += '\\' + ch;
      else if (ch === '\n') out += '\\n';
      else if (ch === '\r') out += '\\r';
      else if (ch === '\t') out += '\\t';
      else if (ch < ' ') out += '\\x' + ch.charCodeAt(0).toString(16).padStart(2, '0');
      else out += ch;
    }
    return out + q + (cut ? '... more' : '');
  };

  const identifier = /^[A-Za-z_$][\w$]*$/;
  const keyText = (key) =>
    typeof key === 'symbol' ? `[${String(key)}]` : identifier.test(key) ? key : quote(key);

  const primitive = (v) => {
    if (typeof v === 'bigint') return `${v}n`;
    if (Object.is(v, -0)) return '-0';
    return String(v);
  };

  // The constructor's name, looked for without calling getters.
  const className = (v) => {
    for (let p = v; p !== null; p = host.prototypeOf(p)) {
      const d = host.descriptor(p, 'constructor');
      if (d && typeof d.value === 'function' && typeof d.value.name === 'string' && d.value.name) return d.value.name;
    }
    return '';
  };

  const functionText = (f) => {
    const source = Function.prototype.toString.call(f);
    if (/^class\b/.test(source)) return `[class ${f.name || '(anonymous)'}]`;
    const kind = className(f) || 'Function';
    return `[${kind}${f.name ? `: ${String(f.name)}` : ' (anonymous)'}]`;
  };

  const errorText = (e) => {
    const head = `${e.name ?? 'Error'}${e.message ? `: ${e.message}` : ''}`;
    const stack = typeof e.stack === 'string' ? host.cleanStack(e.stack) : '';
    return stack ? `${head}\n${stack}` : head;
  };

  // Removes the frames of the prelude itself.
  host.cleanStack = (stack) =>
    stack.split('\n').filter((line) => line.trim() && !line.includes('(pooled:') && !line.includes('at pooled:') && !line.includes('at apply (native)')).join('\n');

  const layout = (open, parts, close, indent) => {
    if (parts.length === 0) return open.trimEnd() + close.trimStart();
    const flat = `${open}${parts.join(', ')}${close}`;
    if (flat.length + indent <= lineWidth && !flat.includes('\n')) return flat;
    const pad = ' '.repeat(indent + 2);
    const short = parts.length > 6 && parts.every((p) => p.length <= 6);
    let body;
    if (short) {
      const lines = [];
      for (let i = 0; i < parts.length; i += 12) lines.push(parts.slice(i, i + 12).join(', '));
      body = lines.join(`,\n${pad}`);
    } else body = parts.join(`,\n${pad}`);
    return `${open.trimEnd()}\n${pad}${body}\n${' '.repeat(indent)}${close.trimStart()}`;
  };

  const properties = (v, depth, seen, indent, skip) => {
    const parts = [];
    const names = host.ownKeys(v);
    let hidden = 0;
    for (const key of names) {
      if (skip && skip(key)) continue;
      const d = host.descriptor(v, key);
      if (!d || !d.enumerable) continue;
      if (parts.length >= maxItems) {
        hidden++;
        continue;
      }
      const text = d.get ? (d.set ? '[Getter/Setter]' : '[Getter]') : d.set ? '[Setter]' : inspect(d.value, depth + 1, seen, indent + 2);
      parts.push(`${keyText(key)}: ${text}`);
    }
    if (hidden > 0) parts.push(`... ${hidden} more`);
    return parts;
  };

  const isIndex = (key) => typeof key === 'string' && /^\d+$/.test(key);

  const listItems = (v, length, depth, seen, indent) => {
    const parts = [];
    let holes = 0;
    const flush = () => {
      if (holes) parts.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`);
      holes = 0;
    };
    for (let i = 0; i < length && parts.length < maxItems; i++) {
      const d = host.descriptor(v, String(i));
      if (!d) {
        // A sparse array may have billions of holes: jump to the next real index.
        const next = host.ownKeys(v).find((k) => isIndex(k) && +k > i);
        const to = next === undefined ? length : +next;
        holes += to - i;
        i = to - 1;
        continue;
      }
      flush();
      parts.push('value' in d ? inspect(d.value, depth + 1, seen, indent + 2) : '[Getter]');
    }
    flush();
    if (length > maxItems && parts.length >= maxItems) parts.push(`... ${length - maxItems} more item${length - maxItems > 1 ? 's' : ''}`);
    return parts;
  };

  const objectText = (v, depth, seen, indent) => {
    const name = className(v);
    if (Array.isArray(v)) {
      if (depth > maxDepth) return '[Array]';
      const parts = listItems(v, v.length, depth, seen, indent);
      parts.push(...properties(v, depth, seen, indent, (k) => isIndex(k)));
      return layout(`${name && name !== 'Array' ? `${name}(${v.length}) ` : ''}[ `, parts, ' ]', indent);
    }
    if (v instanceof Error) return errorText(v);
    if (v instanceof Date) return isNaN(v.getTime()) ? 'Invalid Date' : v.toISOString();
    if (v instanceof RegExp) return RegExp.prototype.toString.call(v);
    if (v instanceof Promise) return 'Promise { ... }';
    if (v instanceof WeakMap || v instanceof WeakSet || v instanceof WeakRef) return `${name} { <items unknown> }`;
    if (v instanceof Boolean || v instanceof Number || v instanceof String || v instanceof Symbol || v instanceof BigInt) {
      return `[${name}: ${inspect(v.valueOf(), depth + 1, seen, indent)}]`;
    }
    if (host.nodeText) {
      const text = host.nodeText(v);
      if (text) return text;
    }
    if (depth > maxDepth) return `[${name || 'Object: null prototype'}]`;
    if (v instanceof Map) {
      const parts = [];
      for (const [k, x] of Map.prototype.entries.call(v)) {
        if (parts.length >= maxItems) {
          parts.push(`... ${v.size - maxItems} more`);
          break;
        }
        parts.push(`${inspect(k, depth + 1, seen, indent + 2)} => ${inspect(x, depth + 1, seen, indent + 2)}`);
      }
      return layout(`${name}(${v.size}) { `, parts, ' }', indent);
    }
    if (v instanceof Set) {
      const parts = [];
      for (const x of Set.prototype.values.call(v)) {
        if (parts.length >= maxItems) {
          parts.push(`... ${v.size - maxItems} more`);
          break;
        }
        parts.push(inspect(x, depth + 1, seen, indent + 2));
      }
      return layout(`${name}(${v.size}) { `, parts, ' }', indent);
    }
    if (ArrayBuffer.isView(v) && !(v instanceof DataView)) {
      return layout(`${name}(${v.length}) [ `, listItems(v, v.length, depth, seen, indent), ' ]', indent);
    }
    if (v instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${v.byteLength} }`;
    const parts = properties(v, depth, seen, indent);
    const tag = v[Symbol.toStringTag];
    let open = name === 'Object' ? '' : name ? `${name} ` : '[Object: null prototype] ';
    if (typeof tag === 'string' && tag && tag !== name) open += `[${tag}] `;
    return layout(`${open}{ `, parts, ' }', indent);
  };

  const inspect = (v, depth = 0, seen = new Set(), indent = 0) => {
    if (typeof v === 'string') return quote(v);
    if (typeof v === 'function') return functionText(v);
    if (v === null || typeof v !== 'object') return primitive(v);
    if (seen.has(v)) return '[Circular *1]';
    seen.add(v);
    try {
      return objectText(v, depth, seen, indent);
    } finally {
      seen.delete(v);
    }
  };

  // Never throws: a hostile proxy or getter yields a placeholder.
  host.inspect = (v) => {
    try {
      return inspect(v);
    } catch {
      return '[object that cannot be shown]';
    }
  };
  host.display = (v) => (typeof v === 'string' ? v : host.inspect(v));

  // console's format string: %s %d %i %f %o %O %j %c %%.
  host.format = (args) => {
    let rest = args;
    let out = '';
    if (typeof args[0] === 'string' && args.length > 1 && args[0].includes('%')) {
      let i = 1;
      out = args[0].replace(/%([sdifoOjc%])/g, (whole, code) => {
        if (code === '%') return '%';
        if (i >= args.length) return whole;
        const v = args[i++];
        try {
          switch (code) {
            case 's': return typeof v === 'object' && v !== null ? host.inspect(v) : typeof v === 'bigint' ? `${v}n` : String(v);
            case 'd': return typeof v === 'bigint' ? `${v}n` : String(typeof v === 'object' ? NaN : Number(v));
            case 'i': return typeof v === 'bigint' ? `${v}n` : String(typeof v === 'object' ? NaN : parseInt(v));
            case 'f': return String(typeof v === 'symbol' ? NaN : parseFloat(v));
            case 'j': return host.stringify(v) ?? 'undefined';
            case 'c': return '';
            default: return host.inspect(v);
          }
        } catch {
          return host.inspect(v);
        }
      });
      rest = args.slice(i);
      if (rest.length === 0) return out;
      out += ' ';
    }
    return out + rest.map(host.display).join(' ');
  };
})
