// Timers. The host asks when the next one is due, moves the clock there, and
// has it fired: on the virtual clock an hour of waiting takes no time.
(function (host) {
  'use strict';
  // A binary heap by due time, then by age. Cleared timers stay until they surface.
  const heap = [];
  const live = new Map();
  let lastId = 0;
  const before = (x, y) => x.due < y.due || (x.due === y.due && x.order < y.order);
  let order = 0;

  const push = (timer) => {
    timer.order = ++order;
    let i = heap.length;
    heap[i] = timer;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (!before(heap[i], heap[up])) break;
      [heap[i], heap[up]] = [heap[up], heap[i]];
      i = up;
    }
  };
  const shift = () => {
    const first = heap[0];
    const last = heap[heap.length - 1];
    heap.length--;
    if (heap.length > 0) {
      heap[0] = last;
      for (let i = 0; ;) {
        let least = i;
        for (let child = 2 * i + 1; child <= 2 * i + 2; child++) {
          if (child < heap.length && before(heap[child], heap[least])) least = child;
        }
        if (least === i) break;
        [heap[i], heap[least]] = [heap[least], heap[i]];
        i = least;
      }
    }
    return first;
  };
  const peek = () => {
    while (heap.length > 0 && live.get(heap[0].id) !== heap[0]) shift();
    return heap[0];
  };

  const longest = 2147483647;
  const start = (callback, delay, args, repeat) => {
    if (typeof callback !== 'function') callback = host.str(callback);
    delay = +delay;
    if (!(delay > 0)) delay = 0;
    if (delay > longest) delay = 1;
    if (repeat && delay < 1) delay = 1;
    const timer = { id: ++lastId, callback, args, delay, repeat, due: host.now() + delay, order: 0 };
    live.set(timer.id, timer);
    push(timer);
    return timer.id;
  };

  const evaluate = eval;
  host.timers = {
    // When the next timer is due, in milliseconds since the start, or undefined.
    due: () => peek()?.due,
    count: () => live.size,
    fire() {
      const timer = peek();
      if (!timer) return;
      shift();
      if (timer.repeat) {
        timer.due = (timer.due > host.now() - timer.delay ? timer.due : host.now()) + timer.delay;
        push(timer);
      } else live.delete(timer.id);
      if (typeof timer.callback === 'string') evaluate(timer.callback);
      else host.apply(timer.callback, undefined, typeof timer.args === 'function' ? timer.args() : timer.args);
    },
  };

  const stop = (id) => {
    live.delete(+id);
  };
  const frame = 1000 / 60;
  const globals = {
    setTimeout(callback, delay, ...args) {
      return start(callback, delay, args, false);
    },
    setInterval(callback, delay, ...args) {
      return start(callback, delay, args, true);
    },
    setImmediate(callback, ...args) {
      return start(callback, 0, args, false);
    },
    requestAnimationFrame(callback) {
      const wait = frame - (host.now() % frame);
      return start(callback, wait, () => [host.now()], false);
    },
    requestIdleCallback(callback) {
      return start(callback, 1, [{ didTimeout: false, timeRemaining: () => 50 }], false);
    },
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
    cancelAnimationFrame: stop,
    cancelIdleCallback: stop,
  };
  for (const name of host.keys(globals)) host.define(name, globals[name]);
})
