// From what a declaration says to what it comes to on an element.
// Source: CSS Cascade 5, 4.4; CSSOM, 9; the modules that define each property.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const g = globalThis;
  const { splitCSS: split, numberText: shown } = page;
  const value = (record, name) => page.internalValue(record, name);

  const rootOf = (record) => {
    let r = record;
    while (r.parent) r = r.parent;
    return r;
  };
  const size = (record) => (record ? parseFloat(value(record, 'font-size')) : 16);
  // What a unit is in px, for a property of an element.
  const unitOf = (record, name) => (unit) => {
    const own = name === 'font-size' ? record.parent : record;
    const [w, h] = [g.innerWidth / 100, g.innerHeight / 100];
    switch (unit) {
      case 'em': return size(own);
      case 'rem': return name === 'font-size' && !record.parent ? 16 : size(rootOf(record));
      case 'ex': case 'ch': case 'rex': case 'rch': return size(own) / 2;
      case 'ic': case 'ric': case 'cap': case 'rcap': return size(own);
      case 'lh': return lineHeight(own);
      case 'rlh': return lineHeight(rootOf(record));
      case 'vw': case 'svw': case 'lvw': case 'dvw': case 'vi': case 'cqw': case 'cqi': return w;
      case 'vh': case 'svh': case 'lvh': case 'dvh': case 'vb': case 'cqh': case 'cqb': return h;
      case 'vmin': case 'svmin': case 'lvmin': case 'dvmin': case 'cqmin': return Math.min(w, h);
      case 'vmax': case 'svmax': case 'lvmax': case 'dvmax': case 'cqmax': return Math.max(w, h);
      default: return undefined;
    }
  };
  const lineHeight = (record) => {
    const text = record ? value(record, 'line-height') : 'normal';
    if (text === 'normal') return size(record) * 1.15;
    return text.endsWith('px') ? parseFloat(text) : +text * size(record);
  };

  const sizes = { 'xx-small': 9, 'x-small': 10, small: 13, medium: 16, large: 18, 'x-large': 24, 'xx-large': 32, 'xxx-large': 48 };
  const fontSize = (record, text) => {
    const parent = size(record.parent);
    if (Object.hasOwn(sizes, text)) return `${sizes[text]}px`;
    if (text === 'smaller') return `${shown(parent / 1.2)}px`;
    if (text === 'larger') return `${shown(parent * 1.2)}px`;
    return `${shown(withPercent(page.absoluteLengths(text, unitOf(record, 'font-size')), parent))}px`;
  };
  // A length, a percentage or their sum, in px.
  const withPercent = (text, whole) => {
    const plain = /^(-?[\d.e+-]+)(px|%)?$/i.exec(text);
    if (plain) return plain[2] === '%' ? (+plain[1] / 100) * whole : +plain[1];
    const found = page.evaluateMath(text.replace(/(-?[\d.]+(?:e[+-]?\d+)?)%/gi, (_, n) => `${(+n / 100) * whole}px`));
    return found ? found[1] : NaN;
  };
  const weight = (record, text) => {
    if (text === 'normal') return '400';
    if (text === 'bold') return '700';
    if (text !== 'bolder' && text !== 'lighter') return shown(parseFloat(text));
    const w = record.parent ? +value(record.parent, 'font-weight') : 400;
    if (text === 'bolder') return w < 350 ? '400' : w < 550 ? '700' : w < 900 ? '900' : shown(w);
    return w < 100 ? shown(w) : w < 550 ? '100' : w < 750 ? '400' : '700';
  };
  const stretches = { 'ultra-condensed': '50%', 'extra-condensed': '62.5%', condensed: '75%', 'semi-condensed': '87.5%', normal: '100%', 'semi-expanded': '112.5%', expanded: '125%', 'extra-expanded': '150%', 'ultra-expanded': '200%' };

  const colorIn = (record, text) => {
    const found = page.parseColor(text);
    if (found === 'currentcolor') return value(record, 'color');
    return found === null ? text : page.colorText(found);
  };
  // Colours by name, number or function inside a longer value.
  const colorsIn = (record, text) =>
    text.replace(/"(?:[^"\\]|\\[^])*"|url\([^)]*\)|#[\da-f]{3,8}\b|(?<![\w-])(?:rgba?|hsla?|hwb)\([^()]*\)|(?<![\w-])[a-z]+(?![\w(-])/gi, (t) => (t[0] === '"' || /^url\(/i.test(t) ? t : colorIn(record, t)));
  const urlsIn = (text) =>
    text.includes('url(') ? text.replace(/url\("((?:[^"\\]|\\[^])*)"\)/g, (all, inner) => {
      if (/^(data:|#)/.test(inner)) return all;
      try {
        return `url("${page.resolve(page.unescapeCSS(inner))}")`;
      } catch {
        return all;
      }
    }) : text;

  const width = (record, name, text) => {
    const style = value(record, name.replace(/width$/, 'style'));
    if (name !== '-webkit-text-stroke-width' && (style === 'none' || style === 'hidden') && !name.startsWith('outline')) return '0px';
    const fixed = { thin: '1px', medium: '3px', thick: '5px' }[text] ?? page.absoluteLengths(text, unitOf(record, name));
    const n = parseFloat(fixed);
    return `${shown(n > 0 && n < 1 ? 1 : Math.floor(n))}px`;
  };
  const shadows = (record, text) =>
    text === 'none' ? text : split(text, ',').map((piece) => {
      let color = 'currentcolor';
      const lengths = [];
      let inset = '';
      for (const t of split(piece, ' ')) {
        if (t === 'inset') inset = ' inset';
        else if (/^[-\d.]/.test(t) || /^(calc|min|max|clamp)\(/.test(t)) lengths.push(page.absoluteLengths(t, unitOf(record, 'box-shadow')));
        else color = t;
      }
      return [colorIn(record, color), ...lengths].join(' ') + inset;
    }).join(', ');
  const fullShadows = (text) => (text === 'none' ? text : split(text, ',').map((piece) => {
    const inset = / inset$/.test(piece) ? ' inset' : '';
    const parts = split(piece.replace(/ inset$/, ''), ' ');
    while (parts.length < 5) parts.push('0px');
    return parts.join(' ') + inset;
  }).join(', '));

  const blocks = { inline: 'block', 'inline-block': 'block', 'inline-flex': 'flex', 'inline-grid': 'grid', 'inline-table': 'table', ruby: 'block', 'table-row': 'block', 'table-cell': 'block', 'table-row-group': 'block', 'table-header-group': 'block', 'table-footer-group': 'block', 'table-column': 'block', 'table-column-group': 'block', 'table-caption': 'block', '-webkit-inline-box': '-webkit-box', 'flow-root': 'flow-root' };
  const display = (record, text) => {
    const own = { '-webkit-flex': 'flex', '-webkit-inline-flex': 'inline-flex' }[text] ?? text;
    if (own === 'none' || own === 'contents') return own;
    const out = /^(absolute|fixed)$/.test(value(record, 'position')) || value(record, 'float') !== 'none';
    const item = record.parent && /^(inline-)?(flex|grid)$/.test(parentDisplay(record));
    return (out || item || !record.parent) && Object.hasOwn(blocks, own) ? blocks[own] : own;
  };
  const parentDisplay = (record) => {
    let r = record.parent;
    while (r && value(r, 'display') === 'contents') r = r.parent;
    return r ? value(r, 'display') : 'block';
  };

  // Transforms become one matrix, unless they need the size of a box that nobody knows.
  const multiply = (m, n) => {
    const out = new Array(16).fill(0);
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) out[j * 4 + i] += m[k * 4 + i] * n[j * 4 + k];
    return out;
  };
  const identity = () => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const matrixOf = (fn, args, box) => {
    const m = identity();
    const numbers = args.map((x) => (x.endsWith('%') ? parseFloat(x) / 100 : parseFloat(x)));
    const length = (i) => (args[i] === undefined ? 0 : /%/.test(args[i]) ? withPercent(args[i], box(i)) : parseFloat(args[i]));
    const radians = (i) => ((numbers[i] ?? 0) * Math.PI) / 180;
    const about = (x, y, z, a) => {
      const l = Math.hypot(x, y, z) || 1;
      [x, y, z] = [x / l, y / l, z / l];
      const [s, c] = [Math.sin(a), Math.cos(a)];
      const t = 1 - c;
      return [t * x * x + c, t * x * y + s * z, t * x * z - s * y, 0, t * x * y - s * z, t * y * y + c, t * y * z + s * x, 0, t * x * z + s * y, t * y * z - s * x, t * z * z + c, 0, 0, 0, 0, 1];
    };
    switch (fn.toLowerCase()) {
      case 'translate': [m[12], m[13]] = [length(0), length(1)]; break;
      case 'translatex': m[12] = length(0); break;
      case 'translatey': m[13] = args[0].includes('%') ? withPercent(args[0], box(1)) : parseFloat(args[0]); break;
      case 'translatez': m[14] = numbers[0]; break;
      case 'translate3d': [m[12], m[13], m[14]] = [length(0), length(1), numbers[2]]; break;
      case 'scale': [m[0], m[5]] = [numbers[0], numbers[1] ?? numbers[0]]; break;
      case 'scalex': [m[0]] = numbers; break;
      case 'scaley': [m[5]] = numbers; break;
      case 'scalez': [m[10]] = numbers; break;
      case 'scale3d': [m[0], m[5], m[10]] = numbers; break;
      case 'rotate': case 'rotatez': return about(0, 0, 1, radians(0));
      case 'rotatex': return about(1, 0, 0, radians(0));
      case 'rotatey': return about(0, 1, 0, radians(0));
      case 'rotate3d': return about(numbers[0], numbers[1], numbers[2], radians(3));
      case 'skew': [m[4], m[1]] = [Math.tan(radians(0)), Math.tan(radians(1))]; break;
      case 'skewx': m[4] = Math.tan(radians(0)); break;
      case 'skewy': m[1] = Math.tan(radians(0)); break;
      case 'matrix': [m[0], m[1], m[4], m[5], m[12], m[13]] = numbers; break;
      case 'matrix3d': return numbers;
      case 'perspective': m[11] = numbers[0] > 0 ? -1 / numbers[0] : 0; break;
      default: return null;
    }
    return m;
  };
  const transform = (record, text) => {
    if (text === 'none') return text;
    let m = identity();
    const box = (i) => (i === 0 ? record.el.offsetWidth : record.el.offsetHeight);
    for (const part of split(text, ' ')) {
      const f = /^([\w]+)\(([^]*)\)$/.exec(part);
      const one = f && matrixOf(f[1], split(f[2], ','), box);
      if (!one || one.length !== 16 || one.some(Number.isNaN)) return text;
      m = multiply(m, one);
    }
    const flat = [2, 3, 6, 7, 8, 9, 11, 14].every((i) => Math.abs(m[i]) < 1e-12) && Math.abs(m[10] - 1) < 1e-12 && Math.abs(m[15] - 1) < 1e-12;
    const text6 = (n) => shown(Math.abs(n) < 1e-12 ? 0 : n);
    return flat ? `matrix(${[0, 1, 4, 5, 12, 13].map((i) => text6(m[i])).join(', ')})` : `matrix3d(${m.map(text6).join(', ')})`;
  };

  const filter = (record, text) =>
    text === 'none' ? text : split(text, ' ').map((x) => {
      const f = /^(drop-shadow|brightness|contrast|grayscale|invert|opacity|saturate|sepia)\(([^]*)\)$/.exec(x);
      if (!f) return x;
      if (f[1] === 'drop-shadow') return `drop-shadow(${shadows(record, f[2])})`;
      return `${f[1]}(${f[2].endsWith('%') ? shown(parseFloat(f[2]) / 100) : f[2]})`;
    }).join(' ');
  const places = { left: '0%', top: '0%', center: '50%', right: '100%', bottom: '100%' };
  const painted = /^(background-image|border-image-source|mask-image|filter|backdrop-filter|list-style-image|fill|stroke|cursor|content|clip-path|shape-outside)$/;
  // The computed value; `text` is what was specified, never a keyword for all properties.
  page.computeValue = (record, name, text) => {
    const def = page.properties.get(name);
    switch (name) {
      case 'font-size': return fontSize(record, text);
      case 'font-weight': return weight(record, text);
      case 'font-stretch': return stretches[text] ?? text;
      case 'line-height': {
        if (text === 'normal' || /^[\d.]+$/.test(text)) return text;
        return `${shown(withPercent(page.absoluteLengths(text, unitOf(record, name)), size(record)))}px`;
      }
      case 'color': {
        const found = page.parseColor(text);
        return found === 'currentcolor' ? (record.parent ? value(record.parent, 'color') : 'rgb(0, 0, 0)') : found === null ? text : page.colorText(found);
      }
      case 'display': return display(record, text);
      case 'float': return /^(absolute|fixed)$/.test(value(record, 'position')) ? 'none' : text;
      case 'opacity': case 'fill-opacity': case 'stroke-opacity': case 'stop-opacity': case 'flood-opacity': case 'shape-image-threshold': {
        const n = withPercent(text, 1);
        return Number.isNaN(n) ? text : shown(Math.min(1, Math.max(0, n)));
      }
      case 'zoom': return text === 'normal' ? '1' : text.endsWith('%') ? shown(parseFloat(text) / 100) : text;
      case 'text-align': {
        if (text === '-internal-center') return 'center';
        if (text !== 'match-parent') return text;
        const up = record.parent ? value(record.parent, 'text-align') : 'start';
        return up;
      }
      case 'letter-spacing': return text === '0px' ? 'normal' : page.absoluteLengths(text, unitOf(record, name));
      case 'word-spacing': return text === 'normal' ? '0px' : page.absoluteLengths(text, unitOf(record, name));
      case 'box-shadow': return fullShadows(shadows(record, text));
      case 'text-shadow': {
        const out = shadows(record, text);
        return out === 'none' ? out : split(out, ',').map((x) => (split(x, ' ').length < 4 ? `${x} 0px` : x)).join(', ');
      }
      case 'transform': return page.absoluteLengths(text, unitOf(record, name));
      default:
    }
    if (/(^border-(top|right|bottom|left)|^outline|^column-rule|text-stroke)-width$/.test(name)) return width(record, name, text);
    if (/^(background|mask)-position(-[xy])?$|^(object-position|transform-origin|perspective-origin)$/.test(name)) {
      text = text.replace(/\b(right|bottom) ([^\s,]+)/g, 'calc(100% - $2)').replace(/\b(left|top) (?=[\d.+-])/g, '');
      return page.absoluteLengths(split(text, ',').map((x) => split(x, ' ').map((w) => places[w] ?? w).join(' ')).join(', '), unitOf(record, name));
    }
    if (def.types.has('c') && def.kind === '1') return text === 'auto' ? text : colorIn(record, text);
    let out = page.absoluteLengths(text, unitOf(record, name));
    if (painted.test(name)) out = urlsIn(colorsIn(record, out));
    if (/filter$/.test(name)) out = filter(record, out);
    if (/^stroke-(width|dash)/.test(name)) out = out.replace(/(?<![\w.])[\d.]+(?![\w.%])/g, '$&px');
    if (/^overflow-[xy]$/.test(name) && (out === 'visible' || out === 'clip' || out === 'overlay')) {
      const other = record.winners.get(name === 'overflow-x' ? 'overflow-y' : 'overflow-x')?.value;
      if (out === 'overlay') return 'auto';
      if (typeof other === 'string' && /^(hidden|scroll|auto|overlay)$/.test(other)) return out === 'clip' ? 'hidden' : 'auto';
    }
    return out;
  };

  // What getComputedStyle tells: for some properties what is used, not what is computed.
  const generates = (record) => value(record, 'display') !== 'none' && value(record, 'display') !== 'contents';
  page.usedValue = (record, name, text) => {
    switch (name) {
      case 'line-height': return /^[\d.]+$/.test(text) ? `${shown(+text * size(record))}px` : text;
      case 'transform': return record.pseudo ? text : transform(record, text);
      case 'width': case 'height': return used(record, name, text);
      case 'content': {
        if (text === 'none' || text === 'normal') return /^(before|after)$/.test(record.pseudo) ? 'none' : 'normal';
        const parts = split(text.replace(/attr\(\s*([\w-]+)\s*\)/g, (_, x) => host.stringify(record.el.getAttribute(x) ?? '')), ' ');
        return parts.every((x) => x[0] === '"') ? `"${parts.map((x) => x.slice(1, -1)).join('')}"` : text;
      }
      case 'caret-color': return text === 'auto' ? value(record, 'color') : text;
      case 'animation-duration': return text.replace(/\bauto\b/g, '0s');
      case 'transform-origin': case 'perspective-origin': {
        if (!generates(record) || record.pseudo || value(record, 'display') === 'inline') return text;
        const box = [record.el.offsetWidth, record.el.offsetHeight];
        return split(text, ' ').slice(0, 2).map((x, i) => `${shown(withPercent(x, box[i]))}px`).join(' ');
      }
      case 'min-width': case 'min-height': return text === 'auto' && record.parent && !/flex|grid/.test(value(record.parent, 'display')) ? '0px' : text;
      default:
    }
    if (text === 'auto' && /^margin-/.test(name) && generates(record)) return '0px';
    if (text.includes('%') && /^(margin|padding)-/.test(name) && generates(record) && !record.pseudo && !hiddenAbove(record)) return `${shown(sixtyFourths(withPercent(text, page.containingWidth(record.el))))}px`;
    return text;
  };
  const sixtyFourths = (n) => Math.floor(n * 64 + 1e-6) / 64; // as boxes are laid out
  page.percentOf = withPercent;
  // Elements with a box have a size in px; as layout is not known, it is the one that offsetWidth tells.
  const used = (record, name, text) => {
    const { el } = record;
    if (record.pseudo || !generates(record) || hiddenAbove(record)) return text;
    if (value(record, 'display') === 'inline' && !/^(img|canvas|video|iframe|svg|object|embed)$/.test(el[P.localName])) return 'auto';
    return `${shown(sixtyFourths(page.contentSize(el, name)))}px`;
  };
  const hiddenAbove = (record) => {
    for (let r = record.parent; r; r = r.parent) if (value(r, 'display') === 'none') return true;
    return false;
  };
})
