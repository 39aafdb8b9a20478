// check(name, f) writes one line: the name, and what f gives or throws. The lines are
// in the console, and in the element #checks for a browser that only dumps its document.
(() => {
  const lines = [];
  const show = (v) => {
    if (typeof v === 'string') return v;
    if (v === null || v === undefined || typeof v === 'function' || typeof v === 'symbol') return String(v);
    return typeof v === 'object' && v.nodeType ? v.nodeName : JSON.stringify(v);
  };
  window.check = (name, f) => {
    const at = lines.length;
    const set = (v) => {
      lines[at] = `${name}: ${show(v)}`.replace(/[\n\r]/g, (c) => (c === '\n' ? '\\n' : '\\r')).replace(/<(?=\/script)/gi, '‹').replaceAll('\0', '\\0');
    };
    const fail = (e) => set(`throws ${e?.name ?? e}`);
    set('never settled');
    try {
      const v = f();
      if (v instanceof Promise) v.then(set, fail);
      else set(v);
    } catch (e) {
      fail(e);
    }
  };
  addEventListener('load', () => setTimeout(() => {
    for (const line of lines) console.log(line);
    const out = document.createElement('script');
    out.type = 'text/plain';
    out.id = 'checks';
    out.textContent = lines.join('\n');
    document.documentElement.append(out);
  }, 1500));
})();
