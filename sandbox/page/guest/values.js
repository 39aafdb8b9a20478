// Values of CSS: what is one, how it is written back, and what it is computed to.
// Source: CSS Values 4, CSS Color 4, CSSOM.
(function (host) {
  'use strict';
  const { page } = host;

  // Splits at the top level: outside brackets and strings.
  const quoted = /"(?:[^"\\]|\\[^])*"?|'(?:[^'\\]|\\[^])*'?/y;
  const plain = /[^"'()[\]{},;\s\\/]+/y;
  const split = (page.splitCSS = (text, separator) => {
    const out = [];
    let from = 0;
    let depth = 0;
    const spaces = separator === ' ';
    for (let i = 0; i < text.length; ) {
      const c = text[i];
      if (c === '"' || c === "'") {
        quoted.lastIndex = i;
        quoted.exec(text);
        i = quoted.lastIndex;
        continue;
      }
      plain.lastIndex = i;
      if (plain.test(text)) {
        i = plain.lastIndex;
        continue;
      }
      if (c === '\\') i++;
      else if (c === '(' || c === '[' || c === '{') depth++;
      else if (c === ')' || c === ']' || c === '}') depth--;
      else if (depth === 0 && (spaces ? /\s/.test(c) : c === separator)) {
        if (!spaces || i > from) out.push(text.slice(from, i));
        from = i + 1;
      }
      i++;
    }
    if (!spaces || from < text.length) out.push(text.slice(from));
    return spaces ? out : out.map((x) => x.trim());
  });

  const number = /^[+-]?(?:\d*\.\d+|\d+)(?:e[+-]?\d+)?$/i;
  const dimension = /^([+-]?(?:\d*\.\d+|\d+)(?:e[+-]?\d+)?)([a-z]+|%)$/i;
  const shown = (page.numberText = (n) => {
    const text = host.str(+(+n).toPrecision(6));
    return text.includes('e') ? (Math.abs(n) < 1e-6 ? '0' : host.str(BigInt(Math.round(n)))) : text === '-0' ? '0' : text;
  });
  const lengths = new Set('px em rem ex rex ch rch ic cap lh rlh vw vh vmin vmax vi vb svw svh lvw lvh dvw dvh svmin svmax lvmin lvmax dvmin dvmax cqw cqh cqi cqb cqmin cqmax cm mm q in pt pc'.split(' '));
  const absolute = { px: 1, cm: 96 / 2.54, mm: 96 / 25.4, q: 96 / 101.6, in: 96, pt: 96 / 72, pc: 16 };
  const angles = { deg: 1, grad: 0.9, rad: 180 / Math.PI, turn: 360 };
  const kinds = (unit) => (unit === '' ? 'n' : unit === '%' ? 'p' : lengths.has(unit) ? 'l' : unit in angles ? 'a' : unit === 's' || unit === 'ms' ? 't' : '?');

  // calc(): a sum of parts by unit, or null where it is none that can be told now.
  const math = /^(-webkit-)?(calc|min|max|clamp|abs|sign|round|mod|rem|sqrt|pow|hypot|sin|cos|tan|asin|acos|atan|atan2|exp|log|calc-size)\(/i;
  const single = (sum) => (sum && sum.size === 1 ? [...sum][0] : null);
  const add = (a, b, sign) => {
    const out = new Map(a);
    for (const [unit, n] of b) out.set(unit, (out.get(unit) ?? 0) + sign * n);
    return out;
  };
  const scale = (a, n) => new Map([...a].map(([unit, x]) => [unit, x * n]));
  const constants = { pi: Math.PI, e: Math.E, infinity: Infinity, '-infinity': -Infinity, nan: NaN };
  const evaluate = (text, convert, depth = 0) => {
    if (depth > 32) return null;
    const t = text.trim();
    const m = math.exec(t);
    if (m && t.endsWith(')')) {
      const args = split(t.slice(m[0].length, -1), ',');
      const strategy = m[2].toLowerCase() === 'round' && /^(nearest|up|down|to-zero)$/.test(args[0]) ? args.shift() : 'nearest';
      const values = args.map((x) => evaluate(x, convert, depth + 1));
      if (values.includes(null)) return null;
      return apply(m[2].toLowerCase(), values, strategy);
    }
    if (t.startsWith('(') && t.endsWith(')')) {
      const inner = split(t.slice(1, -1), ' ');
      if (inner.length > 0) return evaluateTokens(t.slice(1, -1), convert, depth + 1);
    }
    return evaluateTokens(t, convert, depth);
  };
  const evaluateTokens = (text, convert, depth) => {
    const tokens = split(text.replace(/([*/])(?![^(]*\))/g, ' $1 '), ' ').flatMap((x) => (x.includes('(') ? [x] : x.split(/(?<=[^e])([*/])/).filter(Boolean)));
    let at = 0;
    const atom = () => {
      const t = tokens[at++];
      if (t === undefined) return null;
      if (t.startsWith('(') || math.test(t)) return evaluate(t, convert, depth + 1);
      if (number.test(t)) return new Map([['', +t]]);
      const d = dimension.exec(t);
      if (d) return convert(+d[1], d[2].toLowerCase());
      const name = t.toLowerCase();
      return Object.hasOwn(constants, name) ? new Map([['', constants[name]]]) : null;
    };
    const product = () => {
      let left = atom();
      while (left && (tokens[at] === '*' || tokens[at] === '/')) {
        const op = tokens[at++];
        const right = atom();
        if (!right) return null;
        const [l, r] = [single(left), single(right)];
        if (op === '/') {
          if (!r || r[0] !== '') return null;
          left = scale(left, 1 / r[1]);
        } else if (r && r[0] === '') left = scale(left, r[1]);
        else if (l && l[0] === '') left = scale(right, l[1]);
        else return null;
      }
      return left;
    };
    let left = product();
    while (left && at < tokens.length) {
      const op = tokens[at++];
      if (op !== '+' && op !== '-') return null;
      const right = product();
      if (!right) return null;
      left = add(left, right, op === '+' ? 1 : -1);
    }
    return left;
  };
  const apply = (name, values, strategy) => {
    if (name === 'calc') return values.length === 1 ? values[0] : null;
    const singles = values.map(single);
    if (singles.includes(null)) return null;
    const [unit] = singles[0];
    const n = singles.map((x) => x[1]);
    const degrees = (x, u) => (u === 'deg' ? (x * Math.PI) / 180 : x);
    const same = singles.every(([u]) => u === unit);
    switch (name) {
      case 'min': return same ? new Map([[unit, Math.min(...n)]]) : null;
      case 'max': return same ? new Map([[unit, Math.max(...n)]]) : null;
      case 'clamp': return same && n.length === 3 ? new Map([[unit, Math.max(n[0], Math.min(n[1], n[2]))]]) : null;
      case 'abs': return new Map([[unit, Math.abs(n[0])]]);
      case 'sign': return new Map([['', Math.sign(n[0])]]);
      case 'mod': return same ? new Map([[unit, n[0] - n[1] * Math.floor(n[0] / n[1])]]) : null;
      case 'rem': return same ? new Map([[unit, n[0] % n[1]]]) : null;
      case 'round': {
        const to = n[1] ?? 1;
        const how = { nearest: Math.round, up: Math.ceil, down: Math.floor, 'to-zero': Math.trunc }[strategy];
        return new Map([[unit, how(n[0] / to) * to]]);
      }
      case 'sin': case 'cos': case 'tan': return new Map([['', Math[name](degrees(n[0], unit))]]);
      case 'asin': case 'acos': case 'atan': return new Map([['deg', (Math[name](n[0]) * 180) / Math.PI]]);
      case 'atan2': return new Map([['deg', (Math.atan2(n[0], n[1]) * 180) / Math.PI]]);
      case 'sqrt': case 'exp': return new Map([['', Math[name](n[0])]]);
      case 'pow': return new Map([['', n[0] ** n[1]]]);
      case 'hypot': return new Map([[unit, Math.hypot(...n)]]);
      case 'log': return new Map([['', n.length > 1 ? Math.log(n[0]) / Math.log(n[1]) : Math.log(n[0])]]);
      default: return null;
    }
  };
  // Units that mean the same everywhere become one.
  const fixed = (n, unit) => {
    if (unit in absolute) return new Map([['px', n * absolute[unit]]]);
    if (unit in angles) return new Map([['deg', n * angles[unit]]]);
    if (unit === 'ms') return new Map([['s', n / 1000]]);
    return new Map([[unit, n]]);
  };
  const sumText = (sum) => {
    const parts = [...sum].sort(([a], [b]) => (a === '' ? -1 : b === '' ? 1 : a === '%' ? -1 : b === '%' ? 1 : a < b ? -1 : 1));
    return parts.map(([unit, n], i) => (i === 0 ? shown(n) : `${n < 0 ? '- ' : '+ '}${shown(Math.abs(n))}`) + unit).join(' ');
  };
  // The kind of value that a function of mathematics gives: n, p, l, a, t or lp; '' when it is unknown.
  const mathValue = (text) => {
    const sum = evaluate(text, fixed);
    if (!sum) return { text: spaced(text), kind: '' };
    const all = new Set([...sum.keys()].map(kinds));
    if (all.has('p') && all.has('l')) all.delete('p');
    if (all.size > 1) return { text, kind: '!' };
    return { text: /^(-webkit-)?calc\(/i.test(text) || sum.size === 1 ? `calc(${sumText(sum)})` : spaced(text), kind: all.size === 1 ? [...all][0] : '' };
  };
  // A function as it is written back: small letters, one space.
  const spaced = (text) => text.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/ \)/g, ')').replace(/ ?, ?/g, ', ').replace(/^[a-z-]+(?=\()/i, (name) => name.toLowerCase());

  // Colours.
  const named = {};
  for (const pair of 'aliceblue:f0f8ff antiquewhite:faebd7 aqua:0ff aquamarine:7fffd4 azure:f0ffff beige:f5f5dc bisque:ffe4c4 black:000 blanchedalmond:ffebcd blue:00f blueviolet:8a2be2 brown:a52a2a burlywood:deb887 cadetblue:5f9ea0 chartreuse:7fff00 chocolate:d2691e coral:ff7f50 cornflowerblue:6495ed cornsilk:fff8dc crimson:dc143c cyan:0ff darkblue:00008b darkcyan:008b8b darkgoldenrod:b8860b darkgray:a9a9a9 darkgreen:006400 darkgrey:a9a9a9 darkkhaki:bdb76b darkmagenta:8b008b darkolivegreen:556b2f darkorange:ff8c00 darkorchid:9932cc darkred:8b0000 darksalmon:e9967a darkseagreen:8fbc8f darkslateblue:483d8b darkslategray:2f4f4f darkslategrey:2f4f4f darkturquoise:00ced1 darkviolet:9400d3 deeppink:ff1493 deepskyblue:00bfff dimgray:696969 dimgrey:696969 dodgerblue:1e90ff firebrick:b22222 floralwhite:fffaf0 forestgreen:228b22 fuchsia:f0f gainsboro:dcdcdc ghostwhite:f8f8ff gold:ffd700 goldenrod:daa520 gray:808080 green:008000 greenyellow:adff2f grey:808080 honeydew:f0fff0 hotpink:ff69b4 indianred:cd5c5c indigo:4b0082 ivory:fffff0 khaki:f0e68c lavender:e6e6fa lavenderblush:fff0f5 lawngreen:7cfc00 lemonchiffon:fffacd lightblue:add8e6 lightcoral:f08080 lightcyan:e0ffff lightgoldenrodyellow:fafad2 lightgray:d3d3d3 lightgreen:90ee90 lightgrey:d3d3d3 lightpink:ffb6c1 lightsalmon:ffa07a lightseagreen:20b2aa lightskyblue:87cefa lightslategray:789 lightslategrey:789 lightsteelblue:b0c4de lightyellow:ffffe0 lime:0f0 limegreen:32cd32 linen:faf0e6 magenta:f0f maroon:800000 mediumaquamarine:66cdaa mediumblue:0000cd mediumorchid:ba55d3 mediumpurple:9370db mediumseagreen:3cb371 mediumslateblue:7b68ee mediumspringgreen:00fa9a mediumturquoise:48d1cc mediumvioletred:c71585 midnightblue:191970 mintcream:f5fffa mistyrose:ffe4e1 moccasin:ffe4b5 navajowhite:ffdead navy:000080 oldlace:fdf5e6 olive:808000 olivedrab:6b8e23 orange:ffa500 orangered:ff4500 orchid:da70d6 palegoldenrod:eee8aa palegreen:98fb98 paleturquoise:afeeee palevioletred:db7093 papayawhip:ffefd5 peachpuff:ffdab9 peru:cd853f pink:ffc0cb plum:dda0dd powderblue:b0e0e6 purple:800080 rebeccapurple:663399 red:f00 rosybrown:bc8f8f royalblue:4169e1 saddlebrown:8b4513 salmon:fa8072 sandybrown:f4a460 seagreen:2e8b57 seashell:fff5ee sienna:a0522d silver:c0c0c0 skyblue:87ceeb slateblue:6a5acd slategray:708090 slategrey:708090 snow:fffafa springgreen:00ff7f steelblue:4682b4 tan:d2b48c teal:008080 thistle:d8bfd8 tomato:ff6347 turquoise:40e0d0 violet:ee82ee wheat:f5deb3 white:fff whitesmoke:f5f5f5 yellow:ff0 yellowgreen:9acd32'.split(' ')) {
    const [name, hex] = pair.split(':');
    named[name] = hex;
  }
  const system = {
    canvas: 'fff', canvastext: '000', linktext: '0000ee', visitedtext: '551a8b', activetext: 'f00', buttonface: 'efefef', buttontext: '000', buttonborder: '000',
    field: 'fff', fieldtext: '000', highlight: '1967d2', highlighttext: 'fff', mark: 'ff0', marktext: '000', graytext: '808080', selecteditem: '1967d2',
    selecteditemtext: 'fff', accentcolor: '0075ff', accentcolortext: 'fff', '-webkit-link': '0000ee', '-webkit-activelink': 'f00', window: 'fff', windowtext: '000',
  };
  const fromHex = (hex) => {
    const parts = hex.length < 6 ? [...hex].map((c) => c + c) : hex.match(/../g);
    return parts.map((p, i) => (i < 3 ? parseInt(p, 16) : parseInt(p, 16) / 255));
  };
  const alphaText = (a) => {
    const two = Math.round(a * 100) / 100;
    return host.str(Math.round(two * 255) === Math.round(a * 255) ? two : Math.round(a * 1000) / 1000);
  };
  const rgb = ([r, gr, b, a = 1]) => {
    const [x, y, z] = [r, gr, b].map((v) => Math.min(255, Math.max(0, Math.round(v))));
    return a >= 1 ? `rgb(${x}, ${y}, ${z})` : `rgba(${x}, ${y}, ${z}, ${alphaText(Math.max(0, a))})`;
  };
  const hue = (h, s, l) => {
    const f = (n) => {
      const k = (n + h / 30) % 12;
      return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    };
    return [f(0) * 255, f(8) * 255, f(4) * 255];
  };
  const part = (text, whole) => {
    if (text === 'none') return 0;
    if (math.test(text)) {
      const found = single(evaluate(text, fixed));
      return found ? (found[0] === '%' ? (found[1] / 100) * whole : found[1]) : NaN;
    }
    if (number.test(text)) return +text;
    return /^[+-]?[\d.]+(e[+-]?\d+)?%$/i.test(text) ? (parseFloat(text) / 100) * whole : NaN;
  };
  const angle = (text) => {
    if (number.test(text)) return +text;
    const d = dimension.exec(text);
    return text === 'none' ? 0 : d && d[2].toLowerCase() in angles ? +d[1] * angles[d[2].toLowerCase()] : NaN;
  };
  // The numbers of a colour in sRGB, or its text where it stays as it is; null when it is none.
  const parseColor = (page.parseColor = (text) => {
    const t = text.toLowerCase();
    if (Object.hasOwn(named, t)) return fromHex(named[t]);
    if (Object.hasOwn(system, t)) return fromHex(system[t]);
    if (t === 'transparent') return [0, 0, 0, 0];
    if (t === 'currentcolor') return 'currentcolor';
    const hex = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(t)?.[1];
    if (hex) return fromHex(hex);
    const m = /^(rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|contrast-color)\(([^]*)\)$/.exec(t);
    if (!m) return null;
    if (m[1] === 'light-dark') return parseColor(split(m[2], ',')[0]);
    if (!/^(rgba?|hsla?|hwb)$/.test(m[1]) || /^\s*from\s/.test(m[2])) return split(m[2], ' ').length >= 2 ? spaced(t) : null;
    const commas = split(m[2], ',');
    let parts;
    let alpha;
    if (commas.length > 1) {
      if (m[1] === 'hwb' || commas.length > 4) return null;
      [parts, alpha] = [commas.slice(0, 3), commas[3]];
    } else {
      const slash = split(m[2], '/');
      if (slash.length > 2) return null;
      [parts, alpha] = [split(slash[0], ' '), slash[1]];
    }
    const a = alpha === undefined ? 1 : Math.min(1, Math.max(0, part(alpha, 1)));
    if (parts.length !== 3 || Number.isNaN(a)) return null;
    if (m[1].startsWith('rgb')) {
      if (commas.length > 1 && new Set(parts.map((x) => x.endsWith('%'))).size > 1) return null;
      const v = parts.map((x) => part(x, 255));
      return v.some(Number.isNaN) ? null : [...v, a];
    }
    const h = ((angle(parts[0]) % 360) + 360) % 360;
    if (commas.length > 1 && !(parts[1].endsWith('%') && parts[2].endsWith('%'))) return null;
    const [x, y] = [1, 2].map((i) => Math.min(1, Math.max(0, (parts[i].endsWith('%') ? part(parts[i], 1) : part(parts[i], 1) / 100))));
    if ([h, x, y].some(Number.isNaN)) return null;
    if (m[1] !== 'hwb') return [...hue(h, x, y), a];
    const base = hue(h, 1, 0.5).map((c) => c / 255);
    return [...(x + y >= 1 ? base.map(() => x / (x + y)) : base.map((c) => c * (1 - x - y) + x)).map((c) => c * 255), a];
  });
  const colorText = (page.colorText = (color) => (typeof color === 'string' ? color : rgb(color)));
  const isName = (text) => Object.hasOwn(named, text) || Object.hasOwn(system, text) || text === 'transparent' || text === 'currentcolor';

  // One component of a value as it is written back; null when the property does not take it.
  const identifier = /^-?(?:[a-z_\u0080-\uffff-]|\\[^])(?:[\w\u0080-\uffff-]|\\[^])*$/i;
  const wide = (page.wideKeywords = /^(initial|inherit|unset|revert|revert-layer)$/i);
  const stringText = (text) => {
    const inner = page.unescapeCSS(/^(["'])([^]*?)\1?$/.exec(text)[2]);
    return `"${inner.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
  };
  const urlText = (text) => {
    const inner = text.slice(4, text.endsWith(')') ? -1 : undefined).trim();
    return `url(${/^["']/.test(inner) ? stringText(inner) : `"${page.unescapeCSS(inner).replace(/["\\]/g, '\\$&')}"`})`;
  };
  const numeric = (n, unit, { types }) => {
    const not = (kind) => !(types.has(kind) || (n >= 0 && types.has(`${kind}+`)));
    const kind = kinds(unit);
    if (kind === 'n') {
      if (types.has('i') && Number.isInteger(n)) return shown(n);
      if (!not('n')) return shown(n);
      if (n === 0 && (!not('l') || !not('lp'))) return '0px';
      return n === 0 && types.has('a') ? '0deg' : null;
    }
    if (kind === '?') return unit === 'fr' && types.has('f') && n >= 0 ? `${shown(n)}fr` : null;
    const takes = { p: ['p', 'lp'], l: ['l', 'lp'], a: ['a'], t: ['t'] }[kind];
    if (!takes.some((x) => !not(x))) return null;
    return shown(n) + unit;
  };
  const component = (text, def) => {
    const { keywords, types } = def;
    const lower = text.toLowerCase();
    if (keywords.has(lower)) return lower;
    if (number.test(text)) return numeric(+text, '', def);
    const d = dimension.exec(text);
    if (d) return numeric(+d[1], d[2].toLowerCase(), def);
    if (types.has('c')) {
      const color = parseColor(text);
      if (color !== null) return isName(lower) ? lower : colorText(color);
    }
    if (math.test(text)) {
      if (!text.endsWith(')')) return null;
      const { text: out, kind } = mathValue(text);
      const takes = { '': true, n: types.has('n') || types.has('n+') || types.has('i'), p: types.has('p') || types.has('lp') || types.has('lp+'), a: types.has('a'), t: types.has('t') || types.has('t+') };
      takes.l = types.has('l') || types.has('l+') || types.has('lp') || types.has('lp+');
      return takes[kind] ? out : null;
    }
    if (types.has('u') && /^url\(/i.test(text)) return urlText(text);
    if (types.has('u') && /^(-webkit-)?((repeating-)?(linear|radial|conic)-gradient|image-set|cross-fade|image|element|paint)\(/i.test(text)) return loose(text);
    if (/^["']/.test(text)) return types.has('s') ? stringText(text) : null;
    if (/^(env|attr|anchor|anchor-size|if|sibling-index|sibling-count|random|--[\w-]+)\(/i.test(text)) return spaced(text);
    if (types.has('f') && /^[a-z-]+\([^]*\)$/i.test(text)) return loose(text);
    if (types.has('f') && text.startsWith('[')) return text;
    return types.has('id') && identifier.test(text) ? text : null;
  };
  // A value of any form: its parts are written back as they would be elsewhere.
  const anything = { keywords: new Set(), types: new Set(['c', 'l', 'p', 'n', 'a', 't', 'u', 's', 'f', 'id']) };
  const loose = (text, depth = 0) => {
    if (depth > 16) return text;
    const list = (t) => split(t, ',').map((x) => split(x, ' ').map((y) => one(y)).join(' ')).join(', ');
    const one = (t) => {
      const f = /^([a-z-]+)\(([^]*)\)$/i.exec(t);
      if (!f || /^url$/i.test(f[1]) || math.test(t) || parseColor(t) !== null) return component(t, anything) ?? t;
      const inner = split(f[2], '/').map((x) => list(x)).join(' / ');
      return `${f[1].replace(/^(?!(translate|scale|rotate|skew|matrix)).*/i, (n) => n.toLowerCase())}(${inner})`;
    };
    return split(text, '/').map(list).join(' / ');
  };
  const balanced = (text) => {
    let depth = 0;
    for (const [, open, close, bad] of text.matchAll(/"(?:[^"\\]|\\[^])*"?|'(?:[^'\\]|\\[^])*'?|\\[^]|([([{])|([)\]}])|([;!])/g)) {
      if (open) depth++;
      else if (close && --depth < 0) return false;
      else if (bad && depth === 0) return false;
    }
    return true;
  };

  // What a property is set to, as it is written back; null when it does not take the value.
  page.parseLonghand = (name, text) => {
    const value = text.trim();
    if (name.startsWith('--')) return balanced(value) ? value : null;
    if (value === '' || value.length > 1 << 16) return null;
    if (wide.test(value)) return value.toLowerCase();
    if (/\bvar\(/i.test(value)) return balanced(value) && /var\(\s*--/i.test(value) ? value : null;
    if (!balanced(value)) return null;
    const def = page.properties.get(name);
    if (!def) return null;
    if (Object.hasOwn(special, name)) return special[name](value);
    if (def.kind === '?') return /^[\w#-]+$/.test(value) ? lone(value) : loose(value);
    if (def.kind === '1') return component(value, def);
    const pieces = def.kind === '#' ? split(value, ',') : [value];
    const out = [];
    for (const piece of pieces) {
      const parts = split(piece, ' ').map((x) => component(x, def));
      if (parts.length === 0 || parts.includes(null)) return null;
      out.push(parts.join(' '));
    }
    return out.join(', ');
  };
  const lone = (value) => (/^(none|auto|normal|inherit|[a-z]+)$/i.test(value) ? value.toLowerCase() : (component(value, anything) ?? value));
  const displays = {
    'block flow': 'block', 'flow block': 'block', 'inline flow': 'inline', 'block flow-root': 'flow-root', 'inline flow-root': 'inline-block', 'block flex': 'flex',
    'inline flex': 'inline-flex', 'flex inline': 'inline-flex', 'block grid': 'grid', 'inline grid': 'inline-grid', 'block table': 'table', 'inline table': 'inline-table',
    flow: 'block',
  };
  const alpha = (value) => {
    const m = /^([+-]?[\d.]+)%$/.exec(value);
    return m ? shown(+m[1] / 100) : component(value, page.properties.get('opacity'));
  };
  const pairs = (value, name) => {
    const out = split(value, ',').map((piece) => {
      const parts = split(piece, ' ').map((x) => component(x, page.properties.get(name)));
      if (parts.length === 0 || parts.length > 2 || parts.includes(null)) return null;
      if (/^(cover|contain)$/.test(parts[0])) return parts.length === 1 ? parts[0] : null;
      return parts.length === 1 && parts[0] !== 'auto' ? `${parts[0]} auto` : parts[0] === 'auto' && parts[1] === 'auto' ? 'auto' : parts.join(' ');
    });
    return out.includes(null) ? null : out.join(', ');
  };
  // Two places, and a depth: left and right are the first of them.
  const position = (value) => {
    const parts = split(value.toLowerCase(), ' ');
    if (parts.length === 0 || parts.length > 3) return null;
    let [x, y = 'center', ...z] = parts;
    if (/^(top|bottom)$/.test(x) || /^(left|right)$/.test(y)) [x, y] = [y, x];
    const out = [component(x, page.properties.get('background-position-x')), component(y, page.properties.get('background-position-y')), ...z.map((d) => component(d, length))];
    return out.includes(null) ? null : out.join(' ');
  };
  const functions = { translate: 'lp', translatex: 'lp', translatey: 'lp', translatez: 'l', translate3d: 'lp', scale: 'n p', scalex: 'n p', scaley: 'n p', scalez: 'n p', scale3d: 'n p', rotate: 'a', rotatex: 'a', rotatey: 'a', rotatez: 'a', rotate3d: 'n a', skew: 'a', skewx: 'a', skewy: 'a', matrix: 'n', matrix3d: 'n', perspective: 'l' };
  const names = { translatex: 'translateX', translatey: 'translateY', translatez: 'translateZ', scalex: 'scaleX', scaley: 'scaleY', scalez: 'scaleZ', rotatex: 'rotateX', rotatey: 'rotateY', rotatez: 'rotateZ', skewx: 'skewX', skewy: 'skewY' };
  const transformFunction = (text) => {
    const f = /^([a-z\d]+)\(([^]*)\)$/i.exec(text);
    const key = f?.[1].toLowerCase();
    if (!f || !Object.hasOwn(functions, key)) return null;
    const args = split(f[2], ',').map((x) => component(x, { keywords: new Set(key === 'perspective' ? ['none'] : []), types: new Set(functions[key].split(' ')) }));
    return args.includes(null) ? null : `${names[key] ?? key}(${args.join(', ')})`;
  };
  const filters = (value) => {
    if (value.toLowerCase() === 'none') return 'none';
    const out = split(value, ' ').map((x) => {
      const f = /^([a-z-]+)\(([^]*)\)$/i.exec(x);
      const name = f?.[1].toLowerCase();
      if (name === 'url') return urlText(x);
      if (!/^(blur|brightness|contrast|drop-shadow|grayscale|hue-rotate|invert|opacity|saturate|sepia)$/.test(name)) return null;
      if (name === 'drop-shadow') return shadows(f[2], 3) === null ? null : `drop-shadow(${shadows(f[2], 3)})`;
      const types = new Set(name === 'blur' ? ['l+'] : name === 'hue-rotate' ? ['a'] : ['n+', 'p']);
      const arg = f[2].trim() === '' ? '' : component(f[2].trim(), { keywords: new Set(), types });
      return arg === null ? null : `${name}(${arg})`;
    });
    return out.includes(null) ? null : out.join(' ');
  };
  const generic = /^(serif|sans-serif|cursive|fantasy|monospace|system-ui|math|fangsong|emoji|ui-(serif|sans-serif|monospace|rounded))$/i;
  const cursors = new Set('auto default none context-menu help pointer progress wait cell crosshair text vertical-text alias copy move no-drop not-allowed grab grabbing all-scroll col-resize row-resize n-resize e-resize s-resize w-resize ne-resize nw-resize se-resize sw-resize ew-resize ns-resize nesw-resize nwse-resize zoom-in zoom-out -webkit-grab -webkit-grabbing -webkit-zoom-in -webkit-zoom-out'.split(' '));
  const length = { keywords: new Set(), types: new Set(['l']) };
  const shadows = (value, most) => {
    const out = [];
    for (const piece of split(value, ',')) {
      let color = '';
      let inset = false;
      const sizes = [];
      for (const part of split(piece, ' ')) {
        const size = component(part, length);
        if (size !== null) sizes.push(size);
        else if (part.toLowerCase() === 'inset' && most === 4) inset = true;
        else {
          color = component(part, { keywords: new Set(), types: new Set(['c']) });
          if (color === null) return null;
        }
      }
      if (sizes.length < 2 || sizes.length > most) return null;
      out.push([color, ...sizes, inset ? 'inset' : ''].filter(Boolean).join(' '));
    }
    return out.join(', ');
  };

  const special = {
    'font-family': (value) => {
      const out = split(value, ',').map((x) => {
        if (/^["']/.test(x)) return stringText(x);
        const words = split(x, ' ');
        if (words.length === 1 && generic.test(x)) return x.toLowerCase();
        if (words.length === 0 || !words.every((w) => identifier.test(w))) return null;
        return words.length > 1 ? `"${words.join(' ')}"` : x;
      });
      return out.includes(null) ? null : out.join(', ');
    },
    'box-shadow': (value) => (value.toLowerCase() === 'none' ? 'none' : shadows(value, 4)),
    'text-shadow': (value) => (value.toLowerCase() === 'none' ? 'none' : shadows(value, 3)),
    'border-spacing': (value) => {
      const parts = split(value, ' ').map((x) => component(x, page.properties.get('border-spacing')));
      return parts.length > 2 || parts.includes(null) ? null : parts[0] === parts[1] ? parts[0] : parts.join(' ');
    },
    transform: (value) => {
      if (value.toLowerCase() === 'none') return 'none';
      const out = split(value, ' ').map(transformFunction);
      return out.length === 0 || out.includes(null) ? null : out.join(' ');
    },
    display: (value) => {
      const text = split(value.toLowerCase(), ' ').join(' ');
      return page.properties.get('display').keywords.has(text) ? (displays[text] ?? text) : (displays[text] ?? null);
    },
    'font-weight': (value) => {
      const out = component(value, page.properties.get('font-weight'));
      return out !== null && /^[\d.]+$/.test(out) && (+out < 1 || +out > 1000) ? null : out;
    },
    'aspect-ratio': (value) => {
      const [a, b = '1', ...more] = split(value, '/');
      if (/^auto$/i.test(value)) return 'auto';
      const auto = /^auto\s+|\s+auto$/i;
      if (more.length > 0 || !number.test(a.replace(auto, '')) || !number.test(b.replace(auto, ''))) return null;
      return `${auto.test(value) ? 'auto ' : ''}${shown(+a.replace(auto, ''))} / ${shown(+b.replace(auto, ''))}`;
    },
    'background-size': (value) => pairs(value, 'background-size'),
    'mask-size': (value) => pairs(value, 'mask-size'),
    'grid-auto-flow': (value) => {
      const words = split(value.toLowerCase(), ' ');
      if (words.length === 0 || words.length > 2 || !words.every((w) => /^(row|column|dense)$/.test(w))) return null;
      return words.includes('dense') ? (words.includes('column') ? 'column dense' : 'dense') : words.length === 1 ? words[0] : null;
    },
    'transform-origin': position,
    'perspective-origin': position,
    'object-position': position,
    'clip-path': (value) => (value.toLowerCase() === 'none' ? 'none' : loose(value).replace(/(?<=^(?:polygon|inset|circle|ellipse)\([^]*)(?<![\w.%#-])0(?![\w.%])/g, '0px')),
    filter: (value) => filters(value),
    'backdrop-filter': (value) => filters(value),
    'stroke-dasharray': (value) => (value.toLowerCase() === 'none' ? 'none' : split(value.replace(/,/g, ' '), ' ').map((x) => component(x, anything)).join(', ')),
    opacity: alpha,
    'fill-opacity': alpha,
    'stroke-opacity': alpha,
    'stop-opacity': alpha,
    'flood-opacity': alpha,
    cursor: (value) => (/^[a-z-]+$/i.test(value) ? (cursors.has(value.toLowerCase()) ? value.toLowerCase() : null) : loose(value)),
    content: (value) => (/^(none|normal)$/i.test(value) ? value.toLowerCase() : split(value, ' ').every((x) => /^(["']|[a-z-]+\(|open-quote|close-quote|no-|\/)/i.test(x)) ? loose(value) : null),
  };

  // Lengths of a computed value in px, with what em, vw and the rest are for the element.
  const relative = /("(?:[^"\\]|\\[^])*"|url\([^)]*\))|(?<![\w#.-])([+-]?(?:\d*\.\d+|\d+)(?:e[+-]?\d+)?)([a-z]+)\b(?!\()/gi;
  page.absoluteLengths = (text, unit) => {
    if (!/\d/.test(text)) return text;
    let out = text.replace(relative, (all, skip, n, u) => {
      if (skip) return skip;
      const name = u.toLowerCase();
      if (name in angles) return `${shown(+n * angles[name])}deg`;
      if (name === 'ms') return `${shown(+n / 1000)}s`;
      const px = absolute[name] ?? unit(name);
      return px === undefined ? all : `${shown(+n * px)}px`;
    });
    if (math.test(out) || out.includes('calc(')) {
      out = split(out, ',').map((piece) => split(piece, ' ').map((x) => {
        if (!math.test(x)) return x;
        const sum = evaluate(x, fixed);
        if (!sum) return x;
        return sum.size === 1 ? sumText(sum) : `calc(${sumText(sum)})`;
      }).join(' ')).join(', ');
    }
    return out;
  };
  page.component = component;
  page.evaluateMath = (text) => single(evaluate(text, fixed));
})
