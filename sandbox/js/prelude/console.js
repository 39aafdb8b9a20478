// console: every line goes to the host with its level.
(function (host) {
  'use strict';
  let indent = '';
  const counts = new Map();
  const timers = new Map();

  const write = (level, text) => {
    if (indent) text = text.split('\n').map((line) => indent + line).join('\n');
    host.call('log', level, text);
  };
  const at = (level) => (...args) => write(level, host.format(args));
  const label = (x) => (x === undefined ? 'default' : String(x));

  // Character cells a text fills in a terminal, near enough for tables.
  const width = (text) => {
    let n = 0;
    for (const ch of text) n += ch >= '\u1100' && /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u.test(ch) ? 2 : 1;
    return n;
  };

  const table = (data, columns) => {
    if (data === null || typeof data !== 'object') return write('log', host.format([data]));
    const isMap = data instanceof Map;
    const entries = isMap ? [...data].map(([k, v], i) => [i, v, k]) : data instanceof Set ? [...data].map((v, i) => [i, v]) : Object.keys(data).map((k) => [k, data[k]]);
    const names = [];
    let values = false;
    for (const [, row] of entries) {
      if (row !== null && typeof row === 'object') {
        for (const k of Object.keys(row)) if (!names.includes(k)) names.push(k);
      } else values = true;
    }
    const shown = columns ? columns.map(String) : names;
    const head = [isMap || data instanceof Set ? '(iteration index)' : '(index)', ...(isMap ? ['Key'] : []), ...shown, ...(values ? ['Values'] : [])];
    const rows = entries.map(([k, row, key]) => {
      const inner = row !== null && typeof row === 'object';
      return [
        String(k), ...(isMap ? [host.inspect(key)] : []),
        ...shown.map((c) => (inner && Object.hasOwn(row, c) ? host.inspect(row[c]) : '')),
        ...(values ? [inner ? '' : host.inspect(row)] : []),
      ];
    });
    const widths = head.map((h, i) => Math.max(width(h), ...rows.map((r) => width(r[i]))) + 2);
    const line = (left, mid, right) => left + widths.map((w) => '─'.repeat(w)).join(mid) + right;
    const cells = (r) => '│' + r.map((c, i) => ` ${c}${' '.repeat(widths[i] - 1 - width(c))}`).join('│') + '│';
    write('log', [line('┌', '┬', '┐'), cells(head), line('├', '┼', '┤'), ...rows.map(cells), line('└', '┴', '┘')].join('\n'));
  };

  const group = (...args) => {
    if (args.length > 0) write('log', host.format(args));
    if (indent.length < 64) indent += '  ';
  };
  const elapsed = (name, ...args) => {
    if (!timers.has(name)) return write('warn', `console: there is no timer "${name}"`);
    const ms = host.now() - timers.get(name);
    write('log', `${name}: ${Number(ms.toFixed(1))}ms${args.length ? ' ' + host.format(args) : ''}`);
  };

  const console = {
    log: at('log'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    debug: at('debug'),
    trace(...args) {
      const stack = host.cleanStack(new Error().stack);
      write('debug', `Trace${args.length ? ': ' + host.format(args) : ''}\n${stack}`);
    },
    dir: (value) => write('log', host.inspect(value)),
    dirxml: at('log'),
    table,
    assert(condition, ...args) {
      if (condition) return;
      if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
      else args.unshift('Assertion failed');
      write('error', host.format(args));
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      indent = indent.slice(2);
    },
    count(name) {
      name = label(name);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      write('log', `${name}: ${counts.get(name)}`);
    },
    countReset: (name) => void counts.delete(label(name)),
    time: (name) => void timers.set(label(name), host.now()),
    timeLog: (name, ...args) => elapsed(label(name), ...args),
    timeEnd(name) {
      elapsed(label(name));
      timers.delete(label(name));
    },
    clear() {},
  };
  host.define('console', console);
  host.define('print', (...args) => write('log', host.format(args)));
})
