// The state of form controls, as selectors and validation ask for it.
// Source: HTML standard, 4.10 and 4.16.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P } = host.dom;
  const { attribute } = page;

  const nameOf = (el) => el[P.localName];
  const has = (el, name) => attribute(el, name) !== undefined;
  const parent = (el) => {
    const p = el[P.parentNode];
    return p && p[P.nodeType] === 1 ? p : null;
  };
  const forms = (page.forms = {});

  // A disabled fieldset disables what is in it, but for what is in its first legend.
  const disablable = /^(button|input|select|textarea|fieldset|optgroup|option)$/;
  const inDisabledFieldset = (el) => {
    let inner = el;
    for (let p = parent(el); p; inner = p, p = parent(p)) {
      if (nameOf(p) !== 'fieldset' || !has(p, 'disabled')) continue;
      if (nameOf(inner) !== 'legend' || p[P.elementArray].find((x) => nameOf(x) === 'legend') !== inner) return true;
    }
    return false;
  };
  const associated = (el) => page.internals?.has(el) ?? false; // custom elements that are controls
  forms.disabled = (el) => {
    const name = nameOf(el);
    if (!disablable.test(name)) return associated(el) && (has(el, 'disabled') || inDisabledFieldset(el));
    if (has(el, 'disabled')) return true;
    if (name === 'optgroup') return false;
    if (name === 'option') {
      const p = parent(el);
      return p !== null && nameOf(p) === 'optgroup' && has(p, 'disabled');
    }
    return inDisabledFieldset(el);
  };
  forms.enabled = (el) => (disablable.test(nameOf(el)) || associated(el)) && !forms.disabled(el);

  forms.isTextual = (el) => nameOf(el) === 'textarea' || (nameOf(el) === 'input' && /^(text|search|url|tel|email|password|date|month|week|time|datetime-local|number)$/.test(el.type));
  const takesPlaceholder = (el) => nameOf(el) === 'textarea' || (nameOf(el) === 'input' && /^(text|search|url|tel|email|password|number)$/.test(el.type));
  const takesRequired = (el) => /^(select|textarea)$/.test(nameOf(el)) || (nameOf(el) === 'input' && !/^(hidden|range|color|submit|image|reset|button)$/.test(el.type));
  forms.required = (el) => takesRequired(el) && has(el, 'required');
  forms.optional = (el) => /^(input|select|textarea)$/.test(nameOf(el)) && !forms.required(el);
  forms['read-write'] = (el) => {
    if (forms.isTextual(el)) return !has(el, 'readonly') && !forms.disabled(el);
    for (let x = el; x; x = parent(x)) {
      const value = attribute(x, 'contenteditable')?.toLowerCase();
      if (value === 'false') return false;
      if (value === '' || value === 'true' || value === 'plaintext-only') return true;
    }
    return el[P.ownerDocument].designMode === 'on';
  };
  forms['read-only'] = (el) => el.namespaceURI === 'http://www.w3.org/1999/xhtml' && !forms['read-write'](el);
  forms['placeholder-shown'] = (el) => takesPlaceholder(el) && has(el, 'placeholder') && el.value === '';

  forms.checked = (el) => (nameOf(el) === 'input' ? /^(checkbox|radio)$/.test(el.type) && el.checked : nameOf(el) === 'option' && el.selected);
  // Radio buttons that go together: the same name and owner, in one tree.
  forms.radioGroup = (el) => {
    const name = attribute(el, 'name');
    if (!name) return [el];
    const form = el.form;
    return [...el.getRootNode().querySelectorAll('input')].filter((x) => x.type === 'radio' && attribute(x, 'name') === name && x.form === form);
  };
  forms.indeterminate = (el) => {
    if (nameOf(el) === 'progress') return !has(el, 'value');
    if (nameOf(el) !== 'input') return false;
    if (el.type === 'checkbox') return el.indeterminate;
    return el.type === 'radio' && !forms.radioGroup(el).some((x) => x.checked);
  };
  const submits = (el) => (nameOf(el) === 'button' ? el.type === 'submit' : nameOf(el) === 'input' && /^(submit|image)$/.test(el.type));
  forms.submits = submits;
  forms.default = (el) => {
    if (nameOf(el) === 'option') return has(el, 'selected');
    if (nameOf(el) === 'input' && /^(checkbox|radio)$/.test(el.type)) return has(el, 'checked');
    return submits(el) && el.form !== null && [...el.form.elements].find(submits) === el;
  };
})
