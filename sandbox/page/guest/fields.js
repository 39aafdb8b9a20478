// What fields hold: the value of each type of input, cleaned as the standard cleans it, as a number and
// as a date; choices of selects and of radio buttons.
// Source: HTML standard, 2.3.5, 4.10.5, 4.10.7, 4.10.10.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { forms, attribute } = page;
  const g = globalThis;
  const { owner } = host;
  const define = (on, name, get, set) => Object.defineProperty(on, name, { get, set, configurable: true, enumerable: true });
  const method = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: true });
  const touched = () => {
    page.version++; // :checked and its kin ask again
  };
  const invalid = (text) => {
    throw new DOMException(text, 'InvalidStateError');
  };

  // Numbers and dates as text.
  const float = /^-?(?:\d+|\d*\.\d+)(?:[eE][+-]?\d+)?$/;
  const two = (n, width = 2) => host.str(n).padStart(width, '0');
  const day = 86_400_000;
  const dateOf = (y, m, d) => {
    const t = new Date(0);
    t.setUTCFullYear(y, m - 1, d);
    return t.getUTCFullYear() === y && t.getUTCMonth() === m - 1 && t.getUTCDate() === d && y > 0 ? t.getTime() : NaN;
  };
  const monday = (year) => {
    const first = dateOf(year, 1, 4);
    return first - ((new Date(first).getUTCDay() + 6) % 7) * day; // of the week with the fourth of January
  };
  const weeksIn = (year) => Math.round((monday(year + 1) - monday(year)) / (7 * day));
  const clock = (text) => {
    const m = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?$/.exec(text);
    if (!m || +m[1] > 23 || +m[2] > 59 || +(m[3] ?? 0) > 59) return NaN;
    return +m[1] * 3_600_000 + +m[2] * 60_000 + +(m[3] ?? 0) * 1000 + +(m[4] ?? '0').padEnd(3, '0');
  };
  const clockText = (ms) => {
    const t = ((ms % day) + day) % day;
    const [h, m, s, rest] = [Math.floor(t / 3_600_000), Math.floor(t / 60_000) % 60, Math.floor(t / 1000) % 60, t % 1000];
    return `${two(h)}:${two(m)}${s || rest ? `:${two(s)}` : ''}${rest ? `.${two(rest, 3).replace(/0+$/, '')}` : ''}`;
  };
  const dateText = (ms) => {
    const t = new Date(ms);
    return `${two(t.getUTCFullYear(), 4)}-${two(t.getUTCMonth() + 1)}-${two(t.getUTCDate())}`;
  };
  // For each type with numbers: text to number (NaN when it is none) and back, default step, and what a step is in numbers.
  const numeric = {
    number: { parse: (t) => (float.test(t) ? +t : NaN), text: host.str, step: 1, scale: 1 },
    range: { parse: (t) => (float.test(t) ? +t : NaN), text: host.str, step: 1, scale: 1 },
    date: {
      parse: (t) => {
        const m = /^(\d{4,})-(\d{2})-(\d{2})$/.exec(t);
        return m ? dateOf(+m[1], +m[2], +m[3]) : NaN;
      }, text: dateText, step: 1, scale: day,
    },
    month: {
      parse: (t) => {
        const m = /^(\d{4,})-(\d{2})$/.exec(t);
        return m && +m[2] >= 1 && +m[2] <= 12 && +m[1] > 0 ? (+m[1] - 1970) * 12 + +m[2] - 1 : NaN;
      }, text: (n) => `${two(1970 + Math.floor(n / 12), 4)}-${two((((n % 12) + 12) % 12) + 1)}`, step: 1, scale: 1,
    },
    week: {
      parse: (t) => {
        const m = /^(\d{4,})-W(\d{2})$/.exec(t);
        return m && +m[1] > 0 && +m[2] >= 1 && +m[2] <= weeksIn(+m[1]) ? monday(+m[1]) + (+m[2] - 1) * 7 * day : NaN;
      },
      text: (ms) => {
        const thursday = new Date(ms + ((4 - ((new Date(ms).getUTCDay() + 6) % 7) - 1) * day));
        const year = thursday.getUTCFullYear();
        return `${two(year, 4)}-W${two(Math.floor((thursday.getTime() - monday(year)) / (7 * day)) + 1)}`;
      }, step: 1, scale: 7 * day, base: -259_200_000,
    },
    time: { parse: clock, text: clockText, step: 60, scale: 1000 },
    'datetime-local': {
      parse: (t) => {
        const m = /^(\d{4,}-\d{2}-\d{2})[T ](.+)$/.exec(t);
        return m ? numeric.date.parse(m[1]) + clock(m[2]) : NaN;
      }, text: (ms) => `${dateText(ms)}T${clockText(ms)}`, step: 60, scale: 1000,
    },
  };
  const kindOf = (el) => (el[P.localName] === 'input' && Object.hasOwn(numeric, el.type) ? numeric[el.type] : null);
  const numberOf = (el, text) => {
    const kind = kindOf(el);
    return kind && text !== undefined && text !== null ? kind.parse(text) : NaN;
  };
  const minOf = (el) => {
    const n = numberOf(el, attribute(el, 'min'));
    return Number.isNaN(n) && el.type === 'range' ? 0 : n;
  };
  const maxOf = (el) => {
    const n = numberOf(el, attribute(el, 'max'));
    return Number.isNaN(n) && el.type === 'range' ? 100 : n;
  };
  // The step in numbers, or null for any.
  const stepOf = (el) => {
    const kind = kindOf(el);
    const text = attribute(el, 'step')?.trim();
    if (text?.toLowerCase() === 'any') return null;
    const n = text !== undefined && float.test(text) && +text > 0 ? +text : kind.step;
    return (/^(date|month|week)$/.test(el.type) ? Math.max(1, Math.round(n)) : n) * kind.scale;
  };
  const baseOf = (el) => {
    for (const name of ['min', 'value']) {
      const n = numberOf(el, attribute(el, name));
      if (!Number.isNaN(n)) return n;
    }
    return kindOf(el).base ?? 0;
  };
  const onStep = (n, base, step) => {
    const steps = (n - base) / step;
    return Math.abs(steps - Math.round(steps)) < 1e-7 * Math.max(1, Math.abs(steps));
  };
  // Without the dust that floating point leaves: 0.1 + 0.2 is 0.3.
  const tidy = (n) => +n.toPrecision(12);
  Object.assign(forms, { numberOf, minOf, maxOf, stepOf, baseOf, onStep, kindOf, tidy });

  const oneLine = (t) => t.replace(/[\r\n]/g, '');
  const dated = (type) => (t) => (Number.isNaN(numeric[type].parse(t)) ? '' : t);
  const clean = {
    text: oneLine, search: oneLine, tel: oneLine, password: oneLine, url: (t) => oneLine(t).trim(),
    email: (t, el) => (el.hasAttribute('multiple') ? oneLine(t).split(',').map((x) => x.trim()).join(',') : oneLine(t).trim()),
    number: (t) => (float.test(t) && Number.isFinite(+t) ? t : ''),
    range: (t, el) => {
      const [min, max, step] = [minOf(el), maxOf(el), stepOf(el)];
      let n = float.test(t) ? +t : max < min ? min : min + (max - min) / 2;
      if (max >= min) n = Math.min(n, max);
      n = Math.max(n, min);
      if (step && !onStep(n, baseOf(el), step)) {
        const base = numberOf(el, attribute(el, 'min'));
        const from = Number.isNaN(base) ? 0 : base;
        n = tidy(from + Math.round((n - from) / step) * step);
        while (n > max) n = tidy(n - step);
        while (n < min) n = tidy(n + step);
      }
      return float.test(t) && +t === n ? t : host.str(n);
    },
    color: (t) => {
      const found = page.parseColor(t.trim());
      return Array.isArray(found) ? `#${found.slice(0, 3).map((c) => Math.round(c).toString(16).padStart(2, '0')).join('')}` : '#000000';
    },
    date: dated('date'), month: dated('month'), week: dated('week'), time: dated('time'),
    'datetime-local': (t) => {
      const n = numeric['datetime-local'].parse(t);
      return Number.isNaN(n) ? '' : numeric['datetime-local'].text(n);
    },
  };

  const input = g.HTMLInputElement.prototype;
  const onValue = owner('value', input);
  const setValue = host.descriptor(onValue, 'value').set;
  const held = (el) => clean[el.type](el[P.value] ?? attribute(el, 'value') ?? '', el);
  define(onValue, 'value', function () {
    if (Object.hasOwn(clean, this.type)) return held(this);
    if (this.type === 'file') return this.files.length > 0 ? `C:\\fakepath\\${this.files[0].name}` : '';
    return attribute(this, 'value') ?? (/^(checkbox|radio)$/.test(this.type) ? 'on' : '');
  }, function (value) {
    const text = value === null ? '' : host.str(value);
    if (!Object.hasOwn(clean, this.type)) {
      if (this.type !== 'file') return this.setAttribute('value', text);
      if (text !== '') invalid("Failed to set the 'value' property on 'HTMLInputElement': This input element accepts a filename, which may only be programmatically set to the empty string.");
      return undefined;
    }
    const cleaned = clean[this.type](text, this);
    host.apply(setValue, this, [cleaned]); // moves the caret
    this[P.value] = cleaned;
    return touched();
  });
  define(input, 'valueAsNumber', function () {
    return numberOf(this, this.value);
  }, function (n) {
    const kind = kindOf(this);
    if (!kind) invalid("Failed to set the 'valueAsNumber' property on 'HTMLInputElement': This input element does not support Number values.");
    n = +n;
    if (n === Infinity || n === -Infinity) throw new TypeError("Failed to set the 'valueAsNumber' property on 'HTMLInputElement': The value provided is infinite.");
    this.value = Number.isNaN(n) ? '' : kind.text(n);
  });
  const hasDate = /^(date|month|week|time)$/;
  define(input, 'valueAsDate', function () {
    if (!hasDate.test(this.type)) return null;
    const n = this.valueAsNumber;
    if (Number.isNaN(n)) return null;
    return new Date(this.type === 'month' ? Date.UTC(1970, n, 1) : n);
  }, function (date) {
    if (!hasDate.test(this.type)) invalid("Failed to set the 'valueAsDate' property on 'HTMLInputElement': This input element does not support Date values.");
    if (date === null) this.value = '';
    else if (!(date instanceof Date)) throw new TypeError("Failed to set the 'valueAsDate' property on 'HTMLInputElement': Failed to convert value to 'Date'.");
    else if (Number.isNaN(date.getTime())) this.value = '';
    else this.value = numeric[this.type].text(this.type === 'month' ? (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth() : date.getTime());
  });
  const move = (el, n, name) => {
    const kind = kindOf(el);
    if (!kind) invalid(`Failed to execute '${name}' on 'HTMLInputElement': This form element is not steppable.`);
    const step = stepOf(el);
    if (step === null) invalid(`Failed to execute '${name}' on 'HTMLInputElement': This form element does not have an allowed value step.`);
    const [min, max, base] = [minOf(el), maxOf(el), baseOf(el)];
    if (min > max) return;
    const start = el.valueAsNumber;
    let value = Number.isNaN(start) ? 0 : start;
    const before = value;
    if (!onStep(value, base, step)) value = base + (n > 0 ? Math.ceil((value - base) / step) : Math.floor((value - base) / step)) * step;
    else value += n * step;
    if (value < min) value = base + Math.ceil((min - base) / step - 1e-9) * step;
    if (value > max) value = base + Math.floor((max - base) / step + 1e-9) * step;
    if ((n > 0 && value < before) || (n < 0 && value > before)) return;
    el.value = kind.text(tidy(value));
  };
  method(input, 'stepUp', function stepUp(n = 1) {
    move(this, n, 'stepUp');
  });
  method(input, 'stepDown', function stepDown(n = 1) {
    move(this, -n, 'stepDown');
  });
  method(input, 'showPicker', () => {});

  define(owner('type', input), 'type', host.descriptor(owner('type', input), 'type').get, function (type) {
    this.setAttribute('type', host.str(type));
  });
  const inputs = owner(P.cloneNode, input);
  const { [P.cloneNode]: clone } = inputs;
  Object.defineProperty(input, P.cloneNode, {
    value(deep) {
      const copy = host.apply(clone, this, [deep]);
      for (const key of [P.value, P.checked, P.indeterminate]) copy[key] = this[key];
      return copy;
    },
    writable: true,
    configurable: true,
  });

  // Checkboxes and radio buttons. One of a group is on.
  const only = forms.only = (el) => {
    if (el.type !== 'radio' || !attribute(el, 'name')) return;
    for (const x of forms.radioGroup(el)) if (x !== el && x.checked) x[P.checked] = false;
  };
  const onChecked = owner('checked', input);
  define(onChecked, 'checked', function () {
    return this[P.checked] ?? attribute(this, 'checked') !== undefined;
  }, function (value) {
    this[P.checked] = Boolean(value);
    if (value) only(this);
    touched();
  });
  const indeterminate = host.descriptor(owner('indeterminate', input), 'indeterminate');
  define(owner('indeterminate', input), 'indeterminate', indeterminate.get, function (value) {
    this[P.indeterminate] = Boolean(value);
    touched();
  });
  const after = (name, then) => {
    const on = owner(name, input);
    const { [name]: before } = on;
    Object.defineProperty(input, name, {
      value(...args) {
        host.apply(before, this, args);
        then(this, ...args);
      },
      writable: true,
      configurable: true,
    });
  };
  after(P.onSetAttribute, (el, a) => {
    if (a[P.name] === 'checked' && el[P.checked] === null) only(el);
    else if (/^(type|name|form)$/.test(a[P.name]) && el.checked) only(el);
  });
  after(P.connectedToNode, (el) => {
    if (el.type === 'radio' && el.checked) only(el);
  });

  // Outputs: what a script gave them goes when the form is reset.
  const output = g.HTMLOutputElement.prototype;
  const given = new WeakMap();
  define(output, 'value', function () {
    return this.textContent;
  }, function (value) {
    if (!given.has(this)) given.set(this, this.textContent);
    this.textContent = host.str(value);
  });
  define(output, 'defaultValue', function () {
    return given.get(this) ?? this.textContent;
  }, function (value) {
    if (given.has(this)) given.set(this, host.str(value));
    else this.textContent = host.str(value);
  });
  forms.resetOutput = (el) => {
    el.textContent = el.defaultValue;
    given.delete(el);
  };

  // Meters: numbers that keep each other within bounds.
  const meter = g.HTMLMeterElement.prototype;
  const within = (n, min, max) => Math.min(Math.max(n, min), max);
  const real = (el, name, otherwise) => {
    const text = attribute(el, name);
    return text !== undefined && float.test(text.trim()) ? +text : otherwise;
  };
  const bounds = {
    min: (el) => real(el, 'min', 0), max: (el) => Math.max(real(el, 'max', 1), el.min), value: (el) => within(real(el, 'value', 0), el.min, el.max),
    low: (el) => within(real(el, 'low', el.min), el.min, el.max), high: (el) => within(real(el, 'high', el.max), el.low, el.max),
    optimum: (el) => within(real(el, 'optimum', (el.min + el.max) / 2), el.min, el.max),
  };
  for (const name of host.keys(bounds)) {
    define(owner(name, meter), name, function () {
      return bounds[name](this);
    }, function (n) {
      this.setAttribute(name, host.str(+n));
    });
  }

  // Text areas.
  const area = g.HTMLTextAreaElement.prototype;
  const onArea = owner('value', area);
  const setArea = host.descriptor(onArea, 'value').set;
  define(onArea, 'value', function () {
    return (this[P.value] ?? this.textContent).replace(/\r\n?/g, '\n');
  }, function (value) {
    const text = (value === null ? '' : host.str(value)).replace(/\r\n?/g, '\n');
    host.apply(setArea, this, [text]);
    this[P.value] = text;
    touched();
  });
  define(area, 'defaultValue', function () {
    return this.textContent;
  }, function (value) {
    this.textContent = value;
  });
  define(area, 'textLength', function () {
    return this.value.length;
  });
  const count = (on, name, otherwise, key = name.toLowerCase(), least = 1) =>
    define(on, name, function () {
      const n = parseInt(attribute(this, key) ?? '', 10);
      return n >= least ? n : otherwise;
    }, function (n) {
      if (n < 0) throw new DOMException(`Failed to set the '${name}' property: The value provided (${n}) is negative.`, 'IndexSizeError');
      this.setAttribute(key, host.str(Math.trunc(n) || 0));
    });
  count(area, 'rows', 2);
  count(area, 'cols', 20);
  for (const on of [area, input]) {
    count(on, 'maxLength', -1, 'maxlength', 0);
    count(on, 'minLength', -1, 'minlength', 0);
  }
  count(input, 'size', 20);
  define(area, 'wrap', function () {
    return attribute(this, 'wrap') ?? '';
  }, function (value) {
    this.setAttribute('wrap', value);
  });

  // Options and selects.
  const option = g.HTMLOptionElement.prototype;
  const squeeze = (t) => t.replace(/[ \t\n\f\r]+/g, ' ').replace(/^ | $/g, '');
  const optionText = (node) => [...node[P.nodeArray]].map((n) => (n[P.nodeType] === 3 ? n.data : n[P.nodeType] === 1 && !/^(script|style)$/.test(n[P.localName]) ? optionText(n) : '')).join('');
  define(owner('text', option), 'text', function () {
    return squeeze(optionText(this));
  }, function (text) {
    this.textContent = text;
  });
  define(owner('value', option), 'value', function () {
    return attribute(this, 'value') ?? this.text;
  }, function (value) {
    this.setAttribute('value', host.str(value));
  });
  define(option, 'label', function () {
    return attribute(this, 'label') ?? this.text;
  }, function (value) {
    this.setAttribute('label', host.str(value));
  });
  define(option, 'defaultSelected', function () {
    return attribute(this, 'selected') !== undefined;
  }, function (value) {
    this.toggleAttribute('selected', Boolean(value));
  });

  const select = g.HTMLSelectElement.prototype;
  const optionsOf = (el) => [...el.querySelectorAll('option')];
  const shownAtOnce = (el) => {
    const n = parseInt(attribute(el, 'size') ?? '', 10);
    return n > 0 ? n : attribute(el, 'multiple') !== undefined ? 4 : 1;
  };
  const on = owner(P.updateSelectedness, select);
  on[P.updateSelectedness] = function (chosen) {
    if (attribute(this, 'multiple') !== undefined) return touched();
    const all = optionsOf(this);
    const selected = all.filter((o) => o[P.selectedness]);
    const keep = chosen && all.includes(chosen) ? chosen : selected.at(-1);
    for (const o of selected) if (o !== keep) o[P.selectedness] = false;
    if (!keep && shownAtOnce(this) === 1) {
      const first = all.find((o) => !forms.disabled(o));
      if (first) first[P.selectedness] = true;
    }
    return touched();
  };
  forms.askForReset = (el) => el[P.updateSelectedness]();
  const choose = (el, index) => {
    optionsOf(el).forEach((o, i) => {
      o[P.selectedness] = i === index;
      if (i === index) o[P.dirtyness] = true;
    });
    touched();
  };
  define(owner('selectedIndex', select), 'selectedIndex', function () {
    return optionsOf(this).findIndex((o) => o[P.selectedness]);
  }, function (index) {
    choose(this, Math.trunc(+index) || 0);
  });
  define(owner('value', select), 'value', function () {
    return optionsOf(this).find((o) => o[P.selectedness])?.value ?? '';
  }, function (value) {
    const text = host.str(value);
    choose(this, optionsOf(this).findIndex((o) => o.value === text));
  });
  define(owner('length', select), 'length', function () {
    return optionsOf(this).length;
  }, function (n) {
    const all = optionsOf(this);
    for (const o of all.slice(n)) o.remove();
    for (let i = all.length; i < Math.min(n, 100_000); i++) this.appendChild(this.ownerDocument.createElement('option'));
  });
  count(select, 'size', 0);
  define(owner('selectedOptions', select), 'selectedOptions', function () {
    return page.collection(() => optionsOf(this).filter((o) => o[P.selectedness]));
  });
  for (const name of ['item', 'namedItem']) {
    method(select, name, function (key) {
      return this.options[name](key);
    });
  }
  Object.defineProperty(select, Symbol.iterator, {
    value() {
      return optionsOf(this)[Symbol.iterator]();
    },
    writable: true,
    configurable: true,
  });
  method(owner('add', select), 'add', function add(el, before = null) {
    if (!/^(option|optgroup)$/.test(el?.[P.localName] ?? '')) throw new TypeError("Failed to execute 'add' on 'HTMLSelectElement': parameter 1 is not an option.");
    const at = typeof before === 'number' ? (optionsOf(this)[before] ?? null) : before;
    if (at && !this.contains(at)) throw new DOMException("Failed to execute 'add' on 'HTMLSelectElement': The node before which the new node is to be inserted is not a child of this node.", 'NotFoundError');
    (at ? at[P.parentNode] : this).insertBefore(el, at);
  });
  const removeNode = g.Element.prototype.remove;
  method(owner('remove', select), 'remove', function remove(index) {
    if (arguments.length === 0) host.apply(removeNode, this, []);
    else optionsOf(this)[index]?.remove();
  });
  // The options of a select, which scripts may set too.
  const lists = new WeakMap();
  define(owner('options', select), 'options', function () {
    const el = this[P.proxy] ?? this;
    if (!lists.has(el)) lists.set(el, optionList(el));
    return lists.get(el);
  });
  const optionList = (el) => {
    const plain = page.collection(() => optionsOf(el));
    const own = {
      add: (o, before) => el.add(o, before),
      remove: (i) => {
        if (i >= 0) el.remove(i);
      },
    };
    return new Proxy(plain, {
      get(target, key) {
        if (key === 'selectedIndex') return el.selectedIndex;
        return typeof key === 'string' && Object.hasOwn(own, key) ? own[key] : target[key];
      },
      set(target, key, value) {
        if (key === 'selectedIndex') el.selectedIndex = value;
        else if (key === 'length') el.length = value;
        else if (/^\d+$/.test(host.str(key))) setOption(el, +key, value);
        else target[key] = value;
        return true;
      },
      getPrototypeOf: () => g.HTMLOptionsCollection.prototype,
    });
  };
  const setOption = (el, index, value) => {
    const all = optionsOf(el);
    if (value === null || value === undefined) return void all[index]?.remove();
    if (all[index]) return void all[index].replaceWith(value);
    for (let i = all.length; i < Math.min(index, 100_000); i++) el.appendChild(el.ownerDocument.createElement('option'));
    el.appendChild(value);
  };

  // A selection that a script made forwards says so.
  const directions = new WeakMap();
  for (const cls of [g.HTMLInputElement, g.HTMLTextAreaElement]) {
    const on = owner('setSelectionRange', cls.prototype);
    const { setSelectionRange: select } = on;
    const { get, set } = host.descriptor(owner('selectionDirection', cls.prototype), 'selectionDirection');
    method(on, 'setSelectionRange', function setSelectionRange(from, to, direction) {
      host.apply(select, this, [from, to, direction]);
      directions.set(this, direction === 'backward' ? direction : 'forward');
    });
    define(on, 'selectionDirection', function () {
      return directions.get(this) ?? host.apply(get, this, []);
    }, set);
  }
})
