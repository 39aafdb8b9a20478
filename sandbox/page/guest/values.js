// Values of CSS as browsers give them back: lengths in pixels, colours as rgb(), shorthands taken apart and put together.
// Source: CSS Values 4, CSS Color 4, CSSOM 1, section 6.7.2.
(function (host) {
  'use strict';
  const { document } = host.page;
  const g = globalThis;

  const fontSizes = { 'xx-small': '9px', 'x-small': '10px', small: '13px', medium: '16px', large: '18px', 'x-large': '24px', 'xx-large': '32px' };
  const weight = (value, above) => {
    if (value === 'normal') return '400';
    if (value === 'bold') return '700';
    if (value === 'bolder') return above() < 350 ? '400' : above() < 550 ? '700' : '900';
    if (value === 'lighter') return above() < 550 ? '100' : above() < 750 ? '400' : '700';
    return value;
  };
  const units = { px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 96 / 2.54, mm: 96 / 25.4, q: 96 / 101.6 };
  const lengths = (value, em, rem) => value.replace(/(^|[\s(,])([+-]?\d*\.?\d+(?:e[+-]?\d+)?)(px|pt|pc|in|cm|mm|q|em|rem|ex|ch|vw|vh|vmin|vmax)\b/gi, (all, before, n, unit) => {
    unit = unit.toLowerCase();
    const w = g.innerWidth;
    const h = g.innerHeight;
    const factor = units[unit] ?? { em: em, rem: rem, ex: () => em() / 2, ch: () => em() / 2, vw: () => w / 100, vh: () => h / 100, vmin: () => Math.min(w, h) / 100, vmax: () => Math.max(w, h) / 100 }[unit]();
    return `${before}${+(n * factor).toFixed(4)}px`;
  }).replace(/(^|\s)0(?=\s|$)/g, (all, before, at, text) => (/px/.test(text) ? `${before}0px` : all));

  // calculated works calc() out where it holds lengths or plain numbers alone.
  const calculated = (text) => {
    for (let i = 0; i < 20; i++) {
      const m = /calc\(((?:[^()]|\([^()]*\))*)\)/i.exec(text);
      if (!m) return text;
      const value = sum(m[1].match(/\d*\.?\d+(?:e[+-]?\d+)?(?:px)?|[-+*/()]/gi) ?? [], m[1]);
      if (value === undefined) return text;
      text = text.slice(0, m.index) + value + text.slice(m.index + m[0].length);
    }
    return text;
  };
  const sum = (parts, whole) => {
    if (parts.join('') !== whole.replace(/\s+/g, '')) return undefined;
    let at = 0;
    let pixels = false;
    const one = () => {
      const part = parts[at++];
      if (part === '(') {
        const inside = add();
        at++;
        return inside;
      }
      if (part === '-' || part === '+') return (part === '-' ? -1 : 1) * one();
      pixels ||= /px$/i.test(part);
      return parseFloat(part);
    };
    const times = () => {
      let value = one();
      while (parts[at] === '*' || parts[at] === '/') value = parts[at++] === '*' ? value * one() : value / one();
      return value;
    };
    const add = () => {
      let value = times();
      while (parts[at] === '+' || parts[at] === '-') value = parts[at++] === '+' ? value + times() : value - times();
      return value;
    };
    const value = add();
    return Number.isFinite(value) && at >= parts.length ? `${+value.toFixed(4)}${pixels ? 'px' : ''}` : undefined;
  };

  // Colours.
  const hexes = `aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4 black 000000
    blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 chocolate d2691e
    coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b
    darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00
    darkorchid 9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f
    darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff
    firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520
    gray 808080 green 008000 greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0
    khaki f0e68c lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080
    lightcyan e0ffff lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1 lightsalmon ffa07a
    lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0
    lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000 mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3
    mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585
    midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000
    olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee
    palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 purple 800080
    rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57
    seashell fff5ee sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa
    springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet ee82ee wheat f5deb3
    white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32 -webkit-link 0000ee linktext 0000ee canvastext 000000 canvas ffffff`.trim().split(/\s+/);
  const named = {};
  for (let i = 0; i < hexes.length; i += 2) named[hexes[i]] = `#${hexes[i + 1]}`;
  const written = (r, gr, b, a) => {
    const byte = (n) => Math.max(0, Math.min(255, Math.round(n)));
    a = Math.max(0, Math.min(1, a));
    const short = Math.round(a * 100) / 100; // two digits where they say the same byte
    a = Math.round(short * 255) === Math.round(a * 255) ? short : a;
    return a === 1 ? `rgb(${byte(r)}, ${byte(gr)}, ${byte(b)})` : `rgba(${byte(r)}, ${byte(gr)}, ${byte(b)}, ${+a.toFixed(3)})`;
  };
  const color = (text) => {
    let c = text.trim().toLowerCase();
    if (c === 'transparent') return 'rgba(0, 0, 0, 0)';
    if (Object.hasOwn(named, c)) c = named[c];
    if (/^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.test(c)) {
      const hex = c.length < 6 ? [...c.slice(1)].map((x) => x + x) : c.slice(1).match(/../g);
      const [r, gr, b, a] = hex.map((x) => parseInt(x, 16));
      return written(r, gr, b, a === undefined ? 1 : a / 255);
    }
    const m = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(c);
    if (!m) return text;
    const parts = m[2].split(/[\s,/]+/).filter(Boolean);
    if (parts.length < 3) return text;
    if (m[1] === 'rgb' && m[2].includes(',') && new Set(parts.slice(0, 3).map((p) => /%$/.test(p))).size > 1) return text;
    const alpha = parts[3] === undefined ? 1 : /%$/.test(parts[3]) ? parseFloat(parts[3]) / 100 : parseFloat(parts[3]);
    if (m[1] === 'rgb') return written(...parts.slice(0, 3).map((p) => (/%$/.test(p) ? parseFloat(p) * 2.55 : p === 'none' ? 0 : parseFloat(p))), alpha);
    const turn = { turn: 360, rad: 180 / Math.PI, grad: 0.9 }[/[a-z]+$/.exec(parts[0])?.[0]] ?? 1;
    const [h, s, l] = [(((parseFloat(parts[0]) * turn) % 360) + 360) % 360, parseFloat(parts[1]) / 100, parseFloat(parts[2]) / 100];
    const f = (n) => {
      const k = (n + h / 30) % 12;
      return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
    };
    return written(f(0), f(8), f(4), alpha);
  };

  // Shorthands that the DOM does not take apart.
  const split = (value) => value.match(/(?:[^\s()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+/g) ?? [];
  const two = (first, second) => (name, value) => {
    const [a, b = a] = split(value);
    return name === first ? a : name === second ? b : undefined;
  };
  const times = /^[+-]?[\d.]+m?s$/i;
  const moving = (name, value) => {
    const list = value.split(/,(?![^(]*\))/).map(split);
    const part = name.replace(/^[a-z]+-/, '');
    const kind = name.slice(0, -part.length - 1);
    const seconds = (t) => (/ms$/i.test(t ?? '') ? `${parseFloat(t) / 1000}s` : (t ?? '0s'));
    const easing = /^(ease|linear|step-|steps\(|cubic-bezier\()/i;
    return list.map((words) => {
      const t = words.filter((w) => times.test(w));
      if (part === 'duration') return seconds(t[0]);
      if (part === 'delay') return seconds(t[1]);
      if (part === 'timing-function') return words.find((w) => easing.test(w)) ?? 'ease';
      const rest = words.filter((w) => !times.test(w) && !easing.test(w));
      if (kind === 'transition') return rest[0] ?? 'all';
      const counts = /^(infinite|[\d.]+)$/;
      const directions = /^(normal|reverse|alternate|alternate-reverse)$/;
      const fills = /^(forwards|backwards|both)$/;
      const states = /^(running|paused)$/;
      if (part === 'iteration-count') return rest.find((w) => counts.test(w)) ?? '1';
      if (part === 'direction') return rest.find((w) => directions.test(w)) ?? 'normal';
      if (part === 'fill-mode') return rest.find((w) => fills.test(w)) ?? 'none';
      if (part === 'play-state') return rest.find((w) => states.test(w)) ?? 'running';
      return rest.find((w) => ![counts, directions, fills, states].some((r) => r.test(w))) ?? 'none';
    }).join(', ');
  };
  const taken = {
    gap: two('row-gap', 'column-gap'),
    overflow: two('overflow-x', 'overflow-y'),
    'place-items': two('align-items', 'justify-items'),
    'place-content': two('align-content', 'justify-content'),
    'place-self': two('align-self', 'justify-self'),
    inset: (name, value) => {
      const [t, r = t, b = t, l = r] = split(value);
      return { top: t, right: r, bottom: b, left: l }[name];
    },
    flex: (name, value) => {
      const words = value === 'none' ? ['0', '0', 'auto'] : value === 'auto' ? ['1', '1', 'auto'] : split(value);
      const numbers = words.filter((w) => /^[\d.]+$/.test(w));
      const basis = words.find((w) => !/^[\d.]+$/.test(w)) ?? (words.length ? '0%' : 'auto');
      return { 'flex-grow': numbers[0] ?? '1', 'flex-shrink': numbers[1] ?? '1', 'flex-basis': basis }[name];
    },
    'flex-flow': (name, value) => split(value).find((w) => /wrap/.test(w) === (name === 'flex-wrap')),
    transition: moving,
    animation: moving,
    'list-style': (name, value) => {
      const words = split(value);
      const position = words.find((w) => /^(inside|outside)$/.test(w));
      const image = words.find((w) => /^url\(/.test(w));
      if (name === 'list-style-position') return position;
      if (name === 'list-style-image') return image;
      return words.find((w) => w !== position && w !== image);
    },
    'text-decoration': (name, value) => {
      const words = split(value);
      const line = words.filter((w) => /^(none|underline|overline|line-through|blink)$/.test(w));
      const style = words.find((w) => /^(solid|double|dotted|dashed|wavy)$/.test(w));
      if (name === 'text-decoration-line') return line.join(' ') || undefined;
      if (name === 'text-decoration-style') return style;
      if (name === 'text-decoration-color') return words.find((w) => color(w) !== w);
      return undefined;
    },
  };

  // A part of a shorthand, as the parser of declarations splits it.
  const scratch = document.createElement('div');
  const partOf = (wide, name, value) => {
    if (/^(inherit|initial|unset|revert|revert-layer)$/i.test(value)) return value;
    if (wide === 'background' && name === 'background-color') {
      const found = value.replace(/url\([^)]*\)/g, '').match(/(rgb|hsl)a?\([^)]*\)|#[\da-f]{3,8}\b|[a-z]+/gi) ?? [];
      return found.find((c) => color(c) !== c) ?? 'initial';
    }
    if (Object.hasOwn(taken, wide)) return taken[wide](name, value) ?? 'initial';
    scratch.style.cssText = '';
    scratch.style.setProperty(wide, value);
    return scratch.style.getPropertyValue(name) || 'initial';
  };

  // Shorthands that are asked for and were not said: written from their parts.
  const four = (values) => {
    const [t, r, b, l] = values;
    if (values.some((v) => !v)) return '';
    return l !== r ? `${t} ${r} ${b} ${l}` : b !== t ? `${t} ${r} ${b}` : r !== t ? `${t} ${r}` : t;
  };
  const edges = ['top', 'right', 'bottom', 'left'];
  const composed = {
    margin: (v) => four(edges.map((e) => v(`margin-${e}`))),
    padding: (v) => four(edges.map((e) => v(`padding-${e}`))),
    inset: (v) => four(edges.map(v)),
    'border-width': (v) => four(edges.map((e) => v(`border-${e}-width`))),
    'border-style': (v) => four(edges.map((e) => v(`border-${e}-style`))),
    'border-color': (v) => four(edges.map((e) => v(`border-${e}-color`))),
    'border-radius': (v) => four(['top-left', 'top-right', 'bottom-right', 'bottom-left'].map((e) => v(`border-${e}-radius`))),
    border: (v) => `${v('border-top-width')} ${v('border-top-style')} ${v('border-top-color')}`,
    overflow: (v) => (v('overflow-x') === v('overflow-y') ? v('overflow-x') : `${v('overflow-x')} ${v('overflow-y')}`),
    'text-decoration': (v) => (v('text-decoration-line') === 'none' ? 'none' : `${v('text-decoration-line')} ${v('text-decoration-style')} ${v('text-decoration-color')}`).replace(/ solid rgb\(.*$/, ''),
    flex: (v) => `${v('flex-grow')} ${v('flex-shrink')} ${v('flex-basis')}`,
    'flex-flow': (v) => `${v('flex-direction')} ${v('flex-wrap')}`,
    gap: (v) => (v('row-gap') === v('column-gap') ? v('row-gap') : `${v('row-gap')} ${v('column-gap')}`),
    'list-style': (v) => `${v('list-style-position')} ${v('list-style-image')} ${v('list-style-type')}`,
    background: (v) => `${v('background-color')} ${v('background-image')} ${v('background-repeat')} ${v('background-attachment')} ${v('background-position')} / ${v('background-size')}`,
    outline: (v) => `${v('outline-color')} ${v('outline-style')} ${v('outline-width')}`,
    transition: (v) => `${v('transition-property')} ${v('transition-duration')}`.replace(' 0s', ''),
  };
  const composes = new Set(['margin', 'padding', 'inset', 'border-width', 'border-style', 'border-color', 'border-radius', 'border', 'overflow', 'flex', 'gap', 'text-decoration', 'background', 'outline']);

  Object.assign(host.page.css, { fontSizes, weight, lengths, calculated, color, partOf, composed, composes });
})
