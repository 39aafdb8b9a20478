// Shorthands of CSS: taken apart into longhands, and put together again.
// Source: CSSOM, 6.7.2; the modules that define each.
(function (host) {
  'use strict';
  const { page } = host;
  const { parseLonghand, splitCSS: split } = page;
  const initial = (name) => page.properties.get(name).initial;

  const all = (names, value) => names.map((name) => [name, value]);
  const four = (names) => ({
    expand(text) {
      const parts = split(text, ' ');
      if (parts.length === 0 || parts.length > 4) return null;
      const at = [0, parts.length > 1 ? 1 : 0, parts.length > 2 ? 2 : 0, parts.length > 3 ? 3 : parts.length > 1 ? 1 : 0];
      return names.map((name, i) => [name, parseLonghand(name, parts[at[i]])]);
    },
    collapse: (v) => shortened(names.map(v)),
  });
  const shortened = ([a, b, c, d]) => (b !== d ? [a, b, c, d] : a !== c ? [a, b, c] : a !== b ? [a, b] : [a]).join(' ');
  const two = (names) => ({
    expand(text) {
      const parts = split(text, ' ');
      if (parts.length === 0 || parts.length > 2) return null;
      return [[names[0], parseLonghand(names[0], parts[0])], [names[1], parseLonghand(names[1], parts[1] ?? parts[0])]];
    },
    collapse: (v) => (v(names[0]) === v(names[1]) ? v(names[0]) : `${v(names[0])} ${v(names[1])}`),
  });
  // Words of which one may begin with “first” or “last”, as in place-content.
  const places = (names) => {
    const base = two(names);
    return {
      expand(text) {
        const parts = split(text, ' ');
        if (parts.length > 2 || !/^(first|last|safe|unsafe|legacy)$/i.test(parts[0])) return base.expand(text);
        return names.map((name) => [name, parseLonghand(name, text)]);
      },
      collapse: base.collapse,
    };
  };
  // Parts in any order, each for the first longhand that takes it.
  const anyOrder = (names) => ({
    expand(text) {
      const parts = split(text, ' ');
      const found = new Map();
      if (parts.length === 0 || parts.length > names.length) return null;
      for (const part of parts) {
        const name = names.find((n) => !found.has(n) && parseLonghand(n, part) !== null);
        if (!name) return null;
        found.set(name, parseLonghand(name, part));
      }
      return names.map((name) => [name, found.get(name) ?? initial(name)]);
    },
    collapse(v) {
      const parts = names.filter((name) => v(name) !== initial(name)).map(v);
      return parts.length > 0 ? parts.join(' ') : initial(names[0]);
    },
  });
  // The same for lists with commas; times come in the order of the names.
  const layers = (names, collapse) => ({
    expand(text) {
      const lists = names.map(() => []);
      for (const layer of split(text, ',')) {
        const found = new Map();
        for (const part of split(layer, ' ')) {
          const name = names.find((n) => !found.has(n) && parseLonghand(n, part) !== null);
          if (!name) return null;
          found.set(name, parseLonghand(name, part));
        }
        if (found.size === 0) return null;
        names.forEach((name, i) => lists[i].push(found.get(name) ?? initial(name)));
      }
      return names.map((name, i) => [name, lists[i].join(', ')]);
    },
    collapse(v) {
      const lists = names.map((name) => split(v(name), ','));
      if (lists.some((list) => list.length !== lists[0].length)) return '';
      return lists[0].map((_, i) => collapse(names.map((name, j) => [name, lists[j][i]]))).join(', ');
    },
  });
  const notInitial = (pairs) => pairs.filter(([name, value]) => value !== initial(name)).map(([, value]) => value);

  const table = new Map();
  for (const [name, longhands] of page.shorthands) {
    if (longhands.length === 4 && /^(margin|padding|scroll-margin|scroll-padding|inset|border-(width|style|color))$/.test(name)) table.set(name, four(longhands));
    else if (/^(gap|overflow|overscroll-behavior|(margin|padding|inset)-(block|inline))$/.test(name)) table.set(name, two(longhands));
    else if (name.startsWith('place-')) table.set(name, places(longhands));
  }
  const border = (longhands) => {
    const base = anyOrder(longhands);
    const [, style] = longhands;
    return { expand: base.expand, collapse: (v) => (longhands.every((name) => v(name) === initial(name)) ? v(style) : base.collapse(v)) };
  };
  for (const side of ['top', 'right', 'bottom', 'left']) table.set(`border-${side}`, border(page.shorthands.get(`border-${side}`)));
  for (const name of ['flex-flow', 'column-rule', '-webkit-text-stroke', 'text-emphasis', 'text-wrap']) table.set(name, anyOrder(page.shorthands.get(name)));
  table.set('outline', border(['outline-color', 'outline-style', 'outline-width']));
  table.set('columns', anyOrder(['column-width', 'column-count']));
  table.set('list-style', {
    expand(text) {
      const found = anyOrder(['list-style-position', 'list-style-image', 'list-style-type']).expand(text);
      return found && text.trim().toLowerCase() === 'none' ? [['list-style-position', 'outside'], ['list-style-image', 'none'], ['list-style-type', 'none']] : found;
    },
    collapse: (v) => {
      const names = ['list-style-position', 'list-style-image', 'list-style-type'];
      if (names.slice(1).every((name) => v(name) === 'none') && v(names[0]) === 'outside') return 'none';
      return names.filter((name) => v(name) !== initial(name)).map(v).join(' ') || 'disc';
    },
  });
  table.set('container', {
    expand(text) {
      const [name, type] = split(text, '/');
      return [['container-name', parseLonghand('container-name', name)], ['container-type', type === undefined ? 'normal' : parseLonghand('container-type', type)]];
    },
    collapse: (v) => (v('container-type') === 'normal' ? v('container-name') : `${v('container-name')} / ${v('container-type')}`),
  });

  const edges = ['width', 'style', 'color'];
  const sides = ['top', 'right', 'bottom', 'left'];
  const images = page.shorthands.get('border-image');
  const group = (names) => ({
    expand(text) {
      const found = table.get('border-top').expand(text);
      return found && found.flatMap(([name, value]) => names.map((side) => [name.replace('top', side), value]));
    },
    collapse(v) {
      const text = (side) => table.get('border-top').collapse((name) => v(name.replace('top', side)));
      const first = text(names[0]);
      return names.every((side) => edges.every((e) => v(`border-${side}-${e}`) === v(`border-${names[0]}-${e}`))) ? first : '';
    },
  });
  table.set('border-inline', group(['left', 'right']));
  table.set('border-block', group(['top', 'bottom']));
  table.set('border', {
    expand(text) {
      const found = group(sides).expand(text);
      return found && [...found, ...images.map((name) => [name, initial(name)])];
    },
    collapse: (v) => (images.every((name) => v(name) === initial(name)) ? group(sides).collapse(v) : ''),
  });
  table.set('border-image', {
    expand(text) {
      const [source, slice, width, outset, repeat] = images;
      const out = new Map(images.map((name) => [name, initial(name)]));
      const [first, second, third] = split(text, '/');
      const slices = [];
      const repeats = [];
      for (const part of [...split(first, ' '), ...split(third ?? second ?? '', ' ').filter((x) => /^(stretch|repeat|round|space)$/.test(x))]) {
        if (parseLonghand(source, part) !== null) out.set(source, parseLonghand(source, part));
        else if (parseLonghand(repeat, part) !== null) repeats.push(part);
        else slices.push(part);
      }
      if (slices.length > 0) out.set(slice, parseLonghand(slice, slices.join(' ')));
      if (repeats.length > 0) out.set(repeat, parseLonghand(repeat, repeats.join(' ')));
      const plain = (x) => split(x, ' ').filter((y) => !/^(stretch|repeat|round|space)$/.test(y)).join(' ');
      if (second && plain(second)) out.set(width, parseLonghand(width, plain(second)));
      if (third && plain(third)) out.set(outset, parseLonghand(outset, plain(third)));
      return [...out];
    },
    collapse: (v) => (v(images[0]) === 'none' ? 'none' : `${v(images[0])} ${v(images[1])} / ${v(images[2])} / ${v(images[3])} ${v(images[4])}`),
  });
  const radii = page.shorthands.get('border-radius');
  table.set('border-radius', {
    expand(text) {
      const [h, w] = split(text, '/').map((x) => split(x, ' '));
      const pick = (list, i) => list[[0, list.length > 1 ? 1 : 0, list.length > 2 ? 2 : 0, list.length > 3 ? 3 : list.length > 1 ? 1 : 0][i]];
      if (!h || h.length === 0 || h.length > 4 || (w && (w.length === 0 || w.length > 4))) return null;
      return radii.map((name, i) => [name, parseLonghand(name, w && pick(w, i) !== pick(h, i) ? `${pick(h, i)} ${pick(w, i)}` : pick(h, i))]);
    },
    collapse(v) {
      const pairs = radii.map((name) => split(v(name), ' '));
      const [h, w] = [shortened(pairs.map((x) => x[0])), shortened(pairs.map((x) => x[1] ?? x[0]))];
      return h === w ? h : `${h} / ${w}`;
    },
  });

  // Backgrounds.
  const positions = (text, axis) => {
    const parts = split(text, ' ');
    const horizontal = /^(left|right)$/i;
    const vertical = /^(top|bottom)$/i;
    if (parts.length === 0 || parts.length > 4) return null;
    if (parts.length <= 2) {
      let [x, y = 'center'] = parts;
      if (vertical.test(x) || horizontal.test(y)) [x, y] = [y, x];
      if (vertical.test(x) || horizontal.test(y)) return null;
      return [parseLonghand(`${axis}-x`, x), parseLonghand(`${axis}-y`, y)];
    }
    let [x, y] = ['center', 'center'];
    for (let i = 0; i < parts.length; i++) {
      const offset = parts[i + 1] !== undefined && !/^[a-z]+$/i.test(parts[i + 1]) ? ` ${parts[i + 1]}` : '';
      if (horizontal.test(parts[i])) x = parts[i] + offset;
      else if (vertical.test(parts[i])) y = parts[i] + offset;
      else if (!/^center$/i.test(parts[i])) return null;
      if (offset) i++;
    }
    return [x, y];
  };
  table.set('background-position', {
    expand(text) {
      const all = split(text, ',').map((x) => positions(x, 'background-position'));
      if (all.includes(null) || all.some((x) => x.includes(null))) return null;
      return [['background-position-x', all.map((x) => x[0]).join(', ')], ['background-position-y', all.map((x) => x[1]).join(', ')]];
    },
    collapse(v) {
      const [x, y] = [split(v('background-position-x'), ','), split(v('background-position-y'), ',')];
      return x.length === y.length ? x.map((at, i) => `${at} ${y[i]}`).join(', ') : '';
    },
  });
  const backgrounds = page.shorthands.get('background');
  const boxes = /^(border-box|padding-box|content-box|text)$/i;
  const background = (text, last) => {
    const out = new Map(backgrounds.map((name) => [name, initial(name)]));
    const seen = new Set();
    const set = (name, value) => {
      if (value === null || seen.has(name)) return false;
      seen.add(name);
      out.set(name, value);
      return true;
    };
    const [before, after] = split(text, '/');
    const position = [];
    const tokens = split(before, ' ');
    if (after !== undefined) {
      const rest = split(after, ' ');
      const size = [rest.shift()];
      if (rest.length > 0 && parseLonghand('background-size', rest[0]) !== null && !/^(cover|contain)$/i.test(size[0])) size.push(rest.shift());
      if (!set('background-size', parseLonghand('background-size', size.join(' ')))) return null;
      tokens.push(...rest);
    }
    for (let i = 0; i < tokens.length; i++) {
      const t = tokens[i];
      if (boxes.test(t)) {
        if (!seen.has('background-origin')) {
          set('background-origin', t.toLowerCase() === 'text' ? 'padding-box' : t.toLowerCase());
          out.set('background-clip', t.toLowerCase());
        } else if (!set('background-clip', t.toLowerCase())) return null;
      } else if (parseLonghand('background-repeat', t) !== null) {
        const pair = tokens[i + 1] !== undefined && parseLonghand('background-repeat', `${t} ${tokens[i + 1]}`);
        if (pair) i++;
        if (!set('background-repeat', pair || parseLonghand('background-repeat', t))) return null;
      } else if (parseLonghand('background-attachment', t) !== null) {
        if (!set('background-attachment', parseLonghand('background-attachment', t))) return null;
      } else if (parseLonghand('background-position-x', t) !== null || parseLonghand('background-position-y', t) !== null) position.push(t);
      else if (parseLonghand('background-image', t) !== null) {
        if (!set('background-image', parseLonghand('background-image', t))) return null;
      } else if (!last || !set('background-color', parseLonghand('background-color', t))) return null;
    }
    if (position.length > 0) {
      const found = positions(position.join(' '), 'background-position');
      if (!found || found.includes(null)) return null;
      out.set('background-position-x', found[0]);
      out.set('background-position-y', found[1]);
    }
    return tokens.length > 0 ? out : null;
  };
  table.set('background', {
    expand(text) {
      const pieces = split(text, ',');
      const all = pieces.map((piece, i) => background(piece, i === pieces.length - 1));
      if (all.includes(null)) return null;
      return backgrounds.map((name) => [name, name === 'background-color' ? all.at(-1).get(name) : all.map((x) => x.get(name)).join(', ')]);
    },
    collapse(v) {
      const lists = new Map(backgrounds.map((name) => [name, split(v(name), ',')]));
      const count = lists.get('background-image').length;
      for (const [name, list] of lists) if (name !== 'background-color' && list.length !== count) return '';
      const out = [];
      for (let i = 0; i < count; i++) {
        const at = (name) => lists.get(`background-${name}`)[i];
        const changed = (name) => at(name) !== initial(`background-${name}`);
        const parts = [];
        if (changed('image')) parts.push(at('image'));
        if (changed('position-x') || changed('position-y') || changed('size')) parts.push(`${at('position-x')} ${at('position-y')}${changed('size') ? ` / ${at('size')}` : ''}`);
        for (const name of ['repeat', 'attachment']) if (changed(name)) parts.push(at(name));
        if (changed('origin') || changed('clip')) parts.push(...(at('origin') === at('clip') ? [at('origin')] : changed('origin') ? [at('origin'), at('clip')] : [at('clip')]));
        if (i === count - 1 && v('background-color') !== initial('background-color') && v('background-color') !== 'transparent') parts.push(v('background-color'));
        out.push(parts.join(' ') || (count === 1 && v('background-color') === 'transparent' ? 'transparent' : 'none'));
      }
      return out.join(', ');
    },
  });

  // Fonts.
  const systemFonts = /^(caption|icon|menu|message-box|small-caption|status-bar)$/i;
  table.set('font', {
    expand(text) {
      const names = page.shorthands.get('font');
      const out = new Map(names.map((name) => [name, initial(name)]));
      if (systemFonts.test(text.trim())) {
        out.set('font-size', '13.3333px');
        out.set('font-family', 'Arial');
        return [...out];
      }
      out.set('font-weight', 'normal');
      out.set('font-stretch', 'normal');
      const parts = split(text, ' ');
      let i = 0;
      for (; i < parts.length; i++) {
        if (/^normal$/i.test(parts[i])) continue;
        const name = ['font-style', 'font-variant-caps', 'font-weight', 'font-stretch'].find((n) => parseLonghand(n, parts[i]) !== null && !/%$/.test(parts[i]));
        if (!name || (name === 'font-variant-caps' && parts[i].toLowerCase() !== 'small-caps')) break;
        let value = parts[i];
        if (name === 'font-style' && /^oblique$/i.test(value) && /^-?[\d.]+(deg|rad|grad|turn)$/i.test(parts[i + 1] ?? '')) value += ` ${parts[++i]}`;
        out.set(name, parseLonghand(name, value));
      }
      const rest = parts.slice(i).join(' ').replace(/\s*\/\s*/, '/');
      const m = /^([^\s/(]+|[a-z]+\([^]*?\)+)(?:\/([^\s(]+|[a-z]+\([^]*?\)+))?\s+([^]+)$/i.exec(rest);
      if (!m) return null;
      out.set('font-size', parseLonghand('font-size', m[1]));
      if (m[2] !== undefined) out.set('line-height', parseLonghand('line-height', m[2]));
      out.set('font-family', parseLonghand('font-family', m[3]));
      return [...out];
    },
    collapse(v) {
      const parts = [];
      if (v('font-style') !== 'normal') parts.push(v('font-style'));
      if (v('font-variant-caps') === 'small-caps') parts.push('small-caps');
      else if (v('font-variant-caps') !== 'normal') return '';
      if (!/^(normal|400)$/.test(v('font-weight'))) parts.push(v('font-weight'));
      if (!/^(normal|100%)$/.test(v('font-stretch'))) {
        if (v('font-stretch').endsWith('%')) return '';
        parts.push(v('font-stretch'));
      }
      parts.push(v('line-height') === 'normal' ? v('font-size') : `${v('font-size')} / ${v('line-height')}`, v('font-family'));
      return parts.join(' ');
    },
  });
  const variants = page.shorthands.get('font-variant');
  table.set('font-variant', {
    expand(text) {
      const out = new Map(variants.map((name) => [name, 'normal']));
      if (/^(normal|none)$/i.test(text.trim())) {
        if (/none/i.test(text)) out.set('font-variant-ligatures', 'none');
        return [...out];
      }
      const kind = { caps: /^(all-)?(small|petite)-caps$|^unicase$|^titling-caps$/, position: /^(sub|super)$/, numeric: /nums$|fractions$|^ordinal$|^slashed-zero$/, 'east-asian': /^(jis|simplified|traditional|full-width|proportional-width|ruby)/, ligatures: /ligatures$|^(no-)?contextual$/ };
      for (const word of split(text.toLowerCase(), ' ')) {
        const found = host.keys(kind).find((k) => kind[k].test(word));
        if (!found) return null;
        const name = `font-variant-${found}`;
        out.set(name, out.get(name) === 'normal' ? word : `${out.get(name)} ${word}`);
      }
      return [...out];
    },
    collapse: (v) => variants.map(v).filter((x) => x !== 'normal').join(' ') || 'normal',
  });

  // Flex and grid.
  table.set('flex', {
    expand(text) {
      const out = (grow, shrink, basis) => [['flex-grow', grow], ['flex-shrink', shrink], ['flex-basis', basis]];
      if (/^none$/i.test(text)) return out('0', '0', 'auto');
      if (/^auto$/i.test(text)) return out('1', '1', 'auto');
      const numbers = [];
      let basis;
      for (const part of split(text, ' ')) {
        const n = parseLonghand('flex-grow', part);
        if (n !== null && numbers.length < 2) numbers.push(n);
        else if (basis === undefined && parseLonghand('flex-basis', part) !== null) basis = parseLonghand('flex-basis', part);
        else return null;
      }
      if (numbers.length === 0 && basis === undefined) return null;
      return out(numbers[0] ?? '1', numbers[1] ?? '1', basis ?? '0%');
    },
    collapse: (v) => `${v('flex-grow')} ${v('flex-shrink')} ${v('flex-basis')}`,
  });
  const lines = (names) => ({
    expand(text) {
      const parts = split(text, '/');
      if (parts.length > names.length) return null;
      const own = (i) => (/^[a-z_-][\w-]*$/i.test(parts[i] ?? '') && !/^(auto|span)$/i.test(parts[i]) ? parts[i] : 'auto');
      const values = parts.length === 4 || names.length === 2 ? [parts[0], parts[1] ?? own(0), parts[2], parts[3]] : [parts[0], parts[1] ?? own(0), parts[2] ?? own(0), parts[3] ?? (parts[1] === undefined ? own(0) : own(1))];
      return names.map((name, i) => [name, parseLonghand(name, values[i])]);
    },
    collapse(v) {
      const values = names.map(v);
      // A part that is what it would be by itself is left out.
      const own = (text) => (/^(auto|span.*|[\d-].*)$/.test(text) ? 'auto' : text);
      if (values.length === 4 && values[3] === own(values[1])) values.pop();
      if (values.length === 3 && values[2] === own(values[0])) values.pop();
      if (values.length === 2 && values[1] === own(values[0])) values.pop();
      return values.join(' / ');
    },
  });
  for (const name of ['grid-row', 'grid-column', 'grid-area']) table.set(name, lines(page.shorthands.get(name)));
  const template = (text) => {
    if (/^none$/i.test(text.trim())) return ['none', 'none', 'none'];
    if (/["']/.test(text)) {
      const [rows, columns = 'none'] = split(text, '/');
      const areas = [];
      const sizes = [];
      for (const part of split(rows, ' ')) {
        if (/^["']/.test(part)) {
          areas.push(`"${part.slice(1, -1)}"`);
          sizes.push('auto');
        } else sizes[sizes.length - 1] = part;
      }
      return [sizes.join(' '), columns, areas.join(' ')];
    }
    const [rows, columns] = split(text, '/');
    return columns === undefined ? null : [rows, columns, 'none'];
  };
  const templates = page.shorthands.get('grid-template');
  const shownTemplate = (v) => {
    if (v(templates[2]) === 'none') return v(templates[0]) === 'none' && v(templates[1]) === 'none' ? 'none' : `${v(templates[0])} / ${v(templates[1])}`;
    const sizes = split(v(templates[0]), ' ');
    const rows = [...v(templates[2]).matchAll(/"[^"]*"/g)].map(([area], i) => (sizes[i] && sizes[i] !== 'auto' ? `${area} ${sizes[i]}` : area)).join(' ');
    return v(templates[1]) === 'none' ? rows : `${rows} / ${v(templates[1])}`;
  };
  table.set('grid-template', {
    expand(text) {
      const found = template(text);
      return found && templates.map((name, i) => [name, parseLonghand(name, found[i])]);
    },
    collapse: shownTemplate,
  });
  table.set('grid', {
    expand(text) {
      const autos = [['grid-auto-rows', 'auto'], ['grid-auto-columns', 'auto'], ['grid-auto-flow', 'row']];
      if (/auto-flow/i.test(text)) {
        const [rows, columns] = split(text, '/');
        const byRows = /auto-flow/i.test(rows);
        const flow = byRows ? rows : (columns ?? '');
        const size = flow.replace(/auto-flow|dense/gi, '').trim() || 'auto';
        const dense = /dense/i.test(flow) ? ' dense' : '';
        return [
          [templates[0], byRows ? 'none' : parseLonghand(templates[0], rows)], [templates[1], byRows ? parseLonghand(templates[1], columns ?? '') : 'none'], [templates[2], 'none'],
          ['grid-auto-rows', byRows ? parseLonghand('grid-auto-rows', size) : 'auto'], ['grid-auto-columns', byRows ? 'auto' : parseLonghand('grid-auto-columns', size)],
          ['grid-auto-flow', byRows ? (dense ? 'dense' : 'row') : `column${dense}`],
        ];
      }
      const found = table.get('grid-template').expand(text);
      return found && [...found, ...autos];
    },
    collapse: (v) => (v('grid-auto-rows') === 'auto' && v('grid-auto-columns') === 'auto' && v('grid-auto-flow') === 'row' ? shownTemplate(v) : ''),
  });

  // Text.
  table.set('text-decoration', {
    expand(text) {
      const names = page.shorthands.get('text-decoration');
      const out = new Map(names.map((name) => [name, initial(name)]));
      const wordsOfLine = [];
      for (const part of split(text, ' ')) {
        if (parseLonghand(names[0], part) !== null) wordsOfLine.push(part.toLowerCase());
        else {
          const name = names.slice(1).find((n) => parseLonghand(n, part) !== null);
          if (!name) return null;
          out.set(name, parseLonghand(name, part));
        }
      }
      if (wordsOfLine.length > 0) out.set(names[0], wordsOfLine.join(' '));
      return [...out];
    },
    collapse: (v) => page.shorthands.get('text-decoration').filter((name) => v(name) !== initial(name)).map(v).join(' ') || 'none',
  });
  const spaces = { normal: ['collapse', 'wrap'], nowrap: ['collapse', 'nowrap'], pre: ['preserve', 'nowrap'], 'pre-wrap': ['preserve', 'wrap'], 'pre-line': ['preserve-breaks', 'wrap'], 'break-spaces': ['break-spaces', 'wrap'] };
  table.set('white-space', {
    expand(text) {
      const key = text.trim().toLowerCase();
      if (Object.hasOwn(spaces, key)) return [['white-space-collapse', spaces[key][0]], ['text-wrap-mode', spaces[key][1]]];
      return anyOrder(['white-space-collapse', 'text-wrap-mode']).expand(text);
    },
    collapse(v) {
      const [a, b] = [v('white-space-collapse'), v('text-wrap-mode')];
      return host.keys(spaces).find((key) => spaces[key][0] === a && spaces[key][1] === b) ?? (b === 'wrap' ? a : `${a} ${b}`);
    },
  });
  table.set('transition', layers(page.shorthands.get('transition'), (pairs) => {
    const [behavior, duration, timing, delay, property] = pairs;
    const parts = notInitial([property, duration, timing, delay, behavior]);
    if (delay[1] !== '0s' && duration[1] === '0s') parts.splice(property[1] === 'all' ? 0 : 1, 0, '0s');
    return parts.join(' ') || 'all';
  }));
  table.set('animation', layers(page.shorthands.get('animation'), (pairs) => {
    return pairs.map(([, value]) => value).join(' ');
  }));
  table.set('mask', {
    expand(text) {
      const names = page.shorthands.get('mask');
      const out = new Map(names.map((name) => [name, initial(name)]));
      const image = split(text, ',').map((layer) => split(layer, ' ').find((part) => parseLonghand('mask-image', part) !== null) ?? 'none');
      out.set('mask-image', image.map((x) => parseLonghand('mask-image', x)).join(', '));
      return [...out];
    },
    collapse: (v) => v('mask-image'),
  });

  // The longhands of a declaration with their values; null when the value is not taken. A
  // value with var() is kept whole for each longhand, as {shorthand, text}.
  page.expand = (name, text) => {
    const longhands = page.shorthands.get(name);
    const value = text.trim();
    if (!longhands) {
      const parsed = parseLonghand(name, value);
      return parsed === null ? null : [[name, parsed]];
    }
    if (value === '') return null;
    if (page.wideKeywords.test(value)) return all(longhands, value.toLowerCase());
    if (/\bvar\(/i.test(value)) return all(longhands, { shorthand: name, text: value });
    const found = table.get(name)?.expand(value) ?? null;
    return found && found.every(([, x]) => x !== null && x !== undefined && !page.wideKeywords.test(x)) ? found : null;
  };
  // The text of a shorthand, or '' when its longhands cannot be put so. `get` gives the value of each.
  page.collapse = (name, get) => {
    const longhands = page.shorthands.get(name);
    const values = longhands.map(get);
    if (values.some((x) => x === undefined || x === '')) return '';
    if (typeof values[0] === 'object') return values.every((x) => x === values[0] || (x.shorthand === name && x.text === values[0].text)) && values[0].shorthand === name ? values[0].text : '';
    if (values.some((x) => typeof x === 'object' || /\bvar\(/.test(x))) return '';
    if (values.some((x) => page.wideKeywords.test(x))) return values.every((x) => x === values[0]) ? values[0] : '';
    return table.get(name)?.collapse(get) ?? '';
  };
  // The same of computed values, where some shorthands are written in full.
  page.collapseComputed = (name, get) => {
    const side = /^border(-top|-right|-bottom|-left|-inline|-block)?$/.exec(name);
    const full = (...parts) => parts.map(get).join(' ');
    if (side) {
      if (page.collapse(name, get) === '') return '';
      const at = { '-inline': '-left', '-block': '-top' }[side[1]] ?? side[1] ?? '-top';
      const width = get(`border${at}-width`);
      const style = get(`border${at}-style`);
      return style === 'none' || width === '3px' ? full(...edges.map((e) => `border${at}-${e}`)) : `${width} ${style} ${get(`border${at}-color`)}`;
    }
    if (name === 'outline' || name === 'list-style' || name === 'flex-flow') return full(...page.shorthands.get(name));
    if (name === 'text-decoration') return table.get(name).collapse((x) => (x === 'text-decoration-color' && get(x) === get('color') ? 'currentcolor' : get(x)));
    if (name === 'background') {
      const lists = new Map(backgrounds.map((x) => [x.slice(11), split(get(x), ',')]));
      const count = lists.get('image').length;
      const at = (x, i) => lists.get(x)[i % lists.get(x).length];
      return lists.get('image').map((image, i) => {
        const color = i < count - 1 ? '' : `${get('background-color')} `;
        return `${color}${image} ${at('repeat', i)} ${at('attachment', i)} ${at('position-x', i)} ${at('position-y', i)} / ${at('size', i)} ${at('origin', i)} ${at('clip', i)}`;
      }).join(', ');
    }
    if (name === 'animation') {
      const names = page.shorthands.get('animation');
      const lists = names.map((x) => split(get(x), ','));
      return lists.at(-1).map((_, i) => {
        const parts = names.map((x, j) => [x, lists[j][i % lists[j].length]]);
        const delayed = parts[2][1] !== '0s';
        return parts.filter(([x, v], j) => !(v === initial(x) || (j === 0 && v === '0s' && !delayed))).map(([, v]) => v).join(' ') || 'none';
      }).join(', ');
    }
    return page.collapse(name, get);
  };
})
