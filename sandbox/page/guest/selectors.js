// Selectors: matches, closest, querySelector and querySelectorAll by one engine, instead of the DOM's own, which knows too few
// and takes wrong ones.
// Source: Selectors 4; CSS Syntax 3 for names and escapes; HTML standard, 4.16, for what forms and links match.
(function (host) {
  'use strict';
  const { document } = host.page;
  const { PropertySymbol } = host.dom;
  const g = globalThis;
  const maxDepth = 32; // of selectors in selectors

  class Invalid extends Error {}

  // Parsing. A selector list is an array of complex selectors; one of these is an array of { combinator, parts }, the subject last.
  const nameStart = /[a-z_\u0080-\uffff]/i;
  const nameChar = /[\w\u0080-\uffff-]/;
  class Parser {
    constructor(text) {
      this.text = text;
      this.at = 0;
      this.depth = 0;
    }

    get c() {
      return this.text[this.at];
    }

    // space passes white space and comments, and reports whether there was white space: a comment alone parts nothing.
    space() {
      let found = false;
      for (;;) {
        this.comments();
        if (!/[ \t\n\r\f]/.test(this.c ?? '')) return found;
        found = true;
        this.at++;
      }
    }

    comments() {
      while (this.c === '/' && this.text[this.at + 1] === '*') {
        const end = this.text.indexOf('*/', this.at + 2);
        this.at = end < 0 ? this.text.length : end + 2;
      }
    }

    escape() {
      this.at++; // the backslash
      const hex = /^[\da-f]{1,6}/i.exec(this.text.slice(this.at, this.at + 6))?.[0];
      if (!hex) {
        if (this.c === undefined) return '\ufffd';
        if (this.c === '\n') throw new Invalid();
        const point = String.fromCodePoint(this.text.codePointAt(this.at));
        this.at += point.length;
        return point;
      }
      this.at += hex.length;
      if (/[ \t\n\r\f]/.test(this.c ?? '')) this.at++;
      const code = parseInt(hex, 16);
      return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code);
    }

    name(any) {
      let out = '';
      const begins = () => nameStart.test(this.c ?? '') || (this.c === '\\' && this.text[this.at + 1] !== '\n');
      if (!any) {
        if (this.c === '-') {
          out = '-';
          this.at++;
          if (this.c === '-') {
            out += '-';
            this.at++;
          } else if (!begins()) throw new Invalid();
        } else if (!begins()) throw new Invalid();
      }
      for (;;) {
        if (this.c === '\\') out += this.escape();
        else if (this.c !== undefined && nameChar.test(this.c)) out += this.text[this.at++];
        else if (out === '') throw new Invalid();
        else return out;
      }
    }

    string() {
      const quote = this.text[this.at++];
      let out = '';
      for (;;) {
        const c = this.c;
        if (c === undefined || c === quote) {
          this.at++;
          return out;
        }
        if (c === '\n') throw new Invalid();
        if (c === '\\' && this.text[this.at + 1] === '\n') this.at += 2;
        else if (c === '\\') out += this.escape();
        else {
          out += c;
          this.at++;
        }
      }
    }

    // list reads selectors up to end, or the end of the text, which closes everything. A forgiving one leaves out what is wrong.
    list(end, { relative = false, forgiving = false } = {}) {
      if (++this.depth > maxDepth) throw new Invalid();
      const out = [];
      const { depth } = this;
      for (;;) {
        this.space();
        const from = this.at;
        try {
          out.push(this.complex(end, relative));
          this.space();
          if (this.c !== ',' && this.c !== end && this.c !== undefined) throw new Invalid();
        } catch (e) {
          if (!forgiving || !(e instanceof Invalid)) throw e;
          this.depth = depth;
          this.at = from;
          this.argument();
        }
        if (this.c === ',') {
          this.at++;
          continue;
        }
        this.depth--;
        return out;
      }
    }

    // argument passes one argument of a function, whatever is in it.
    argument() {
      const open = [];
      for (; this.c !== undefined; this.at++) {
        const { c } = this;
        if (c === '\\') this.at++;
        else if (c === '"' || c === "'") {
          this.string();
          this.at--;
        } else if (c === '(' || c === '[') open.push(c === '(' ? ')' : ']');
        else if (open.length === 0 && (c === ',' || c === ')')) return;
        else if (c === open.at(-1)) open.pop();
      }
    }

    complex(end, relative) {
      const out = [];
      let combinator = relative ? ' ' : null;
      this.space();
      if (relative && /[>+~]/.test(this.c ?? '')) {
        combinator = this.text[this.at++];
        this.space();
      }
      for (;;) {
        const parts = this.compound();
        out.push({ combinator, parts });
        const gap = this.space();
        if (this.c === undefined || this.c === end || this.c === ',') return out;
        if (parts.some((p) => p.kind === 'never')) throw new Invalid(); // pseudo-elements have nothing in or beside them
        if (/[>+~]/.test(this.c)) {
          combinator = this.text[this.at++];
          this.space();
        } else if (gap) combinator = ' ';
        else throw new Invalid();
      }
    }

    compound() {
      const parts = [];
      const from = this.at;
      if (this.c === '*' || this.c === '|' || nameStart.test(this.c ?? '') || this.c === '\\' || this.c === '-') {
        let name = this.c === '|' ? '' : this.c === '*' ? (this.at++, '*') : this.name();
        if (this.c === '|' && this.text[this.at + 1] !== '=') {
          if (name !== '*' && name !== '') throw new Invalid(); // a namespace that nobody declared
          if (name === '') parts.push({ kind: 'bare' });
          this.at++;
          name = this.c === '*' ? (this.at++, '*') : this.name();
        }
        if (name !== '*') parts.push({ kind: 'type', name, lower: name.toLowerCase() });
      }
      for (;;) {
        if (this.at > from) this.comments();
        const { c } = this;
        if (/[#.[&]/.test(c ?? '') && parts.at(-1)?.kind === 'never') throw new Invalid();
        if (c === '#') {
          this.at++;
          parts.push({ kind: 'id', name: this.name(false) });
        } else if (c === '.') {
          this.at++;
          parts.push({ kind: 'class', name: this.name() });
        } else if (c === '&') {
          this.at++;
          parts.push({ kind: 'plain', test: plain.scope });
        } else if (c === '[') parts.push(this.attribute());
        else if (c === ':') parts.push(this.pseudo());
        else if (this.at === from) throw new Invalid();
        else return parts;
      }
    }

    attribute() {
      this.at++;
      this.space();
      const anywhere = this.c === '*' && this.text[this.at + 1] === '|';
      if (anywhere) this.at += 2;
      const name = this.name();
      this.space();
      const part = { kind: 'attribute', anywhere, name, lower: name.toLowerCase(), test: '' };
      if (this.c !== ']' && this.c !== undefined) {
        const test = /^[~|^$*]?=/.exec(this.text.slice(this.at, this.at + 2))?.[0];
        if (!test) throw new Invalid();
        this.at += test.length;
        this.space();
        part.test = test;
        part.value = this.c === '"' || this.c === "'" ? this.string() : this.name();
        this.space();
        if (/[isIS]/.test(this.c ?? '')) part.flag = this.text[this.at++].toLowerCase();
        this.space();
      }
      if (this.c !== ']' && this.c !== undefined) throw new Invalid();
      this.at++;
      return part;
    }

    pseudo() {
      this.at++;
      if (this.c === ':') {
        this.at++;
        const name = this.name().toLowerCase();
        if (!elements.test(name)) throw new Invalid();
        if (this.c === '(') this.text[this.at] && this.skip();
        return { kind: 'never' };
      }
      const name = this.name().toLowerCase();
      if (this.c !== '(') {
        if (/^(before|after|first-line|first-letter)$/.test(name)) return { kind: 'never' };
        if (name === 'host') return { kind: 'host', list: null };
        if (!Object.hasOwn(plain, name)) throw new Invalid();
        return { kind: 'plain', test: plain[name] };
      }
      this.at++;
      const part = this.call(name);
      this.space();
      if (this.c !== ')' && this.c !== undefined) throw new Invalid();
      this.at++;
      return part;
    }

    skip() {
      let deep = 0;
      do {
        if (this.c === '(') deep++;
        else if (this.c === ')') deep--;
        this.at++;
      } while (deep > 0 && this.at < this.text.length);
    }

    call(name) {
      switch (name) {
        case 'is':
        case 'where':
        case '-webkit-any':
          return { kind: 'is', list: this.list(')', { forgiving: true }) };
        case 'not':
          return { kind: 'not', list: this.list(')') };
        case 'has': {
          if (this.having) throw new Invalid();
          this.having = true;
          try {
            return { kind: 'has', list: this.list(')', { relative: true }) };
          } finally {
            this.having = false;
          }
        }
        case 'nth-child':
        case 'nth-last-child':
        case 'nth-of-type':
        case 'nth-last-of-type': {
          const part = { kind: 'nth', ofType: name.endsWith('type'), last: name.includes('last'), ...this.nth() };
          if (!part.ofType && /^of\b/i.test(this.text.slice(this.at, this.at + 3))) {
            this.at += 2;
            part.list = this.list(')');
          }
          return part;
        }
        case 'lang': {
          const langs = [];
          do {
            this.space();
            if (this.c === ',') this.at++;
            this.space();
            langs.push((this.c === '"' || this.c === "'" ? this.string() : this.name()).toLowerCase());
            this.space();
          } while (this.c === ',');
          return { kind: 'lang', langs };
        }
        case 'dir': {
          this.space();
          return { kind: 'dir', dir: this.name().toLowerCase() };
        }
        case 'host':
        case 'host-context': {
          this.space();
          const parts = this.compound();
          return { kind: 'host', list: [[{ combinator: null, parts }]], around: name === 'host-context' };
        }
        case 'state':
        case 'active-view-transition-type':
          this.at--;
          this.skip();
          this.at--;
          return { kind: 'never' };
      }
      throw new Invalid();
    }

    nth() {
      this.space();
      const m = /^(even|odd|([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|[+-]?\d+)(?=[\s)]|$)/i.exec(this.text.slice(this.at));
      if (!m) throw new Invalid();
      this.at += m[0].length;
      this.space();
      const word = m[1].toLowerCase();
      if (word === 'even') return { a: 2, b: 0 };
      if (word === 'odd') return { a: 2, b: 1 };
      if (!/n/.test(word)) return { a: 0, b: +word };
      const a = m[2] === '' || m[2] === '+' ? 1 : m[2] === '-' ? -1 : +m[2];
      return { a, b: m[4] ? +`${m[3]}${m[4]}` : 0 };
    }
  }
  const elements = /^(before|after|first-line|first-letter|selection|marker|placeholder|backdrop|cue|part|slotted|file-selector-button|target-text|spelling-error|grammar-error|highlight|details-content|view-transition.*|scroll-.*|-webkit-.*)$/;

  // What elements are.
  const kids = (node) => node[PropertySymbol.elementArray] ?? [...node.children];
  const parentOf = (el) => el.parentNode;
  const siblings = (el) => (el.parentNode ? kids(el.parentNode) : [el]);
  const isHTML = (el) => el.namespaceURI === 'http://www.w3.org/1999/xhtml';
  const local = (el) => el.localName;
  const index = (list, el) => list.indexOf(el);
  const form = /^(button|input|select|textarea|optgroup|option|fieldset)$/;
  const disabled = (el) => {
    if (!form.test(local(el)) && !el.constructor.formAssociated) return false;
    if (el.hasAttribute('disabled')) return true;
    if (local(el) === 'option') return local(el.parentElement ?? el) === 'optgroup' && el.parentElement.hasAttribute('disabled');
    if (local(el) === 'optgroup') return false;
    for (let at = el.parentElement, below = el; at; below = at, at = at.parentElement) {
      if (local(at) !== 'fieldset' || !at.hasAttribute('disabled')) continue;
      if (kids(at).find((k) => local(k) === 'legend') !== below || local(below) !== 'legend') return true;
    }
    return false;
  };
  const texts = /^(text|search|url|tel|email|password|date|month|week|time|datetime-local|number)$/;
  const editable = (el) => {
    if (local(el) === 'textarea' || (local(el) === 'input' && texts.test(el.type))) return !el.hasAttribute('readonly') && !disabled(el);
    for (let at = el; at; at = at.parentElement) {
      const v = at.getAttribute('contenteditable');
      if (v !== null) return v.toLowerCase() !== 'false';
    }
    return false;
  };
  const validated = (el) => /^(input|select|textarea|button|form|fieldset|output|object)$/.test(local(el));
  const candidate = (el) => (/^(form|fieldset)$/.test(local(el)) ? true : el.willValidate);
  const isValid = (el) => {
    if (/^(form|fieldset)$/.test(local(el))) return ![...el.elements].some((e) => e.willValidate && !e.validity.valid);
    return el.validity.valid;
  };
  const ranged = (el) => local(el) === 'input' && /^(number|range|date|month|week|time|datetime-local)$/.test(el.type) && (el.hasAttribute('min') || el.hasAttribute('max') || el.type === 'range') && el.willValidate;
  const first = (el) => index(siblings(el), el) === 0;
  const last = (el) => siblings(el).at(-1) === el;
  const alike = (el) => siblings(el).filter((s) => s.localName === el.localName && s.namespaceURI === el.namespaceURI);
  const link = (el) => /^(a|area)$/.test(local(el)) && (el.hasAttribute('href') || (!isHTML(el) && el.hasAttribute('xlink:href')));
  const focused = () => document.activeElement;
  const contains = (el, node) => !!node && (el === node || el.contains(node));
  const optional = /^(input|select|textarea)$/;
  const defaultButton = (el) => {
    const owner = el.form;
    return !!owner && [...owner.elements].find((e) => (local(e) === 'button' && e.type === 'submit') || (local(e) === 'input' && /^(submit|image)$/.test(e.type))) === el;
  };
  const plain = {
    root: (el) => el === el.ownerDocument?.documentElement,
    scope: (el, scope) => (scope.nodeType === 1 ? el === scope : el === (scope.documentElement ?? null)),
    empty: (el) => ![...el.childNodes].some((n) => n.nodeType === 1 || ((n.nodeType === 3 || n.nodeType === 4) && n.data !== '')),
    'first-child': first,
    'last-child': last,
    'only-child': (el) => first(el) && last(el),
    'first-of-type': (el) => alike(el)[0] === el,
    'last-of-type': (el) => alike(el).at(-1) === el,
    'only-of-type': (el) => alike(el).length === 1,
    link,
    'any-link': link,
    '-webkit-any-link': link,
    visited: () => false,
    'local-link': () => false,
    target: (el) => el.id !== '' && `#${el.id}` === decodeURIComponent(g.location?.hash ?? ''),
    'target-within': (el) => plain.target(el) || [...el.querySelectorAll('[id]')].some(plain.target),
    hover: () => false,
    active: () => false,
    focus: (el) => el === focused() && el !== document.body,
    'focus-visible': (el) => el === focused() && el !== document.body,
    'focus-within': (el) => focused() !== document.body && contains(el, focused()),
    enabled: (el) => form.test(local(el)) && !disabled(el),
    disabled,
    checked: (el) => (local(el) === 'input' ? /^(checkbox|radio)$/.test(el.type) && el.checked : local(el) === 'option' && el.selected),
    indeterminate: (el) => {
      if (local(el) === 'progress') return !el.hasAttribute('value');
      if (local(el) !== 'input') return false;
      if (el.type === 'checkbox') return el.indeterminate;
      if (el.type !== 'radio' || el.checked) return false;
      const group = el.name && el.form ? [...el.form.elements] : [...(el.getRootNode().querySelectorAll?.('input[type=radio i]') ?? [])];
      return !group.some((r) => local(r) === 'input' && r.type === 'radio' && r.name === el.name && r.form === el.form && r.checked);
    },
    default: (el) => (local(el) === 'option' ? el.hasAttribute('selected') : local(el) === 'input' && /^(checkbox|radio)$/.test(el.type) ? el.hasAttribute('checked') : /^(button|input)$/.test(local(el)) && defaultButton(el)),
    required: (el) => optional.test(local(el)) && el.hasAttribute('required') && !/^(hidden|range|color|submit|image|reset|button)$/.test(el.type),
    optional: (el) => optional.test(local(el)) && !plain.required(el),
    'read-write': editable,
    'read-only': (el) => isHTML(el) && !editable(el),
    'placeholder-shown': (el) => (local(el) === 'textarea' || (local(el) === 'input' && /^(text|search|url|tel|email|password|number)$/.test(el.type))) && el.hasAttribute('placeholder') && el.getAttribute('placeholder') !== '' && el.value === '',
    valid: (el) => validated(el) && candidate(el) && isValid(el),
    invalid: (el) => validated(el) && candidate(el) && !isValid(el),
    'user-valid': () => false,
    'user-invalid': () => false,
    'in-range': (el) => ranged(el) && !el.validity.rangeUnderflow && !el.validity.rangeOverflow,
    'out-of-range': (el) => ranged(el) && (el.validity.rangeUnderflow || el.validity.rangeOverflow),
    blank: () => false,
    defined: (el) => !isHTML(el) || !el.localName.includes('-') || g.customElements.get(el.localName) !== undefined,
    open: (el) => /^(details|dialog)$/.test(local(el)) && el.hasAttribute('open'),
    closed: (el) => /^(details|dialog)$/.test(local(el)) && !el.hasAttribute('open'),
    modal: (el) => local(el) === 'dialog' && !!el.hasAttribute('open') && !!el._modal,
    'popover-open': (el) => el.hasAttribute('popover') && !!el._open,
    fullscreen: (el) => el === document.fullscreenElement,
    'picture-in-picture': () => false,
    paused: (el) => /^(audio|video)$/.test(local(el)) && el.paused !== false,
    playing: (el) => /^(audio|video)$/.test(local(el)) && el.paused === false,
    muted: (el) => /^(audio|video)$/.test(local(el)) && !!el.muted,
    autofill: () => false,
    '-webkit-autofill': () => false,
    current: () => false,
    past: () => false,
    future: () => false,
    'active-view-transition': () => false,
  };
  // Values of attributes that HTML compares without case.
  const caseless = new Set('accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink'.split(' '));
  const attribute = (el, part) => {
    const html = isHTML(el);
    let have = el.getAttribute(html ? part.lower : part.name);
    if (have === null && (part.anywhere || !html)) {
      // In a document of HTML the names of other vocabularies match without case, as viewBox does.
      const called = (a) => (part.anywhere ? a.name.slice(a.name.indexOf(':') + 1) : a.name).toLowerCase() === part.lower;
      have = [...el.attributes].find(called)?.value ?? null;
    }
    if (have === null) return false;
    if (part.test === '') return true;
    let want = part.value;
    if (part.flag === 'i' || (part.flag !== 's' && html && caseless.has(part.lower))) {
      have = have.toLowerCase();
      want = want.toLowerCase();
    }
    switch (part.test) {
      case '=':
        return have === want;
      case '~=':
        return want !== '' && !/\s/.test(want) && have.split(/[ \t\n\r\f]+/).includes(want);
      case '|=':
        return have === want || have.startsWith(`${want}-`);
      case '^=':
        return want !== '' && have.startsWith(want);
      case '$=':
        return want !== '' && have.endsWith(want);
      default:
        return want !== '' && have.includes(want);
    }
  };
  const language = (el) => {
    for (let at = el; at; at = at.parentElement) {
      const v = at.getAttribute('lang') ?? at.getAttribute('xml:lang');
      if (v !== null) return v.toLowerCase();
    }
    return '';
  };
  const direction = (el) => {
    for (let at = el; at; at = at.parentElement) {
      const v = at.getAttribute('dir')?.toLowerCase();
      if (v === 'ltr' || v === 'rtl') return v;
      if (v === 'auto' || (local(at) === 'bdi' && v === undefined)) {
        const strong = /\p{L}/u.exec(/^(input|textarea)$/.test(local(at)) ? at.value : at.textContent)?.[0] ?? '';
        return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(strong) ? 'rtl' : 'ltr';
      }
    }
    return 'ltr';
  };
  const has = (el, list, scope) => list.some((complex) => {
    const rest = complex[0];
    const pool = rest.combinator === '>' ? kids(el) : rest.combinator === ' ' ? [...all(el)] : siblings(el).slice(index(siblings(el), el) + 1);
    if (complex.length === 1) {
      return (rest.combinator === '+' ? pool.slice(0, 1) : pool).some((e) => compound(e, rest.parts, scope));
    }
    const wide = rest.combinator === ' ' || rest.combinator === '>' ? all(el) : pool.flatMap((e) => [e, ...all(e)]);
    for (const e of wide) if (complete(e, complex, complex.length - 1, scope, el)) return true;
    return false;
  });
  const part = (el, p, scope) => {
    switch (p.kind) {
      case 'type':
        return el.localName === p.lower || (!isHTML(el) && el.localName.toLowerCase() === p.lower);
      case 'bare':
        return el.namespaceURI === null;
      case 'id':
        return el.id === p.name;
      case 'class':
        return el.classList.contains(p.name);
      case 'attribute':
        return attribute(el, p);
      case 'plain':
        return p.test(el, scope);
      case 'is':
        return some(el, p.list, scope);
      case 'not':
        return !some(el, p.list, scope);
      case 'has':
        return has(el, p.list, scope);
      case 'nth': {
        let list = p.ofType ? alike(el) : siblings(el);
        if (p.list) {
          if (!some(el, p.list, scope)) return false;
          list = list.filter((s) => some(s, p.list, scope));
        }
        const at = p.last ? list.length - list.indexOf(el) : list.indexOf(el) + 1;
        const n = at - p.b;
        return p.a === 0 ? n === 0 : n % p.a === 0 && n / p.a >= 0;
      }
      case 'lang': {
        const have = language(el);
        return p.langs.some((l) => have !== '' && (l === '*' || have === l || have.startsWith(`${l}-`)));
      }
      case 'dir':
        return direction(el) === p.dir;
    }
    return false; // pseudo-elements
  };
  const compound = (el, parts, scope) => {
    for (const p of parts) if (!part(el, p, scope)) return false;
    return true;
  };
  // hosts reports whether the element that a shadow tree hangs on is what a part asks for: seen from the tree it is nothing but :host.
  const hosts = (el, p) => {
    if (p.kind === 'is') return p.list.some((complex) => complex.length === 1 && complex[0].parts.every((q) => hosts(el, q)));
    if (p.kind !== 'host') return false;
    if (!p.list) return true;
    for (let at = el; at; at = p.around ? at.parentElement : null) if (some(at, p.list, el)) return true;
    return false;
  };
  // complete reports whether el is what place i of a complex selector says, with all that stands before; anchor is what a relative
  // one begins at.
  const complete = (el, complex, i, scope, anchor) => {
    if (!compound(el, complex[i].parts, scope)) return false;
    const { combinator } = complex[i];
    if (i === 0 && combinator === null) return true;
    const before = (e) => {
      if (i === 0) return e === anchor;
      if (e.nodeType === 1) return complete(e, complex, i - 1, scope, anchor);
      return i === 1 && !!e.host && complex[0].parts.every((p) => hosts(e.host, p));
    };
    if (combinator === '>' || combinator === ' ') {
      for (let at = parentOf(el); at; at = parentOf(at)) {
        if (before(at)) return true;
        if (combinator === '>') return false;
      }
      return false;
    }
    const list = siblings(el);
    for (let at = index(list, el) - 1; at >= 0; at--) {
      if (before(list[at])) return true;
      if (combinator === '+') return false;
    }
    return false;
  };
  const some = (el, list, scope) => list.some((complex) => complete(el, complex, complex.length - 1, scope, null));
  const all = function* (root) {
    for (const el of kids(root)) {
      yield el;
      yield* all(el);
    }
  };

  const parsed = new Map();
  const kinds = { 1: 'Element', 9: 'Document', 11: 'DocumentFragment' };
  const parse = (node, text, method) => {
    text = host.str(text);
    let list = parsed.get(text);
    if (!list) {
      try {
        const p = new Parser(text);
        list = p.list(undefined);
      } catch (e) {
        if (!(e instanceof Invalid)) throw e;
        throw new g.DOMException(`Failed to execute '${method}' on '${kinds[node.nodeType]}': '${text.slice(0, 200)}' is not a valid selector.`, 'SyntaxError');
      }
      if (parsed.size > 2000) parsed.clear();
      parsed.set(text, list);
    }
    return list;
  };
  const single = (list) => (list.length === 1 && list[0].length === 1 && list[0][0].parts.length === 1 ? list[0][0].parts[0] : null);
  const find = function* (root, list) {
    const only = single(list);
    for (const el of all(root)) if (only ? part(el, only, root) : some(el, list, root)) yield el;
  };
  const needs = (node, args, method) => {
    if (args.length === 0) throw new TypeError(`Failed to execute '${method}' on '${kinds[node.nodeType]}': 1 argument required, but only 0 present.`);
  };
  const define = (proto, name, value) => {
    let at = proto;
    while (at && !Object.hasOwn(at, name)) at = Object.getPrototypeOf(at);
    Object.defineProperty(at ?? proto, name, { value, writable: true, configurable: true, enumerable: false });
  };
  const nodeList = (found) => new g.NodeList(PropertySymbol.illegalConstructor, [...found]);
  for (const proto of [g.Element.prototype, g.Document.prototype, g.DocumentFragment.prototype]) {
    define(proto, 'querySelectorAll', function querySelectorAll(selector) {
      needs(this, arguments, 'querySelectorAll');
      return nodeList(find(this, parse(this, selector, 'querySelectorAll')));
    });
    define(proto, 'querySelector', function querySelector(selector) {
      needs(this, arguments, 'querySelector');
      const list = parse(this, selector, 'querySelector');
      const only = single(list);
      if (only?.kind === 'id' && this.nodeType === 9) return this.getElementById(only.name);
      for (const el of find(this, list)) return el;
      return null;
    });
  }
  define(g.Element.prototype, 'matches', function matches(selector) {
    needs(this, arguments, 'matches');
    return some(this, parse(this, selector, 'matches'), this);
  });
  define(g.Element.prototype, 'webkitMatchesSelector', function webkitMatchesSelector(selector) {
    return this.matches(selector);
  });
  define(g.Element.prototype, 'closest', function closest(selector) {
    needs(this, arguments, 'closest');
    const list = parse(this, selector, 'closest');
    for (let at = this; at && at.nodeType === 1; at = at.parentNode) if (some(at, list, this)) return at;
    return null;
  });
})
