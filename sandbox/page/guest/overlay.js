// Dialogs and popovers: what is on top of the page.
// Source: HTML standard, 4.11.4 and 6.12.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { attribute } = page;
  const g = globalThis;
  const { document } = page;
  const method = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: true });
  const define = (on, name, get, set) => Object.defineProperty(on, name, { get, set, configurable: true, enumerable: true });
  const later = (el, event) => setTimeout(() => el.dispatchEvent(event), 0);
  // Toggles that follow each other at once are told as one.
  const pending = new WeakMap();
  const toggled = (el, from, to) => {
    const was = pending.get(el);
    if (was) clearTimeout(was.timer);
    const oldState = was?.oldState ?? from;
    const timer = setTimeout(() => {
      pending.delete(el);
      el.dispatchEvent(toggle('toggle', oldState, to));
    }, 0);
    pending.set(el, { oldState, timer });
  };
  const wrongState = (text) => {
    throw new DOMException(text, 'InvalidStateError');
  };

  class ToggleEvent extends g.Event {
    constructor(type, init = {}) {
      super(type, init);
      Object.defineProperties(this, { oldState: { value: init.oldState ?? '', enumerable: true }, newState: { value: init.newState ?? '', enumerable: true }, source: { value: init.source ?? null, enumerable: true } });
    }
  }
  if (!g.ToggleEvent) {
    host.tag(ToggleEvent, 'ToggleEvent');
    host.define('ToggleEvent', ToggleEvent);
  }
  const toggle = (type, oldState, newState, cancelable = false) => new g.ToggleEvent(type, { oldState, newState, cancelable });

  // Dialogs.
  page.modals = new Set();
  const returned = new WeakMap();
  const before = new WeakMap(); // what had the focus
  const dialog = host.owner('showModal', g.HTMLDialogElement.prototype);
  const isOpen = (el) => attribute(el, 'open') !== undefined;
  const open = (el, modal) => {
    if (modal && !el[P.isConnected]) wrongState("Failed to execute 'showModal' on 'HTMLDialogElement': The element is not in a Document.");
    if (!el.dispatchEvent(toggle('beforetoggle', 'closed', 'open', true)) || isOpen(el)) return;
    before.set(el, document.activeElement);
    el.setAttribute('open', '');
    if (modal) page.modals.add(el);
    page.version++;
    const first = el.querySelector('[autofocus]') ?? el.querySelector('button:enabled, input:enabled:not([type=hidden]), select:enabled, textarea:enabled, a[href], [tabindex]');
    if (first) first.focus();
    toggled(el, 'closed', 'open');
  };
  const close = (el, value) => {
    if (!isOpen(el)) return;
    el.dispatchEvent(toggle('beforetoggle', 'open', 'closed'));
    if (!isOpen(el)) return;
    el.removeAttribute('open');
    page.modals.delete(el);
    page.version++;
    if (value !== undefined) returned.set(el, host.str(value));
    const back = before.get(el);
    if (back?.[P.isConnected] && back !== document.body && el.contains(document.activeElement)) back.focus();
    later(el, new g.Event('close'));
    toggled(el, 'open', 'closed');
  };
  method(dialog, 'show', function show() {
    if (isOpen(this) && page.modals.has(this)) wrongState("Failed to execute 'show' on 'HTMLDialogElement': The dialog is already open as modal.");
    if (!isOpen(this)) open(this, false);
  });
  method(dialog, 'showModal', function showModal() {
    if (isOpen(this) && page.modals.has(this)) return;
    if (isOpen(this)) wrongState("Failed to execute 'showModal' on 'HTMLDialogElement': The dialog is already open as non-modal, and therefore cannot be opened in modal mode.");
    open(this, true);
  });
  method(dialog, 'close', function (value) {
    close(this, value);
  });
  method(dialog, 'requestClose', function requestClose(value) {
    if (isOpen(this) && this.dispatchEvent(new g.Event('cancel', { cancelable: true }))) close(this, value);
  });
  define(dialog, 'returnValue', function () {
    return returned.get(this) ?? '';
  }, function (value) {
    returned.set(this, host.str(value));
  });
  define(dialog, 'closedBy', function () {
    return attribute(this, 'closedby') ?? 'none';
  }, function (value) {
    this.setAttribute('closedby', value);
  });

  // Details: their toggle is told later, and one of a name is open.
  const details = host.owner(P.onSetAttribute, g.HTMLDetailsElement.prototype);
  for (const [key, to] of [[P.onSetAttribute, 'open'], [P.onRemoveAttribute, 'closed']]) {
    const above = host.prototypeOf(details);
    Object.defineProperty(details, key, {
      value(a, old) {
        host.apply(above[key], this, [a, old]);
        if (a?.[P.name] !== 'open' || (to === 'open' && old)) return;
        toggled(this, to === 'open' ? 'closed' : 'open', to);
        const name = attribute(this, 'name');
        if (to !== 'open' || !name) return;
        for (const x of this.getRootNode().querySelectorAll('details[name]')) if (x !== this && attribute(x, 'name') === name) x.open = false;
      },
      writable: true,
      configurable: true,
    });
  }

  // Popovers. One that opens closes the other automatic ones, but for those it stands in.
  page.popovers = new Set();
  const html = g.HTMLElement.prototype;
  const kind = (el) => {
    const text = attribute(el, 'popover')?.toLowerCase();
    return text === undefined ? null : text === '' || text === 'auto' ? 'auto' : text === 'hint' ? 'hint' : 'manual';
  };
  const must = (el, name) => {
    if (kind(el) === null) throw new DOMException(`Failed to execute '${name}' on 'HTMLElement': Not supported on elements that do not have a valid value for the 'popover' attribute.`, 'NotSupportedError');
    if (!el[P.isConnected]) wrongState(`Failed to execute '${name}' on 'HTMLElement': Invalid on disconnected popover elements.`);
  };
  const show = (el) => {
    if (page.popovers.has(el) || !el.dispatchEvent(toggle('beforetoggle', 'closed', 'open', true))) return;
    if (kind(el) === 'auto') for (const x of [...page.popovers]) if (kind(x) === 'auto' && !x.contains(el)) hide(x);
    page.popovers.add(el);
    page.version++;
    toggled(el, 'closed', 'open');
  };
  const hide = (el) => {
    if (!page.popovers.has(el)) return;
    const stack = [...page.popovers];
    if (kind(el) === 'auto') for (const x of stack.slice(stack.indexOf(el) + 1)) if (kind(x) === 'auto') hide(x);
    el.dispatchEvent(toggle('beforetoggle', 'open', 'closed'));
    page.popovers.delete(el);
    page.version++;
    toggled(el, 'open', 'closed');
  };
  define(html, 'popover', function () {
    return kind(this);
  }, function (value) {
    if (value === null) this.removeAttribute('popover');
    else this.setAttribute('popover', host.str(value));
  });
  method(html, 'showPopover', function showPopover() {
    must(this, 'showPopover');
    show(this);
  });
  method(html, 'hidePopover', function hidePopover() {
    must(this, 'hidePopover');
    hide(this);
  });
  method(html, 'togglePopover', function togglePopover(force) {
    must(this, 'togglePopover');
    const want = (typeof force === 'object' ? force?.force : force) ?? !page.popovers.has(this);
    if (want) show(this);
    else hide(this);
    return page.popovers.has(this);
  });
  // Escape closes what is on top.
  page.dismiss = () => {
    const popover = [...page.popovers].findLast((el) => kind(el) !== 'manual');
    if (popover) return hide(popover);
    const top = [...page.modals].at(-1);
    return top ? top.requestClose() : undefined;
  };
})
