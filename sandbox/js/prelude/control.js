// The host's handle on the machine: one function that is never visible to programs.
(function (host) {
  'use strict';

  // The host takes no more of an error than this, in characters.
  const most = { name: 200, message: 8000, stack: 16000 };
  const cut = (text, n) => (text.length > n ? `${text.slice(0, n)}… (${text.length - n} more characters)` : text);

  // An exception as {name, message, stack}; hostile objects yield placeholders.
  const describe = (thrown) => {
    const read = (key) => {
      try {
        const v = thrown[key];
        return v === undefined ? undefined : cut(host.str(v), most[key]);
      } catch {
        return undefined;
      }
    };
    const object = thrown !== null && (typeof thrown === 'object' || typeof thrown === 'function');
    const isError = object && (thrown instanceof Error || (read('message') !== undefined && read('stack') !== undefined));
    if (!isError) return { name: 'Uncaught', message: cut(host.display(thrown), most.message), stack: '' };
    // Where no stack is left, nothing can be read.
    if (['name', 'message', 'stack'].every((key) => read(key) === undefined)) {
      return { name: 'RangeError', message: 'Maximum call stack size exceeded', stack: '' };
    }
    let stack = read('stack') ?? '';
    try {
      stack = host.cleanStack(stack);
    } catch {}
    const out = { name: read('name') || 'Error', message: read('message') ?? '', stack };
    if (thrown instanceof AggregateError && Array.isArray(thrown.errors)) {
      out.message += (out.message ? ': ' : '') + thrown.errors.slice(0, 5).map((e) => cut(host.str(e), most.message)).join('; ');
    }
    if (thrown instanceof Error && thrown.cause !== undefined) out.message += ` (cause: ${cut(thrown.cause instanceof Error ? host.str(thrown.cause) : host.inspect(thrown.cause), most.message)})`;
    out.message = cut(out.message, most.message);
    return out;
  };
  host.describe = describe;

  const ops = {
    start(json) {
      const o = host.parse(json);
      host.seed(...o.seed);
      host.realRandom = o.realRandom;
    },
    due: () => host.str(host.timers.due() ?? ''),
    pending: () => host.str(host.timers.count()),
    fire: () => host.timers.fire(),
    error: (thrown) => host.stringify(describe(thrown)),
    // A result: how it looks, and its JSON when it has one.
    value(v) {
      let json;
      try {
        json = host.stringify(v);
      } catch {}
      return host.stringify({ display: host.display(v), json, undefined: v === undefined });
    },
    // A script's completion value, from the {value} that an async script resolves to.
    completion: (box) => ops.value(box.value),
    // What a module gives: its default export, or else its exports.
    exports(ns) {
      const names = host.keys(ns);
      if (names.length === 0) return ops.value(undefined);
      return ops.value(names.includes('default') ? ns.default : { ...ns });
    },
  };
  host.ops = ops;
  return (op, argument) => {
    const answer = ops[op](argument);
    return answer === undefined ? '' : answer;
  };
})
