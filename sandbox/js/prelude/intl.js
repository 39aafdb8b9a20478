// A minimal Intl: English (en-US) in UTC. It formats numbers, dates, lists and
// plurals the way a browser set to that locale does; other locales fall back to it.
(function (host) {
  'use strict';
  const locale = 'en-US';
  const list = (tags) => (tags === undefined ? [] : Array.isArray(tags) ? tags.map(String) : [String(tags)]);
  const base = (name, cls) => {
    cls.supportedLocalesOf = (tags) => list(tags).filter((t) => /^en\b/i.test(t));
    host.tag(cls, `Intl.${name}`);
    return cls;
  };

  const currencies = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$', CHF: 'CHF\u00a0' };
  const noCents = ['JPY', 'KRW'];
  const units = { kilometer: 'km', meter: 'm', centimeter: 'cm', kilogram: 'kg', gram: 'g', liter: 'L', celsius: '°C', fahrenheit: '°F', percent: '%', second: 'sec', minute: 'min', hour: 'hr', byte: 'byte', kilobyte: 'kB', megabyte: 'MB', gigabyte: 'GB', mile: 'mi', 'kilometer-per-hour': 'km/h', 'mile-per-hour': 'mph' };

  const groupDigits = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ',');

  class NumberFormat {
    #o;
    constructor(_tags, options = {}) {
      const style = options.style ?? 'decimal';
      if (style === 'currency' && options.currency === undefined) throw new TypeError('Intl.NumberFormat: style "currency" needs a currency');
      const currency = options.currency && String(options.currency).toUpperCase();
      const compact = options.notation === 'compact';
      const cents = style === 'currency' ? (noCents.includes(currency) ? 0 : 2) : null;
      const min = options.minimumFractionDigits ?? Math.min(cents ?? 0, options.maximumFractionDigits ?? 20);
      const max = options.maximumFractionDigits ?? Math.max(min, cents ?? (style === 'percent' || compact ? 0 : 3));
      if (!(min >= 0 && min <= 100) || !(max >= min && max <= 100)) throw new RangeError('Intl.NumberFormat: fraction digits are out of range');
      this.#o = { ...options, style, currency, compact, min: +min, max: +max, grouping: options.useGrouping !== false && options.useGrouping !== 'false' };
      this.format = (n) => this.#text(n);
    }
    #text(value) {
      const o = this.#o;
      if (typeof value !== 'bigint') value = Number(value);
      let negative = value < 0 || Object.is(value, -0);
      let suffix = '';
      let body;
      let n = typeof value === 'bigint' ? (value < 0n ? -value : value) : Math.abs(value);
      let { min, max } = o;
      if (typeof n === 'number' && Number.isNaN(n)) {
        body = 'NaN';
        negative = false;
      } else if (n === Infinity) body = '∞';
      else if (typeof n === 'bigint') body = o.grouping ? groupDigits(String(n)) : String(n);
      else {
        if (o.style === 'percent') n *= 100;
        if (o.compact) {
          const steps = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'K']];
          const step = steps.find(([size]) => n >= size * 0.9995);
          if (step) {
            n /= step[0];
            suffix = step[1];
          }
          if (o.maximumFractionDigits === undefined && n < 100) max = n < 10 || suffix ? 1 : 0;
          if (n >= 100) max = o.maximumFractionDigits ?? 0;
          min = Math.min(min, max);
        }
        let text;
        if (o.maximumSignificantDigits !== undefined || o.minimumSignificantDigits !== undefined) {
          const most = o.maximumSignificantDigits ?? 21;
          const p = Number(n.toPrecision(Math.min(most, 100)));
          text = p.toFixed(Math.max(0, Math.min(100, most - 1 - Math.floor(Math.log10(p || 1)))));
          if (text.includes('.')) text = text.replace(/0+$/, '').replace(/\.$/, '');
        } else {
          text = fixed(n, max);
          if (max > min && text.includes('.')) {
            let [whole, fraction] = text.split('.');
            while (fraction.length > min && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
            text = fraction ? `${whole}.${fraction}` : whole;
          }
        }
        let [whole, fraction] = text.split('.');
        if (o.minimumIntegerDigits) whole = whole.padStart(o.minimumIntegerDigits, '0');
        if (o.grouping) whole = groupDigits(whole);
        body = (fraction === undefined ? whole : `${whole}.${fraction}`) + suffix;
      }
      if (o.style === 'percent') body += '%';
      if (o.style === 'currency') {
        if (o.currencyDisplay === 'code') body = `${o.currency}\u00a0${body}`;
        else if (o.currencyDisplay === 'name') body = `${body} ${o.currency}`;
        else body = (currencies[o.currency] ?? `${o.currency}\u00a0`) + body;
      }
      if (o.style === 'unit') body += (o.unitDisplay === 'long' ? ` ${o.unit}${body === '1' ? '' : 's'}` : ` ${units[o.unit] ?? o.unit}`);
      const zero = !/[1-9∞N]/.test(body);
      const sign = o.signDisplay ?? 'auto';
      if (sign === 'never') return body;
      if (negative && !(sign === 'exceptZero' && zero) && !(sign === 'negative' && zero)) return o.currencySign === 'accounting' ? `(${body})` : `-${body}`;
      if (sign === 'always' || (sign === 'exceptZero' && !zero)) return `+${body}`;
      return body;
    }
    formatToParts(value) {
      const parts = [];
      for (const [text] of this.format(value).matchAll(/\d+|[.,%+-]|[^\d.,%+-]+/g)) {
        const type = text === ',' ? 'group' : text === '.' ? 'decimal' : text === '%' ? 'percentSign' : text === '-' ? 'minusSign' : text === '+' ? 'plusSign' : !/\d/.test(text) ? 'literal' : parts.some((p) => p.type === 'decimal') ? 'fraction' : 'integer';
        parts.push({ type: type === 'literal' && this.#o.style === 'currency' ? 'currency' : type, value: text });
      }
      return parts;
    }
    resolvedOptions() {
      const o = this.#o;
      return { locale, numberingSystem: 'latn', style: o.style, ...(o.currency ? { currency: o.currency } : {}), minimumFractionDigits: o.min, maximumFractionDigits: o.max };
    }
  }

  // toFixed that rounds half away from zero on the decimal text, as ICU does,
  // and knows numbers over 1e21.
  const fixed = (n, digits) => {
    if (n >= 1e21) return BigInt(n).toString() + (digits ? '.' + '0'.repeat(digits) : '');
    const text = String(n);
    if (!text.includes('e') && text.includes('.')) {
      const [whole, fraction] = text.split('.');
      if (fraction.length > digits) {
        let scaled = BigInt(whole + fraction.slice(0, digits));
        if (fraction[digits] >= '5') scaled += 1n;
        const s = String(scaled).padStart(digits + 1, '0');
        return digits ? `${s.slice(0, -digits)}.${s.slice(-digits)}` : s;
      }
    }
    return n.toFixed(digits);
  };

  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const two = (n) => String(n).padStart(2, '0');
  const dateStyles = {
    full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
    long: { year: 'numeric', month: 'long', day: 'numeric' },
    medium: { year: 'numeric', month: 'short', day: 'numeric' },
    short: { year: '2-digit', month: 'numeric', day: 'numeric' },
  };
  const timeStyles = {
    full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' },
    short: { hour: 'numeric', minute: '2-digit' },
  };
  const dateFields = ['weekday', 'era', 'year', 'month', 'day'];
  const timeFields = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'dayPeriod'];

  class DateTimeFormat {
    #o;
    constructor(_tags, options = {}, need = 'any', defaults = 'date') {
      let o = { ...options };
      if (o.dateStyle || o.timeStyle) o = { ...o, ...(dateStyles[o.dateStyle] ?? {}), ...(timeStyles[o.timeStyle] ?? {}) };
      else {
        const given = (need !== 'time' && dateFields.some((f) => o[f] !== undefined)) || (need !== 'date' && timeFields.some((f) => o[f] !== undefined));
        if (!given) {
          if (defaults !== 'time') Object.assign(o, { year: 'numeric', month: 'numeric', day: 'numeric' });
          if (defaults !== 'date') Object.assign(o, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
        }
      }
      this.#o = o;
      this.format = (d) => this.formatToParts(d).map((p) => p.value).join('');
    }
    formatToParts(value) {
      const d = value === undefined ? new Date() : new Date(value);
      if (Number.isNaN(d.getTime())) throw new RangeError('Invalid time value');
      const o = this.#o;
      const parts = [];
      const add = (type, text) => parts.push({ type, value: String(text) });
      const join = (text) => parts.length && add('literal', text);
      const year = o.year === '2-digit' ? two(d.getUTCFullYear() % 100) : String(d.getUTCFullYear());
      const day = o.day === '2-digit' ? two(d.getUTCDate()) : String(d.getUTCDate());
      const weekday = o.weekday && (o.weekday === 'long' ? days[d.getUTCDay()] : o.weekday === 'narrow' ? days[d.getUTCDay()][0] : days[d.getUTCDay()].slice(0, 3));
      const worded = o.month === 'long' || o.month === 'short' || o.month === 'narrow';
      if (weekday) add('weekday', weekday);
      if (worded) {
        join(', ');
        const name = months[d.getUTCMonth()];
        add('month', o.month === 'long' ? name : o.month === 'short' ? name.slice(0, 3) : name[0]);
        if (o.day) {
          add('literal', ' ');
          add('day', day);
        }
        if (o.year) {
          add('literal', o.day ? ', ' : ' ');
          add('year', year);
        }
      } else if (o.month || o.day || o.year) {
        join(', ');
        const fields = [];
        if (o.month) fields.push(['month', o.month === '2-digit' ? two(d.getUTCMonth() + 1) : d.getUTCMonth() + 1]);
        if (o.day) fields.push(['day', day]);
        if (o.year) fields.push(['year', year]);
        fields.forEach(([type, text], i) => {
          if (i) add('literal', '/');
          add(type, text);
        });
      }
      if (o.hour || o.minute || o.second || o.fractionalSecondDigits) {
        join((worded && (o.dateStyle === 'full' || o.dateStyle === 'long')) ? ' at ' : ', ');
        const h24 = o.hour12 === false || o.hourCycle === 'h23';
        const hour = h24 ? d.getUTCHours() : d.getUTCHours() % 12 || 12;
        const fields = [];
        if (o.hour) fields.push(['hour', o.hour === '2-digit' || h24 ? two(hour) : hour]);
        if (o.minute) fields.push(['minute', o.hour || o.minute === '2-digit' ? two(d.getUTCMinutes()) : d.getUTCMinutes()]);
        if (o.second) fields.push(['second', o.minute || o.second === '2-digit' ? two(d.getUTCSeconds()) : d.getUTCSeconds()]);
        fields.forEach(([type, text], i) => {
          if (i) add('literal', ':');
          add(type, text);
        });
        if (o.fractionalSecondDigits) {
          add('literal', '.');
          add('fractionalSecond', String(d.getUTCMilliseconds()).padStart(3, '0').slice(0, o.fractionalSecondDigits));
        }
        if (o.hour && !h24) {
          add('literal', '\u202f');
          add('dayPeriod', d.getUTCHours() < 12 ? 'AM' : 'PM');
        }
      }
      if (o.timeZoneName) {
        join(' ');
        add('timeZoneName', 'UTC');
      }
      return parts;
    }
    formatRange(from, to) {
      return `${this.format(from)} – ${this.format(to)}`;
    }
    resolvedOptions() {
      return { locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC' };
    }
  }

  class Collator {
    #o;
    constructor(_tags, options = {}) {
      this.#o = options;
      const plain = (s) => s.normalize('NFD').replace(/\p{M}/gu, '');
      const pieces = (s) => (options.numeric ? s.match(/\d+|\D+/g) ?? [] : [s]);
      const order = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
      this.compare = (x, y) => {
        [x, y] = [String(x), String(y)];
        const level = options.sensitivity ?? 'variant';
        const p = pieces(plain(x).toLowerCase());
        const q = pieces(plain(y).toLowerCase());
        for (let i = 0; i < Math.min(p.length, q.length); i++) {
          const numbers = options.numeric && /^\d/.test(p[i]) && /^\d/.test(q[i]);
          const c = numbers ? order(BigInt(p[i]), BigInt(q[i])) : order(p[i], q[i]);
          if (c) return c;
        }
        if (p.length !== q.length) return order(p.length, q.length);
        if (level === 'accent' || level === 'variant') {
          const c = order(x.toLowerCase(), y.toLowerCase());
          if (c) return c;
        }
        // Lower case sorts before upper case.
        return level === 'case' || level === 'variant' ? -order(plain(x), plain(y)) : 0;
      };
    }
    resolvedOptions() {
      return { locale, usage: 'sort', sensitivity: this.#o.sensitivity ?? 'variant', numeric: Boolean(this.#o.numeric) };
    }
  }

  class PluralRules {
    #ordinal;
    constructor(_tags, options = {}) {
      this.#ordinal = options.type === 'ordinal';
    }
    select(n) {
      n = Math.abs(Number(n));
      if (!this.#ordinal) return n === 1 ? 'one' : 'other';
      const tens = n % 100;
      if (tens >= 11 && tens <= 13) return 'other';
      return { 1: 'one', 2: 'two', 3: 'few' }[n % 10] ?? 'other';
    }
    resolvedOptions() {
      return { locale, type: this.#ordinal ? 'ordinal' : 'cardinal' };
    }
  }

  class ListFormat {
    #word;
    constructor(_tags, options = {}) {
      this.#word = options.type === 'disjunction' ? 'or' : options.type === 'unit' ? '' : 'and';
    }
    format(items) {
      const all = [...items].map(String);
      if (all.length < 2) return all.join('');
      if (!this.#word) return all.join(', ');
      if (all.length === 2) return `${all[0]} ${this.#word} ${all[1]}`;
      return `${all.slice(0, -1).join(', ')}, ${this.#word} ${all.at(-1)}`;
    }
  }

  class RelativeTimeFormat {
    #auto;
    constructor(_tags, options = {}) {
      this.#auto = options.numeric === 'auto';
    }
    format(value, unit) {
      unit = String(unit).replace(/s$/, '');
      const n = Number(value);
      if (this.#auto) {
        const words = { day: { '-1': 'yesterday', 0: 'today', 1: 'tomorrow' } }[unit] ?? { '-1': `last ${unit}`, 0: unit === 'second' ? 'now' : `this ${unit}`, 1: `next ${unit}` };
        if (words[n] !== undefined && !(unit === 'second' && n !== 0)) return words[n];
      }
      const size = new NumberFormat().format(Math.abs(n));
      const text = `${size} ${unit}${Math.abs(n) === 1 ? '' : 's'}`;
      return n < 0 || Object.is(n, -0) ? `${text} ago` : `in ${text}`;
    }
  }

  class Segmenter {
    #by;
    constructor(_tags, options = {}) {
      this.#by = options.granularity ?? 'grapheme';
    }
    segment(input) {
      input = String(input);
      const pattern = {
        grapheme: /(?:\p{RI}\p{RI}|\r\n|.[\p{M}\u200d\ufe0f\u{1f3fb}-\u{1f3ff}]*(?:(?<=\u200d).[\p{M}\u200d\ufe0f]*)*)/gsu,
        word: /[\p{L}\p{N}_'’]+|\s+|[^\p{L}\p{N}\s]/gu,
        sentence: /[^.!?]+[.!?]*\s*|[.!?]+\s*/gu,
      }[this.#by];
      const all = [...input.matchAll(pattern)].map((m) => ({
        segment: m[0], index: m.index, input,
        ...(this.#by === 'word' ? { isWordLike: /[\p{L}\p{N}]/u.test(m[0]) } : {}),
      }));
      return { [Symbol.iterator]: () => all[Symbol.iterator](), containing: (i = 0) => all.find((s) => i >= s.index && i < s.index + s.segment.length) };
    }
  }

  class DisplayNames {
    of(code) {
      return String(code);
    }
  }

  const classes = { NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat, Segmenter, DisplayNames };
  const Intl = { getCanonicalLocales: list, supportedValuesOf: () => [] };
  for (const name of host.keys(classes)) {
    const cls = base(name, classes[name]);
    // NumberFormat, DateTimeFormat and Collator may be called without `new`.
    const value = /^(Number|Date|Coll)/.test(name) ? new Proxy(cls, { apply: (target, _self, args) => new target(...args) }) : cls;
    Object.defineProperty(Intl, name, { value, writable: true, configurable: true });
  }
  Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  host.define('Intl', Intl);

  const method = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true });
  method(Number.prototype, 'toLocaleString', function toLocaleString(tags, options) {
    return new NumberFormat(tags, options).format(Number(this));
  });
  method(BigInt.prototype, 'toLocaleString', function toLocaleString(tags, options) {
    return new NumberFormat(tags, options).format(BigInt(this));
  });
  const dates = { toLocaleString: ['any', 'all'], toLocaleDateString: ['date', 'date'], toLocaleTimeString: ['time', 'time'] };
  for (const name of host.keys(dates)) {
    method(Date.prototype, name, {
      [name](tags, options) {
        if (Number.isNaN(this.getTime())) return 'Invalid Date';
        return new DateTimeFormat(tags, options, ...dates[name]).format(this);
      },
    }[name]);
  }
  const collator = new Collator();
  method(String.prototype, 'localeCompare', function localeCompare(other, tags, options) {
    return (options ? new Collator(tags, options) : collator).compare(String(this), other);
  });
})
