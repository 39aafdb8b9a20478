// The style rules of the page: read from the text of its sheets, as long as no script has changed them, else from the CSSOM.
// Source: CSS Syntax 3, Selectors 4 for specificity.
(function (host) {
  'use strict';
  const { document, css } = host.page;
  const { color } = css;
  const g = globalThis;

  // Declarations of a text, in order: names, values and importance. Strings, comments and brackets are respected.
  const declarations = (text) => {
    const out = [];
    let name = '';
    let value = '';
    let seen = false; // the colon
    let deep = 0;
    const push = () => {
      const m = /^([\s\S]*?)\s*(!\s*important\s*)?$/i.exec(value.trim());
      name = name.trim();
      if (name && seen) out.push({ name: name.startsWith('--') ? name : name.toLowerCase(), value: m[1], important: !!m[2] });
      name = value = '';
      seen = false;
    };
    for (let i = 0; i < text.length; i++) {
      let part = text[i];
      if (part === '/' && text[i + 1] === '*') {
        const end = text.indexOf('*/', i + 2);
        i = end < 0 ? text.length : end + 1;
        continue;
      }
      if (part === '\\') part = text.slice(i, ++i + 1);
      else if (part === '"' || part === "'") {
        let end = i + 1;
        while (end < text.length && text[end] !== part) end += text[end] === '\\' ? 2 : 1;
        part = text.slice(i, end + 1);
        i = end;
      } else if (/[([{]/.test(part)) deep++;
      else if (/[)\]}]/.test(part)) deep--;
      else if (part === ';' && deep <= 0) {
        push();
        continue;
      } else if (part === ':' && !seen) {
        seen = true;
        continue;
      }
      if (seen) value += part;
      else name += part;
    }
    push();
    return out;
  };

  // Specificity as one number that compares; Infinity for what is no selector.
  const specificity = (selector) => {
    let ids = 0;
    let classes = 0;
    let types = 0;
    let text = selector.replace(/\\./g, 'x').replace(/"[^"]*"|'[^']*'/g, '');
    // Those of :is(), :not() and :has() count like their strongest argument, :where() like nothing.
    for (let i = 0; i < 20; i++) {
      const m = /:(is|not|has|where|matches|nth-child|nth-last-child)\(([^()]*)\)/i.exec(text);
      if (!m) break;
      let inside = m[2];
      const kind = m[1].toLowerCase();
      if (kind.startsWith('nth')) {
        classes++;
        inside = /\bof\b(.*)$/i.exec(inside)?.[1] ?? '';
      }
      if (kind !== 'where' && inside.trim()) {
        const best = Math.max(...inside.split(',').map(specificity));
        ids += Math.floor(best / 1e6);
        classes += Math.floor(best / 1e3) % 1e3;
        types += best % 1e3;
      }
      text = text.slice(0, m.index) + text.slice(m.index + m[0].length);
    }
    text = text.replace(/::[\w-]+(\([^)]*\))?/g, () => (types++, ' '));
    text = text.replace(/:[\w-]+(\([^)]*\))?/g, () => (classes++, ' '));
    text = text.replace(/\[[^\]]*\]/g, () => (classes++, ' '));
    text = text.replace(/\.[\w-\u0080-\uffff]+/g, () => (classes++, ' '));
    text = text.replace(/#[\w-\u0080-\uffff]+/g, () => (ids++, ' '));
    types += (text.match(/(^|[\s>+~|])[a-z][\w-]*/gi) ?? []).length;
    return Math.min(ids, 999) * 1e6 + Math.min(classes, 999) * 1e3 + Math.min(types, 999);
  };
  const selectors = (text) => {
    const list = [];
    let deep = 0;
    let from = 0;
    for (let i = 0; i <= text.length; i++) {
      const c = text[i];
      if (c === '(' || c === '[') deep++;
      else if (c === ')' || c === ']') deep--;
      else if ((c === ',' && deep === 0) || i === text.length) {
        list.push(text.slice(from, i).trim());
        from = i + 1;
      }
    }
    return list.filter(Boolean);
  };

  // The rules of the page, as they are now.
  const parsed = new WeakMap(); // a rule by its object: what its text was and what that says
  const ruleOf = (rule) => {
    const before = parsed.get(rule);
    const css = rule.style?.cssText ?? '';
    if (before && before.css === css && before.selector === rule.selectorText) return before;
    const body = /\{([\s\S]*)\}\s*$/.exec(rule.cssText ?? '');
    const made = {
      css, selector: rule.selectorText, declarations: declarations(body && css === '' ? body[1] : css),
      selectors: selectors(rule.selectorText ?? '').filter((s) => !unnamed.test(s))
        .map((text) => ({ text, weight: specificity(text) })),
    };
    parsed.set(rule, made);
    return made;
  };
  // The DOM forgets what it does not understand of a sheet, so rules are read from its text, as long as no script has changed it.
  const texts = new WeakMap();
  const unnamed = /::?(before|after|first-line|first-letter|placeholder|selection|marker|backdrop|file-selector-button|-webkit|-moz)/i;
  const scan = (text, put, depth = 0) => {
    if (depth > 30) return;
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (c === '/' && text[i + 1] === '*') {
        const end = text.indexOf('*/', i + 2);
        text = text.slice(0, i) + ' ' + (end < 0 ? '' : text.slice(end + 2));
      } else if (c === '\\') i++;
      else if (c === '"' || c === "'") {
        let end = i + 1;
        while (end < text.length && text[end] !== c && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
        i = end;
      } else if (c === ';' || c === '}') from = i + 1; // @import, or a brace too many
      else if (c === '{') {
        let deep = 1;
        let end = i + 1;
        for (; end < text.length && deep > 0; end++) {
          const d = text[end];
          if (d === '\\') end++;
          else if (d === '"' || d === "'") {
            let close = end + 1;
            while (close < text.length && text[close] !== d && text[close] !== '\n') close += text[close] === '\\' ? 2 : 1;
            end = close;
          } else if (d === '{') deep++;
          else if (d === '}') deep--;
        }
        const head = text.slice(from, i).trim();
        const body = text.slice(i + 1, deep > 0 ? end : end - 1);
        if (!head.startsWith('@')) put(head, body);
        else if (holds(head)) scan(body, put, depth + 1);
        from = end;
        i = end - 1;
      }
    }
  };
  // holds reports whether what a rule is about is the case: conditions, and layers, which count as if they were not there.
  const holds = (head) => {
    const [, name, condition] = /^@([\w-]+)\s*([\s\S]*)$/.exec(head) ?? [];
    if (name === 'media') return g.matchMedia(condition).matches;
    if (name === 'supports') return !/^not\b/i.test(condition);
    return name === 'layer' || name === 'scope';
  };
  const made = new Map(); // by head and body
  const ruleFrom = (head, body) => {
    const key = `${head}{${body}`;
    let rule = made.get(key);
    if (rule) return rule;
    rule = { declarations: declarations(body), selectors: selectors(head).filter((s) => !unnamed.test(s)).map((text) => ({ text, weight: specificity(text) })) };
    if (made.size > 20000) made.clear();
    made.set(key, rule);
    return rule;
  };
  const each = (rules, f, depth = 0) => {
    if (depth > 30) return;
    for (const rule of rules) {
      if (rule.selectorText !== undefined && rule.style) f(rule);
      else if (rule.cssRules) {
        const condition = rule.media?.mediaText ?? (rule.constructor.name === 'CSSMediaRule' ? rule.conditionText : undefined);
        if (condition === undefined || condition === '' || g.matchMedia(condition).matches) each(rule.cssRules, f, depth + 1);
      }
    }
  };
  const rulesOf = (sheet, list) => {
    const text = texts.get(sheet);
    if (text === undefined) each(sheet.cssRules, (rule) => list.push(ruleOf(rule)));
    else scan(text, (head, body) => list.push(ruleFrom(head, body)));
  };
  const rules = () => {
    const list = [];
    for (const sheet of document.styleSheets) {
      try {
        const media = sheet.ownerNode?.media || sheet.media?.mediaText;
        if (sheet.disabled || (media && !g.matchMedia(media).matches)) continue;
        rulesOf(sheet, list);
      } catch {}
    }
    for (const sheet of document.adoptedStyleSheets ?? []) rulesOf(sheet, list);
    return list;
  };
  const matches = (el, selector) => {
    try {
      return el.matches(selector);
    } catch {
      return false;
    }
  };
  // What browsers would not take at all. Not everything wrong is found: colours and lengths are.
  const words = /^(inherit|initial|unset|revert|revert-layer)$/i;
  const measured = /^(width|height|(min|max)-(width|height)|margin-.*|padding-.*|top|right|bottom|left|font-size|border-.*-width|letter-spacing|word-spacing|text-indent)$/;
  const valid = (name, value) => {
    if (value === '') return name.startsWith('--');
    if (name.startsWith('--') || /var\(|env\(/.test(value) || words.test(value)) return true;
    if (/(^|-)color$/.test(name) && name !== 'color-scheme') return /^currentcolor$/i.test(value) || color(value) !== value || /^(rgb|rgba)\(\d+, \d+, \d+/.test(value) || /^(color|color-mix|lab|lch|oklab|oklch|hwb|light-dark)\(/i.test(value) || value === 'auto';
    if (measured.test(name)) return !/^[+-]?(\d+\.?\d*|\.\d+)$/.test(value) || +value === 0;
    return true;
  };
  // What was looked up counts until something changes: a tree, an attribute, a sheet or the state of a field.
  const { PropertySymbol } = host.dom;
  let version = 0; // of all
  let sheetVersion = 0; // of what scripts did to sheets and their rules
  const counted = (cls, kind, names, count) => {
    for (const name of names) {
      let proto = cls?.prototype;
      while (proto && !Object.hasOwn(proto, name)) proto = Object.getPrototypeOf(proto);
      const d = proto && host.descriptor(proto, name);
      const f = d?.[kind];
      if (typeof f !== 'function') continue;
      Object.defineProperty(proto, name, {
        ...d,
        [kind](...args) {
          count(this, args);
          return host.apply(f, this, args);
        },
      });
    }
  };
  const any = () => version++;
  const sheet = (it) => {
    version++;
    sheetVersion++;
    texts.delete(it);
  };
  const style = (it) => (it.parentRule ? sheet(it.parentRule.parentStyleSheet) : any());
  const whole = (it, [text]) => {
    sheet(it);
    texts.set(it, host.str(text ?? ''));
  };
  counted(g.Node, 'value', [PropertySymbol.clearCache], any);
  counted(g.HTMLElement, 'value', ['focus', 'blur'], any);
  counted(g.HTMLInputElement, 'set', ['checked', 'value', 'indeterminate'], any);
  counted(g.HTMLOptionElement, 'set', ['selected'], any);
  counted(g.HTMLSelectElement, 'set', ['selectedIndex', 'value'], any);
  counted(g.HTMLTextAreaElement, 'set', ['value'], any);
  counted(g.CSSStyleDeclaration, 'value', ['setProperty', 'removeProperty'], style);
  counted(g.CSSStyleDeclaration, 'set', ['cssText'], style);
  counted(g.CSSStyleSheet, 'value', ['insertRule', 'deleteRule', 'addRule', 'removeRule'], sheet);
  counted(g.CSSStyleSheet, 'value', ['replaceSync', 'replace'], whole);
  counted(g.CSSStyleSheet, 'set', ['disabled'], () => (version++, sheetVersion++));
  counted(g.Document, 'set', ['adoptedStyleSheets'], () => (version++, sheetVersion++));
  // The rules stay as they were read, as long as the sheets are the same and hold the same.
  let known = [];
  let held = [];
  const sheets = () => {
    const list = [sheetVersion, g.innerWidth, g.innerHeight];
    for (const s of document.styleSheets) {
      try {
        const { cssRules } = s;
        list.push(s, cssRules.length, cssRules[0], cssRules[cssRules.length - 1], s.ownerNode?.media);
      } catch {}
    }
    return list;
  };
  const rulesNow = () => {
    const list = sheets();
    if (list.length !== held.length || list.some((x, i) => x !== held[i])) {
      held = list;
      known = rules();
    }
    return known;
  };

  Object.assign(css, { declarations, matches, valid, rules: rulesNow, version: () => version });
})
