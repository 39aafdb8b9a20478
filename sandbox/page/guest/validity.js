// Constraint validation: which fields may be wrong, what is wrong with them, and who is told.
// Source: HTML standard, 4.10.20; the messages are Chromium's.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { forms, attribute } = page;
  const g = globalThis;
  const define = (on, name, get) => Object.defineProperty(on, name, { get, configurable: true, enumerable: true });
  const method = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: true });
  const nameOf = (el) => el[P.localName];
  const has = (el, name) => attribute(el, name) !== undefined;

  // Fields that a person changed: only there a text may be too long or too short.
  const edited = new WeakSet();
  const touched = new WeakSet();
  forms.edit = (el) => {
    edited.add(el);
    touched.add(el);
  };
  forms.forget = (el) => {
    edited.delete(el);
    touched.delete(el);
  };
  forms.touch = (el) => touched.add(el);
  const custom = new WeakMap();

  const candidate = (el) => {
    const name = nameOf(el);
    if (page.internals?.has(el)) return !forms.disabled(el) && !has(el, 'readonly');
    if (!/^(button|input|select|textarea)$/.test(name) || forms.disabled(el) || el.closest('datalist')) return false;
    if (name === 'button') return el.type === 'submit';
    if (name === 'input' && /^(hidden|reset|button)$/.test(el.type)) return false;
    return !(has(el, 'readonly') && (name === 'textarea' || (name === 'input' && takesReadOnly.test(el.type))));
  };
  const takesReadOnly = /^(text|search|url|tel|email|password|date|month|week|time|datetime-local|number)$/;
  const textual = (el) => nameOf(el) === 'textarea' || (nameOf(el) === 'input' && /^(text|search|url|tel|email|password)$/.test(el.type));
  const email = /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
  const isURL = (text) => {
    try {
      return Boolean(new URL(text));
    } catch {
      return false;
    }
  };
  const each = (el) => (el.type === 'email' && has(el, 'multiple') ? (el.value === '' ? [] : el.value.split(',')) : [el.value]);
  const patterns = new Map();
  const patternOf = (text) => {
    if (!patterns.has(text)) {
      let made = null;
      try {
        new RegExp(text, 'v');
        made = new RegExp(`^(?:${text})$`, 'v');
      } catch {}
      if (patterns.size > 200) patterns.clear();
      patterns.set(text, made);
    }
    return patterns.get(text);
  };

  const checks = {
    valueMissing: (el) => {
      if (!forms.required(el) || forms.disabled(el)) return false;
      if (nameOf(el) === 'select') {
        const chosen = [...el.options].filter((o) => o.selected);
        const placeholder = !el.multiple && el.size <= 1 && el.options[0]?.value === '' && el.options[0].parentNode === el ? el.options[0] : null;
        return !chosen.some((o) => o !== placeholder);
      }
      if (nameOf(el) === 'input' && el.type === 'checkbox') return !el.checked;
      if (nameOf(el) === 'input' && el.type === 'radio') return !forms.radioGroup(el).some((x) => x.checked);
      if (nameOf(el) === 'input' && el.type === 'file') return el.files.length === 0;
      return el.value === '' && !(has(el, 'readonly') && (nameOf(el) === 'textarea' || takesReadOnly.test(el.type)));
    },
    typeMismatch: (el) => {
      if (nameOf(el) !== 'input' || el.value === '') return false;
      if (el.type === 'url') return !isURL(el.value);
      return el.type === 'email' && !each(el).every((x) => email.test(x));
    },
    patternMismatch: (el) => {
      const text = attribute(el, 'pattern');
      if (nameOf(el) !== 'input' || text === undefined || el.value === '' || !textual(el)) return false;
      const pattern = patternOf(text);
      return pattern !== null && !each(el).every((x) => pattern.test(x));
    },
    tooLong: (el) => textual(el) && edited.has(el) && el.maxLength >= 0 && el.value.length > el.maxLength,
    tooShort: (el) => textual(el) && edited.has(el) && el.value !== '' && el.value.length < el.minLength,
    rangeUnderflow: (el) => ranged(el) && !reversed(el) && numberIn(el) < forms.minOf(el),
    rangeOverflow: (el) => ranged(el) && !reversed(el) && numberIn(el) > forms.maxOf(el),
    stepMismatch: (el) => {
      if (!ranged(el) || Number.isNaN(numberIn(el))) return false;
      const step = forms.stepOf(el);
      return step !== null && !forms.onStep(numberIn(el), forms.baseOf(el), step);
    },
    badInput: () => false,
    customError: (el) => (custom.get(el) ?? '') !== '',
  };
  const ranged = (el) => forms.kindOf(el) !== null;
  const reversed = (el) => el.type === 'time' && forms.minOf(el) > forms.maxOf(el);
  const numberIn = (el) => forms.numberOf(el, el.value);
  const failing = (el) => host.keys(checks).find((name) => checks[name](el));

  // A date or a time as people write it.
  const dated = (el, text) => {
    const t = text.replace(/(\d{4,})-(\d\d)-(\d\d)/, '$2/$3/$1').replace('T', ', ');
    return t.replace(/\b(\d\d):(\d\d)(\S*)$/, (_, h, m, rest) => `${((+h + 11) % 12) + 1 < 10 ? '0' : ''}${((+h + 11) % 12) + 1}:${m}${rest}\u202f${+h < 12 ? 'AM' : 'PM'}`);
  };
  const message = (el) => {
    if (checks.customError(el)) return custom.get(el);
    const { value } = el;
    switch (failing(el)) {
      case 'valueMissing':
        if (nameOf(el) === 'select') return 'Please select an item in the list.';
        if (nameOf(el) !== 'input') return 'Please fill out this field.';
        return { checkbox: 'Please check this box if you want to proceed.', radio: 'Please select one of these options.', file: 'Please select a file.' }[el.type] ?? 'Please fill out this field.';
      case 'typeMismatch':
        if (el.type === 'url') return 'Please enter a URL.';
        if (!value.includes('@')) return `Please include an '@' in the email address. '${value}' is missing an '@'.`;
        if (value.startsWith('@')) return `Please enter a part followed by '@'. '${value}' is incomplete.`;
        if (value.endsWith('@')) return `Please enter a part following '@'. '${value}' is incomplete.`;
        return 'Please enter an email address.';
      case 'patternMismatch': return 'Please match the requested format.';
      case 'tooLong': return `Please shorten this text to ${el.maxLength} characters or less (you are currently using ${value.length} characters).`;
      case 'tooShort': return `Please lengthen this text to ${el.minLength} characters or more (you are currently using ${value.length} character${value.length === 1 ? '' : 's'}).`;
      case 'rangeUnderflow': return forms.kindOf(el).scale > 1 ? `Value must be ${dated(el, attribute(el, 'min'))} or later.` : `Value must be greater than or equal to ${attribute(el, 'min') ?? 0}.`;
      case 'rangeOverflow': return forms.kindOf(el).scale > 1 ? `Value must be ${dated(el, attribute(el, 'max'))} or earlier.` : `Value must be less than or equal to ${attribute(el, 'max') ?? 100}.`;
      case 'stepMismatch': {
        const [step, base, kind] = [forms.stepOf(el), forms.baseOf(el), forms.kindOf(el)];
        const low = base + Math.floor((numberIn(el) - base) / step) * step;
        const [a, b] = [kind.text(forms.tidy(low)), kind.text(forms.tidy(low + step))];
        return low + step > forms.maxOf(el) ? `Please enter a valid value. The nearest valid value is ${a}.` : `Please enter a valid value. The two nearest valid values are ${a} and ${b}.`;
      }
      default: return '';
    }
  };

  const states = new WeakMap();
  class ValidityState {}
  define(ValidityState.prototype, 'valid', function () {
    return failing(states.get(this)) === undefined;
  });
  for (const name of host.keys(checks)) {
    define(ValidityState.prototype, name, function () {
      return checks[name](states.get(this));
    });
  }
  host.tag(ValidityState, 'ValidityState');
  host.define('ValidityState', ValidityState);
  const made = new WeakMap();
  const stateOf = (el) => {
    if (!made.has(el)) {
      made.set(el, new ValidityState());
      states.set(made.get(el), el);
    }
    return made.get(el);
  };
  const me = (el) => el[P.proxy] ?? el;
  const check = (el) => {
    if (!candidate(el) || failing(el) === undefined) return true;
    el.dispatchEvent(new g.Event('invalid', { cancelable: true }));
    return false;
  };
  forms.check = check;
  forms.messageOf = message;
  for (const cls of ['Button', 'FieldSet', 'Input', 'Object', 'Output', 'Select', 'TextArea']) {
    const proto = g[`HTML${cls}Element`].prototype;
    define(proto, 'willValidate', function () {
      return candidate(me(this));
    });
    define(proto, 'validity', function () {
      return stateOf(me(this));
    });
    define(proto, 'validationMessage', function () {
      return candidate(me(this)) ? message(me(this)) : '';
    });
    method(proto, 'checkValidity', function checkValidity() {
      return check(me(this));
    });
    method(proto, 'reportValidity', function reportValidity() {
      return check(me(this));
    });
    method(proto, 'setCustomValidity', function setCustomValidity(text) {
      if (arguments.length === 0) throw new TypeError(`Failed to execute 'setCustomValidity' on 'HTML${cls}Element': 1 argument required, but only 0 present.`);
      custom.set(me(this), host.str(text));
      page.version++;
    });
  }

  // As selectors ask. A form and a fieldset are valid when what is in them is.
  const wrong = (el) => candidate(el) && failing(el) !== undefined;
  const judged = (el) => {
    if (nameOf(el) === 'form') return [...el.elements];
    return nameOf(el) === 'fieldset' ? [...el.elements] : candidate(el) ? [el] : null;
  };
  forms.valid = (el) => judged(el)?.every((x) => !wrong(x)) ?? false;
  forms.invalid = (el) => judged(el)?.some(wrong) ?? false;
  forms['user-valid'] = (el) => touched.has(el) && candidate(el) && !wrong(el);
  forms['user-invalid'] = (el) => touched.has(el) && wrong(el);
  const limited = (el) => candidate(el) && ranged(el) && (!Number.isNaN(forms.minOf(el)) || !Number.isNaN(forms.maxOf(el)));
  const outside = (el) => checks.rangeUnderflow(el) || checks.rangeOverflow(el);
  forms['in-range'] = (el) => limited(el) && !outside(el);
  forms['out-of-range'] = (el) => limited(el) && outside(el);

  // A form is checked as a whole: the fields that are wrong.
  forms.checkAll = (form) => [...form.elements].filter((el) => !check(el));
  const formProto = g.HTMLFormElement.prototype;
  for (const name of ['checkValidity', 'reportValidity']) {
    method(host.owner(name, formProto), name, {
      [name]() {
        return forms.checkAll(me(this)).length === 0;
      },
    }[name]);
    method(g.HTMLFieldSetElement.prototype, name, () => true);
  }
})
