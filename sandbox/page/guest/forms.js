// Forms: what fields hold, who owns them, what is valid and what is sent, where the DOM differs from browsers.
// Source: HTML standard, 4.10.
(function (host) {
  'use strict';
  const { page } = host;
  const { document } = page;
  const { PropertySymbol } = host.dom;
  const g = globalThis;

  const place = (proto, name) => {
    let at = proto;
    while (at && !Object.hasOwn(at, name)) at = Object.getPrototypeOf(at);
    return at ?? proto;
  };
  // accessor puts a getter or a setter in place of the one there, which it gets as its first argument.
  const accessor = (cls, name, { get, set }) => {
    const at = place(cls.prototype, name);
    const d = host.descriptor(at, name) ?? {};
    const own = Object.hasOwn(cls.prototype, name) || at === cls.prototype;
    Object.defineProperty(own ? at : cls.prototype, name, {
      get: get ? function () { return host.apply(get, this, [() => host.apply(d.get, this, [])]); } : d.get,
      set: set ? function (value) { host.apply(set, this, [value, (v) => host.apply(d.set, this, [v])]); } : d.set,
      configurable: true,
      enumerable: d.enumerable ?? true,
    });
  };
  const method = (cls, name, f) => {
    const at = place(cls.prototype, name);
    const before = at[name];
    Object.defineProperty(at, name, {
      value: function (...args) { return host.apply(f, this, [(...a) => host.apply(before, this, a), ...args]); },
      writable: true,
      configurable: true,
    });
  };
  const enumerated = (cls, name, values, missing, invalid = missing, attribute = name.toLowerCase()) => {
    accessor(cls, name, {
      get() {
        const v = this.getAttribute(attribute);
        if (v === null) return missing;
        return values.includes(v.toLowerCase()) ? v.toLowerCase() : invalid;
      },
      set(value) {
        this.setAttribute(attribute, host.str(value));
      },
    });
  };
  const number = (cls, name, fallback, { least = 0, attribute = name.toLowerCase() } = {}) => {
    accessor(cls, name, {
      get() {
        const m = /^[ \t\n\r\f]*\+?(\d+)/.exec(this.getAttribute(attribute) ?? '');
        return m && +m[1] >= least && +m[1] < 2 ** 31 ? +m[1] : fallback;
      },
      set(value) {
        value = Math.trunc(+value) || 0;
        if (value < least && fallback === -1) throw new g.DOMException(`The value provided (${value}) is negative.`, 'IndexSizeError');
        if (value < least && least > 0) throw new g.DOMException(`The value provided is ${value}, which is an invalid size.`, 'IndexSizeError');
        this.setAttribute(attribute, host.str(value));
      },
    });
  };

  // What attributes say.
  enumerated(g.HTMLFormElement, 'method', ['get', 'post', 'dialog'], 'get');
  enumerated(g.HTMLFormElement, 'enctype', ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'], 'application/x-www-form-urlencoded');
  enumerated(g.HTMLFormElement, 'encoding', ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'], 'application/x-www-form-urlencoded', undefined, 'enctype');
  enumerated(g.HTMLFormElement, 'autocomplete', ['on', 'off'], 'on');
  number(g.HTMLInputElement, 'maxLength', -1);
  number(g.HTMLInputElement, 'minLength', -1);
  number(g.HTMLTextAreaElement, 'maxLength', -1);
  number(g.HTMLTextAreaElement, 'minLength', -1);
  number(g.HTMLInputElement, 'size', 20, { least: 1 });
  number(g.HTMLTextAreaElement, 'rows', 2, { least: 1 });
  number(g.HTMLTextAreaElement, 'cols', 20, { least: 1 });
  number(g.HTMLSelectElement, 'size', 0);

  // Forms and selects stand behind proxies, which are the same to a page.
  const same = (a, b) => a === b || (!!a && !!b && (a[PropertySymbol.proxy] ?? a) === (b[PropertySymbol.proxy] ?? b));

  // Disabled by a fieldset around, but for its legend.
  const barred = (el) => el.matches(':disabled');
  for (const cls of [g.HTMLInputElement, g.HTMLSelectElement, g.HTMLTextAreaElement, g.HTMLButtonElement]) {
    accessor(cls, 'willValidate', {
      get() {
        if (barred(this) || this.closest('datalist')) return false;
        if (this.localName === 'input' && (/^(hidden|reset|button)$/.test(this.type) || this.readOnly)) return false;
        if (this.localName === 'textarea' && this.readOnly) return false;
        return this.localName !== 'button' || this.type === 'submit';
      },
    });
  }

  // Values that browsers make right, or do not take.
  const days = (y, m) => new Date(Date.UTC(y, m, 0)).getUTCDate();
  const isDate = (v) => {
    const m = /^(\d{4,})-(\d\d)-(\d\d)$/.exec(v);
    return !!m && +m[1] > 0 && +m[2] >= 1 && +m[2] <= 12 && +m[3] >= 1 && +m[3] <= days(+m[1], +m[2]);
  };
  const isTime = (v) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?$/.test(v);
  const isNumber = (v) => /^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i.test(v);
  const sanitise = {
    number: (v) => (isNumber(v) && Number.isFinite(+v) ? v : ''),
    date: (v) => (isDate(v) ? v : ''),
    time: (v) => (isTime(v) ? v : ''),
    month: (v) => (/^\d{4,}-(0[1-9]|1[0-2])$/.test(v) ? v : ''),
    week: (v) => (/^\d{4,}-W(0[1-9]|[1-4]\d|5[0-3])$/.test(v) ? v : ''),
    'datetime-local': (v) => {
      const [date, time] = v.split(/[T ]/);
      return isDate(date ?? '') && isTime(time ?? '') ? `${date}T${time}` : '';
    },
    color: (v) => {
      const c = page.parseColor(v.trim().toLowerCase());
      const hex = (c === null ? '' : page.colorText(c)).replace(/^rgb\((\d+), (\d+), (\d+)\)$/, (_, ...n) => `#${n.slice(0, 3).map((x) => (+x).toString(16).padStart(2, '0')).join('')}`);
      return /^#[\da-f]{6}$/.test(hex) ? hex : '#000000';
    },
    range: (v, el) => {
      const least = isNumber(el.min) ? +el.min : 0;
      const most = Math.max(least, isNumber(el.max) ? +el.max : 100);
      if (!isNumber(v)) return host.str(least + (most - least) / 2);
      const step = isNumber(el.step) && +el.step > 0 ? +el.step : el.step === 'any' ? 0 : 1;
      let n = Math.min(most, Math.max(least, +v));
      if (step) {
        n = least + Math.round((n - least) / step) * step;
        if (n > most) n -= step;
      }
      return host.str(+n.toFixed(10));
    },
    email: (v) => v.replace(/[\r\n]/g, '').trim(),
    url: (v) => v.replace(/[\r\n]/g, '').trim(),
  };
  accessor(g.HTMLInputElement, 'value', {
    get(before) {
      const v = before();
      return Object.hasOwn(sanitise, this.type) ? sanitise[this.type](v, this) : v;
    },
    set(value, before) {
      value = value === null ? '' : host.str(value);
      before(Object.hasOwn(sanitise, this.type) ? sanitise[this.type](value, this) : value);
    },
  });
  accessor(g.HTMLTextAreaElement, 'value', { set(value, before) { before((value === null ? '' : host.str(value)).replace(/\r\n?/g, '\n')); } });

  // Numbers and dates.
  const day = 864e5;
  const millis = {
    date: (v) => Date.parse(`${v}T00:00:00Z`),
    time: (v) => Date.parse(`1970-01-01T${v.length === 5 ? `${v}:00` : v}Z`),
    month: (v) => (+v.slice(0, -3) - 1970) * 12 + +v.slice(-2) - 1,
    'datetime-local': (v) => Date.parse(`${v}Z`),
    number: (v) => +v,
    range: (v) => +v,
  };
  const written = {
    date: (n) => new Date(n).toISOString().slice(0, 10),
    time: (n) => new Date(n).toISOString().slice(11, 23).replace(/:00\.000$|\.000$/, ''),
    month: (n) => `${1970 + Math.floor(n / 12)}-${host.str((n % 12) + 1).padStart(2, '0')}`,
    'datetime-local': (n) => new Date(n).toISOString().slice(0, 23).replace(/:00\.000$|\.000$/, ''),
    number: (n) => host.str(n),
    range: (n) => host.str(n),
  };
  const units = { date: day, time: 6e4, month: 1, 'datetime-local': 6e4, number: 1, range: 1 };
  const wrong = (text) => {
    throw new g.DOMException(text, 'InvalidStateError');
  };
  const asNumber = (el) => (Object.hasOwn(millis, el.type) && el.value !== '' ? millis[el.type](el.value) : NaN);
  accessor(g.HTMLInputElement, 'valueAsNumber', {
    get() { return asNumber(this); },
    set(value) {
      if (!Object.hasOwn(written, this.type)) wrong("This input element does not support Number values.");
      this.value = Number.isNaN(+value) ? '' : written[this.type](+value);
    },
  });
  accessor(g.HTMLInputElement, 'valueAsDate', {
    get() { return /^(date|time)$/.test(this.type) && this.value !== '' ? new Date(asNumber(this)) : null; },
    set(value) {
      if (!/^(date|time)$/.test(this.type)) wrong('This input element does not support Date values.');
      this.value = value === null ? '' : written[this.type](+value);
    },
  });
  const stepOf = (el) => (el.step === 'any' ? 0 : isNumber(el.step) && +el.step > 0 ? +el.step : el.type === 'time' || el.type === 'datetime-local' ? 60 : 1) * ({ time: 1000, 'datetime-local': 1000 }[el.type] ?? units[el.type] ?? 1);
  const bound = (el, name) => {
    const v = el.getAttribute(name);
    return v && Object.hasOwn(millis, el.type) && (sanitise[el.type]?.(v, el) ?? v) !== '' ? millis[el.type](v) : NaN;
  };
  const step = (el, n) => {
    if (!Object.hasOwn(millis, el.type)) wrong('This form element is not steppable.');
    const size = stepOf(el);
    if (size === 0) wrong('This form element does not have an allowed value step.');
    const [least, most] = [bound(el, 'min'), bound(el, 'max')];
    const base = Number.isNaN(least) ? 0 : least;
    const now = asNumber(el) || 0;
    const on = Math.abs((now - base) / size - Math.round((now - base) / size)) < 1e-9;
    let next = on ? now + n * size : base + (n > 0 ? Math.ceil : Math.floor)((now - base) / size) * size + (n > 0 ? n - 1 : n + 1) * size;
    if (next < least) next = base + Math.ceil((least - base) / size) * size;
    if (next > most) next = base + Math.floor((most - base) / size) * size;
    el.value = written[el.type](+next.toFixed(10));
  };
  method(g.HTMLInputElement, 'stepUp', function (before, n = 1) { step(this, Math.trunc(+n)); });
  method(g.HTMLInputElement, 'stepDown', function (before, n = 1) { step(this, -Math.trunc(+n)); });

  // Validity, with the names of the standard that a loop finds.
  const flags = ['valueMissing', 'typeMismatch', 'patternMismatch', 'tooLong', 'tooShort', 'rangeUnderflow', 'rangeOverflow', 'stepMismatch', 'badInput', 'customError', 'valid'];
  const typed = new WeakSet(); // fields whose value a person has changed
  page.typed = (el) => typed.add(el);
  const email = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
  const isURL = (v) => {
    try {
      return !!new g.URL(v);
    } catch {
      return false;
    }
  };
  const states = (el) => {
    const out = Object.fromEntries(flags.map((f) => [f, false]));
    const field = /^(input|select|textarea)$/.test(el.localName);
    const value = field ? el.value : '';
    const type = el.localName === 'input' ? el.type : el.localName;
    if (field && el.required && !(el.localName !== 'select' && el.readOnly) && !barred(el)) {
      if (type === 'checkbox') out.valueMissing = !el.checked;
      else if (type === 'radio') {
        const group = el.name ? [...(el.form?.elements ?? document.querySelectorAll('input[type=radio i]'))].filter((r) => r.type === 'radio' && r.name === el.name && same(r.form, el.form)) : [el];
        out.valueMissing = !group.some((r) => r.checked);
      } else if (type === 'file') out.valueMissing = el.files.length === 0;
      else if (type === 'select' || !/^(hidden|range|color|submit|image|reset|button)$/.test(type)) out.valueMissing = value === '';
    }
    if (el.localName === 'input' && value !== '') {
      if (type === 'email') out.typeMismatch = !(el.multiple ? value.split(',').map((v) => v.trim()) : [value]).every((v) => email.test(v));
      if (type === 'url') out.typeMismatch = !isURL(value);
      if (/^(text|search|url|tel|email|password)$/.test(type) && el.hasAttribute('pattern')) {
        try {
          out.patternMismatch = !new RegExp(`^(?:${el.getAttribute('pattern')})$`, 'v').test(value);
        } catch {}
      }
      if (Object.hasOwn(millis, type)) {
        const n = asNumber(el);
        const [least, most, size] = [bound(el, 'min'), bound(el, 'max'), stepOf(el)];
        out.rangeUnderflow = n < least;
        out.rangeOverflow = n > most;
        const base = Number.isNaN(least) ? bound(el, 'value') || 0 : least;
        out.stepMismatch = size > 0 && Math.abs((n - base) / size - Math.round((n - base) / size)) > 1e-7;
      }
    }
    if (field && typed.has(el) && value !== '') {
      out.tooLong = el.maxLength >= 0 && value.length > el.maxLength;
      out.tooShort = el.minLength >= 0 && value.length < el.minLength;
    }
    out.customError = (messages.get(el) ?? '') !== '';
    out.valid = !flags.some((f) => out[f]);
    return out;
  };
  const messages = new WeakMap();
  class ValidityState {
    #el;
    constructor(el) {
      if (!(el instanceof g.Element)) throw new TypeError('Illegal constructor');
      this.#el = el;
    }

    static is(v, flag) {
      return states(v.#el)[flag];
    }
  }
  for (const flag of flags) {
    Object.defineProperty(ValidityState.prototype, flag, { get() { return ValidityState.is(this, flag); }, enumerable: true, configurable: true });
  }
  host.tag(ValidityState, 'ValidityState');
  host.define('ValidityState', ValidityState);
  const kept = new WeakMap();
  const said = {
    valueMissing: 'Please fill out this field.', typeMismatch: 'Please enter a valid value.', patternMismatch: 'Please match the requested format.', tooLong: 'Please shorten this text.',
    tooShort: 'Please lengthen this text.', rangeUnderflow: 'Value is too small.', rangeOverflow: 'Value is too large.', stepMismatch: 'Please enter a valid value.', badInput: 'Please enter a valid value.',
  };
  for (const cls of [g.HTMLInputElement, g.HTMLSelectElement, g.HTMLTextAreaElement, g.HTMLButtonElement, g.HTMLOutputElement, g.HTMLFieldSetElement, g.HTMLObjectElement]) {
    if (!cls) continue;
    accessor(cls, 'validity', {
      get() {
        if (!kept.has(this)) kept.set(this, new ValidityState(this));
        return kept.get(this);
      },
    });
    accessor(cls, 'validationMessage', {
      get() {
        if (!this.willValidate) return '';
        const v = states(this);
        return v.customError ? messages.get(this) : (said[flags.find((f) => v[f] && f !== 'valid')] ?? '');
      },
    });
    const check = function () {
      if (!this.willValidate || states(this).valid) return true;
      this.dispatchEvent(new g.Event('invalid', { cancelable: true }));
      return false;
    };
    method(cls, 'checkValidity', check);
    method(cls, 'reportValidity', check);
    method(cls, 'setCustomValidity', function (before, text) { messages.set(this, host.str(text)); });
  }
  const whole = function () {
    let ok = true;
    for (const el of this.elements) if (el.willValidate && !el.checkValidity()) ok = false;
    return ok;
  };
  method(g.HTMLFormElement, 'checkValidity', whole);
  method(g.HTMLFormElement, 'reportValidity', whole);

  // What is sent.
  const NativeFormData = g.FormData;
  const entries = (form, submitter) => {
    const data = new NativeFormData();
    const add = (name, value) => data.append(name, value);
    for (const el of form.elements) {
      if (barred(el) || el.closest('datalist') || (!el.name && el.type !== 'image')) continue;
      const type = el.localName === 'input' || el.localName === 'button' ? el.type : el.localName;
      if (/^(submit|reset|button|image)$/.test(type)) {
        if (el !== submitter) continue;
        add(el.name, el.value);
      } else if (type === 'select') {
        for (const o of el.options) if (o.selected && !barred(o)) add(el.name, o.value);
      } else if (type === 'checkbox' || type === 'radio') {
        if (el.checked) add(el.name, el.hasAttribute('value') ? el.getAttribute('value') : 'on');
      } else if (type === 'file') {
        if (el.files.length === 0) add(el.name, new g.File([], '', { type: 'application/octet-stream' }));
        for (const f of el.files) add(el.name, f);
      } else if (/^(output|fieldset|object)$/.test(type)) continue;
      else add(el.name, el.value);
    }
    return data;
  };
  class FormData extends NativeFormData {
    constructor(form, submitter = null) {
      super();
      if (form === undefined) return;
      if (!(form instanceof g.HTMLFormElement)) throw new TypeError("Failed to construct 'FormData': parameter 1 is not of type 'HTMLFormElement'.");
      if (submitter !== null) {
        if (submitter.type !== 'submit' && submitter.type !== 'image') throw new TypeError("Failed to construct 'FormData': The specified element is not a submit button.");
        if (!same(submitter.form, form)) throw new g.DOMException("Failed to construct 'FormData': The specified element is not owned by this form element.", 'NotFoundError');
      }
      for (const [name, value] of entries(form, submitter)) this.append(name, value);
      const event = new g.Event('formdata', { bubbles: true });
      event.formData = this;
      form.dispatchEvent(event);
      if (typeof form.onformdata === 'function') form.onformdata(event);
    }

    append(name, value, filename) {
      super.append(name, named(value, filename));
    }

    set(name, value, filename) {
      super.set(name, named(value, filename));
    }
  }
  const named = (value, filename) => {
    if (!(value instanceof g.Blob)) return host.str(value);
    if (filename === undefined && value instanceof g.File) return value;
    return new g.File([value], filename === undefined ? 'blob' : host.str(filename), { type: value.type });
  };
  host.tag(FormData, 'FormData');
  host.define('FormData', FormData);

  // Submitting by script: without a button the event has none, and a button must be the form's.
  method(g.HTMLFormElement, 'requestSubmit', function (before, submitter) {
    if (submitter !== undefined && submitter !== null) {
      if (submitter.type !== 'submit' && submitter.type !== 'image') throw new TypeError("Failed to execute 'requestSubmit' on 'HTMLFormElement': The specified element is not a submit button.");
      if (!same(submitter.form, this)) throw new g.DOMException("Failed to execute 'requestSubmit' on 'HTMLFormElement': The specified element is not owned by this form element.", 'NotFoundError');
      return before(submitter);
    }
    const own = (e) => {
      if (same(e.target, this) && same(e.submitter, this)) Object.defineProperty(e, 'submitter', { value: null, configurable: true });
    };
    g.addEventListener('submit', own, true);
    try {
      return before();
    } finally {
      g.removeEventListener('submit', own, true);
    }
  });

  // A reset that a listener prevents changes nothing.
  method(g.HTMLFormElement, 'reset', function (before) {
    const held = [];
    let prevented = false;
    const watch = (e) => {
      if (same(e.target, this)) prevented = e.defaultPrevented;
    };
    for (const el of this.elements) {
      if (el.localName === 'select') held.push([el, 'options', [...el.options].map((o) => o.selected)]);
      else if (el.localName === 'output') held.push([el, 'output', el.value, el.defaultValue]);
      else if (/^(input|textarea)$/.test(el.localName) && el.type !== 'file') held.push([el, 'value', el.value, el.checked]);
    }
    g.addEventListener('reset', watch);
    try {
      before();
    } finally {
      g.removeEventListener('reset', watch);
    }
    for (const [el, kind, value, initially] of held) if (kind === 'output') el.textContent = prevented ? value : initially;
    if (prevented) {
      for (const [el, kind, value, checked] of held) {
        if (kind === 'output') continue;
        if (kind === 'options') value.forEach((on, i) => (el.options[i].selected = on));
        else {
          if (el.value !== value) el.value = value;
          if (checked !== undefined && el.checked !== checked) el.checked = checked;
        }
      }
    }
  });

  // Output.
  const outputs = new WeakMap(); // what an output says by default, once its value was set
  accessor(g.HTMLOutputElement, 'defaultValue', {
    get() { return outputs.get(this) ?? this.textContent; },
    set(value) {
      if (outputs.has(this)) outputs.set(this, host.str(value));
      else this.textContent = host.str(value);
    },
  });
  accessor(g.HTMLOutputElement, 'value', {
    get() { return this.textContent; },
    set(value) {
      if (!outputs.has(this)) outputs.set(this, this.textContent);
      this.textContent = host.str(value);
    },
  });

  // Options.
  const stripped = (text) => text.replace(/[ \t\n\r\f]+/g, ' ').trim();
  accessor(g.HTMLOptionElement, 'text', { get() { return stripped(this.textContent); }, set(value) { this.textContent = host.str(value); } });
  accessor(g.HTMLOptionElement, 'value', { get() { return this.getAttribute('value') ?? this.text; } });
  accessor(g.HTMLOptionElement, 'label', { get() { return this.getAttribute('label') || this.text; }, set(value) { this.setAttribute('label', host.str(value)); } });
  accessor(g.HTMLOptionElement, 'defaultSelected', {
    get() { return this.hasAttribute('selected'); },
    set(on) { this.toggleAttribute('selected', !!on); },
  });
  accessor(g.HTMLOptionElement, 'index', {
    get() {
      const select = this.closest('select');
      return select ? Math.max(0, [...select.options].indexOf(this)) : 0;
    },
  });
  method(g.HTMLSelectElement, 'add', function (before, option, at = null) {
    const rows = [...this.options];
    const next = typeof at === 'number' ? (rows[at] ?? null) : at;
    if (next === null || next === undefined) this.appendChild(option);
    else next.parentNode.insertBefore(option, next);
  });
  method(g.HTMLSelectElement, 'remove', function (before, at) {
    if (at === undefined) this.parentNode?.removeChild(this);
    else this.options[at]?.remove();
  });
  const shorten = (select, n) => {
    n = Math.max(0, Math.trunc(+n) || 0);
    while (select.options.length > n) select.options[select.options.length - 1].remove();
    while (select.options.length < Math.min(n, 1e5)) select.append(document.createElement('option'));
  };
  accessor(g.HTMLSelectElement, 'length', { get() { return this.options.length; }, set(n) { shorten(this, n); } });
  const short = new WeakSet();
  accessor(g.HTMLSelectElement, 'options', {
    get(before) {
      const options = before();
      if (!short.has(options)) {
        short.add(options);
        const select = this;
        const count = () => select.querySelectorAll('option').length;
        try {
          Object.defineProperty(options[PropertySymbol.proxy] ?? options, 'length', { get: count, set: (n) => shorten(select, n), configurable: true });
        } catch {}
      }
      return options;
    },
  });

  // The selection of a field: one made forwards says so.
  const ranges = function (before, from, to, direction) {
    before(from, to, direction);
    directions.set(this, direction === 'backward' ? 'backward' : 'forward');
  };
  const directions = new WeakMap();
  for (const cls of [g.HTMLInputElement, g.HTMLTextAreaElement]) {
    method(cls, 'setSelectionRange', ranges);
    accessor(cls, 'selectionDirection', { get(before) { return directions.get(this) ?? before(); } });
  }

  // A meter lies between its bounds.
  const floating = (el, name, absent) => {
    const v = parseFloat(el.getAttribute(name));
    return Number.isFinite(v) ? v : absent;
  };
  const between = (v, least, most) => Math.min(most, Math.max(least, v));
  const meter = {
    min: (el) => floating(el, 'min', 0),
    max: (el) => Math.max(meter.min(el), floating(el, 'max', 1)),
    value: (el) => between(floating(el, 'value', 0), meter.min(el), meter.max(el)),
    low: (el) => between(floating(el, 'low', meter.min(el)), meter.min(el), meter.max(el)),
    high: (el) => between(floating(el, 'high', meter.max(el)), meter.low(el), meter.max(el)),
    optimum: (el) => between(floating(el, 'optimum', (meter.min(el) + meter.max(el)) / 2), meter.min(el), meter.max(el)),
  };
  for (const name of host.keys(meter)) {
    accessor(g.HTMLMeterElement, name, { get() { return meter[name](this); }, set(v) { this.setAttribute(name, host.str(+v)); } });
  }
})
