// Style sheets: their text taken apart, and the rules that scripts see and change.
// Source: CSS Syntax 3, CSSOM 6, CSS Nesting, CSS Cascade 5.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { document } = page;
  const g = globalThis;
  const maxDepth = 32; // rules in rules

  // Whatever changes what styles say.
  page.styleVersion = 0;
  page.styleChanged = () => {
    page.styleVersion++;
    page.version++;
  };

  // Where the next of the wanted signs stands at the top level; the text's end when there is none.
  const skip = /"(?:[^"\\\n]|\\[^])*["\n]?|'(?:[^'\\\n]|\\[^])*['\n]?|url\(\s*[^"'\s)][^)]*\)|\\[^]|[^"'\\{}();[\]u]+|u/iy;
  // A closing bracket closes only its own kind: what a bracket opened goes on until that comes.
  const closer = { '{': '}', '(': ')', '[': ']' };
  const seek = (text, from, wanted) => {
    const open = [];
    for (let i = from; i < text.length; ) {
      skip.lastIndex = i;
      if (skip.test(text)) {
        i = skip.lastIndex;
        continue;
      }
      const c = text[i];
      if (open.length === 0 && wanted.includes(c)) return i;
      if (c in closer) open.push(closer[c]);
      else if (c === open.at(-1)) open.pop();
      i++;
    }
    return text.length;
  };
  // The pieces of a block: ['declarations', text], ['rule', prelude, body] and ['statement', text].
  const pieces = (text, declarations) => {
    const out = [];
    let pending = '';
    const flush = () => {
      if (pending.trim() !== '') out.push(['declarations', pending]);
      pending = '';
    };
    for (let at = 0; at < text.length; ) {
      const to = seek(text, at, '{;');
      const head = text.slice(at, to);
      if (text[to] === '{') {
        const close = seek(text, to + 1, '}');
        const prelude = head.trim();
        if (declarations && /^--[\w-]*\s*:/.test(prelude)) {
          const end = seek(text, close + 1, ';');
          pending += `${text.slice(at, end)};`;
          at = end + 1;
          continue;
        }
        flush();
        out.push(['rule', prelude, text.slice(to + 1, close)]);
        at = close + 1;
      } else {
        const t = head.trim();
        if (t.startsWith('@')) {
          flush();
          out.push(['statement', t]);
        } else if (declarations && t !== '') pending += `${t};`;
        at = to + 1;
      }
    }
    flush();
    return out;
  };

  // Lists that scripts see.
  const list = (cls, items) =>
    new Proxy(Object.create(cls.prototype), {
      get(target, key) {
        const all = items();
        if (key === 'length') return all.length;
        if (key === 'item') return (i) => all[i] ?? null;
        if (key === Symbol.iterator) return () => all[Symbol.iterator]();
        return typeof key === 'string' && /^\d+$/.test(key) ? all[key] : target[key];
      },
      has: (target, key) => (typeof key === 'string' && /^\d+$/.test(key) ? +key < items().length : key in target),
      ownKeys: () => items().map((_, i) => host.str(i)),
      getOwnPropertyDescriptor(target, key) {
        const value = typeof key === 'string' && /^\d+$/.test(key) ? items()[key] : undefined;
        return value && { value, writable: false, enumerable: true, configurable: true };
      },
    });
  class CSSRuleList {}
  class StyleSheetList {}
  class MediaList {
    #owner;
    constructor(owner) {
      this.#owner = owner;
    }
    get mediaText() {
      return page.mediaText(this.#owner.text);
    }
    set mediaText(text) {
      this.#owner.text = host.str(text ?? '');
      page.styleChanged();
    }
    get length() {
      return this.#all().length;
    }
    #all() {
      return this.mediaText === '' ? [] : this.mediaText.split(', ');
    }
    item(i) {
      return this.#all()[i] ?? null;
    }
    appendMedium(text) {
      this.mediaText = [...this.#all().filter((x) => x !== text), text].join(', ');
    }
    deleteMedium(text) {
      this.mediaText = this.#all().filter((x) => x !== text).join(', ');
    }
    toString() {
      return this.mediaText;
    }
    [Symbol.iterator]() {
      return this.#all()[Symbol.iterator]();
    }
  }

  class CSSRule {
    constructor(parent, sheet) {
      Object.defineProperty(this, '_', { value: { parent, sheet } });
    }
    get parentRule() {
      return this._.parent;
    }
    get parentStyleSheet() {
      return this._.sheet;
    }
    get type() {
      return this.constructor.number ?? 0;
    }
    _changed() {
      page.styleChanged();
    }
  }
  // Rules that hold rules.
  class CSSGroupingRule extends CSSRule {
    get _rules() {
      return (this._.rules ??= parseRules(this._.body ?? '', this, this._.sheet, this._.nested ?? false, (this._.depth ?? 0) + 1));
    }
    get cssRules() {
      return (this._.list ??= list(CSSRuleList, () => this._rules));
    }
    insertRule(text, at = 0) {
      return insert(this._rules, host.str(text), at, this, this._.sheet, this.constructor.name);
    }
    deleteRule(at) {
      removeAt(this._rules, at, this.constructor.name);
    }
    _block() {
      const all = this._rules;
      return all.length === 0 ? '{\n}' : `{\n${all.map((r) => `  ${r.cssText}\n`).join('')}}`;
    }
  }
  class CSSStyleRule extends CSSGroupingRule {
    static number = 1;
    // The list of selectors, with & standing for the list of the rule around.
    get _selectors() {
      if (this._.selectors === undefined) {
        let around = this._.parent;
        while (around && !(around instanceof CSSStyleRule)) around = around._.parent;
        this._.selectors = page.parseSelector(this._.prelude, around ? around._selectors ?? [] : undefined);
      }
      return this._.selectors;
    }
    get selectorText() {
      return selectorText(this._.prelude);
    }
    set selectorText(text) {
      if (!page.parseSelector(host.str(text))) return;
      this._.prelude = host.str(text);
      this._.selectors = undefined;
      this._changed();
    }
    // The declarations in front of any rule inside.
    get _own() {
      if (!this._.split) {
        this._.split = true;
        const found = /[{@]/.test(this._.body) ? pieces(this._.body, true) : this._.body.trim() === '' ? [] : [['declarations', this._.body]];
        const first = found[0]?.[0] === 'declarations' ? found.shift()[1] : '';
        this._.block = page.parseBlock(first);
        this._.rules = build(found, this, this._.sheet, true, (this._.depth ?? 0) + 1);
      }
      return this._.block;
    }
    get _rules() {
      void this._own;
      return this._.rules;
    }
    get style() {
      return (this._.style ??= page.declaration({ rule: this, block: this._own }));
    }
    set style(text) {
      this.style.cssText = text;
    }
    get _declarations() {
      return this._.style ? page.declarationBlock(this._.style) : this._own;
    }
    get cssText() {
      const text = page.blockText(this._declarations);
      if (this._rules.length === 0) return `${this.selectorText} { ${text}${text ? ' ' : ''}}`;
      return `${this.selectorText} {\n${text ? `  ${text}\n` : ''}${this._rules.map((r) => `  ${r.cssText}\n`).join('')}}`;
    }
  }
  const selectorText = (text) =>
    page.withoutComments(text, '').trim().replace(/("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|\\[^]|\s*([>+~,])\s*|\s+|::?(?:before|after|first-line|first-letter)\b/gi, (all, quoted, sign, offset, whole) => {
      if (quoted) return `"${quoted.slice(1, -1)}"`;
      if (all[0] === '\\') return all;
      if (all[0] === ':') return `::${all.replace(/:/g, '').toLowerCase()}`;
      if (sign === undefined) return ' ';
      if (sign === ',') return ', ';
      const before = whole.slice(0, offset);
      return /\([^)]*n\s*$/i.test(before) && sign === '+' ? '+' : sign === '~' && whole[offset + all.length] === '=' ? '~' : before === '' ? `${sign} ` : ` ${sign} `;
    });
  // Declarations that stand behind a rule inside another.
  class CSSNestedDeclarations extends CSSRule {
    get _declarations() {
      return (this._.block ??= page.parseBlock(this._.body));
    }
    get style() {
      return (this._.style ??= page.declaration({ rule: this, block: this._declarations }));
    }
    get cssText() {
      return page.blockText(this._declarations);
    }
  }
  class CSSConditionRule extends CSSGroupingRule {
    get conditionText() {
      return this._.condition;
    }
    get cssText() {
      return `@${this._.at} ${this.conditionText} ${this._block()}`;
    }
  }
  class CSSMediaRule extends CSSConditionRule {
    static number = 4;
    get media() {
      const { _ } = this;
      return (_.media ??= new MediaList({
        get text() {
          return _.condition;
        },
        set text(text) {
          _.condition = text;
        },
      }));
    }
    get conditionText() {
      return page.mediaText(this._.condition);
    }
    get matches() {
      return this._applies;
    }
    get _applies() {
      return page.mediaMatches(this._.condition);
    }
  }
  class CSSSupportsRule extends CSSConditionRule {
    static number = 12;
    get matches() {
      return this._applies;
    }
    get _applies() {
      return page.supports(this._.condition);
    }
  }
  class CSSContainerRule extends CSSConditionRule {
    get containerName() {
      return /^(?!not\b)[\w-]+(?=\s)/.exec(this._.condition)?.[0] ?? '';
    }
    get containerQuery() {
      return this._.condition.slice(this.containerName.length).trim();
    }
    get _applies() {
      return page.containerMatches(this._.condition);
    }
  }
  class CSSLayerBlockRule extends CSSGroupingRule {
    get name() {
      return this._.condition;
    }
    get cssText() {
      return `@layer ${this.name}${this.name ? ' ' : ''}${this._block()}`;
    }
  }
  class CSSScopeRule extends CSSGroupingRule {
    get start() {
      return /^\(([^]*?)\)(?:\s*to\b|$)/.exec(this._.condition)?.[1] ?? null;
    }
    get end() {
      return /\bto\s*\(([^]*)\)$/.exec(this._.condition)?.[1] ?? null;
    }
    get cssText() {
      return `@scope${this._.condition ? ` ${this._.condition}` : ''} ${this._block()}`;
    }
  }
  class CSSStartingStyleRule extends CSSGroupingRule {
    get _applies() {
      return false;
    }
    get cssText() {
      return `@starting-style ${this._block()}`;
    }
  }
  class CSSLayerStatementRule extends CSSRule {
    get nameList() {
      return this._.condition.split(',').map((x) => x.trim());
    }
    get cssText() {
      return `@layer ${this.nameList.join(', ')};`;
    }
  }
  class CSSImportRule extends CSSRule {
    static number = 3;
    get href() {
      return this._.href;
    }
    get layerName() {
      return this._.layer;
    }
    get supportsText() {
      return this._.supports;
    }
    get media() {
      return (this._.media ??= new MediaList({ text: this._.mediaText }));
    }
    get styleSheet() {
      if (this._.imported === undefined) this._.imported = load(this);
      return this._.imported;
    }
    get _applies() {
      return page.mediaMatches(this.media.mediaText) && (this._.supports === null || page.supports(`(${this._.supports})`));
    }
    get cssText() {
      return `@import url("${this.href}")${this._.mediaText ? ` ${page.mediaText(this._.mediaText)}` : ''};`;
    }
  }
  class CSSNamespaceRule extends CSSRule {
    static number = 10;
    get cssText() {
      return `@namespace ${this._.condition};`;
    }
  }
  // Rules that only hold declarations.
  class Declares extends CSSRule {
    get style() {
      return (this._.style ??= page.declaration({ rule: this, block: page.parseBlock(this._.body) }));
    }
    get cssText() {
      const text = this.style.cssText;
      return `@${this._.at}${this._.condition ? ` ${this._.condition}` : ''} { ${text}${text ? ' ' : ''}}`;
    }
  }
  class CSSFontFaceRule extends Declares {
    static number = 5;
    get style() {
      const values = new Map(page.parseRaw(this._.body));
      return { getPropertyValue: (name) => values.get(name) ?? '', cssText: [...values].map(([n, v]) => `${n}: ${v};`).join(' '), fontFamily: values.get('font-family') ?? '', src: values.get('src') ?? '' };
    }
  }
  class CSSPageRule extends Declares {
    static number = 6;
    get selectorText() {
      return this._.condition;
    }
  }
  class CSSCounterStyleRule extends Declares {
    static number = 11;
    get name() {
      return this._.condition;
    }
  }
  class CSSPropertyRule extends CSSRule {
    get name() {
      return this._.condition;
    }
    get _values() {
      return (this._.values ??= new Map(page.parseRaw(this._.body)));
    }
    get syntax() {
      return (this._values.get('syntax') ?? '').replace(/^["']|["']$/g, '');
    }
    get inherits() {
      return this._values.get('inherits') === 'true';
    }
    get initialValue() {
      return this._values.get('initial-value') ?? null;
    }
    get cssText() {
      return `@property ${this.name} { ${[...this._values].map(([n, v]) => `${n}: ${v};`).join(' ')} }`;
    }
  }
  class CSSKeyframeRule extends CSSRule {
    static number = 8;
    get keyText() {
      return this._.keys;
    }
    set keyText(text) {
      this._.keys = host.str(text);
    }
    get style() {
      return (this._.style ??= page.declaration({ rule: this, block: page.parseBlock(this._.body) }));
    }
    get cssText() {
      const text = this.style.cssText;
      return `${this.keyText} { ${text}${text ? ' ' : ''}}`;
    }
  }
  const keyText = (text) => text.split(',').map((x) => ({ from: '0%', to: '100%' })[x.trim().toLowerCase()] ?? x.trim()).join(', ');
  class CSSKeyframesRule extends CSSRule {
    static number = 7;
    get _frames() {
      return (this._.frames ??= pieces(this._.body, false).filter((x) => x[0] === 'rule').map((x) => frame(this, x)));
    }
    get name() {
      return this._.condition;
    }
    set name(text) {
      this._.condition = host.str(text);
    }
    get cssRules() {
      return (this._.list ??= list(CSSRuleList, () => this._frames));
    }
    get length() {
      return this._frames.length;
    }
    appendRule(text) {
      this._frames.push(...pieces(host.str(text), false).filter((x) => x[0] === 'rule').map((x) => frame(this, x)));
    }
    findRule(key) {
      return this._frames.findLast((x) => x.keyText === keyText(host.str(key))) ?? null;
    }
    deleteRule(key) {
      const found = this._frames.indexOf(this.findRule(key));
      if (found >= 0) this._frames.splice(found, 1);
    }
    get cssText() {
      return `@keyframes ${this.name} { \n${this._frames.map((f) => `  ${f.cssText}\n`).join('')}}`;
    }
  }
  const frame = (parent, [, keys, body]) => make(CSSKeyframeRule, parent, parent._.sheet, { keys: keyText(keys), body });
  page.parseRaw = (text) => page.splitCSS(page.withoutComments(text), ';').filter((x) => x.includes(':')).map((x) => [x.slice(0, x.indexOf(':')).trim().toLowerCase(), x.slice(x.indexOf(':') + 1).trim()]);

  const make = (cls, parent, sheet, members) => {
    const rule = new cls(parent, sheet);
    Object.assign(rule._, members);
    return rule;
  };
  const blocks = {
    media: CSSMediaRule, supports: CSSSupportsRule, container: CSSContainerRule, layer: CSSLayerBlockRule, scope: CSSScopeRule, 'starting-style': CSSStartingStyleRule,
    'font-face': CSSFontFaceRule, page: CSSPageRule, 'counter-style': CSSCounterStyleRule, property: CSSPropertyRule, keyframes: CSSKeyframesRule, '-webkit-keyframes': CSSKeyframesRule,
  };
  const build = (found, parent, sheet, nested, depth) => {
    const out = [];
    let imported = true; // imports come first
    if (depth > maxDepth) return out;
    for (const [kind, head, body] of found) {
      if (kind === 'declarations') {
        if (nested) out.push(make(CSSNestedDeclarations, parent, sheet, { body: head }));
        continue;
      }
      const at = /^@([\w-]+)\s*([^]*)$/.exec(head);
      if (kind === 'rule' || !/^@(charset|layer|import)\b/i.test(head)) imported = false;
      if (!at) {
        if (kind !== 'rule') continue;
        const rule = make(CSSStyleRule, parent, sheet, { prelude: head, body, depth });
        if (head !== '' && rule._selectors) out.push(rule);
        continue;
      }
      const name = at[1].toLowerCase();
      const condition = at[2].trim();
      if (kind === 'statement') {
        if (name === 'layer' && condition) out.push(make(CSSLayerStatementRule, parent, sheet, { condition }));
        else if (name === 'namespace') out.push(make(CSSNamespaceRule, parent, sheet, { condition }));
        else if (name === 'import' && parent === null && imported) {
          const rule = imports(condition, sheet);
          if (rule) out.push(rule);
        }
      } else if (Object.hasOwn(blocks, name)) out.push(make(blocks[name], parent, sheet, { at: name.replace('-webkit-', ''), condition, body, depth, nested }));
    }
    return out;
  };
  const parseRules = (text, parent, sheet, nested, depth = 0) => build(pieces(text, nested), parent, sheet, nested, depth);
  const imports = (condition, sheet) => {
    const m = /^(?:url\(\s*(?:"([^"]*)"|'([^']*)'|([^)\s]*))\s*\)|"([^"]*)"|'([^']*)')\s*([^]*)$/i.exec(condition);
    if (!m) return null;
    let rest = m[6];
    const layer = /^layer(?:\(([^)]*)\))?(?=\s|$)/i.exec(rest);
    if (layer) rest = rest.slice(layer[0].length).trim();
    const supports = /^supports\(([^]*?)\)(?=\s|$)/i.exec(rest);
    if (supports) rest = rest.slice(supports[0].length).trim();
    return make(CSSImportRule, null, sheet, {
      href: m[1] ?? m[2] ?? m[3] ?? m[4] ?? m[5], layer: layer ? (layer[1] ?? '').trim() : null, supports: supports?.[1] ?? null, mediaText: rest,
    });
  };
  const maxImports = 8; // sheets in sheets
  const load = (rule) => {
    let level = 0;
    for (let s = rule._.sheet; s?.ownerRule; s = s.ownerRule._.sheet) level++;
    if (level >= maxImports) return null;
    let url;
    try {
      url = new URL(rule.href, rule._.sheet.href ?? document.baseURI).href;
    } catch {
      return null;
    }
    const found = page.read(url, 'stylesheet');
    if (found.error || found.status !== 200) return null;
    const sheet = new CSSStyleSheet();
    sheet._.text = found.text ?? '';
    sheet._.href = url;
    sheet._.ownerRule = rule;
    return sheet;
  };
  const insert = (rules, text, at, parent, sheet, kind) => {
    const found = parseRules(page.withoutComments(text), parent, sheet, parent instanceof CSSStyleRule);
    if (found.length !== 1) throw new DOMException(`Failed to execute 'insertRule' on '${kind}': Failed to parse the rule '${text}'.`, 'SyntaxError');
    at = at >>> 0;
    if (at > rules.length) throw new DOMException(`Failed to execute 'insertRule' on '${kind}': The index provided (${at}) is larger than the maximum index (${rules.length}).`, 'IndexSizeError');
    rules.splice(at, 0, found[0]);
    page.styleChanged();
    return at;
  };
  const removeAt = (rules, at, kind) => {
    at = at >>> 0;
    if (at >= rules.length) throw new DOMException(`Failed to execute 'deleteRule' on '${kind}': The index provided (${at}) is larger than the maximum index (${rules.length - 1}).`, 'IndexSizeError');
    rules.splice(at, 1);
    page.styleChanged();
  };

  class StyleSheet {
    constructor() {
      Object.defineProperty(this, '_', { value: { text: '', rules: null, disabled: false, owner: null, href: null, ownerRule: null, media: { text: '' } } });
    }
    get type() {
      return 'text/css';
    }
    get href() {
      return this._.href;
    }
    get ownerNode() {
      return this._.owner;
    }
    get parentStyleSheet() {
      return this._.ownerRule?._.sheet ?? null;
    }
    get title() {
      return this._.owner?.getAttribute('title') || null;
    }
    get media() {
      return (this._.mediaList ??= new MediaList(this._.media));
    }
    get disabled() {
      return this._.disabled;
    }
    set disabled(value) {
      this._.disabled = Boolean(value);
      page.styleChanged();
    }
  }
  class CSSStyleSheet extends StyleSheet {
    constructor(options = {}) {
      super();
      if (options.disabled) this._.disabled = true;
      if (options.media) this._.media.text = host.str(options.media);
      // happy-dom makes the sheets of elements, whose rules scripts may not replace.
      this._.constructed = !page.makesSheet;
    }
    get _rules() {
      return (this._.rules ??= parseRules(page.withoutComments(this._.text).replace(/<!--|-->/g, ' '), null, this, false));
    }
    get ownerRule() {
      return this._.ownerRule;
    }
    get cssRules() {
      return (this._.list ??= list(CSSRuleList, () => this._rules));
    }
    get rules() {
      return this.cssRules;
    }
    insertRule(text, at = 0) {
      if (arguments.length === 0) throw new TypeError("Failed to execute 'insertRule' on 'CSSStyleSheet': 1 argument required, but only 0 present.");
      return insert(this._rules, host.str(text), at, null, this, 'CSSStyleSheet');
    }
    deleteRule(at) {
      removeAt(this._rules, at, 'CSSStyleSheet');
    }
    addRule(selector = 'undefined', style = 'undefined', at = this._rules.length) {
      this.insertRule(`${selector} { ${style} }`, at);
      return -1;
    }
    removeRule(at = 0) {
      this.deleteRule(at);
    }
    async replace(text) {
      this.replaceSync(text);
      return this;
    }
    replaceSync(text) {
      this._.text = host.str(text);
      this._.rules = null;
      page.styleChanged();
    }
  }
  for (const [name, cls] of Object.entries({
    CSSRule, CSSRuleList, CSSGroupingRule, CSSStyleRule, CSSNestedDeclarations, CSSConditionRule, CSSMediaRule, CSSSupportsRule, CSSContainerRule, CSSLayerBlockRule,
    CSSLayerStatementRule, CSSScopeRule, CSSStartingStyleRule, CSSImportRule, CSSNamespaceRule, CSSFontFaceRule, CSSPageRule, CSSCounterStyleRule, CSSPropertyRule,
    CSSKeyframeRule, CSSKeyframesRule, MediaList, StyleSheet, StyleSheetList, CSSStyleSheet,
  })) {
    host.tag(cls, name);
    host.define(name, cls);
    if (name in page.window) page.window[name] = cls;
  }
  const numbers = { STYLE_RULE: 1, CHARSET_RULE: 2, IMPORT_RULE: 3, MEDIA_RULE: 4, FONT_FACE_RULE: 5, PAGE_RULE: 6, KEYFRAMES_RULE: 7, KEYFRAME_RULE: 8, MARGIN_RULE: 9, NAMESPACE_RULE: 10, COUNTER_STYLE_RULE: 11, SUPPORTS_RULE: 12 };
  for (const on of [CSSRule, CSSRule.prototype]) for (const [name, value] of Object.entries(numbers)) Object.defineProperty(on, name, { value, enumerable: true });
  page.rules = { CSSStyleRule, CSSNestedDeclarations, CSSLayerBlockRule, CSSLayerStatementRule, CSSImportRule, CSSPropertyRule, CSSScopeRule, CSSGroupingRule };

  // The sheets of elements. A sheet knows its element, and is read when it is first needed.
  const style = g.HTMLStyleElement.prototype;
  Object.defineProperty(host.owner('sheet', style), 'sheet', {
    get() {
      if (!this[P.isConnected] || !/^(|text\/css)$/i.test(this.getAttribute('type') ?? '')) return null;
      if (!this[P.sheet]) {
        const sheet = (this[P.sheet] = new CSSStyleSheet());
        Object.assign(sheet._, { owner: this, text: this.textContent, constructed: false });
        sheet._.media = { get text() { return sheet._.owner.getAttribute('media') ?? ''; }, set text(text) { sheet._.owner.setAttribute('media', text); } };
      }
      return this[P.sheet];
    },
    configurable: true,
    enumerable: true,
  });
  const docs = host.owner(P.clearComputedStyleCache, g.Document.prototype);
  const clear = docs[P.clearComputedStyleCache];
  docs[P.clearComputedStyleCache] = function () {
    page.styleChanged();
    host.apply(clear, this, []);
  };
  Object.defineProperty(style, 'disabled', {
    get() {
      return this.sheet?.disabled ?? false;
    },
    set(value) {
      if (this.sheet) this.sheet.disabled = value;
    },
    configurable: true,
    enumerable: true,
  });
  page.sheetsOf = (root) => {
    const out = [];
    for (const el of root.querySelectorAll('style, link')) {
      if (el[P.localName] === 'link' && (!/(^|\s)stylesheet(\s|$)/i.test(el.getAttribute('rel') ?? '') || el.hasAttribute('disabled'))) continue;
      if (el.sheet) out.push(el.sheet);
    }
    return out;
  };
  for (const cls of [g.Document, g.ShadowRoot]) {
    const made = new WeakMap();
    Object.defineProperty(cls === g.Document ? host.owner('styleSheets', cls.prototype) : cls.prototype, 'styleSheets', {
      get() {
        if (!made.has(this)) made.set(this, list(StyleSheetList, () => page.sheetsOf(this)));
        return made.get(this);
      },
      configurable: true,
      enumerable: true,
    });
  }
})
