// What a person does to the page: click, type, press a key, choose.
(function (host) {
  'use strict';
  const { page } = host;
  const { document } = page;
  const g = globalThis;

  class NotFound extends Error {}

  // By CSS selector; else by visible text of something clickable, or by label.
  const find = (selector, act) => {
    let el = null;
    try {
      el = document.querySelector(selector);
    } catch {}
    if (!el) {
      const wanted = selector.trim().toLowerCase();
      const clickable = [...document.querySelectorAll('button, a, [role=button], summary, label, input[type=submit], input[type=button], option')];
      const text = (x) => (x.value && x.localName === 'input' ? x.value : x.textContent).trim().toLowerCase();
      if (act === 'click') el = clickable.find((x) => text(x) === wanted) ?? null;
      else el = [...document.querySelectorAll('input, textarea, select')].find((x) => [x.name, x.placeholder, x.getAttribute('aria-label')].some((n) => n && n.toLowerCase() === wanted)) ?? null;
    }
    if (!el) throw new NotFound(`nothing on the page matches ${host.stringify(selector)}`);
    return el;
  };

  const mouse = (el, type, extra = {}) => {
    const cls = type.startsWith('pointer') ? g.PointerEvent : g.MouseEvent;
    return el.dispatchEvent(new cls(type, { bubbles: true, cancelable: true, composed: true, button: 0, detail: 1, clientX: 1, clientY: 1, ...extra }));
  };

  const focus = (el, byPointer = false) => {
    page.focusedByPointer = byPointer ? el : null;
    if (document.activeElement === el) return;
    if (document.activeElement && document.activeElement !== document.body) leave(document.activeElement);
    el.focus?.();
  };
  // A field that was typed into tells of its change when it is left.
  const dirty = new WeakSet();
  const leave = (el) => {
    if (dirty.delete(el)) el.dispatchEvent(new g.Event('change', { bubbles: true }));
    el.blur?.();
  };

  const key = (el, type, name) =>
    el.dispatchEvent(new g.KeyboardEvent(type, {
      key: name, code: /^[a-z]$/i.test(name) ? `Key${name.toUpperCase()}` : /^\d$/.test(name) ? `Digit${name}` : name === ' ' ? 'Space' : name,
      keyCode: codes[name] ?? (name.length === 1 ? name.toUpperCase().charCodeAt(0) : 0), bubbles: true, cancelable: true, composed: true,
    }));
  const codes = { Enter: 13, Escape: 27, Tab: 9, Backspace: 8, Delete: 46, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, ' ': 32, Home: 36, End: 35, PageUp: 33, PageDown: 34 };

  const editable = (el) => el.localName === 'textarea' || (el.localName === 'input' && !/^(checkbox|radio|button|submit|reset|file|image|range|color)$/.test(el.type));

  // Sets a field the way a person does: past any setter that a framework put on
  // the element to notice scripts.
  const setValue = (el, value) => {
    for (let proto = host.prototypeOf(el); proto; proto = host.prototypeOf(proto)) {
      const d = host.descriptor(proto, 'value');
      if (d?.set) {
        host.apply(d.set, el, [value]);
        return;
      }
    }
    el.value = value;
  };

  const insert = (el, text) => {
    const data = { bubbles: true, cancelable: true, composed: true, data: text, inputType: 'insertText' };
    if (!el.dispatchEvent(new g.InputEvent('beforeinput', data))) return;
    setValue(el, el.value + text);
    el.dispatchEvent(new g.InputEvent('input', { ...data, cancelable: false }));
    dirty.add(el);
    page.forms.edit(el);
  };

  const acts = {
    click(selector) {
      const el = find(selector, 'click');
      if (el.disabled) throw new NotFound(`${selector} is disabled`);
      page.hovered = el;
      page.version++;
      if (el.localName === 'option') return acts.choose(el.closest('select'), el);
      mouse(el, 'pointerdown');
      const focusable = el.closest('button, input, textarea, select, a[href], [tabindex], [contenteditable]');
      if (mouse(el, 'mousedown') && focusable) focus(focusable, true);
      mouse(el, 'pointerup');
      mouse(el, 'mouseup');
      mouse(el, 'click');
    },
    dblclick(selector) {
      acts.click(selector);
      acts.click(selector);
      mouse(find(selector, 'click'), 'dblclick', { detail: 2 });
    },
    hover(selector) {
      const el = find(selector, 'click');
      page.hovered = el;
      page.version++;
      for (const type of ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove']) mouse(el, type);
    },
    // Replaces what the field holds, key by key.
    type(selector, text) {
      const el = find(selector, 'type');
      focus(el);
      if (el.localName === 'select') {
        const option = [...el.options].find((o) => o.value === text || o.text.trim() === text);
        if (!option) throw new NotFound(`${selector} has no option ${host.stringify(text)}`);
        return acts.choose(el, option);
      }
      if (el.isContentEditable || el.hasAttribute('contenteditable')) {
        el.textContent = text;
        el.dispatchEvent(new g.InputEvent('input', { bubbles: true, data: text, inputType: 'insertText' }));
        return undefined;
      }
      if (!('value' in el)) throw new NotFound(`${selector} is not a field`);
      if (!editable(el) || /^(date|time|month|week|datetime-local|number)$/.test(el.type)) {
        setValue(el, text);
        page.forms.edit(el);
        el.dispatchEvent(new g.InputEvent('input', { bubbles: true, data: text, inputType: 'insertText' }));
        el.dispatchEvent(new g.Event('change', { bubbles: true }));
        return undefined;
      }
      setValue(el, '');
      if (text === '') el.dispatchEvent(new g.InputEvent('input', { bubbles: true, inputType: 'deleteContentBackward' }));
      for (const ch of text) {
        if (key(el, 'keydown', ch)) {
          key(el, 'keypress', ch);
          insert(el, ch);
        }
        key(el, 'keyup', ch);
      }
      return undefined;
    },
    choose(select, option) {
      option.selected = true;
      page.forms.edit(select);
      select.dispatchEvent(new g.Event('input', { bubbles: true }));
      select.dispatchEvent(new g.Event('change', { bubbles: true }));
    },
    // A key on the focused element: Enter submits the form, as in a browser.
    key(name) {
      const el = document.activeElement ?? document.body;
      const proceed = key(el, 'keydown', name);
      if (proceed && (name.length === 1 || name === 'Enter')) key(el, 'keypress', name);
      if (proceed && editable(el)) {
        if (name.length === 1) insert(el, name);
        else if (name === 'Backspace') {
          setValue(el, el.value.slice(0, -1));
          el.dispatchEvent(new g.InputEvent('input', { bubbles: true, inputType: 'deleteContentBackward' }));
          dirty.add(el);
        } else if (name === 'Enter' && el.localName === 'textarea') insert(el, '\n');
        else if (name === 'Enter') {
          if (dirty.delete(el)) el.dispatchEvent(new g.Event('change', { bubbles: true }));
          const form = el.form;
          const button = form?.querySelector('button:not([type=button]):not([type=reset]), input[type=submit], input[type=image]');
          if (button) mouse(button, 'click');
          else if (form) form.requestSubmit();
        }
      } else if (proceed && (name === 'Enter' || name === ' ') && /^(button|a|summary)$/.test(el.localName)) mouse(el, 'click');
      if (proceed && name === 'Escape') page.dismiss();
      key(el, 'keyup', name);
    },
    submit(selector) {
      find(selector, 'type').requestSubmit();
    },
  };

  // Returns '' or why it could not be done; what the page's handlers throw is the page's.
  host.ops.act = (json) => {
    const { verb, target, text } = host.parse(json);
    try {
      if (verb === 'key') acts.key(target);
      else acts[verb](target, text);
      return '';
    } catch (e) {
      if (e instanceof NotFound) return e.message;
      page.uncaught(e);
      return '';
    }
  };
})
